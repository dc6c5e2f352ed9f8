import type { Context } from '../../../kernel/context.js';
import type { CursorKey } from '../../../kernel/paging.js';
import type { RowSource } from '../scope/row-scan.js';
import { findMatchingKeys, type Walk } from './pattern.sql.js';
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
 * Keys that match the pattern are found first, each read by a statement of its own, and their secrets after that. A read may end at a key
 * that does not match, and before any has been found.
 */
export function patternReader(
  ctx: Context,
  projects: readonly SearchedProject[],
  criteria: PatternCriteria,
  walk?: Walk,
): Reader {
  const projectIds = projects.map(({ projectId }) => projectId);
  let end: CursorKey | null = null;
  const read: Reader['read'] = async (after, limit) => {
    const [afterKey = null, afterProject] = after ?? [];
    const question = { projectIds, key: criteria.key, afterKey, limit };
    const { keys, reached } = await findMatchingKeys(ctx, question, walk);
    end = reached === null ? null : endOfKey(reached);
    // Unless it is the end of a key, some of its secrets may be left.
    return searchRows(ctx, projects, { criteria, after: afterProject === LAST ? null : after, limit, keys });
  };
  return { read, endOf: () => end, examinedOf };
}
