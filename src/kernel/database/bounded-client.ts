import type { AsyncResource } from 'node:async_hooks';
import pg from 'pg';
import { type SpanStart, startChildSpan } from '../tracing/spans.js';
import { ConnectionLost, QueryDeadline } from './connection-error.js';
import {
  type Callback,
  type FailureMeaning,
  type LocalSettings,
  localSettings,
  type Preamble,
  PrecededQuery,
  preambleOf,
  type Scope,
} from './scope.js';
import { BEGIN, COMMIT, DISCARD_PLANS, ROLLBACK, setSettings } from './session.sql.js';

/** What a pooler between the service and its database shares among those that connect to it. */
export interface Pooler {
  /** Each transaction may get another session: nothing that is set for a session stays. */
  readonly sharesSessions: boolean;
  /** Statements that are prepared under a name are there when they are used. */
  readonly keepsStatements: boolean;
}

/** No pooler, or one that lends a session for as long as a connection lasts. */
export const NO_POOLER: Pooler = { sharesSessions: false, keepsStatements: true };

/** Counts and names statements, and measures their time. */
export interface Watch extends Pooler {
  /** In milliseconds. Does not advance while the event loop is blocked: a response that has not been read yet is not late. */
  readonly clock: number;
  /** A pooler stands before the database: it takes no settings of a connection at its start. */
  readonly isPooled: boolean;
  /** A statement has failed because the server had no room on its disk, and none is known to have found some since. */
  isDiskFull: boolean;
  count(client: BoundedClient): void;
  /** Name under which a text is prepared; undefined when it is sent as it is. */
  nameOf(text: string): string | undefined;
  /** Has a text be prepared that is made from what is asked for, as long as there are few. */
  prepareGenerated(text: string): void;
  opened(client: BoundedClient): void;
  ended(client: BoundedClient): void;
}

/** A connection that the pool has handed out. */
export interface Loan {
  readonly client: BoundedClient;
  readonly since: number;
  /** The pool has its place back, because it ended or was taken away. Its holder has not released it yet. */
  isTakenBack: boolean;
  takeBack(): void;
}

/** A statement that is sent with others. */
export interface QueuedStatement extends Pick<Preamble, 'text' | 'values'> {
  readonly callback: Callback;
  /** Of whoever asks. */
  readonly context: AsyncResource;
}

/** Only a writable server may keep a connection; both parameters are reported by the server whenever they change (14+). */
const READ_ONLY_PARAMETERS: ReadonlySet<string> = new Set(['in_hot_standby', 'default_transaction_read_only']);
const READ_ONLY_TRANSACTION = '25006';
const DISK_FULL = '53100';
/** With the routine that checks plans: a newer node has migrated, and the prepared statements of the session are outdated. */
const UNSUPPORTED = '0A000';
/** The other side closes within this time when it is asked to, or is not there any more. */
const CLOSE_WITHIN_MS = 1_000;
/** Statements that are sent with another: all of them share its deadline, and are read in one turn of the event loop. */
export const MOST_AHEAD = 16;

const isAwaited = ({ callback }: Preamble): boolean => callback !== undefined;
const TRANSACTION_IS_OVER = 'the transaction is over';

/**
 * A connection that knows whether it can still be trusted. `query_timeout` of the driver only rejects the query and keeps the
 * connection; here a query past its deadline destroys it.
 */
export class BoundedClient extends pg.Client {
  /** When the oldest statement without a response was sent. */
  pendingSince: number | null = null;
  /** When the last response came. */
  heardAt: number;
  /** When another connection turned out to be silent, if nothing was heard on this one since. */
  suspectedAt: number | null = null;
  /** Who holds it; null when it is idle in the pool. */
  loan: Loan | null = null;
  /** Its statements serve no request. */
  isBackground = false;
  /** Its statements may take as long as they need. */
  isPatient = false;
  /** Its plans are outdated: whoever gets it next has them made anew. */
  isOutgrown = false;
  /** Several statements are on their way together: each may wait for as long as one may, and the server responds when all have ended. */
  isBatch = false;
  #pending = 0;
  #isGone = false;
  #isPastDeadline = false;
  #isSpent = false;
  /** What is sent with the next statement. */
  #ahead: readonly Preamble[] = [];
  /** Whether somebody waits for one of them. */
  #isGathering = false;
  /** A commit is on its way, or the begin could not be sent: what came behind it would be in no transaction. */
  #isEnding = false;
  readonly #readOnly = new Set<string>();
  readonly #watch: Watch;

