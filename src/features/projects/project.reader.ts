import type { Context } from '../../kernel/context.js';
import { AppError } from '../../kernel/errors.js';
import { findAccess, type ProjectAccess } from './project.records.js';

/** What other slices read of projects. */
export class ProjectReader {
  /**
   * A project as the caller has it, in one statement. Unknown, of another organization, and not a member: all the same.
   *
   * @throws PROJECT_NOT_FOUND
   * Source: decisions 2.3, reliability P18.
   */
  async load(ctx: Context, projectId: string): Promise<ProjectAccess> {
    const project = await findAccess(ctx, projectId);
    if (project === undefined) throw new AppError('PROJECT_NOT_FOUND');
    return project;
  }
}
