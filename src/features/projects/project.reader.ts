import type { Context } from '../../kernel/context.js';
import { query } from '../../kernel/database/database.js';
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

  /** An environment of a loaded project, by slug. @throws ENVIRONMENT_NOT_FOUND */
  async environment(
    ctx: Context,
    project: ProjectAccess,
    slug: string,
  ): Promise<{ id: string; slug: string; name: string }> {
    const [found] = await query<{ id: string; slug: string; name: string }>(
      ctx,
      'select id, slug, name from environment where project_id = $1 and slug = $2',
      [project.projectId, slug],
    );
    if (found === undefined) throw new AppError('ENVIRONMENT_NOT_FOUND');
    return found;
  }
}
