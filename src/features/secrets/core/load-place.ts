import type { Context } from '../../../kernel/context.js';
import { AppError } from '../../../kernel/errors.js';
import type { ProjectAccess, ProjectReader } from '../../projects/public.js';
import type { Place } from '../scope/place.rules.js';
import { findPlace } from './secret.sql.js';

/** An environment and a folder that exist. */
export interface FoundPlace {
  readonly environmentId: string;
  readonly folderId: string;
}

/**
 * A project that can hold secrets.
 *
 * @throws PROJECT_NOT_FOUND, VALIDATION_FAILED (WRONG_PROJECT_TYPE)
 */
export async function loadSecretProject(
  ctx: Context,
  projects: ProjectReader,
  projectId: string,
): Promise<ProjectAccess> {
  const project = await projects.load(ctx, projectId);
  refuseOtherType(project, 'projectId');
  return project;
}

/** @param path where the project was named @throws VALIDATION_FAILED (WRONG_PROJECT_TYPE) unless the project can hold secrets */
export function refuseOtherType({ type }: ProjectAccess, path: string): void {
  if (type === 'secret-manager') return;
  throw new AppError('VALIDATION_FAILED', 'Only projects of the type secret-manager have secrets and folders.', {
    details: [{ path, code: 'WRONG_PROJECT_TYPE', message: 'must be a project of the type secret-manager' }],
  });
}

/** @throws ENVIRONMENT_NOT_FOUND, FOLDER_NOT_FOUND */
export async function loadPlace(ctx: Context, place: Place): Promise<FoundPlace> {
  const [found] = await findPlace(ctx, place);
  if (found === undefined) throw new AppError('ENVIRONMENT_NOT_FOUND');
  const { environmentId, folderId } = found;
  if (folderId === null) throw new AppError('FOLDER_NOT_FOUND');
  return { environmentId, folderId };
}
