import { compareTexts } from './place.rules.js';

/** How far below its base path a recursive list goes. Source: decisions 5.3. */
export const MAX_DEPTH = 20;

/** A folder that a list reaches, from its base path or through imports. */
export interface ScopeFolder {
  readonly id: string;
  readonly environmentId: string;
  readonly environment: string;
  readonly path: string;
  /** At or below the base path, not only imported from there. */
  readonly isListed: boolean;
  /** Ids of the folders that it imports, by position. */
  readonly sources: readonly string[];
}

/** Folders below a path have this many slashes at most when a list of the path is to have them. */
export const mostSlashes = (path: string): number => (path === '/' ? 0 : path.split('/').length - 1) + MAX_DEPTH;

/**
 * The imported folders, each once: breadth first, so that the nearest come first, within a level by path of the importing
 * folder, then position. The base folder itself never.
 *
 * Source: decisions 5.6.
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
 * Ids of a folder and of all that it imports, in the order in which a key is looked for: its own secrets, then its imports
 * from the last to the first, each with its own imports before the next.
 *
 * Source: decisions 5.6.
 */
export function byPrecedence(folders: readonly ScopeFolder[], baseId: string): string[] {
  const byId = new Map(folders.map((folder) => [folder.id, folder]));
  const found = new Set<string>();
  const waiting = [baseId];
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    const folder = byId.get(id);
    if (folder === undefined || found.has(id)) continue;
    found.add(id);
    // The last of them is taken out first.
    for (const source of folder.sources) waiting.push(source);
  }
  return [...found];
}
