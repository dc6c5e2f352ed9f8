import { authorize } from '../../../kernel/authz/ability.js';
import type { Context, Transaction } from '../../../kernel/context.js';
import type { Sealer } from '../../../kernel/crypto/sealer.js';
import { inTransaction } from '../../../kernel/database/in-transaction.js';
import { AppError, type ErrorDetail } from '../../../kernel/errors.js';
import { newId } from '../../../kernel/ids.js';
import { parse } from '../../../kernel/validation.js';
import type { ProjectAccess, ProjectReader } from '../../projects/public.js';
import { listByIds, type SecretRecord } from '../core/find-secrets.js';
import { loadFolder, loadSecretProject } from '../core/load-folder.js';
import { refuseRotated, violationsOfRemoval } from '../core/rotated-guard.js';
import { lockFoldersIn, lockHistories } from '../core/secret.queries.js';
import { openerFor, type SecretPlaintext, sealerFor } from '../core/secret-sealing.js';
import { deleteSecrets, insertSecrets, type SecretRow, updateSecrets } from '../core/secret-writes.js';
import { pruneVersions } from '../core/secret-writes.sql.js';
import { type FoundFolders, findPaths, lockEnvironments, makeFolders } from '../folders/folder-changes.js';
import { rewriteReferencesTo } from '../references/reference-writes.js';
import { joinPath, type SecretLocation } from '../scope/location.rules.js';
import { authorizeListing, Visibility } from '../scope/visibility.rules.js';
import { deletedTagIds, hasContents, openContents, restoredRow } from '../versions/restore-contents.js';
import {
  listNewestStates,
  listReached,
  listSubjectsInReach,
  listVersionsAt,
  type NewestState,
  type PastRow,
  type Reach,
  type VersionSubject,
} from '../versions/version.sql.js';
import {
  byName,
  isWithinPath,
  type Name,
  namesClaimedTwice,
  type PastSecret,
  type PresentSecret,
  planRestore,
  type RestorePlan,
  RestoreSecrets,
} from './restore.rules.js';
import { RestoreGuard } from './restore-guard.js';

/**
 * Result of a restore: secrets by location and key, each by its name after the restore, deleted ones by their last
 * name.
 */
export interface RestoredState {
  readonly created: readonly Name[];
  readonly changed: readonly Name[];
  readonly deleted: readonly Name[];
  /** Paths of the folders that were created again. */
  readonly createdFolders: readonly string[];
  /** Deleted tags that secrets had. */
  readonly leftOutTagIds: readonly string[];
}

/** A restore of many secrets, authorized. */
interface Request {
  readonly project: ProjectAccess;
  readonly place: SecretLocation;
  readonly reach: Reach;
  readonly at: Date;
}

/** Restores a folder or an environment to a point in time. */
export class StateRestoreService {
  constructor(private readonly projects: ProjectReader) {}

