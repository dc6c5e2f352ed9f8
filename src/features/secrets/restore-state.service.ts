import { authorize } from '../../kernel/authz/ability.js';
import type { Context, Transaction } from '../../kernel/context.js';
import { inTransaction } from '../../kernel/database/in-transaction.js';
import { AppError } from '../../kernel/errors.js';
import { newId } from '../../kernel/ids.js';
import { parse } from '../../kernel/validation.js';
import type { ProjectAccess, ProjectReader } from '../projects/public.js';
import { lockEnvironments } from './folder-writes.js';
import type { Place } from './place.rules.js';
import { rewriteReferencesTo } from './reference-rewriting.js';
import { byName, type Name, RestoreSecrets } from './restore.rules.js';
import { goneTagsOf, restoredRow } from './restore-contents.js';
import { loadStatePlan, type StatePlan } from './restore-plan.js';
import { lockHistories, makeFolders } from './restore-writes.js';
import { loadPlace, loadSecretProject } from './secret-place.js';
import { sealerFor } from './secret-sealing.js';
import {
  deleteSecrets,
  insertSecrets,
  lockHomesIn,
  pruneVersions,
  type SecretRow,
  updateSecrets,
} from './secret-writes.js';
import { listReached, type Reach } from './version.records.js';
import { authorizeListing, Visibility } from './visibility.rules.js';

/** What a restore did, or would do: secrets by place and key, each by its name after the restore, those deleted by their last. */
export interface RestoredState {
  readonly created: readonly Name[];
  readonly changed: readonly Name[];
  readonly deleted: readonly Name[];
  /** Paths of the folders made again. */
  readonly createdFolders: readonly string[];
  /** Tags that secrets had and that are gone. */
  readonly leftOutTagIds: readonly string[];
}

/** A restore of many, checked. */
interface Request {
  readonly project: ProjectAccess;
  readonly place: Place;
  readonly reach: Reach;
  readonly at: Date;
}

/** Brings back what a folder or an environment was at a moment. */
export class StateRestoreService {
  constructor(private readonly projects: ProjectReader) {}

  /**
   * Makes the secrets of a folder, with `recursive` also of all below it, what they were at a moment: all or nothing, in a
   * number of statements that does not depend on how many there are. A secret whose place and contents are right is not
   * written. One that was made or came in since is deleted, one that was deleted since comes back with its id, and one that
   * was moved out is put back as a copy. Folders keep the names they have now; those that are gone are made again. References
   * of secrets outside follow the keys and places that change; those inside are restored with their values. A moment in
   * the future is now. The caller must know of all that is or was there, also where it is now, and may change what changes.
   *
   * @param raw place, `recursive`, `at`, `dryRun`; the rules are `RestoreSecrets`
   * @throws VALIDATION_FAILED, PROJECT_NOT_FOUND, ENVIRONMENT_NOT_FOUND, FOLDER_NOT_FOUND (nothing is or was there), PERMISSION_DENIED,
   *   HISTORY_TOO_SHORT, SECRET_KEY_TAKEN, SECRET_REFERENCED, REFERENCES_TOO_LONG, CONCURRENT_CHANGE, SEALED_VALUE_INVALID,
   *   AUDIT_UNAVAILABLE
   */
  async restore(ctx: Context, raw: unknown): Promise<RestoredState> {
    const { recursive, at, dryRun, ...place } = parse(RestoreSecrets, raw);
    const project = await loadSecretProject(ctx, this.projects, place.projectId);
    const { environment, secretPath } = place;
    authorizeListing(project);
    // Whatever the restore would find: what it refuses only for what is there tells of that. Who may know of everything is
    // told nothing by it: his rules may look at what only secrets have, and the plan asks for each.
    const { describesAll } = new Visibility(project.ability);
    authorize(project, 'secrets:edit', describesAll ? undefined : { environment, secretPath });
    // The folder may be gone; the root folder is as old as the environment.
    const { environmentId } = await loadPlace(ctx, { ...place, secretPath: '/' });
    const request = { project, place, reach: { environmentId, path: place.secretPath, recursive }, at };
    if (dryRun) return this.#preview(ctx, request);
    return inTransaction(ctx, async (tx) => {
      const locked = await lockEnvironments(tx, project.projectId, [place.environment]);
      const named = locked.get(place.environment);
      if (named === undefined) throw new AppError('ENVIRONMENT_NOT_FOUND');
      // Another one has got its slug, by which the rules are asked.
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

/** Secrets that are or were in reach. @throws FOLDER_NOT_FOUND when there are none, and no folder either */
async function reached(ctx: Context, { place, reach }: Request): Promise<readonly string[]> {
  const ids = await listReached(ctx, reach);
  if (ids.length === 0) await loadPlace(ctx, place);
  return ids;
}

/** @returns ids of the secrets that are there again, copies too */
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
  if ((await updateSecrets(tx, project, changed)).length !== changed.length) throw new AppError('CONCURRENT_CHANGE');
  await insertSecrets(tx, project, created);
  const createdIds = created.map(({ id }) => id);
  await pruneVersions(tx, createdIds);
  const renamings = plan.changes
    .filter(({ present, past }) => byName(present, past) !== 0)
    .map(({ present, past }) => ({
      from: { environment, path: present.path, key: present.key },
      to: { environment, path: past.path, key: past.key },
    }));
  // Secrets in reach are what they were, references too.
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
