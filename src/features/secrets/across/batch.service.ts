import type * as z from 'zod';
import type { AuditEvent } from '../../../kernel/audit/audit-record.js';
import { disclosureOf } from '../../../kernel/audit/disclosure.js';
import { authorize, can, PermissionDenied } from '../../../kernel/authz/ability.js';
import type { Context, Transaction } from '../../../kernel/context.js';
import { SealedText } from '../../../kernel/crypto/sealed-text.js';
import type { Sealer } from '../../../kernel/crypto/sealer.js';
import { queryOf } from '../../../kernel/database/database.js';
import { inTransaction } from '../../../kernel/database/in-transaction.js';
import { AppError, type ErrorDetail } from '../../../kernel/errors.js';
import { filterYielding } from '../../../kernel/event-loop.js';
import type { RateLimits } from '../../../kernel/operations/limits/rate-limits.js';
import { parse, parseYielding, refuseViolations, validationFailed } from '../../../kernel/validation.js';
import type { ProjectReader } from '../../projects/public.js';
import { type SecretView, SecretViewer } from '../core/secret.view.js';
import { loadReach, onlyProject, type SecretReach } from '../core/secret-reach.js';
import { openersFor, openSecretValue } from '../core/secret-sealing.js';
import { countLookup, digestsOfValue, type ProjectDigest } from '../core/value-lookups.js';
import { refuseDetails } from '../core/write-checks.js';

import { Secret } from '../entities/secret.entity.js';
import { loadBounds } from '../scope/scan.js';
import { fieldsOf, Visibility } from '../scope/visibility.rules.js';
import { listMembers, MAX_MEMBERS } from '../search/duplicates.sql.js';
import {
  MAX_SECRETS,
  pathInBatch,
  ReplaceValue,
  repeatedIds,
  type SecretChangeById,
  UpdateSecretsById,
} from './batch.rules.js';
import { type LockedChange, planBatch } from './batch-plan.js';
import { authorizeEach, type FoundSecret, findSecrets, lockSecrets } from './batch-secrets.js';
import { type BatchResult, previewBatch, writeBatch } from './batch-writes.js';

/** Result of a replacement. */
export interface Replaced extends BatchResult {
  /** Secrets that the caller may read but not edit; without their values. */
  readonly leftOut: readonly SecretView[];
}

/** Secrets with the same value as another one. */
interface Equal {
  /** The secret that was named; null: the value was given. */
  readonly like: FoundSecret | null;
  readonly editable: readonly FoundSecret[];
  readonly leftOut: readonly FoundSecret[];
}

/** Changes of secrets of any folders, environments and projects: by ID, or of a value wherever it occurs. All or none. */
export class BatchService {
  constructor(
    private readonly projects: ProjectReader,
    private readonly rateLimits: RateLimits,
  ) {}

