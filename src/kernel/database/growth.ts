import type { TableSize } from './plans.sql.js';

/** Plans for smaller tables stay good enough. */
export const SMALL_PAGES = 8;

/**
 * Tells when a table has become so much larger that the plans of statements are to be made anew. Postgres keeps a plan until the
 * statistics change, which may be long after thousands of rows were added to a table that was empty when the plan was made: it may
 * then read all of the table for each row of another one.
 */
export class Growth {
  #planned: ReadonlyMap<string, number> | null = null;

  /** @param sizes of all tables that have `SMALL_PAGES` or more @returns whether one has doubled since this was last true */
  isOutgrown(sizes: readonly TableSize[]): boolean {
    const planned = this.#planned;
    const doubled = sizes.some(({ id, pages }) => pages >= 2 * (planned?.get(id) ?? SMALL_PAGES / 2));
    if (planned === null || doubled) this.#planned = new Map(sizes.map(({ id, pages }) => [id, pages]));
    return planned !== null && doubled;
  }
}
