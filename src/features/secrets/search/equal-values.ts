import type { Context } from '../../../kernel/context.js';
import { queryOf } from '../../../kernel/database/database.js';
import { yieldToEventLoop } from '../../../kernel/event-loop.js';
import { validationFailed } from '../../../kernel/validation.js';
import { type DuplicateCriteria, type GroupDigest, listDigests, MAX_DIGESTS } from './duplicates.sql.js';

const DIGEST_BYTES = 32;
/** Number of digests to compare before yielding to other requests. */
const SLICE = 1_000;

/** Secrets with equal values, according to digests. */
export interface EqualValues {
  /** Identifies the group. A keyed digest: it reveals nothing about the value. */
  readonly position: string;
  readonly size: number;
  /** How many of them are in projects where no row has to be examined. */
  readonly openCount: number;
  /** Digests of the group as its projects have them stored. */
  readonly digestsFor: (group: number) => GroupDigest[];
}

/**
 * Groups of equal values, in an order that reveals nothing about them. Projects have different digests for one value;
 * with their keys these are converted to those of the organization, which are the same, here and never in the database.
 *
 * @param minimum how many must be equal
 * @throws VALIDATION_FAILED when the projects have too many secrets to be compared at once
 */
export async function findEqualValues(
  ctx: Context,
  criteria: DuplicateCriteria,
  minimum: number,
): Promise<EqualValues[]> {
  const stored = await listDigests(ctx, criteria);
  const total = stored.reduce((sum, { digests }) => sum + digests.length / DIGEST_BYTES, 0);
  if (total > MAX_DIGESTS) {
    const message = `must be projects with at most ${MAX_DIGESTS} secrets in total`;
    throw validationFailed([{ path: 'projectIds', code: 'TOO_BIG', message }]);
  }
  const sealers = await ctx.keyring.sealers(
    queryOf(ctx),
    ctx.organizationId,
    new Map(stored.map(({ projectId }) => [projectId, []])),
  );
  const open = new Set(criteria.openProjectIds);
  const groups = new Map<string, Counted>();
  for (const { projectId, digests } of stored) {
    const clear = sealers.get(projectId)?.unblind(digests) ?? Buffer.alloc(0);
    for (let at = 0; at < clear.length; at += DIGEST_BYTES) {
      if (at % (SLICE * DIGEST_BYTES) === 0) await yieldToEventLoop();
      count(groups, clear.toString('latin1', at, at + DIGEST_BYTES), {
        projectId,
        isOpen: open.has(projectId),
        digest: digests.subarray(at, at + DIGEST_BYTES),
      });
    }
  }
  return [...groups]
    .filter(([, { size }]) => size >= minimum)
    .map(([key, { size, openCount, digests }]) => ({
      position: Buffer.from(key, 'latin1').toString('hex'),
      size,
      openCount,
      digestsFor: (group: number) => [...digests].map(([projectId, digest]) => ({ group, projectId, digest })),
    }))
    .sort((a, b) => (a.position < b.position ? -1 : 1));
}

interface Counted {
  size: number;
  openCount: number;
  /** By project. */
  readonly digests: Map<string, Buffer>;
}

function count(
  groups: Map<string, Counted>,
  key: string,
  { projectId, isOpen, digest }: { projectId: string; isOpen: boolean; digest: Buffer },
): void {
  const group = groups.get(key) ?? { size: 0, openCount: 0, digests: new Map<string, Buffer>() };
  if (group.size === 0) groups.set(key, group);
  group.size += 1;
  if (isOpen) group.openCount += 1;
  group.digests.set(projectId, digest);
}
