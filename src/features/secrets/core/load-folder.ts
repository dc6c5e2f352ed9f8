import { can } from '../../../kernel/authz/ability.js';
import type { Context } from '../../../kernel/context.js';
import { AppError, type ErrorDetail } from '../../../kernel/errors.js';
import { nearestName, notFoundBut } from '../../../kernel/suggestions.js';
import { environmentNotFound, type ProjectAccess, type ProjectReader } from '../../projects/public.js';
import { parentOf, pathsDownTo, ROOT, type SecretLocation } from '../scope/location.rules.js';
import { findFolderLocations, listFoldersBeside } from './secret.queries.js';
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

/**
 * FOLDER_NOT_FOUND for a path, with that of a similar folder, if the caller may see it. To be thrown: it takes a statement, so that the
 * other way takes none.
 */
export async function folderNotFound(
  ctx: Context,
  { secretPath, ...at }: SecretLocation & { readonly environmentId: string },
): Promise<AppError> {
  const [similar] = await similarFolders(ctx, at, [secretPath]);
  return notFoundBut('FOLDER_NOT_FOUND', similar);
}

/** For each path that has no folder, that of a similar folder beside the part of the path that exists, if the caller may see it. */
async function similarFolders(
  ctx: Context,
  { projectId, environment, environmentId }: Omit<SecretLocation, 'secretPath'> & { readonly environmentId: string },
  secretPaths: readonly string[],
): Promise<(string | undefined)[]> {
  const stepsOf = (secretPath: string): string[] => [ROOT, ...pathsDownTo(secretPath)];
  const folders = await listFoldersBeside(ctx, {
    environmentId,
    secretPaths: [...new Set(secretPaths.flatMap(stepsOf))],
  });
  const access = await ctx.accessTo(ctx, projectId);
  const known = new Set([ROOT, ...folders.map(({ path }) => path)]);
  return secretPaths.map((secretPath) => {
    const missing = stepsOf(secretPath).find((step) => !known.has(step));
    if (missing === undefined || access === undefined) return undefined;
    const parent = parentOf(missing);
    const isSeen = can(access.ability, 'secret-folders:read', { environment, secretPath: parent });
    const names = folders.filter(({ path }) => isSeen && parentOf(path) === parent).map(({ path }) => lastName(path));
    const nearest = nearestName(lastName(missing), names);
    return nearest && `${parent === ROOT ? '' : parent}/${nearest}`;
  });
}

const lastName = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

/** @throws ENVIRONMENT_NOT_FOUND, FOLDER_NOT_FOUND */
export async function loadFolder(ctx: Context, { secretPath, ...at }: SecretLocation): Promise<FoundFolder> {
  const [found] = await findFolderLocations(ctx, { ...at, secretPaths: [secretPath] });
  if (found === undefined) throw await environmentNotFound(ctx, at.projectId, at.environment);
  const { environmentId, folderId } = found;
  if (folderId === null) throw await folderNotFound(ctx, { ...at, secretPath, environmentId });
  return { environmentId, folderId };
}

/** Of how many missing folders of a batch similar ones are looked for. */
const MAX_SUGGESTED = 20;

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
  if (first === undefined) throw await environmentNotFound(ctx, projectId, environment);
  const { environmentId } = first;
  const folderIds = new Map(rows.map(({ path, folderId }) => [path, folderId]));
  const missing = [...new Set(secretPaths.filter((path) => !folderIds.has(path)))];
  if (missing.length > 0) {
    const meant = missing.slice(0, MAX_SUGGESTED);
    const similar = await similarFolders(ctx, { projectId, environment, environmentId }, meant);
    const details = secretPaths.flatMap((path, index): ErrorDetail[] => {
      if (folderIds.has(path)) return [];
      const suggestion = similar[meant.indexOf(path)];
      const message = `is not a folder of the environment${suggestion === undefined ? '' : `; did you mean \`${suggestion}\`?`}`;
      return [{ path: pathOf(index, 'secretPath'), code: 'FOLDER_NOT_FOUND', message }];
    });
    throw new AppError('FOLDER_NOT_FOUND', undefined, { details });
  }
  return secretPaths.map((secretPath) => ({
    environmentId,
    folderId: folderIds.get(secretPath) as string,
    place: { projectId, environment, secretPath },
  }));
}
