/**
 * An array parameter in the text of a statement that is prepared. Its length stays hidden from the planner: where Postgres sees it,
 * it finds a plan for this very length to be cheaper than one for any, and plans each execution anew, which may take longer
 * than the statement.
 *
 * @param place of the parameter: `$1`
 * @param type of its elements
 */
export const plannedOnce = (place: string, type: string): string => `(select ${place}::${type}[])::${type}[]`;
