/**
 * Limits of everything that waits for the database, in milliseconds. Those of the server come first; ours are for a server, or a
 * network, that does not keep them. No caller waits longer than five seconds.
 */
export const TIME_LIMITS = {
  /** The server ends a statement. */
  statementMs: 3_000,
  /** The server gives up waiting for a lock. */
  lockMs: 2_000,
  /** The server ends a session that is idle in a transaction: a node that was cut off holds no row for longer. */
  idleInTransactionMs: 3_000,
  /** Opening a connection, and waiting for one of the pool. */
  connectMs: 5_000,
  /** A statement without a response: its connection is destroyed. */
  queryMs: 3_300,
  /** A transaction whose last statements are sent with its commit: the server refuses it before the connection is given up. */
  wholeMs: 2_500,
  /** The same on a connection that has been silent since before another one's unanswered statement was sent. */
  suspectMs: 400,
  /** A connection that is held and not used: its holder has forgotten it. */
  heldIdleMs: 15_000,
  /** Nobody gets a connection. */
  starvedMs: 10_000,
  keepAliveMs: 5_000,
} as const;

/** The limits that a pool is watched by, and its size. */
export const POOL_LIMITS = { ...TIME_LIMITS, connections: 20 } as const;
export type PoolLimits = Readonly<Record<'connections' | 'queryMs' | 'suspectMs' | 'heldIdleMs' | 'starvedMs', number>>;
