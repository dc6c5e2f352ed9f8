/**
 * An array parameter in the text of a statement that is prepared. Its length stays hidden from the planner: where Postgres sees it,
 * it estimates a plan for this length to be cheaper than a generic plan, and plans every execution again, which can take
 * longer than the statement.
 *
 * @param place of the parameter: `$1`
 * @param type of its elements
 */
export const plannedOnce = (place: string, type: string): string => `(select ${place}::${type}[])::${type}[]`;