  /**
   * Restores the secrets of a folder, with `recursive` also of all below it, to a point in time: all or nothing, in a
   * constant number of statements. A secret with the right location and contents is not written. One that was created
   * or moved in since is deleted, one that was deleted since is created again with its ID, and one that was moved out
   * is restored as a copy. Folders keep their current names; deleted ones are created again. References of secrets
   * outside are updated for the keys and locations that change; those inside are restored with their values. A time in
   * the future means now. The caller must be allowed to see all secrets that are or were there, also at their current
   * locations, and to make each change.
   *
   * @param raw place, `recursive`, `at`, `dryRun`; the rules are `RestoreSecrets`
   * @throws VALIDATION_FAILED, PROJECT_NOT_FOUND, ENVIRONMENT_NOT_FOUND, FOLDER_NOT_FOUND (nothing is or was there),
   * PERMISSION_DENIED, HISTORY_TOO_SHORT, SECRET_KEY_TAKEN, SECRET_REFERENCED, REFERENCES_TOO_LONG, CONCURRENT_CHANGE,
   * SEALED_VALUE_INVALID, AUDIT_UNAVAILABLE
   */
  async restore(ctx: Context, raw: unknown): Promise<RestoredState> {
    const { recursive, at, dryRun, ...place } = parse(RestoreSecrets, raw);
    const project = await loadSecretProject(ctx, this.projects, place.projectId);
    const { environment, secretPath } = place;
    authorizeListing(project);
    // Whatever the restore would find: a denial that depends on existing secrets would reveal them. A caller who may
    // see everything learns nothing by it: its rules may depend on attributes that only secrets have, and the plan
    // checks each.
    const { describesAll } = new Visibility(project.ability);
    authorize(project, 'secrets:edit', describesAll ? undefined : { environment, secretPath });
    // The folder may be deleted; the root folder is as old as the environment.
    const { environmentId } = await loadFolder(ctx, { ...place, secretPath: '/' });
    const request = { project, place, reach: { environmentId, path: place.secretPath, recursive }, at };
    if (dryRun) return this.#preview(ctx, request);
    return inTransaction(ctx, async (tx) => {
      const locked = await lockEnvironments(tx, project.projectId, [place.environment]);
      const named = locked.get(place.environment);
      if (named === undefined) throw new AppError('ENVIRONMENT_NOT_FOUND');
      // Another one has taken its slug, which the rules are checked with.
      if (named.environmentId !== environmentId) throw new AppError('CONCURRENT_CHANGE');
      // Some were moved out of it, to where they are locked, too. The structure is locked: all stay where they are.
      await lockFoldersIn(tx, { ...request.reach, secretIds: await reached(tx, request) });
      // With those that were created meanwhile.
      const ids = await reached(tx, request);
      await lockHistories(tx, ids);
      const plan = await loadStatePlan(tx, { ...request, environment: place.environment, ids });
      const createdIds = await carryOut(tx, request, plan);
      const { projectId, facts } = factsOf(request, plan);
      await tx.auditTrail.recordChange(tx, {
        action: 'secret:restore-state',
        projectId,
        facts: { ...facts, createdIds },
      });
      return outcomeOf(plan);
    });
  }

  async #preview(ctx: Context, request: Request): Promise<RestoredState> {
    const ids = await reached(ctx, request);
    const plan = await loadStatePlan(ctx, { ...request, environment: request.place.environment, ids });
    await ctx.auditTrail.recordRead(ctx, { action: 'secret:preview-restore', ...factsOf(request, plan) });
    return outcomeOf(plan);
  }
}

/** Secrets that are or were in scope. @throws FOLDER_NOT_FOUND when there are none, and no folder either */
async function reached(ctx: Context, { place, reach }: Request): Promise<readonly string[]> {
  const ids = (await listReached(ctx, reach)).map(({ id }) => id);
  if (ids.length === 0) await loadFolder(ctx, place);
  return ids;
}

/** @returns IDs of the secrets that were created again, including copies */
async function carryOut(tx: Transaction, { project, place, reach }: Request, plan: StatePlan): Promise<string[]> {
  const { environment } = place;
  const { environmentId } = reach;
  const folders = await makeFolders(tx, { project, environment, environmentId }, plan.folders);
  const at = (path: string) => ({ environmentId, folderId: folders.get(path) as string });
  const sealer = await sealerFor(tx, project, plan.changes.length + plan.creates.length);
  const guard = new RestoreGuard(project);
  const changed = plan.changes.map(({ present, past }) => ({
    ...restoredRow(sealer, past.contents, { id: present.id, version: present.record.version + 1, ...at(past.path) }),
    renewsAge: !guard.readsValue(present.record),
  }));
  const created = plan.creates.map(({ past, isCopy }): SecretRow => {
    const row = isCopy ? { id: newId(), version: 1 } : { id: past.id, version: past.record.newestVersion + 1 };
    return restoredRow(sealer, past.contents, { ...row, ...at(past.path) });
  });
  await deleteSecrets(
    tx,
    plan.deletes.map(({ id }) => id),
  );
  await updateSecrets(tx, project, changed);
  await insertSecrets(tx, project, created);
  const createdIds = created.map(({ id }) => id);
  if (createdIds.length > 0) await pruneVersions(tx, { ids: createdIds });
  const renamings = plan.changes
    .filter(({ present, past }) => byName(present, past) !== 0)
    .map(({ present, past }) => ({
      from: { environment, path: present.path, key: present.key },
      to: { environment, path: past.path, key: past.key },
    }));
  // Secrets in scope are restored as they were, including references.
  await rewriteReferencesTo(tx, project, renamings, { except: new Set([...plan.presentIds, ...createdIds]) });
  return createdIds;
}

