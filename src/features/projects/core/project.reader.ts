import { type Ability, type Action, authorize, type Rule } from '../../../kernel/authz/ability.js';
import { type Context, isTransaction, type Transaction } from '../../../kernel/context.js';
import { batched, primeBatch } from '../../../kernel/database/batched.js';
import { AppError, type ErrorCode } from '../../../kernel/errors.js';
import { distinctIds, isId, NO_ID } from '../../../kernel/ids.js';
import { NO_RIGHTS, readStoredRules, rulesOfRoles } from '../../identity/permissions/public.js';
import { findBySlug } from './find-projects.js';
import { projectNotFound } from './not-found.js';
import { lockAssignmentsOfGroup } from './project.sql.js';
import {
  accessFromSnapshot,
  findAccess,
  findCurrentAccess,
  listAccess,
  listAccessBelow,
  type ProjectAccess,
} from './project-access.js';

/** An item that a caller names by ID, optionally with the project that it must belong to. */
interface ItemKey {
  readonly id: string;
  readonly projectId?: string | null | undefined;
}

/** A row of a project. */
interface InProject {
  readonly projectId: string;
}

/** How items of projects are found by ID alone, and the error code for a missing one. */
interface OwnedKind<Row extends InProject> {
  readonly find: (ctx: Context, params: { readonly ids: readonly string[] }) => Promise<Row[]>;
  readonly notFound: ErrorCode;
}

/** What a group grants in a project, and what the caller may do there. */
interface GroupRights {
  readonly rules: readonly Rule[];
  readonly own: Ability;
}

/** What other slices read from projects. */
export class ProjectReader {
  /**
   * A project as the caller sees it. Unknown, of another organization, and not a member: no difference.
   *
   * In a transaction it is read there. Outside of one it is read once per request, in one statement for all projects
   * that are requested together, and kept: one response is decided by one set of rules.
   *
   * @throws PROJECT_NOT_FOUND
   */
  async load(ctx: Context, projectId: string): Promise<ProjectAccess> {
    const project = await this.find(ctx, projectId);
    if (project === undefined) throw new AppError('PROJECT_NOT_FOUND');
    return project;
  }

  /** As `load`, by its slug in the organization of the token. @throws PROJECT_NOT_FOUND */
  async loadBySlug(ctx: Context, slug: string): Promise<ProjectAccess> {
    const project = await findBySlug(ctx, slug);
    if (project === undefined) throw await projectNotFound(ctx, slug);
    return project.access;
  }

  /** As `load`, for callers who may perform the action in the project. @throws PROJECT_NOT_FOUND, PERMISSION_DENIED */
  async authorized(ctx: Context, projectId: string, action: Action): Promise<ProjectAccess> {
    const project = await this.load(ctx, projectId);
    authorize(project, action);
    return project;
  }

  /**
   * The project of an item that the caller named by ID only. An item of a project that the caller cannot see does not
   * exist.
   *
   * @param projectId undefined: there is no such item
   * @throws `notFound`
   */
  async loadOwning(ctx: Context, projectId: string | undefined, notFound: ErrorCode): Promise<ProjectAccess> {
    // Looked up in any case, so that an unknown ID takes the same statements as a hidden one.
    const project = await this.find(ctx, projectId ?? NO_ID);
    if (project === undefined) throw new AppError(notFound);
    return project;
  }

  /**
   * The project of an item, for callers who may perform the action in it. Where the project was named, the item has not
   * been looked up yet.
   *
   * @throws `notFound`, PERMISSION_DENIED; PROJECT_NOT_FOUND for a project that was named
   */
  async authorizedOwner(
    ctx: Context,
    { id, projectId }: ItemKey,
    { find, notFound }: OwnedKind<InProject>,
    action: Action,
  ): Promise<ProjectAccess> {
    if (projectId != null) return this.authorized(ctx, projectId, action);
    const [row] = isId(id) ? await find(ctx, { ids: [id] }) : [];
    const project = await this.loadOwning(ctx, row?.projectId, notFound);
    authorize(project, action);
    return project;
  }

  /** An item and its project, for callers who may perform the action in it. @throws as `authorizedOwner` */
  async authorizedItem<Row extends InProject>(
    ctx: Context,
    { id, projectId }: ItemKey,
    { find, notFound }: OwnedKind<Row>,
    action: Action,
  ): Promise<{ readonly row: Row; readonly project: ProjectAccess }> {
    const named = projectId == null ? undefined : await this.authorized(ctx, projectId, action);
    const [row] = isId(id) ? await find(ctx, { ids: [id] }) : [];
    const project = named ?? (await this.loadOwning(ctx, row?.projectId, notFound));
    authorize(project, action);
    if (row?.projectId !== project.projectId) throw new AppError(notFound);
    return { row, project };
  }

  /** As `load`; undefined when there is none. */
  async find(ctx: Context, projectId: string): Promise<ProjectAccess | undefined> {
    const id = projectId.toLowerCase();
    return isTransaction(ctx) ? (await findAccess(ctx, [id])).get(id) : batched(ctx, findCurrentAccess, id);
  }

  /**
   * As `find`, outside of transactions, without a statement where the look at the caller has seen the project too. Whoever asks for it
   * later in the request finds the same.
   */
  async findAtArrival(ctx: Context, projectId: string): Promise<ProjectAccess | undefined> {
    const id = projectId.toLowerCase();
    const seen = accessFromSnapshot(ctx, id);
    if (seen !== undefined) primeBatch(ctx, findCurrentAccess, id, seen);
    const project = await this.find(ctx, id);
    if (project !== undefined) ctx.accessSnapshot?.expect(id);
    return project;
  }

  /** The projects of items that were found by ID, in one statement: those that the caller can see, by ID. */
  listOwning(ctx: Context, projectIds: readonly string[]): Promise<ReadonlyMap<string, ProjectAccess>> {
    // Queried in any case, as by `loadOwning`.
    return findAccess(ctx, projectIds.length === 0 ? [NO_ID] : distinctIds(projectIds));
  }

  /**
   * What a group grants in each of its projects, of the caller's organization and its sub-organizations, and what the
   * caller may do there itself. The memberships are locked until the transaction ends.
   */
  async rightsOfGroup(tx: Transaction, groupId: string): Promise<readonly GroupRights[]> {
    const held = await lockAssignmentsOfGroup(tx, { groupId });
    const ids = held.map(({ projectId }) => projectId);
    const accesses = ids.length === 0 ? [] : await listAccessBelow(tx, tx.actor.id, ids);
    const own = new Map(accesses.map(({ projectId, ability }) => [projectId, ability]));
    return held.map(({ projectId, roles, storedRules, privileges }) => ({
      rules: rulesOfRoles(
        roles,
        [...(storedRules ?? []), ...(privileges ?? [])].map((stored) => readStoredRules(stored)),
      ),
      own: own.get(projectId) ?? NO_RIGHTS,
    }));
  }

  /**
   * Projects as the caller sees them, in one statement.
   *
   * @param projectIds null: all projects of the caller's organization that it is a member of
   * @throws PROJECT_NOT_FOUND when it can see no project with one of the IDs
   */
  async listAccessible(ctx: Context, projectIds: readonly string[] | null): Promise<readonly ProjectAccess[]> {
    if (projectIds === null) return listAccess(ctx);
    const wanted = distinctIds(projectIds);
    const found = await findAccess(ctx, wanted);
    if (found.size < wanted.length) throw new AppError('PROJECT_NOT_FOUND');
    return [...found.values()];
  }
}
