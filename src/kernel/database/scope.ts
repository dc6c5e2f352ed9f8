import pg from 'pg';
import { NO_ID } from '../ids.js';
import { setLocal, settingsIn } from './session.sql.js';

/** Whose rows statements reach: the id of an organization, or `*` for all. Policies of the tables hold them to it. */
export type Scope = string;

/** Of work that no organization asked for. */
export const EVERY_ORGANIZATION: Scope = '*';

/** What of a Context bounds its statements. */
export interface ScopeContext {
  readonly organizationId: string;
}

/** The organization of a context. The jobs of the installation have none, and reach all. */
export const scopeOf = ({ organizationId }: ScopeContext): Scope =>
  organizationId === NO_ID ? EVERY_ORGANIZATION : organizationId;

/** Whose rows statements reach. A transaction sets it, and it ends with it. */
const SCOPE_SETTING = 'strongroom.organization';
/** A setting of connections whose statements are not bounded, in the form of their start. */
export const UNSCOPED = `-c ${SCOPE_SETTING}=${EVERY_ORGANIZATION}`;
const SET_SCOPE = setLocal(SCOPE_SETTING);

/**
 * What is sent in front of a statement, for nobody waits for it alone: the begin of its transaction, a setting of that, a record of the
 * audit trail. Settings end with the transaction: a pooler may lend the session to others.
 */
export interface Preamble {
  readonly text: string;
  /** Under which it is prepared; undefined: it is not. */
  readonly name: string | undefined;
  readonly values: readonly unknown[];
  /** It begins a transaction, or sets what holds for it. */
  readonly isBeginning?: boolean;
  /** Called once: when the server has run it, or with what failed. */
  readonly done?: (error: Error | null) => void;
  /** What its failure means to those who wait for the statement behind it. Absent: the same as a failure of that. */
  readonly meaning?: FailureMeaning;
  /** Of a statement that somebody waits for: called with its rows, or with what failed and what that means to it. */
  readonly callback?: Callback;
}

/** What a failure means to those who wait for something else. */
export type FailureMeaning = (error: Error) => Error;
export type Callback = (error: Error | null | undefined, result?: unknown, meaning?: FailureMeaning) => void;

/** The scope of a statement. */
export const preambleOf = (scope: Scope): Preamble => ({ name: 'scope', text: SET_SCOPE, values: [scope] });

/** Settings of connections, set for a transaction on a session that others use too. Whatever scope these left, it is not kept. */
export interface LocalSettings {
  /** Comes after the begin of a transaction, or before a statement outside of any. */
  preambleOf(scope: Scope | null): Preamble;
}

/** @param options in the form of the start of a connection */
export function localSettings(options: string): LocalSettings {
  // After the scope: among them may be that nothing is bounded.
  const text = [SET_SCOPE, ...settingsIn(options, true)].join(', ');
  return { preambleOf: (scope) => ({ name: 'settings', text, values: [scope ?? ''] }) };
}

/** What of the driver's connection is used here. */
interface Wire {
  readonly parsedStatements: Record<string, string>;
  readonly submittedNamedStatements: Record<string, string>;
  parse(message: object): void;
  bind(message: object): void;
  describe(message: object): void;
  execute(message: object): void;
  sync(): void;
}
/** What the driver's type leaves out. */
interface DriverQuery {
  name: string | undefined;
  text: string;
  _result: { _types: unknown };
  submit(wire: Wire): Error | null;
  requiresPreparation(): boolean;
  prepare(wire: Wire): void;
  _getRows(wire: Wire): void;
  handleRowDescription(message: object): void;
  handleDataRow(message: object): void;
  handleCommandComplete(message: object, wire: Wire): void;
  handlePortalSuspended(wire: Wire): void;
  handleReadyForQuery(wire: Wire): void;
  handleError(error: Error, wire: Wire): void;
}
const OneQuery = pg.Query as unknown as new (
  text: string | pg.QueryConfig,
  values: readonly unknown[] | undefined,
  callback: Callback,
) => DriverQuery;
const { prepareValue } = (pg as unknown as { utils: { prepareValue: (value: unknown) => unknown } }).utils;

/** A statement in front, with its parameters as they are sent, and what reads its rows, if somebody waits for them. */
interface Ahead extends Preamble {
  readonly reader: DriverQuery | null;
}

/** A statement has more rows than it may answer. */
export class TooManyRows extends Error {}

/** The server has not run a statement, for one that was sent before it failed. */
export class StatementNotRun extends pg.DatabaseError {
  override code = '25P02';

  constructor() {
    super('a statement before this one failed', 0, 'error');
  }
}

/**
 * A statement, and before it what is sent in front of it: all end with one Sync, so that the server runs them one after the other, stops
 * at the first that fails, and responds once.
 */
