import { AsyncLocalStorage } from 'node:async_hooks';
import pg from 'pg';
import { NO_ID } from '../ids.js';
import { setLocal, settingsIn } from './session.sql.js';

/** Whose rows statements reach: the id of an organization, or `*` for all. Policies of the tables hold them to it. */
export type Scope = string;

/** Of work that no organization asked for. */
export const EVERY_ORGANIZATION: Scope = '*';

/** What of a Context bounds its statements. */
export interface Bounded {
  readonly organizationId: string;
}

/** The organization of a context. The jobs of the installation have none, and reach all. */
export const scopeOf = ({ organizationId }: Bounded): Scope =>
  organizationId === NO_ID ? EVERY_ORGANIZATION : organizationId;

/** Whose rows statements reach. A transaction sets it, and it ends with it. */
const SCOPE_SETTING = 'strongroom.organization';
/** A setting of connections whose statements are not bounded, in the form of their start. */
export const UNBOUNDED = `-c ${SCOPE_SETTING}=${EVERY_ORGANIZATION}`;
const SET_SCOPE = setLocal(SCOPE_SETTING);
const SCOPE = /^(\*|[0-9a-f-]{36})$/;

/** Begins or ends a transaction; in one that has failed, nothing may come before it. */
export const CONTROL = /^(begin|start|commit|rollback|savepoint|release)\b/;
export const BEGIN = /^(begin|start)\b/;

/**
 * What is sent in front of a statement, for nobody waits for it alone: the begin of its transaction, a setting of that, a record of the
 * audit trail. Settings end with the transaction: a pooler may lend the session to others.
 */
export interface Preamble {
  readonly text: string;
  /** Under which it is prepared; undefined: it is not. */
  readonly name: string | undefined;
  readonly values: readonly unknown[];
  /** Called once: when the server has run it, or with what failed. */
  readonly done?: (error: Error | null) => void;
  /** What its failure means to those who wait for the statement behind it. Absent: the same as a failure of that. */
  readonly meaning?: (error: Error) => Error;
}

/** The scope of a statement. */
export const preambleOf = (scope: Scope): Preamble => ({ name: 'scope', text: SET_SCOPE, values: [scope] });

/** Settings of connections, set for a transaction on a session that others use too. Whatever scope these left, it is not kept. */
export interface LocalSettings {
  /** Comes after the text that begins a transaction. */
  readonly text: string;
  /** Comes before a statement outside of transactions. */
  preambleOf(scope: Scope | null): Preamble;
}

/** @param options in the form of the start of a connection */
export function localSettings(options: string): LocalSettings {
  // After the scope: among them may be that nothing is bounded.
  const after = (scope: string): string => [scope, ...settingsIn(options, true)].join(', ');
  const text = after(SET_SCOPE);
  return {
    text: after(setLocal(SCOPE_SETTING, '')),
    preambleOf: (scope) => ({ name: 'settings', text, values: [scope ?? ''] }),
  };
}

const beginning = new AsyncLocalStorage<Scope>();

/** Begins a transaction whose statements reach the rows of a scope. It is sent with the first of them. */
export const beginIn = <T>(scope: Scope, begin: () => T): T => beginning.run(scope, begin);

/** The scope of the transaction that a text begins, if `beginIn` does. */
export function begunScope(text: string): Scope | undefined {
  const scope = text.startsWith('start transaction') ? beginning.getStore() : undefined;
  if (scope !== undefined && !SCOPE.test(scope)) throw new Error('this is no scope');
  return scope;
}

/**
 * A text that begins a transaction, with the settings of connections in the same round trip; any other stays as it is.
 *
 * @param settings of connections, on a session that others use too
 */
export const begun = (text: string, settings: LocalSettings | null): string =>
  settings !== null && BEGIN.test(text) ? `${text}; ${settings.text}` : text;

type Meaning = (error: Error) => Error;
const withNext = new AsyncLocalStorage<Meaning>();

