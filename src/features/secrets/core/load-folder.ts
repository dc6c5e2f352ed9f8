import type { Context } from '../../../kernel/context.js';
import { AppError, type ErrorDetail } from '../../../kernel/errors.js';
import type { ProjectAccess, ProjectReader } from '../../projects/public.js';
import type { SecretLocation } from '../scope/location.rules.js';
import { findFolderLocations } from './secret.queries.js';
import type { PathOf } from './secret.rules.js';

/** An environment and a folder that exist. */
export interface FoundFolder {
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
export async function loadFolder(ctx: Context, { secretPath, ...at }: SecretLocation): Promise<FoundFolder> {
  const [found] = await findFolderLocations(ctx, { ...at, secretPaths: [secretPath] });
  if (found === undefined) throw new AppError('ENVIRONMENT_NOT_FOUND');
  const { environmentId, folderId } = found;
  if (folderId === null) throw new AppError('FOLDER_NOT_FOUND');
  return { environmentId, folderId };
}

/**
 * The folders of several secrets of an environment, in their order.
 *
 * @throws ENVIRONMENT_NOT_FOUND, FOLDER_NOT_FOUND, with the path of each secret
 */
export async function loadFolders(
  ctx: Context,
  { projectId, environment }: SecretLocation,
  { secretPaths, pathOf }: { readonly secretPaths: readonly string[]; readonly pathOf: PathOf },
): Promise<(FoundFolder & { readonly place: SecretLocation })[]> {
  const rows = await findFolderLocations(ctx, { projectId, environment, secretPaths: [...new Set(secretPaths)] });
  const [first] = rows;
  if (first === undefined) throw new AppError('ENVIRONMENT_NOT_FOUND');
  const { environmentId } = first;
  const folderIds = new Map(rows.map(({ path, folderId }) => [path, folderId]));
  const details = secretPaths.flatMap((path, index): ErrorDetail[] =>
    folderIds.has(path)
      ? []
      : [
          {
            path: pathOf(index, 'secretPath'),
            code: 'FOLDER_NOT_FOUND',
            message: 'is not a folder of the environment',
          },
        ],
  );
  if (details.length > 0) throw new AppError('FOLDER_NOT_FOUND', undefined, { details });
  return secretPaths.map((secretPath) => ({
    environmentId,
    folderId: folderIds.get(secretPath) as string,
    place: { projectId, environment, secretPath },
  }));
}
