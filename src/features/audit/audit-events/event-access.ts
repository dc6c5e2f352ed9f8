import { authorize, can } from '../../../kernel/authz/ability.js';
import type { Context } from '../../../kernel/context.js';
import { isId } from '../../../kernel/ids.js';
import type { ProjectReader } from '../../projects/public.js';

/**
 * Allows a caller to read the trail: with the right of the organization all of it, also of projects that it is no member of and of
 * deleted ones; with the right of a project what happened in there.
 *
 * @param projectId null: all of the organization
 * @returns id of the project in the form of rows
 * @throws PERMISSION_DENIED, PROJECT_NOT_FOUND
 */
export async function authorizeTrail(
  ctx: Context,
  projects: ProjectReader,
  projectId: string | null,
): Promise<string | null> {
  if (projectId === null) {
    authorize(ctx, 'audit-logs:read');
    return null;
  }
  if (readsWholeTrail(ctx)) return idOrNone(projectId);
  return (await projects.authorized(ctx, projectId, 'audit-logs:read')).projectId;
}

/** Whether a caller may read all of the trail of its organization. */
export const readsWholeTrail = ({ ability }: Context): boolean => can(ability, 'audit-logs:read');

/** Not the id of zeros, which the service itself has. */
const NOBODY = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** An id as rows have it; a text that is none finds nothing. */
export const idOrNone = (text: string): string => (isId(text) ? text.toLowerCase() : NOBODY);