export class PrecededQuery extends OneQuery {
  /** What the server has not run yet: what it says is about the first. */
  #ahead: readonly Ahead[] = [];
  /** Those in front whose rows have come. */
  readonly #read: DriverQuery[] = [];
  #own: { readonly name: string | undefined; readonly text: string } | null = null;
  #isSubmitted = false;
  #meaning: FailureMeaning | undefined;
  readonly #find: () => readonly Preamble[];

  /** The server has stopped, for there are more rows. */
  #isCut = false;

  /**
   * @param find what is in front, asked for when the statement is sent; empty in a transaction that has set it
   * @param maxRows so many rows it may answer; null: any number
   */
  constructor(
    find: () => readonly Preamble[],
    text: string | pg.QueryConfig,
    values: readonly unknown[] | undefined,
    callback: Callback,
    private readonly maxRows: number | null = null,
  ) {
    super(text, values, (error, result) =>
      callback(error ?? (this.#isCut ? new TooManyRows() : null), result, this.#meaning),
    );
    this.#find = find;
  }

  override submit(wire: Wire): Error | null {
    this.#isSubmitted = true;
    const ahead = this.#find();
    try {
      this.#ahead = ahead.map((one) => ({
        ...one,
        values: one.values.map(prepareValue),
        reader: one.callback === undefined ? null : new OneQuery(one.text, undefined, one.callback),
      }));
    } catch (error) {
      // Nothing was sent.
      for (const { done, callback } of ahead) (done ?? callback)?.(error as Error);
      return error as Error;
    }
    return super.submit(wire);
  }

  override requiresPreparation(): boolean {
    return this.#ahead.length > 0 || super.requiresPreparation();
  }

  override prepare(wire: Wire): void {
    const sent = new Set<string>();
    for (const { name, text, values, reader } of this.#ahead) {
      if (name === undefined || (wire.parsedStatements[name] === undefined && !sent.has(name)))
        wire.parse({ name, text });
      if (name !== undefined) sent.add(name);
      wire.bind({ statement: name, values });
      if (reader !== null) {
        reader._result._types = this._result._types;
        wire.describe({ type: 'P', name: '' });
      }
      wire.execute({});
    }
    this.#own = { name: this.name, text: this.text };
    if (this.name !== undefined && sent.has(this.name)) wire.submittedNamedStatements[this.name] = this.text;
    super.prepare(wire);
    this.#assume(this.#ahead[0]);
  }

  /** The driver's own way takes a further round trip where rows are limited. */
  override _getRows(wire: Wire): void {
    wire.execute(this.maxRows === null ? {} : { rows: this.maxRows });
    wire.sync();
  }

  override handlePortalSuspended(): void {
    this.#isCut = true;
  }

  override handleRowDescription(message: object): void {
    const [first] = this.#ahead;
    if (first === undefined) super.handleRowDescription(message);
    else first.reader?.handleRowDescription(message);
  }

  override handleDataRow(message: object): void {
    const [first] = this.#ahead;
    if (first === undefined) super.handleDataRow(message);
    else first.reader?.handleDataRow(message);
  }

  override handleCommandComplete(message: object, wire: Wire): void {
    const [first, ...others] = this.#ahead;
    if (first === undefined) {
      super.handleCommandComplete(message, wire);
      return;
    }
    this.#ahead = others;
    this.#assume(others[0]);
    first.done?.(null);
    if (first.reader === null) return;
    first.reader.handleCommandComplete(message, wire);
    this.#read.push(first.reader);
  }

  override handleReadyForQuery(wire: Wire): void {
    for (const reader of this.#read) reader.handleReadyForQuery(wire);
    super.handleReadyForQuery(wire);
  }

  /**
   * Those that have run have their rows, though the transaction has failed with the one that has not. Where the connection was lost before
   * anything was sent, all have failed.
   */
  override handleError(error: Error, wire: Wire): void {
    if (!this.#isSubmitted) {
      this.#isSubmitted = true;
      this.#ahead = this.#find().map((one) => ({ ...one, reader: null }));
    }
    // The server has not read it: the driver takes a name that it has sent for prepared.
    if (this.#ahead.length > 0 && this.#own?.name !== undefined) delete wire.submittedNamedStatements[this.#own.name];
    for (const reader of this.#read) reader.handleReadyForQuery(wire);
    const meaning = this.#ahead[0]?.meaning;
    let isTold = false;
    for (const { done, callback } of this.#ahead) {
      done?.(error);
      if (callback === undefined) continue;
      callback(isTold ? notRun(error) : error, undefined, meaning);
      isTold = true;
    }
    this.#meaning = meaning;
    super.handleError(isTold ? notRun(error) : error, wire);
  }

  /** The driver notes what was parsed by the name that the statement has at that moment. */
  #assume(ahead: Preamble | undefined): void {
    const { name, text } = ahead ?? this.#own ?? this;
    Object.assign(this, { name, text });
  }
}

/** What the failure of a statement is to one behind it. That of the connection is the same to all. */
const notRun = (error: Error): Error => (error instanceof pg.DatabaseError ? new StatementNotRun() : error);