  /** A statement that sets those of its session; null: its start does. */
  readonly #settings: string | null;
  /** Those of each transaction; null: its session is its own. */
  readonly #shared: LocalSettings | null;

  constructor(config: pg.ClientConfig, watch: Watch) {
    super(watch.isPooled ? { ...config, options: undefined } : config);
    this.#watch = watch;
    const { options = '' } = config;
    this.#shared = watch.sharesSessions ? localSettings(options) : null;
    this.#settings = watch.isPooled && !watch.sharesSessions ? setSettings(options) : null;
    this.heardAt = watch.clock;
    this.on('error', () => {
      this.#isGone = true;
    });
    this.once('end', () => {
      this.#isGone = true;
      watch.ended(this);
      this.#flushAll();
    });
    this.on('drain', () => this.#flush());
    this.connection.on('parameterStatus', ({ parameterName, parameterValue }: Record<string, string>) => {
      if (!READ_ONLY_PARAMETERS.has(parameterName as string)) return;
      if (parameterValue === 'on') this.#readOnly.add(parameterName as string);
      else this.#readOnly.delete(parameterName as string);
    });
    watch.opened(this);
  }

  /** Whether the next holder can use it: alive, writable, and in no transaction. */
  get isReusable(): boolean {
    return !this.#isGone && !this.#isSpent && this.#readOnly.size === 0 && !this.#isInTransaction;
  }

  /** Before, the driver keeps statements until it is connected. */
  get #hasResponded(): boolean {
    return this.getTransactionStatus() !== null;
  }

