import type { Context } from '../../../kernel/context.js';
import type { Sealer } from '../../../kernel/crypto/sealer.js';
import { AppError, type ErrorDetail } from '../../../kernel/errors.js';
import type { ProjectAccess } from '../../projects/public.js';
import { listByIds, type SecretRecord } from '../core/find-secrets.js';
import { type Clear, openerFor } from '../core/secret-sealing.js';
import { type FoundFolders, findPaths } from '../folders/folder-writes.js';
import { refuseRotated, violationsOfRemoval } from '../kept-keys/rotated-guard.js';
import { joinPath } from '../scope/place.rules.js';
import { contentsOf, holds } from '../versions/restore-contents.js';
import {
  listNewestStates,
  listPast,
  listSubjectsInReach,
  type NewestState,
  type PastRow,
  type PastSubject,
  type Reach,
} from '../versions/version.sql.js';
import {
  isInReach,
  type Name,
  namesClaimedTwice,
  type PastSecret,
  type PresentSecret,
  planRestore,
  type RestorePlan,
} from './restore.rules.js';
import { RestoreGuard } from './restore-guard.js';

/** The current state of a secret in scope. */
interface Present extends PresentSecret {
  readonly record: SecretRecord;
}

/** The earlier state of a secret in scope. */
class Past implements PastSecret {
  readonly id: string;
  readonly path: string;
  readonly key: string;
  #clear: Clear | undefined;

  constructor(
    readonly record: PastRow,
    readonly newest: NewestState,
    readonly isElsewhere: boolean,
    private readonly open: (record: PastRow) => Clear,
  ) {
    this.id = record.id;
    this.path = record.placePath;
    this.key = record.key;
  }

