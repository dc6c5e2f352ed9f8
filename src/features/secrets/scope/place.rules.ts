import * as z from 'zod';
import { idOf } from '../../../kernel/text-rules.js';

const MAX_PATH = 2_000;
const ROOT = '/';

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
export const place = {
  projectId: idOf('project'),
  environment: z.string().trim().min(1).max(255).meta({ description: 'Slug of the environment, for example `prod`.' }),
  secretPath: folderPath.default(ROOT).meta({ description: 'Path of the folder, for example `/` or `/payments/eu`.' }),
};

/** A location, parsed. */
export interface Place {
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