  /**
   * Updates up to 500 shared secrets as `updateSecret` does, in one transaction, or previews the changes.
   *
   * @param raw `{ secrets, dryRun }`; the rules are `UpdateSecretsById`
   * @throws VALIDATION_FAILED, SECRET_NOT_FOUND, PERMISSION_DENIED, TAG_NOT_FOUND, USER_NOT_FOUND, ROTATED_SECRET,
   * SECRET_VERSION_DIFFERS, SECRET_KEY_TAKEN, SECRET_REFERENCED, REFERENCES_TOO_LONG, CONCURRENT_CHANGE,
   * SEALED_VALUE_INVALID, ANSWER_TOO_LARGE, AUDIT_UNAVAILABLE, with every violation
   */
  async update(ctx: Context, raw: unknown): Promise<BatchResult> {
    const { secrets, dryRun: isDryRun } = await parseYielding(UpdateSecretsById, raw);
    const changes = secrets.map(({ id, ...change }) => ({ ...change, id: id.toLowerCase() }));
    refuseViolations(repeatedIds(changes.map(({ id }) => id)));
    const plan = async (tx: Transaction) => planBatch(tx, await this.#hold(tx, changes), pathInBatch);
    if (!isDryRun) return inTransaction(ctx, async (tx) => writeBatch(tx, await plan(tx), { action: 'secret:update' }));
    const { reads, ...outcome } = await inTransaction(ctx, async (tx) =>
      previewBatch(tx, await plan(tx), { action: 'secret:preview-update' }),
    );
    await ctx.auditTrail.recordRead(ctx, ...reads);
    return outcome;
  }

  /** The secrets of a batch, locked. @throws SECRET_NOT_FOUND, PERMISSION_DENIED, CONCURRENT_CHANGE, ANSWER_TOO_LARGE */
  async #hold(tx: Transaction, changes: readonly SecretChangeById[]): Promise<LockedChange[]> {
    const ids = changes.map(({ id }) => id);
    const found = await findSecrets(tx, this.projects, ids);
    refuseUnknown(ids, found);
    // A caller who may change nothing in a project makes nobody wait.
    authorizeEach(
      [...ids.entries()],
      ([index]) => pathInBatch(index),
      ([, id]) => authorize((found.get(id) as FoundSecret).project, 'secrets:edit'),
    );
    const renamed = changes.filter(({ newSecretKey }) => newSecretKey !== undefined);
    const locked = await lockSecrets(tx, [...found.values()], new Set(renamed.map(({ id }) => id)));
    // They may have been changed, moved, hidden and deleted meanwhile.
    refuseUnknown(ids, locked);
    return changes.map(({ id, ...change }, index) => ({ ...(locked.get(id) as FoundSecret), index, change }));
  }

  /**
   * Sets a new value in all shared secrets that have a value, which is given by itself or by a secret that has it, in one transaction, or
   * previews it: those that the caller may read and edit. Those that it may read but not edit are reported, and kept. Others are not
   * mentioned, even where the caller may see them: that they have the value would reveal it.
   *
   * @param raw `{ likeSecretId or currentValue, secretValue, projectIds, dryRun }`; the rules are `ReplaceValue`
   * @throws VALIDATION_FAILED (also for an empty value, and for more than 500 secrets), SECRET_NOT_FOUND,
   * PERMISSION_DENIED, PROJECT_NOT_FOUND for one that is named, ROTATED_SECRET where a rotation writes one of them,
   * CONCURRENT_CHANGE, SEALED_VALUE_INVALID, ANSWER_TOO_LARGE, AUDIT_UNAVAILABLE, and RATE_LIMITED for a value by itself
   */
  async replace(ctx: Context, raw: unknown): Promise<Replaced> {
    const { likeSecretId: likeId, currentValue, secretValue, projectIds, dryRun: isDryRun } = parse(ReplaceValue, raw);
    if (currentValue !== undefined) countLookup(this.rateLimits, ctx);
    const likeSecretId = likeId?.toLowerCase();
    let finding: readonly AuditEvent[] = [];
    const noteFound = (found: readonly Located[]): void => {
      // Who finds a value by itself has read it where it is.
      if (currentValue !== undefined) finding = [findingOf(found, projectIds)];
    };
    const { reads, ...replaced } = await inTransaction(ctx, async (tx) => {
      const wanted = { likeSecretId, currentValue };
      const { like, editable, leftOut } = await this.#findEqual(tx, wanted, projectIds, noteFound);
      const locked = await holdEqual(tx, { like, currentValue, editable });
      const plans = await planBatch(
        tx,
        locked.map((found, index) => ({ ...found, index, change: { secretValue } })),
        like === null ? inValueInput : inInput,
      );
      const facts = { ...(like === null ? {} : { likeSecretId: like.record.id }), leftOut: leftOut.length };
      const outcome: BatchResult & { reads?: readonly AuditEvent[] } = isDryRun
        ? await previewBatch(tx, plans, { action: PREVIEW, facts })
        : await writeBatch(tx, plans, { action: REPLACE, facts });
      return { reads: [], ...outcome, leftOut: await viewsOf(tx, leftOut) };
    }).catch(async (error: unknown) => {
      // An error about what was found tells that it was found.
      if (finding.length > 0) await ctx.auditTrail.recordRead(ctx, ...finding);
      throw error;
    });
    const isRecorded = reads.length > 0 || (!isDryRun && replaced.changed.length > 0);
    const facts = {
      ...(likeSecretId === undefined ? {} : { likeSecretId }),
      count: 0,
      leftOut: replaced.leftOut.length,
    };
    const action = isDryRun ? PREVIEW : REPLACE;
    const own: AuditEvent = { action, projectId: onlyProject(projectIds), facts };
    noteFound([...replaced.changed.map(({ view }) => view), ...replaced.leftOut]);
    await ctx.auditTrail.recordRead(ctx, ...(isRecorded ? reads : [own]), ...finding);
    return replaced;
  }