/**
 * Has a statement of a transaction sent with the next one, or with its commit: for what nobody reads the rows of, and fails the
 * transaction.
 *
 * @param send its promise does not wait for the server
 * @param meaning of its failure, which the next one has then
 */
export const sendWithNext = <T>(send: () => T, meaning: Meaning = (error) => error): T => withNext.run(meaning, send);

/** What a failure of the statement that is sent now means, if `sendWithNext` sends it. */
export const meaningOfFailure = (): Meaning | undefined => withNext.getStore();

/** What of the driver's connection is used here. */
interface Wire {
  readonly parsedStatements: Record<string, string>;
  readonly submittedNamedStatements: Record<string, string>;
  parse(message: object): void;
  bind(message: object): void;
  execute(message: object): void;
}
type Callback = (error: Error | null | undefined, result?: unknown) => void;
/** What the driver's type leaves out. */
type DriverQuery = new (
  text: string | pg.QueryConfig,
  values: unknown[] | undefined,
  callback: Callback,
) => {
  name: string | undefined;
  text: string;
  submit(wire: Wire): Error | null;
  requiresPreparation(): boolean;
  prepare(wire: Wire): void;
  handleDataRow(message: object): void;
  handleCommandComplete(message: object, wire: Wire): void;
  handleError(error: Error, wire: Wire): void;
};
const { prepareValue } = (pg as unknown as { utils: { prepareValue: (value: unknown) => unknown } }).utils;

/**
 * A statement, and before it what is sent in front of it: all end with one Sync, so that the server runs them one after the other, stops
 * at the first that fails, and responds once.
 */
export class PrecededQuery extends (pg.Query as unknown as DriverQuery) {
  /** What the server has not run yet: what it says is about the first. */
  #ahead: readonly Preamble[] = [];
  #own: { readonly name: string | undefined; readonly text: string } | null = null;
  readonly #find: () => readonly Preamble[];

  /** @param find what is in front, asked for when the statement is sent; empty in a transaction that has set it */
  constructor(
    find: () => readonly Preamble[],
    text: string | pg.QueryConfig,
    values: unknown[] | undefined,
    callback: Callback,
  ) {
    super(text, values, callback);
    this.#find = find;
  }

  /** What a failure means to those who wait for the statement. One without a code is of the driver, which has sent nothing. */
  meaningOf(error: Error): Error {
    return ('code' in error && this.#ahead[0]?.meaning?.(error)) || error;
  }

  override submit(wire: Wire): Error | null {
    this.#ahead = this.#find();
    return super.submit(wire);
  }

  override requiresPreparation(): boolean {
    return this.#ahead.length > 0 || super.requiresPreparation();
  }

  override prepare(wire: Wire): void {
    const sent = new Set<string>();
    for (const { name, text, values } of this.#ahead) {
      if (name === undefined || (wire.parsedStatements[name] === undefined && !sent.has(name)))
        wire.parse({ name, text });
      if (name !== undefined) sent.add(name);
      wire.bind({ statement: name, values, valueMapper: prepareValue });
      wire.execute({});
    }
    this.#own = { name: this.name, text: this.text };
    if (this.name !== undefined && sent.has(this.name)) wire.submittedNamedStatements[this.name] = this.text;
    super.prepare(wire);
    this.#assume(this.#ahead[0]);
  }

  override handleDataRow(message: object): void {
    if (this.#ahead.length === 0) super.handleDataRow(message);
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
  }

  override handleError(error: Error, wire: Wire): void {
    // The server has not read it: the driver takes a name that it has sent for prepared.
    if (this.#ahead.length > 0 && this.#own?.name !== undefined) delete wire.submittedNamedStatements[this.#own.name];
    for (const { done } of this.#ahead) done?.(error);
    super.handleError(error, wire);
  }

  /** The driver notes what was parsed by the name that the statement has at that moment. */
  #assume(ahead: Preamble | undefined): void {
    const { name, text } = ahead ?? this.#own ?? this;
    Object.assign(this, { name, text });
  }
}
