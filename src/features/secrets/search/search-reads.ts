import type { Context } from '../../../kernel/context.js';
import type { CursorKey } from '../../../kernel/paging.js';
import type { RowSource } from '../scope/row-scan.js';
import {
  findKeysOfFolders,
  findNearKeys,
  findWalkedKeys,
  type MatchingKeys,
  PATTERN_LIMITS,
  type PatternLimits,
} from './pattern.sql.js';
import {
  examinedOf,
  type FoundRow,
  type PatternCriteria,
  type SearchCriteria,
  type SearchedProject,
  searchRows,
  seeksPattern,
} from './search.sql.js';

type Reader = Required<Pick<RowSource<FoundRow, FoundRow>, 'read' | 'endOf' | 'examinedOf'>>;

/** How the rows of a search are read. */
export function readerOf(ctx: Context, projects: readonly SearchedProject[], criteria: SearchCriteria): Reader {
  if (seeksPattern(criteria)) return patternReader(ctx, projects, criteria);
  const read: Reader['read'] = (after, limit) => searchRows(ctx, projects, { criteria, after, limit });
  return { read, endOf: () => null, examinedOf };
}

/** After all slugs and paths. */
const LAST = '\u{10ffff}';

/** The position after all secrets of a key. */
const endOfKey = (key: string): CursorKey => [key, LAST, LAST, LAST];

/**
 * Keys that match the pattern are found first, each read by a statement of its own or two, and their secrets after that. A read may end at a key
 * that does not match, and before any has been found.
 *
 * Most patterns match soon: keys near the position fill the page, or there are no more. Otherwise all secrets that the caller may know of are
 * looked at, where these are few, or as many of them as one statement may look at. What others have decides by which way keys are found, and
 * neither which are nor where a read ends: each way reaches at least as far as the one before it.
 */
export function patternReader(
  ctx: Context,
  projects: readonly SearchedProject[],
  criteria: PatternCriteria,
  limits: PatternLimits = PATTERN_LIMITS,
): Reader {
  const { key, bounds } = criteria;
  const places = bounds ?? { projectIds: projects.map(({ projectId }) => projectId), folderIds: [] };
  const ways = [findNearKeys, findKeysOfFolders, findWalkedKeys];
  let end: CursorKey | null = null;
  const read: Reader['read'] = async (after, limit) => {
    const [afterKey = null, afterProject] = after ?? [];
    const question = { ...places, key, afterKey, limit };
    const rowsOf = ({ keys, reached }: MatchingKeys): Promise<readonly FoundRow[]> => {
      end = reached === null ? null : endOfKey(reached);
      // Unless it is the end of a key, some of its secrets may be left.
      return searchRows(ctx, projects, { criteria, after: afterProject === LAST ? null : after, limit, keys });
    };
    for (;;) {
      const [find = findWalkedKeys] = ways;
      const matching = await find(ctx, question, limits);
      const rows = matching === null ? [] : await rowsOf(matching);
      if (matching !== null && (find !== findNearKeys || end === null || examinedOf(rows) >= limit)) return rows;
      ways.shift();
    }
  };
  return { read, endOf: () => end, examinedOf };
}
