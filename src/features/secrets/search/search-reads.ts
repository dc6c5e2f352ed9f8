import type { Context } from '../../../kernel/context.js';
import type { CursorKey } from '../../../kernel/paging.js';
import type { RowSource } from '../scope/row-scan.js';
import { findMatchingKeys } from './pattern.sql.js';
import { type FoundRow, type SearchCriteria, type SearchedProject, searchRows, seeksPattern } from './search.sql.js';

/** After all slugs and paths. */
const LAST = '\u{10ffff}';

/** The position after all secrets of a key. */
const endOfKey = (key: string): CursorKey => [key, LAST, LAST, LAST];

/**
 * How the rows of a search are read: one statement for each read, and one before it for a pattern, which finds the keys that match.
 * That one may end at a key that does not match, and before it has found any.
 */
export function readerOf(
  ctx: Context,
  projects: readonly SearchedProject[],
  criteria: SearchCriteria,
): Pick<RowSource<FoundRow, FoundRow>, 'read' | 'endOf'> {
  if (!seeksPattern(criteria)) return { read: (after, limit) => searchRows(ctx, projects, { criteria, after, limit }) };
  const { key, bounds } = criteria;
  const projectIds = projects.map(({ projectId }) => projectId);
  let end: CursorKey | null = null;
  return {
    read: async (after, limit) => {
      const [afterKey = null, afterProject] = after ?? [];
      const { keys, reached } = await findMatchingKeys(ctx, { projectIds, key, bounds, afterKey, limit });
      end = reached === null ? null : endOfKey(reached);
      // A page may have ended among secrets of one key.
      const begun = afterKey === null || afterProject === LAST ? [] : [afterKey];
      return searchRows(ctx, projects, { criteria, after, limit, keys: [...begun, ...keys] });
    },
    endOf: () => end,
  };
}