  /** Shared secrets with a value that the caller may read. Found by digests: nothing is decrypted. */
  async #findEqual(
    tx: Transaction,
    wanted: Pick<z.output<typeof ReplaceValue>, 'likeSecretId' | 'currentValue'>,
    projectIds: readonly string[] | null | undefined,
    noteFound: (found: readonly Located[]) => void,
  ): Promise<Equal> {
    const like = wanted.likeSecretId === undefined ? null : await this.#loadLike(tx, wanted.likeSecretId);
    const reach = await loadReach(tx, this.projects, { projectIds, action: 'secrets:readValue' });
    if (!reach.accesses.some(({ ability }) => can(ability, 'secrets:edit')))
      throw new PermissionDenied({
        action: 'secrets:edit',
        projectId: like?.project.projectId ?? onlyProject(projectIds),
      });
    const digests =
      like === null
        ? await digestsOfValue(tx, wanted.currentValue ?? '', reach.projectIds)
        : await digestsLike(tx, like, reach.projectIds);
    const { seen, isTooMany } = await listEqual(tx, digests, reach);
    noteFound(seen);
    if (isTooMany) {
      const message = `must name projects where at most ${MAX_SECRETS} secrets have the value`;
      throw validationFailed([{ path: 'projectIds', code: 'TOO_MANY', message }]);
    }
    const ids = seen.map(({ id }) => id);
    const equal = [...(await findSecrets(tx, this.projects, ids)).values()].filter(({ record }) =>
      reach.includes(record),
    );
    const mayEdit = ({ project, record }: FoundSecret): boolean =>
      can(project.ability, 'secrets:edit', fieldsOf(record));
    return { like, editable: equal.filter(mayEdit), leftOut: equal.filter((found) => !mayEdit(found)) };
  }

  async #loadLike(tx: Transaction, id: string): Promise<FoundSecret> {
    const like = (await findSecrets(tx, this.projects, [id])).get(id);
    if (like === undefined) throw new AppError('SECRET_NOT_FOUND');
    authorize(like.project, 'secrets:readValue', fieldsOf(like.record));
    return like;
  }
}

function refuseUnknown(ids: readonly string[], found: ReadonlyMap<string, FoundSecret>): void {
  const details = ids.flatMap((id, index): ErrorDetail[] =>
    found.has(id)
      ? []
      : [
          {
            path: pathInBatch(index, 'id'),
            code: 'SECRET_NOT_FOUND',
            message: 'does not exist, or you cannot see it',
          },
        ],
  );
  refuseDetails('SECRET_NOT_FOUND', details);
}

const REPLACE = 'secret:replace';
const PREVIEW = 'secret:preview-replace';

/** Only the new value and the secret, or the value, are part of the request. */
const inInput = (_index: number, field: string): string => (field === '' ? 'likeSecretId' : field);
const inValueInput = (_index: number, field: string): string => (field === '' ? 'currentValue' : field);

