import { type Action, authorize } from '../../kernel/authz/ability.js';
import { type Context, isTransaction } from '../../kernel/context.js';
import { batched } from '../../kernel/database/batched.js';
import { AppError } from '../../kernel/errors.js';
import { distinctIds } from '../../kernel/ids.js';
import { findAccess, listAccess, type ProjectAccess } from './project.records.js';

/** What other slices read of projects. */
export class ProjectReader {
  /**
   * A project as the caller has it. Unknown, of another organization, and not a member: all the same.
   *
   * In a transaction it is read there. Outside of one it is read once for the request, in one statement for all projects
   * that are asked for together, and stays what it was: what a reply is made of is judged by one set of rules.
   *
   * @throws PROJECT_NOT_FOUND
   * Source: decisions 2.3, reliability P18.
   */
  async load(ctx: Context, projectId: string): Promise<ProjectAccess> {
    const project = await this.find(ctx, projectId);
    if (project === undefined) throw new AppError('PROJECT_NOT_FOUND');
    return project;
  }

  /** As `load`, for who may do this in the project. @throws PROJECT_NOT_FOUND, PERMISSION_DENIED */
  async authorized(ctx: Context, projectId: string, action: Action): Promise<ProjectAccess> {
    const project = await this.load(ctx, projectId);
    authorize(project, action);
    return project;
  }

  /** As `load`; undefined when there is none. */
  async find(ctx: Context, projectId: string): Promise<ProjectAccess | undefined> {
    const id = projectId.toLowerCase();
    return isTransaction(ctx) ? (await findAccess(ctx, [id])).get(id) : batched(ctx, findAccess, id);
  }

  /**
   * Projects as the caller has them, in one statement.
   *
   * @param projectIds null: all projects of the caller's organization that it is a member of
   * @throws PROJECT_NOT_FOUND when it knows of no such project for one of the ids
   */
  async listAccessible(ctx: Context, projectIds: readonly string[] | null): Promise<readonly ProjectAccess[]> {
    if (projectIds === null) return listAccess(ctx);
    const wanted = distinctIds(projectIds);
    const found = await findAccess(ctx, wanted);
    if (found.size < wanted.length) throw new AppError('PROJECT_NOT_FOUND');
    return [...found.values()];
  }
}
