import { compareTexts } from './place.rules.js';

/** Maximum depth of a recursive list below its base path. */
export const MAX_DEPTH = 20;

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
