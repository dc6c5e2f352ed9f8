import pg from 'pg';
import { type Context, isTransaction, type Transaction } from '../context.js';
import { AppError, type ErrorCode } from '../errors.js';
import { pipelined } from './database.js';
import { type Scope, scopeOf } from './scope.js';
import { refuseAfter } from './session.sql.js';
import { TIME_LIMITS } from './time-limits.js';

const ATTEMPTS = 5;
/** SQLSTATE of a statement of a transaction in which another one has failed. */
const NOT_RUN = '25P02';
const REFUSE_LATE = refuseAfter(TIME_LIMITS.wholeMs);
const tooLate = (cause: Error): AppError => new AppError('DEADLINE_EXCEEDED', undefined, { cause });

/**
 * Runs `work` in one transaction, READ COMMITTED, and commits before it answers. Called inside a transaction it joins it.
 * A serialization failure or a deadlock re-runs the whole function, so `work` has no effect outside of the database:
 * no call to an external system, no log line that claims success. A lost connection does not: its commit may have taken effect.
 *
 * @param scope whose rows its statements reach, unless it joins one: those of the organization of `ctx`
 * @throws whatever `work` throws, after the rollback; OVERLOADED when too many transactions wait to begin
 */
export async function inTransaction<T>(
  ctx: Context,
  work: (tx: Transaction) => Promise<T | WholeTransaction<T>>,
  scope: Scope = scopeOf(ctx),
): Promise<T> {
  if (isTransaction(ctx)) return resultOf(await work(ctx));
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await inTurn(ctx, () => once(ctx, work, scope));
    } catch (error) {
      if (attempt === ATTEMPTS || !['40001', '40P01'].includes(sqlState(error) ?? '')) throw error;
      await pause(2 ** attempt * 5);
    }
  }
}

/**
 * Waits until fewer transactions run, and callers take turns. A request that was answered meanwhile, at its deadline, changes
 * nothing any more: those behind it would wait for what nobody waits for.
 *
 * @throws OVERLOADED, DEADLINE_EXCEEDED
 */
async function inTurn<T>({ database, actor, load }: Context, work: () => Promise<T>): Promise<T> {
  const ticket = database.transactions.enter(actor?.id ?? '', 1);
  await ticket.turn;
  try {
    load?.refuseLate();
    return await work();
  } finally {
    ticket.end();
  }
}

/**
 * What a transaction ends with, or consists of: statements that are on their way, and are sent with its commit (and with its begin, if
 * there are no others). They fail where they cannot be done; what they return is for the response, and cannot keep the transaction from
 * being committed.
 *
 * The server runs them to the end, also if nobody waits any more. Where the transaction has taken too long since it began, for locks
 * say, they change nothing all the same: whoever is told that it took too long finds nothing done.
 */
export class WholeTransaction<T> {
  constructor(readonly result: Promise<T>) {
    // Whoever waits for it comes a moment later.
    result.catch(() => undefined);
  }
}

const resultOf = async <T>(last: T | WholeTransaction<T>): Promise<T> =>
  last instanceof WholeTransaction ? last.result : last;

/**
 * A statement that the server refused has kept the commit behind it from being run, and says why. Of any other failure only the commit
 * knows whether it may have taken effect.
 */
function outcomeOf<T>(result: PromiseSettledResult<T>, end: PromiseSettledResult<void>): T {
  if (result.status === 'rejected' && isRefusal(result.reason)) throw result.reason;
  if (end.status === 'rejected') throw end.reason;
  if (result.status === 'rejected') throw result.reason;
  return result.value;
}

/** Whether the server said so. */
function isRefusal(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause) if (at instanceof pg.DatabaseError) return true;
  return false;
}

/** A context in the transaction of an entity manager, which whoever began it commits. */
export const transactionOf = (ctx: Context, em: Transaction['em']): Transaction => ({
  ...ctx,
  em,
  loaders: new Map(),
  states: [],
  afterCommit: [],
});

async function once<T>(
  ctx: Context,
  work: (tx: Transaction) => Promise<T | WholeTransaction<T>>,
  scope: Scope,
): Promise<T> {
  const session = await ctx.database.begin(scope);
  const em = ctx.database.fork(session);
  try {
    ctx.accessSnapshot?.invalidate();
    ctx.claim?.begin();
    const tx = transactionOf(ctx, em);
    const last = await work(tx);
    if (tx.states.length > 0) throw new Error('rows were changed without an audit record');
    const commit = async (): Promise<void> => {
      if (last instanceof WholeTransaction) void pipelined(tx, tooLate)(REFUSE_LATE).catch(() => undefined);
      await ctx.claim?.markEffective(tx);
      await em.flush();
      await session.commit();
    };
    const [result, end] = await Promise.allSettled([resultOf(last), commit()]);
    if (end.status === 'fulfilled') for (const report of tx.afterCommit) report();
    return outcomeOf(result, end);
  } catch (error) {
    // A lost connection has rolled back by itself; its own error must not hide the first one. One on which the
    // rollback fails is closed.
    await session.rollback().catch(() => undefined);
    throw error;
  } finally {
    session.end();
  }
}

/**
 * Waits for all. Statements of a transaction that are asked for at once are sent in one round trip, and run in the order in which they
 * were asked for. Of those that fail, the first in their order decides, but for those that another one has kept from being run.
 */
export async function atOnce<const T extends readonly unknown[]>(
  ...all: { readonly [K in keyof T]: Promise<T[K]> }
): Promise<T> {
  const results = await Promise.allSettled(all);
  const failed = results.filter((result) => result.status === 'rejected');
  const [cause = failed[0]] = failed.filter(({ reason }) => sqlState(reason) !== NOT_RUN);
  if (cause !== undefined) throw cause.reason;
  return results.map((result) => (result as PromiseFulfilledResult<unknown>).value) as unknown as T;
}

/** Full jitter, so that two deadlocked callers do not meet again. */
const pause = (maxMilliseconds: number): Promise<void> =>
  new Promise((wake) => setTimeout(wake, Math.random() * maxMilliseconds));

/** Constraints and the codes that callers get for breaking them. */
export type ConstraintCodes = Readonly<Record<string, ErrorCode>>;

/** Writes the unit of work now, so that a broken constraint becomes its coded error. */
export async function flush(tx: Transaction, codes: ConstraintCodes = {}): Promise<void> {
  await withConstraintCodes(() => tx.em.flush(), codes);
}

/** Runs a statement and turns the constraints that it may break into coded errors. */
export async function withConstraintCodes<T>(statement: () => Promise<T>, codes: ConstraintCodes): Promise<T> {
  try {
    return await statement();
  } catch (error) {
    const code = codes[constraintOf(error) ?? ''];
    throw code === undefined ? error : new AppError(code, undefined, { cause: error });
  }
}

const constraintOf = (error: unknown): string | undefined => databaseField(error, 'constraint');
/** SQLSTATE of whatever the driver or the ORM threw. */
export const sqlState = (error: unknown): string | undefined => databaseField(error, 'code', /^[\dA-Z]{5}$/);

/**
 * The ORM wraps what the driver throws, and so do we: the driver's fields are on the cause, and also on the ORM's error. What it makes of an
 * error of ours has a code of ours.
 */
function databaseField(error: unknown, field: 'constraint' | 'code', form = /^/): string | undefined {
  for (let at = error; at instanceof Error; at = at.cause) {
    const value = at instanceof AppError ? undefined : (at as unknown as Record<string, unknown>)[field];
    if (typeof value === 'string' && form.test(value)) return value;
  }
  return undefined;
}
