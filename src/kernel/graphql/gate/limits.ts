import { keyValueList, MAX_LIMIT } from '../../value-rules.js';

/** Limits of a GraphQL document. Each number is a maximum. */
export interface QueryLimits {
  /** Bytes of the text. */
  readonly text: number;
  readonly tokens: number;
  /** Fields inside one another, fragments spread; of the operation that runs. */
  readonly depth: number;
  /** Fields and fragments, those of a fragment counted wherever it is spread. */
  readonly selections: number;
  /** Objects that the answer may hold by an estimate from the document alone; see cost.ts. Of the operation that runs. */
  readonly cost: number;
  /** Objects that the answer may hold, counted while the operation runs. */
  readonly objects: number;
  readonly aliases: number;
  readonly directives: number;
  readonly fragments: number;
  readonly operations: number;
  /** Fields with fields below them that share one place in the answer. */
  readonly branches: number;
  /** Fields without fields below them that share one place in the answer. */
  readonly leaves: number;
  /** As `depth` and `cost`, below `__schema` and `__type`. */
  readonly introspectionDepth: number;
  readonly introspectionCost: number;
}

export type LimitName = keyof QueryLimits | 'nesting';

/** One limit: how much of it was asked for and how much is allowed. */
export interface Share {
  readonly asked: number;
  readonly allowed: number;
}

export type Shares = Partial<Record<LimitName, Share>>;

export const DEFAULT_LIMITS: QueryLimits = {
  text: 32 * 1024,
  tokens: 2_000,
  depth: 12,
  selections: 2_000,
  cost: 20_000,
  objects: 20_000,
  aliases: 30,
  directives: 20,
  fragments: 30,
  operations: 10,
  branches: 10,
  leaves: 50,
  introspectionDepth: 20,
  introspectionCost: 200_000,
};

const NAMES = Object.keys(DEFAULT_LIMITS) as (keyof QueryLimits)[];

/** Limits that no document passes, however trusted: GraphQL's own parser and validation recurse, and a request ends at 1 MiB. */
const HIGHEST: Partial<QueryLimits> = { depth: 100, introspectionDepth: 100, fragments: 1_000, text: 1024 * 1024 };
const MOST_BRACKETS = 500;

/** `GRAPHQL_LIMITS`: `depth=20,cost=10000`. */
export const queryLimits = keyValueList<keyof QueryLimits>(DEFAULT_LIMITS, HIGHEST);

/** The limits of trusted documents: so many times these, as far as any document may go. */
export const multipliedLimits = (limits: QueryLimits, factor: number): QueryLimits =>
  Object.fromEntries(
    NAMES.map((name) => [name, Math.min(limits[name] * factor, HIGHEST[name] ?? MAX_LIMIT)]),
  ) as Record<keyof QueryLimits, number>;

/**
 * Brackets of all kinds inside one another that a text may have: follows from the depth, with room for fragments within fields
 * and for values. It keeps what recurses over the text from running out of stack.
 */
export const allowedNesting = ({ depth }: QueryLimits): number => Math.min(16 + 4 * depth, MOST_BRACKETS);