  /** Also one that is not known to be in none, since it has not begun to respond. */
  get #isInTransaction(): boolean {
    return this.#ahead.length > 0 || this.getTransactionStatus() !== 'I';
  }

  // biome-ignore lint/suspicious/noExplicitAny: as `query`
  override connect(callback?: any): any {
    if (callback === undefined)
      return new Promise((resolve, reject) => {
        this.connect((error?: Error) => (error ? reject(error) : resolve(this)));
      });
    super.connect((error: Error | null) => {
      if (error || this.#settings === null) callback(error);
      else
        this.query(this.#settings, (failure: Error | null) => {
          // The pool forgets a connection that did not begin, and does not close it.
          if (failure) this.discard();
          callback(failure);
        });
    });
  }

  // biome-ignore lint/suspicious/noExplicitAny: the overloads of the driver cannot be told apart by their types
  override query(text: any, values?: any, callback?: any): any {
    if (typeof values === 'function') return this.#send(text, undefined, values);
    if (callback !== undefined) return this.#send(text, values, callback);
    // Not the driver's promise: it takes three for each statement.
    return new Promise((resolve, reject) => {
      this.#send(text, values, (error, result) => (error ? reject(error) : resolve(result)));
    });
  }

  /**
   * One statement, which reaches the rows of a scope.
   *
   * @param scope null: rows are not bounded, or a transaction has set it
   * @param maxRows as `PrecededQuery`
   */
  queryIn(
    scope: Scope | null,
    text: string,
    values: unknown[],
    callback: Callback,
    maxRows: number | null = null,
  ): void {
    this.#submit(
      this.#queryOf({ scope, text, values, callback: this.#sent(text, callback), maxRows }),
      this.#watch.nameOf(text),
    );
  }

  /**
   * Statements that reach the rows of a scope, in one round trip. Each fails by itself; those behind it with `StatementNotRun`.
   *
   * @param asked one or more
   * @param done called when all have ended
   */
  queryTogether(scope: Scope | null, asked: readonly QueuedStatement[], done: () => void): void {
    const sent = asked.map(({ text, values, callback, context }) => ({
      text,
      values,
      name: this.#watch.nameOf(text),
      callback: context.runInAsyncScope(() => this.#sent(text, callback)),
    }));
    const { text, values, name, callback } = sent.pop() as (typeof sent)[number];
    if (sent.length > 0) this.#ahead = [...this.#preamblesOf(scope), ...sent];
    const last: Callback = (...result) => {
      callback(...result);
      done();
    };
    this.#submit(this.#queryOf({ scope, text, values: [...values], callback: last }), name);
  }

  /**
   * Begins a transaction whose statements reach the rows of a scope. It is sent with the first of them, which saves a round trip.
   *
   * @param scope null: rows are not bounded
   */
  begin(scope: Scope | null, text = BEGIN): void {
    const begin = this.#heldBack(text === BEGIN ? 'beginning' : undefined, text);
    // What would come after it would be in no transaction.
    const done = (error: Error | null): void => {
      begin.done?.(error);
      if (error instanceof pg.DatabaseError) this.discard();
      else if (error !== null) this.#isEnding = true;
    };
    const settings = scope === null && this.#shared === null ? [] : [this.#preambleIn(scope)];
    this.#ahead = [{ ...begin, done }, ...settings].map((one) => ({ ...one, isBeginning: true }));
  }

  /** Commits with what is in front of it, as far as that fits. A transaction of which nothing was sent is none. */
  async commit(): Promise<void> {
    if (this.#ahead.length <= MOST_AHEAD) this.#isGathering = false;
    this.#flushAll();
    if (this.#isUnsent && this.#ahead.every(({ isBeginning }) => isBeginning)) return this.#drop();
    this.#isEnding = true;
    const { command } = await this.#control(COMMIT);
    // So the server says that a statement of the transaction has failed.
    if (command !== COMMIT.toUpperCase()) throw new Error('the transaction was rolled back');
  }

  async rollback(): Promise<void> {
    this.#flushAll();
    const isUnsent = this.#isUnsent;
    this.#drop();
    this.#isEnding = false;
    if (!isUnsent) await this.#control(ROLLBACK);
  }

  /** Nothing of the transaction was sent. */
  get #isUnsent(): boolean {
    return this.#ahead[0]?.isBeginning === true;
  }

  #control(text: string): Promise<pg.QueryResult> {
    return new Promise((resolve, reject) => {
      const callback: Callback = (error, result) => (error ? reject(error) : resolve(result as pg.QueryResult));
      this.#submit(
        this.#queryOf({ scope: null, text, values: undefined, callback: this.#sent(text, callback) }),
        undefined,
      );
    });
  }

  /**
   * A statement of a transaction that is sent with the next one, or with its commit: for what nobody reads the rows of, and fails the
   * transaction. Does not wait for the server, unless too many are waiting already.
   *
   * @param meaning of its failure, which the next one has then
   */
  async queryWithNext(text: string, values: readonly unknown[], meaning: FailureMeaning): Promise<void> {
    if (this.#isEnding) throw new Error(TRANSACTION_IS_OVER);
    if (this.#ahead.length < MOST_AHEAD) {
      this.#ahead = [...this.#ahead, { ...this.#heldBack(this.#watch.nameOf(text), text, values), meaning }];
      return;
    }
    await this.query(text, [...values]).catch((error: Error) => {
      throw meaning(error);
    });
  }

  prepareGenerated(text: string): void {
    this.#watch.prepareGenerated(text);
  }

  #send(text: string | pg.QueryConfig, values: unknown[] | undefined, callback: Callback): void {
    if (this.#isEnding) {
      process.nextTick(callback, new Error(TRANSACTION_IS_OVER));
      return;
    }
    const name = typeof text === 'string' && values !== undefined ? this.#watch.nameOf(text) : undefined;
    const told = this.#sent(text, callback);
    if (typeof text === 'string' && values !== undefined && this.#hasResponded && this.#isInTransaction) {
      this.#gather({ text, values, name, callback: told });
      return;
    }
    this.#flushAll();
    this.#submit(this.#queryOf({ scope: null, text, values, callback: told }), name);
  }

  /**
   * Sends a statement of a transaction with those that are asked for in the same turn: what does not wait for one another takes one
   * round trip.
   */
  #gather(statement: Preamble): void {
    // Where something is on its way, the driver says when it has ended: `drain`. On a connection that is gone, nothing ends any more.
    const { readyForQuery } = this as unknown as { readyForQuery: boolean };
    if (this.#isGone) process.nextTick(() => this.#flushAll());
    else if (!this.#isGathering && readyForQuery) process.nextTick(() => this.#flush());
    this.#isGathering = true;
    this.#ahead = [...this.#ahead, statement];
  }

  #flushAll(): void {
    while (this.#isGathering) this.#flush();
  }

  /** Sends what somebody waits for, as much as fits, and what is in front of it. */
  #flush(): void {
    if (!this.#isGathering) return;
    const last = Math.max(
      this.#ahead.slice(0, MOST_AHEAD + 1).findLastIndex(isAwaited),
      this.#ahead.findIndex(isAwaited),
    );
    const { text, values, name, callback } = this.#ahead[last] as Required<Preamble>;
    const behind = this.#ahead.slice(last + 1);
    this.#isGathering = behind.some(isAwaited);
    this.#ahead = this.#ahead.slice(0, last);
    this.#submit(this.#queryOf({ scope: null, text, values: [...values], callback }), name);
    this.#ahead = behind;
  }

  /** Counts and traces a statement as if it were sent now. */
  #heldBack(name: string | undefined, text: string, values: readonly unknown[] = []): Preamble {
    this.#watch.count(this);
    const span = startChildSpan(() => spanOfStatement(text));
    const done = (error: Error | null): void => span?.end(error && ((error as pg.DatabaseError).code ?? 'driver'));
    return { name: this.#watch.keepsStatements ? name : undefined, text, values, done };
  }

  #drop(): void {
    for (const { done } of this.#ahead) done?.(null);
    this.#ahead = [];
  }

  #queryOf({
    scope,
    text,
    values,
    callback,
    maxRows = null,
  }: {
    readonly scope: Scope | null;
    readonly maxRows?: number | null;
    readonly text: string | pg.QueryConfig;
    readonly values: unknown[] | undefined;
    readonly callback: Callback;
  }): pg.Submittable {
    const ahead = this.#ahead;
    this.#ahead = [];
    const isControl = text === COMMIT || text === ROLLBACK;
    this.isBatch = ahead.filter(({ callback, meaning }) => callback ?? meaning).length + (isControl ? 0 : 1) > 1;
    if (ahead.length === 0 && (isControl || (this.#shared === null && scope === null && maxRows === null)))
      return new pg.Query(text, values, callback);
    const find = (): readonly Preamble[] => (ahead.length > 0 ? ahead : this.#preamblesOf(scope));
    return new PrecededQuery(find, text, values, callback, maxRows) as unknown as pg.Submittable;
  }

  /** What is set in front of a statement that is sent now. */
  #preamblesOf(scope: Scope | null): readonly Preamble[] {
    const hasSettings = this.#shared === null || this.getTransactionStatus() !== 'I';
    if (!hasSettings) return [this.#preambleIn(scope)];
    return scope === null ? [] : [this.#named(preambleOf(scope))];
  }

  /** What is set first of all in a transaction. */
  #preambleIn(scope: Scope | null): Preamble {
    return this.#named(this.#shared?.preambleOf(scope) ?? preambleOf(scope as Scope));
  }

  #named(preamble: Preamble): Preamble {
    return this.#watch.keepsStatements ? preamble : { ...preamble, name: undefined };
  }

  // A configuration with a name would be copied by the driver, property by property.
  #submit(query: pg.Submittable, name: string | undefined): void {
    if (name !== undefined) Object.assign(query, { name });
    super.query(query);
  }

  /** Notes that a statement is sent. @returns what is to be called once with its result */
  #sent(text: string | pg.QueryConfig, callback: Callback): Callback {
    this.#watch.count(this);
    this.#pending += 1;
    this.pendingSince ??= this.#watch.clock;
    let isSettled = false;
    const span = startChildSpan(() => spanOfStatement(typeof text === 'string' ? text : text.text));
    return (error, result, meaning) => {
      // The driver calls twice for a parameter that it cannot write: at once, and when the server is ready again.
      if (isSettled) return;
      isSettled = true;
      const failure = this.#settle(text, error);
      span?.end(failure ? ((failure as pg.DatabaseError).code ?? 'driver') : null);
      // One without a code is of the driver, which has sent nothing.
      callback(failure && 'code' in failure ? (meaning?.(failure) ?? failure) : failure, result);
    };
  }

  /** Ends it because the server is silent: what waits for a response fails with a deadline. */
  giveUp(): void {
    this.#isPastDeadline = true;
    this.discard();
  }

  /** Has its statements planned anew, from the next one on. It is no statement of whoever has it. */
  replan(): void {
    this.isOutgrown = false;
    super.query(new pg.Query(DISCARD_PLANS, undefined, () => undefined));
  }

  /** It ends when it is given back. */
  spend(): void {
    this.#isSpent = true;
  }

  /** Nobody else gets it. Waits for its end when it is idle. */
  async retire(): Promise<void> {
    this.spend();
    if (this.loan !== null) return;
    const ended = new Promise((resolve) => this.once('end', resolve));
    this.discard();
    await ended;
  }

  /** Ends it at once, without a word to the other side. */
  discard(): void {
    this.#isGone = true;
    (this.connection as unknown as { stream: { destroy(): void } }).stream.destroy();
  }

  override end(): Promise<void>;
  override end(callback: (error: Error) => void): void;
  override end(callback?: (error: Error) => void): unknown {
    this.#isGone = true;
    // Asked politely first. A connection whose other side is away would wait for its goodbye without end.
    const impatience = setTimeout(() => this.discard(), CLOSE_WITHIN_MS).unref();
    this.once('end', () => clearTimeout(impatience));
    return callback === undefined ? super.end() : super.end(callback);
  }

  /** @returns the error, with a code that says what happened */
  #settle(text: unknown, error: Error | null | undefined): Error | null | undefined {
    this.#pending -= 1;
    this.#isEnding &&= text !== COMMIT;
    this.pendingSince = this.#pending === 0 ? null : this.#watch.clock;
    const isFromServer = !error || error instanceof pg.DatabaseError;
    if (isFromServer) {
      this.heardAt = this.#watch.clock;
      this.suspectedAt = null;
    }
    if (!error) return error;
    // Whatever state the session is in: nobody else may have it.
    if (text === ROLLBACK) this.discard();
    if (isFromServer) {
      const { code, routine } = error as pg.DatabaseError;
      const isOutdated = code === UNSUPPORTED && routine === 'RevalidateCachedQuery';
      if (isOutdated || code === READ_ONLY_TRANSACTION) this.#isSpent = true;
      if (code === DISK_FULL) this.#watch.isDiskFull = true;
      return isOutdated ? new ConnectionLost(error) : error;
    }
    if (!this.#isGone) return error;
    // Whether a commit took effect is not known: it is no request that took too long.
    return this.#isPastDeadline && text !== COMMIT ? new QueryDeadline(error) : new ConnectionLost(error);
  }
}

