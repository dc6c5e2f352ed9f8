import * as z from 'zod';
import { idOf } from '../../../kernel/value-rules.js';

const MAX_PATH = 2_000;
export const ROOT = '/';

/** Name of a folder. */
export const folderName = z
  .string()
  .trim()
  .min(1)
  .max(255)
  .regex(/^[A-Za-z0-9_-]*$/, 'must contain only letters, digits, - and _');

/**
 * Path of a folder: starts with a slash; one trailing slash is dropped; segments are folder names. Nothing is resolved:
 * `..` is not a name.
 */
export const folderPath = z
  .string()
  .max(MAX_PATH)
  .trim()
  .overwrite((path) => (path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path))
  .regex(
    /^(\/|(\/[A-Za-z0-9_-]{1,255})+)$/,
    'must start with / and contain names of letters, digits, - and _ separated by slashes',
  );

/**
 * Location of secrets and folders: a project, an environment by slug, a path. A malformed environment slug means an
 * unknown environment, not a validation error.
 */
export const secretLocation = {
  projectId: idOf('project'),
  environment: z.string().trim().min(1).max(255).meta({ description: 'Slug of the environment, for example `prod`.' }),
  secretPath: folderPath.default(ROOT).meta({ description: 'Path of the folder, for example `/` or `/payments/eu`.' }),
};

/** A location, parsed. */
export interface SecretLocation {
  readonly projectId: string;
  readonly environment: string;
  readonly secretPath: string;
}

/** `/a` and `b` -> `/a/b`. */
export const joinPath = (parent: string, name: string): string => (parent === ROOT ? `/${name}` : `${parent}/${name}`);

/** `/a/b` -> `/a`, `/a` -> `/`. */
export const parentOf = (path: string): string => path.slice(0, path.lastIndexOf('/')) || ROOT;

/** A path and its parents from the top, without the root: `/a/b` -> `["/a", "/a/b"]`. */
export function pathsDownTo(path: string): string[] {
  if (path === ROOT) return [];
  const names = path.slice(1).split('/');
  return names.map((_, index) => `/${names.slice(0, index + 1).join('/')}`);
}

/** True when a path fits into its column and index. */
export const isShortEnough = (path: string): boolean => path.length <= MAX_PATH;

/** Order of names and paths, independent of locale. */
export const compareTexts = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

/** Maximum depth of a recursive list below its base path. */
const MAX_DEPTH = 20;

/** A folder that a list reaches, from its base path or through imports. */
export interface ScopeFolder {
  readonly id: string;
  readonly environmentId: string;
  readonly environment: string;
  readonly path: string;
  /** At or below the base path, not only imported from there. */
  readonly isListed: boolean;
  /** IDs of the folders that it imports, by position. */
  readonly sources: readonly string[];
}

/** Maximum number of slashes in the path of a folder that a list of this path includes. */
export const mostSlashes = (path: string): number => (path === '/' ? 0 : path.split('/').length - 1) + MAX_DEPTH;

/**
 * The imported folders, each once: breadth first, so that the nearest come first, within a level by path of the
 * importing folder, then position. The base folder itself is never included.
 */
export function nearestFirst<F extends ScopeFolder>(folders: readonly F[], baseId: string): F[] {
  const byId = new Map(folders.map((folder) => [folder.id, folder]));
  const found = new Map<string, F>();
  let level = folders.filter(({ isListed }) => isListed);
  while (level.length > 0) {
    const next: F[] = [];
    for (const { sources } of level.sort(byPlace)) {
      for (const id of sources) {
        const source = byId.get(id);
        if (source === undefined || id === baseId || found.has(id)) continue;
        found.set(id, source);
        next.push(source);
      }
    }
    level = next;
  }
  return [...found.values()];
}

/** By code points: names of folders and environments are ASCII. */
const byPlace = (a: ScopeFolder, b: ScopeFolder): number =>
  compareTexts(a.path, b.path) || compareTexts(a.environment, b.environment);

/**
 * IDs of a folder and of all that it imports, in lookup order of a key: its own secrets, then its imports from the last
 * to the first, each with its own imports before the next.
 */
export function byPrecedence(folders: readonly ScopeFolder[], baseId: string): string[] {
  const byId = new Map(folders.map((folder) => [folder.id, folder]));
  const found = new Set<string>();
  const waiting = [baseId];
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    const folder = byId.get(id);
    if (folder === undefined || found.has(id)) continue;
    found.add(id);
    // The stack returns the last one first.
    for (const source of folder.sources) waiting.push(source);
  }
  return [...found];
}