const pastsOf = ({ changes, creates }: StatePlan) => [...changes, ...creates].map(({ past }) => past);

const nameOnly = ({ path, key }: Name): Name => ({ path, key });

const outcomeOf = (plan: StatePlan): RestoredState => ({
  created: plan.creates.map(({ past }) => nameOnly(past)).sort(byName),
  changed: plan.changes.map(({ past }) => nameOnly(past)).sort(byName),
  deleted: plan.deletes.map(nameOnly).sort(byName),
  createdFolders: plan.folders.missing.toSorted(),
  leftOutTagIds: [...new Set(pastsOf(plan).flatMap(({ record }) => deletedTagIds(record)))].sort(),
});

const factsOf = ({ project, reach, at }: Request, { creates, changes, deletes, folders }: StatePlan) => ({
  projectId: project.projectId,
  facts: {
    environmentId: reach.environmentId,
    recursive: reach.recursive,
    at: at.toISOString(),
    created: creates.length,
    changed: changes.length,
    deleted: deletes.length,
    createdFolders: folders.missing.length,
    changedIds: changes.map(({ present }) => present.id),
    deletedIds: deletes.map(({ id }) => id),
  },
});

/** The current state of a secret in scope. */
interface Present extends PresentSecret {
  readonly record: SecretRecord;
}

/** The earlier state of a secret in scope. */
class Past implements PastSecret {
  readonly id: string;
  readonly path: string;
  readonly key: string;
  #clear: SecretPlaintext | undefined;

  constructor(
    readonly record: PastRow,
    readonly newest: NewestState,
    readonly isElsewhere: boolean,
    private readonly open: (record: PastRow) => SecretPlaintext,
  ) {
    this.id = record.id;
    this.path = record.placePath;
    this.key = record.key;
  }

  /** Decrypted on first use: secrets that were not written since need none. @throws SEALED_VALUE_INVALID */
  get contents(): { readonly record: PastRow; readonly clear: SecretPlaintext } {
    this.#clear ??= this.open(this.record);
    return { record: this.record, clear: this.#clear };
  }
}

/** The steps of a restore, authorized. */
interface StatePlan extends RestorePlan<Present, Past> {
  /** All secrets in scope. */
  readonly presentIds: readonly string[];
  readonly folders: FoundFolders;
}

/** What a plan is based on. */
interface PlanBasis {
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
async function loadStatePlan(ctx: Context, { project, environment, reach, at, ids }: PlanBasis): Promise<StatePlan> {
  const guard = new RestoreGuard(project);
  const records = await listByIds(ctx, ids);
  const present = records
    .filter((record) => record.environmentId === reach.environmentId && isWithinPath(record.path, reach))
    .map((record): Present => ({ id: record.id, path: record.path, key: record.key, record }));
  if (guard.isPerSecret) authorizeReach(guard, present, await listSubjectsInReach(ctx, reach));
  const pastRecords = await listVersionsAt(ctx, { ...reach, ids, at });
  const newest = await loadNewestStates(ctx, pastRecords);
  const describes = (record: PastRow): boolean => guard.versionsOf(newest(record)).describes(record);
  refuseUnknown(pastRecords, describes);
  const opener = await openerFor(ctx, project, [...records, ...pastRecords]);
  const open = (record: PastRow): SecretPlaintext => openContents(opener, project, record);
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
      hasContents(opener, record, past.contents));

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
function authorizeReach(guard: RestoreGuard, present: readonly Present[], past: readonly VersionSubject[]): void {
  for (const { record } of present) guard.requireDescribed(record);
  const presentIds = new Set(present.map(({ id }) => id));
  const others = Map.groupBy(
    past.filter(({ id }) => !presentIds.has(id)),
    ({ id }) => id,
  );
  for (const versions of others.values())
    guard.requireDescribed(versions.find((version) => guard.describes(version)) ?? (versions[0] as VersionSubject));
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