const FIRST_WORD = /^\s*([a-z]+)/i;
/** Not the lock of `for update of`. */
const CHANGE = /\b(insert\s+into|(?<!\b(?:for|key)\s+)update|delete\s+from)\s+"?([a-z_]+)/i;
const SOURCE = /\b(?:from|join)\s+"?([a-z_]+)\b(?!"?\s*\()/i;

/** How traces show an SQL statement: by its operation and its first table, without its text or its parameters. */
function spanOfStatement(text: string): SpanStart {
  const { operation, table } = summaryOf(text);
  return {
    name: table === undefined ? operation : `${operation} ${table}`,
    kind: 'client',
    attributes: {
      'db.system.name': 'postgresql',
      'db.operation.name': operation,
      ...(table === undefined ? {} : { 'db.collection.name': table }),
    },
  };
}

function summaryOf(text: string): { readonly operation: string; readonly table: string | undefined } {
  const first = (FIRST_WORD.exec(text)?.[1] ?? 'statement').toUpperCase();
  const [, change, changed] = CHANGE.exec(text) ?? [];
  if (change !== undefined && first !== 'SELECT')
    return { operation: (change.split(/\s/)[0] as string).toUpperCase(), table: changed };
  return { operation: first === 'WITH' ? 'SELECT' : first, table: SOURCE.exec(text)?.[1] };
}
