import type { Context } from '../../../kernel/context.js';
import { queryOf } from '../../../kernel/database/database.js';
import { yieldToEventLoop } from '../../../kernel/event-loop.js';
import { SealedCursors } from '../../../kernel/graphql/sealed-cursors.js';
import { type CursorKey, SearchPage } from '../../../kernel/paging.js';
import { parse, validationFailed } from '../../../kernel/validation.js';
import { type ProjectReader, refuseMisspeltEnvironments } from '../../projects/public.js';
import { loadReach, onlyProject, type SecretReach } from '../core/secret-reach.js';
import { loadBounds, SCAN_LIMIT } from '../scope/scan.js';
import {
  type DuplicateCriteria,
  type GroupDigest,
  listDigests,
  listMembers,
  MAX_DIGESTS,
  MAX_MEMBERS,
  type MemberRow,
} from './duplicates.sql.js';
import { DuplicateValues } from './search.rules.js';

/** A secret whose value other secrets have too, without the value. */
interface DuplicateView {
  readonly secretId: string;
  readonly projectId: string;
  readonly environmentId: string;
  readonly environmentSlug: string;
  readonly secretPath: string;
  readonly secretKey: string;
}

/** Secrets with equal values. */
export interface DuplicateGroup {
  readonly count: number;
  /** By key, project, environment, path; the first thousand of the group at most. */
  readonly secrets: readonly DuplicateView[];
  readonly position: CursorKey;
}

/** Finds values that several secrets have, without decrypting any. */
export class DuplicatesService {
  constructor(private readonly projects: ProjectReader) {}

  /**
   * Groups of shared secrets with equal values, among those whose value the caller may read, in all its projects.
   * Compares the keyed digests that each write stores, of 250,000 secrets at most. Empty values are no duplicates.
   *
   * @param raw `{ projectIds, environments, minimum, first, after }`; the rules are `DuplicateValues`
   * @throws VALIDATION_FAILED, PROJECT_NOT_FOUND and PERMISSION_DENIED for projects that are named, ENVIRONMENT_NOT_FOUND for misspelt
   *   ones, AUDIT_UNAVAILABLE
   */
  async list(ctx: Context, raw: unknown): Promise<SearchPage<DuplicateGroup>> {
    const { projectIds, environments, minimum, ...request } = parse(DuplicateValues, raw);
    const cursors = new SealedCursors(ctx, 'duplicateValues', { projectIds, environments, minimum });
    const [after = null] = cursors.read(request.after, 1) ?? [];
    const reach = await loadReach(ctx, this.projects, { projectIds, action: 'secrets:readValue' });
    const criteria = {
      projectIds: reach.projectIds,
      openProjectIds: reach.openProjectIds,
      environments: environments ?? [],
      bounds: await loadBounds(ctx, reach.accesses, ['secrets:describeSecret', 'secrets:readValue']),
    };
    const equal = await findEqualValues(ctx, criteria, minimum);
    const ahead = equal.filter(({ position }) => after === null || position > after);
    // Where rules depend on single secrets, which groups remain is known only after reading them. Two rows make a
    // group.
    const read = withinScan(ahead.slice(0, reach.isOpen ? request.first + 1 : SCAN_LIMIT / 2 + 1));
    const digests = read.flatMap(({ digestsFor }, index) => digestsFor(index));
    const members = Map.groupBy(await listMembers(ctx, criteria, digests), ({ group }) => group);
    const groups = read
      .flatMap((values, index) => groupOf(reach, { values, members: members.get(index) ?? [] }, minimum))
      .slice(0, request.first + 1);
    if (groups.length === 0 && after === null)
      await refuseMisspeltEnvironments(ctx, reach.projectIds, criteria.environments);
    const isCutShort = groups.length <= request.first && read.length < ahead.length;
    const stoppedAt = isCutShort ? [(read.at(-1) as EqualValues).position] : null;
    const page = new SearchPage(groups, request, ({ position }) => position, { cursors, stoppedAt });
    await ctx.auditTrail.recordRead(ctx, {
      action: 'secret:duplicates',
      projectId: onlyProject(projectIds),
      facts: { groups: page.nodes.length, count: page.nodes.reduce((sum, { count }) => sum + count, 0) },
    });
    return page;
  }
}

/** The groups whose members can be read in one request. */
function withinScan(groups: readonly EqualValues[]): readonly EqualValues[] {
  let rows = 0;
  const end = groups.findIndex(({ size }) => {
    rows += Math.min(size, MAX_MEMBERS);
    return rows > SCAN_LIMIT;
  });
  return end === -1 ? groups : groups.slice(0, end);
}

/** What the caller sees of the secrets of one value: nothing, when too few remain. */
function groupOf(
  reach: SecretReach,
  { values, members }: { values: EqualValues; members: readonly MemberRow[] },
  minimum: number,
): DuplicateGroup[] {
  const seen = members.filter(reach.includes);
  const isOpen = (row: MemberRow): boolean => !reach.project(row.projectId).visibility.isPerSecret;
  if (seen.length === 0) return [];
  const count = values.openCount + seen.filter((row) => !isOpen(row)).length;
  if (count < minimum) return [];
  const secrets = seen.map((row) => ({
    secretId: row.id,
    projectId: row.projectId,
    environmentId: row.environmentId,
    environmentSlug: row.environment,
    secretPath: row.path,
    secretKey: row.key,
  }));
  return [{ count, secrets, position: [values.position] }];
}

const DIGEST_BYTES = 32;
/** Number of digests to compare before yielding to other requests. */
const SLICE = 1_000;

/** Secrets with equal values, according to digests. */
interface EqualValues {
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
async function findEqualValues(ctx: Context, criteria: DuplicateCriteria, minimum: number): Promise<EqualValues[]> {
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