/** A secret that was found, and its project. */
type Located = Pick<SecretView, 'id' | 'projectId'>;

const findingOf = (found: readonly Located[], projectIds: readonly string[] | null | undefined): AuditEvent => ({
  action: 'secret:find-value',
  projectId: onlyProject(projectIds),
  facts: { count: found.length, projects: new Set(found.map(({ projectId }) => projectId)).size },
  disclosed: disclosureOf(found.map(({ id }) => id)),
});

/** The digests that the value of a secret has in projects. */
async function digestsLike(
  tx: Transaction,
  { project, record }: FoundSecret,
  projectIds: readonly string[],
): Promise<readonly ProjectDigest[]> {
  const stored = await tx.em.findOne(Secret, { id: record.id }, { fields: ['valueDigest'] });
  const digest = stored?.valueDigest;
  if (digest == null)
    throw validationFailed([{ path: 'likeSecretId', code: 'EMPTY_VALUE', message: 'must be a secret with a value' }]);
  const keyIds = new Map([project.projectId, ...projectIds].map((projectId) => [projectId, []]));
  const sealers = await tx.keyring.sealers(queryOf(tx), tx.organizationId, keyIds);
  const clear = sealers.get(project.projectId)?.unblind(digest);
  return projectIds.flatMap((projectId) => {
    const sealer = sealers.get(projectId);
    return sealer === undefined || clear === undefined ? [] : [{ projectId, digest: sealer.blind(clear) }];
  });
}

/** The secrets with a value that the caller may read, or some of them when there are too many. */
async function listEqual(
  tx: Transaction,
  digests: readonly ProjectDigest[],
  reach: SecretReach,
): Promise<{ seen: readonly Located[]; isTooMany: boolean }> {
  const bounds = await loadBounds(tx, reach.accesses, ['secrets:describeSecret', 'secrets:readValue']);
  const criteria = { projectIds: reach.projectIds, openProjectIds: reach.openProjectIds, environments: [], bounds };
  const rows = await listMembers(
    tx,
    criteria,
    digests.map((digest) => ({ ...digest, group: 0 })),
  );
  const seen = await filterYielding(rows, reach.includes);
  return { seen, isTooMany: rows.length >= MAX_MEMBERS || seen.length > MAX_SECRETS };
}

interface ToHold {
  readonly like: FoundSecret | null;
  readonly currentValue: string | undefined;
  readonly editable: readonly FoundSecret[];
}

/**
 * Locks the secrets to change, and the one that was named.
 *
 * @returns those that still have the value
 * @throws CONCURRENT_CHANGE when the named secret has just got another value
 */
async function holdEqual(tx: Transaction, { like, currentValue, editable }: ToHold): Promise<FoundSecret[]> {
  const others = editable.filter(({ record }) => record.id !== like?.record.id);
  const locked = await lockSecrets(tx, like === null ? others : [like, ...others]);
  const present = like === null ? undefined : locked.get(like.record.id);
  if (present?.record.version !== like?.record.version) throw new AppError('CONCURRENT_CHANGE');
  const openers = await openersFor(
    tx,
    [...locked.values()].map(({ record }) => record),
  );
  const openValue = ({ record }: FoundSecret) => openSecretValue(openers.get(record.projectId) as Sealer, record);
  const value = present === undefined ? new SealedText(currentValue ?? '') : openValue(present);
  return editable.flatMap(({ record: { id } }) => {
    const found = locked.get(id);
    return found !== undefined && openValue(found).equals(value) ? [found] : [];
  });
}

async function viewsOf(tx: Transaction, found: readonly FoundSecret[]): Promise<SecretView[]> {
  const openers = await openersFor(
    tx,
    found.map(({ record }) => record),
  );
  return found.map(({ project, record }) =>
    new SecretViewer(openers.get(project.projectId) as Sealer, new Visibility(project.ability), false).view(record),
  );
}
