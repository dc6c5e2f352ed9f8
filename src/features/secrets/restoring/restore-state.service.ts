import { authorize } from '../../../kernel/authz/ability.js';
import type { Context, Transaction } from '../../../kernel/context.js';
import { inTransaction } from '../../../kernel/database/in-transaction.js';
import { AppError } from '../../../kernel/errors.js';
import { newId } from '../../../kernel/ids.js';
import { parse } from '../../../kernel/validation.js';
import type { ProjectAccess, ProjectReader } from '../../projects/public.js';
import { loadPlace, loadSecretProject } from '../core/load-place.js';
import { lockHistories, lockHomesIn } from '../core/locks.queries.js';
import { sealerFor } from '../core/secret-sealing.js';
import { deleteSecrets, insertSecrets, type SecretRow, updateSecrets } from '../core/secret-writes.js';
import { pruneVersions } from '../core/secret-writes.sql.js';
import { lockEnvironments, makeFolders } from '../folders/folder-writes.js';
import { rewriteReferencesTo } from '../references/reference-rewriting.js';
import type { Place } from '../scope/place.rules.js';
import { authorizeListing, Visibility } from '../scope/visibility.rules.js';
import { goneTagsOf, restoredRow } from '../versions/restore-contents.js';
import { listReached, type Reach } from '../versions/version.sql.js';
import { byName, type Name, RestoreSecrets } from './restore.rules.js';
import { loadStatePlan, type StatePlan } from './restore-plan.js';

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
  readonly place: Place;
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
    const { environmentId } = await loadPlace(ctx, { ...place, secretPath: '/' });
    const request = { project, place, reach: { environmentId, path: place.secretPath, recursive }, at };
    if (dryRun) return this.#preview(ctx, request);
    return inTransaction(ctx, async (tx) => {
      const locked = await lockEnvironments(tx, project.projectId, [place.environment]);
      const named = locked.get(place.environment);
      if (named === undefined) throw new AppError('ENVIRONMENT_NOT_FOUND');
      // Another one has taken its slug, which the rules are checked with.
      if (named.environmentId !== environmentId) throw new AppError('CONCURRENT_CHANGE');
      await lockHomesIn(tx, request.reach);
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
  if (ids.length === 0) await loadPlace(ctx, place);
  return ids;
}

/** @returns IDs of the secrets that were created again, including copies */
async function carryOut(tx: Transaction, { project, place, reach }: Request, plan: StatePlan): Promise<string[]> {
  const { environment } = place;
  const { environmentId } = reach;
  const folders = await makeFolders(tx, { project, environment, environmentId }, plan.folders);
  const at = (path: string) => ({ environmentId, folderId: folders.get(path) as string });
  const sealer = await sealerFor(tx, project, plan.changes.length + plan.creates.length);
  const changed = plan.changes.map(({ present, past }) =>
    restoredRow(sealer, past.contents, { id: present.id, version: present.record.version + 1, ...at(past.path) }),
  );
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
  leftOutTagIds: [...new Set(pastsOf(plan).flatMap(({ record }) => goneTagsOf(record)))].sort(),
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
