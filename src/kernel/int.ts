/** The largest `Int` of GraphQL. */
const MAX_INT = 2_147_483_647;

/** A stored count as an `Int`. Postgres counts further: whatever is beyond `Int` is shown as its largest value. */
export const toInt = (count: string): number => Math.min(Number(count), MAX_INT);