  /** Decrypted on first use: secrets that were not written since need none. @throws SEALED_VALUE_INVALID */
  get contents(): { readonly record: PastRow; readonly clear: Clear } {
    this.#clear ??= this.open(this.record);
    return { record: this.record, clear: this.#clear };
  }
}

/** The steps of a restore, authorized. */
export interface StatePlan extends RestorePlan<Present, Past> {
  /** All secrets in scope. */
  readonly presentIds: readonly string[];
  readonly folders: FoundFolders;
}

/** What a plan is based on. */
interface Wanted {
  readonly project: ProjectAccess;
  readonly environment: string;
  readonly reach: Reach;
  readonly at: Date;
  /** Secrets that are or were in scope. */
  readonly ids: readonly string[];
}

/**
 * Compares the current and the earlier state of the scope, and plans the restore.
 *
 * @throws HISTORY_TOO_SHORT, SECRET_KEY_TAKEN, PERMISSION_DENIED, ROTATED_SECRET, CONCURRENT_CHANGE,
 * SEALED_VALUE_INVALID
 */
export async function loadStatePlan(ctx: Context, wanted: Wanted): Promise<StatePlan> {
  const { project, environment, reach, at, ids } = wanted;
  const guard = new RestoreGuard(project);
  const records = await listByIds(ctx, ids);
  const present = records
    .filter((record) => record.environmentId === reach.environmentId && isInReach(record.path, reach))
    .map((record): Present => ({ id: record.id, path: record.path, key: record.key, record }));
  if (guard.isPerSecret) authorizeReach(guard, present, await listSubjectsInReach(ctx, reach));
  const pastRecords = await listPast(ctx, { ...reach, ids, at });
  const newest = await loadNewestStates(ctx, pastRecords);
  const describes = (record: PastRow): boolean => guard.versionsOf(newest(record)).describes(record);
  refuseUnknown(pastRecords, describes);
  const opener = await openerFor(ctx, project, [...records, ...pastRecords]);
  const open = (record: PastRow): Clear => contentsOf(opener, project, record);
  const inReach = new Set(present.map(({ id }) => id));
  const elsewhere = new Set(records.map(({ id }) => id).filter((id) => !inReach.has(id)));
  const past = pastRecords.map((record) => new Past(record, newest(record), elsewhere.has(record.id), open));
  refuseClaimedTwice(past, describes);
  const plan = planRestore(present, past, sameAs(opener, guard));
  authorizePlan(guard, environment, plan);
  refuseRotatedIn(plan);
  const paths = [...plan.changes, ...plan.creates].map((step) => step.past.path);
  const folders = await findPaths(ctx, { project, environment, environmentId: reach.environmentId }, paths);
  return { ...plan, presentIds: [...inReach], folders };
}

/**
 * Whether a secret is as it was. Contents are compared only for callers who may read both values: others could guess a
 * value by writing it, and see that the restore skips the secret.
 */
const sameAs =
  (opener: Sealer, guard: RestoreGuard) =>
  ({ record }: Present, past: Past): boolean =>
    (record.id === past.id && record.version === past.record.version) ||
    (guard.readsValue(record) &&
      guard.versionsOf(past.newest).readsValue(past.record) &&
      holds(opener, record, past.contents));

/**
 * The newest states of secrets that were in scope. They may be in scope, elsewhere, or deleted.
 *
 * @throws CONCURRENT_CHANGE if one was deleted permanently meanwhile
 */
async function loadNewestStates(ctx: Context, past: readonly PastRow[]): Promise<(record: PastRow) => NewestState> {
  const states = await listNewestStates(ctx, { ids: past.map(({ id }) => id) });
  const byId = new Map(states.map((state) => [state.id, state]));
  if (past.some(({ id }) => !byId.has(id))) throw new AppError('CONCURRENT_CHANGE');
  return ({ id }) => byId.get(id) as NewestState;
}

/**
 * Refuses callers from whom some secret in scope is hidden, whatever point in time they restore. If only some points in
 * time were refused, these would reveal when hidden secrets were written.
 *
 * @param past versions in scope
 * @throws PERMISSION_DENIED unless the caller may see every secret in scope, and some version of every secret that was
 */
function authorizeReach(guard: RestoreGuard, present: readonly Present[], past: readonly PastSubject[]): void {
  for (const { record } of present) guard.requireDescribed(record);
  const presentIds = new Set(present.map(({ id }) => id));
  const others = Map.groupBy(
    past.filter(({ id }) => !presentIds.has(id)),
    ({ id }) => id,
  );
  for (const versions of others.values())
    guard.requireDescribed(versions.find((version) => guard.describes(version)) ?? (versions[0] as PastSubject));
}

/** @throws PERMISSION_DENIED unless the caller may perform every step */
function authorizePlan(
  guard: RestoreGuard,
  environment: string,
  { deletes, changes, creates }: RestorePlan<Present, Past>,
): void {
  const after = ({ path, key, record }: Past) => ({ environment, path, key, tags: record.tags });
  for (const { record } of deletes) guard.authorizeRemoval(record);
  for (const { present, past } of changes)
    guard.authorize({ secret: past.newest, before: present.record, old: past.record, after: after(past) });
  for (const { past } of creates)
    guard.authorize({ secret: past.newest, before: null, old: past.record, after: after(past) });
  for (const { past } of [...changes, ...creates])
    guard.authorizeValue(
      { secret: past.newest, old: past.record, after: after(past) },
      { value: () => past.contents.clear.value, at: joinPath(past.path, past.key) },
    );
}

/**
 * Refuses changes of secrets of rotations: external systems do not accept the earlier credentials any more.
 *
 * @throws ROTATED_SECRET, naming the secrets that would change
 */
function refuseRotatedIn({ deletes, changes }: RestorePlan<Present, Past>): void {
  const present = [...deletes, ...changes.map((change) => change.present)].map(({ record }) => record);
  const nameOf = (at: number): string =>
    joinPath((present[at] as SecretRecord).path, (present[at] as SecretRecord).key);
  refuseRotated(violationsOfRemoval(present, nameOf, 'is managed by a secret rotation, and has changed since'));
}

const violation = (
  { path, key }: Name,
  code: 'HISTORY_TOO_SHORT' | 'SECRET_KEY_TAKEN',
  message: string,
): ErrorDetail => ({
  path: joinPath(path, key),
  code,
  message,
});

/** @throws HISTORY_TOO_SHORT, naming the secrets that the caller may see */
function refuseUnknown(past: readonly PastRow[], describes: (record: PastRow) => boolean): void {
  const unknown = past.filter(({ isKnown }) => !isKnown);
  if (unknown.length === 0) return;
  const details = unknown
    .filter(describes)
    .map(({ placePath: path, key }) =>
      violation({ path, key }, 'HISTORY_TOO_SHORT', 'has no stored version of that time'),
    );
  throw new AppError('HISTORY_TOO_SHORT', undefined, { details });
}

/**
 * Refuses two secrets of one name: their folders had different paths then, and are one folder now.
 *
 * @throws SECRET_KEY_TAKEN, naming those of which the caller may see both
 */
function refuseClaimedTwice(past: readonly Past[], describes: (record: PastRow) => boolean): void {
  if (namesClaimedTwice(past).length === 0) return;
  const known = past.filter(({ record }) => describes(record));
  const details = namesClaimedTwice(known).map((name) =>
    violation(name, 'SECRET_KEY_TAKEN', 'was the key of two secrets in folders that are now one'),
  );
  throw new AppError('SECRET_KEY_TAKEN', undefined, { details });
}
