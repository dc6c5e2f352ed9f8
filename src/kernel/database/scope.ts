import { AsyncLocalStorage } from 'node:async_hooks';
import pg from 'pg';
import { NO_ID } from '../ids.js';
import { setLocal, setSettings } from './session.sql.js';

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
const BEGIN = /^(begin|start)\b/;

/** What is set for the transaction of a statement, in front of it. It ends with the transaction: a pooler may lend the session to others. */
export interface Preamble {
  readonly text: string;
  /** Under which it is prepared; undefined: it is not. */
  readonly name: string | undefined;
  readonly values: readonly string[];
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
  const settings = setSettings(options, true).replace('select', ',');
  const text = SET_SCOPE + settings;
  return {
    text: setLocal(SCOPE_SETTING, '') + settings,
    preambleOf: (scope) => ({ name: 'settings', text, values: [scope ?? ''] }),
  };
}

const beginning = new AsyncLocalStorage<Scope>();

/** Begins a transaction whose statements reach the rows of a scope. */
export const beginIn = <T>(scope: Scope, begin: () => T): T => beginning.run(scope, begin);

/**
 * The text that begins a transaction, with its scope in the same round trip; a text that begins none stays as it is.
 *
 * @param settings of connections, on a session that others use too
 */
export function begun(text: string, settings: LocalSettings | null): string {
  const scope = text.startsWith('start transaction') ? beginning.getStore() : undefined;
  const own = settings !== null && BEGIN.test(text) ? `${text}; ${settings.text}` : text;
  if (scope === undefined) return own;
  if (!SCOPE.test(scope)) throw new Error('this is no scope');
  return `${own}; ${setLocal(SCOPE_SETTING, scope)}`;
}

/** What of the driver's connection is used here. */
interface Wire {
  readonly parsedStatements: Record<string, string>;
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
};

/**
 * A statement, and before it what is set for its transaction: both are sent together and end with one Sync, so that the server runs
 * them in one transaction and responds once.
 */
export class PrecededQuery extends (pg.Query as unknown as DriverQuery) {
  /** The server has not run the preamble yet: what it says is about that. */
  #isPreamble = false;
  #preamble: Preamble | null = null;
  #own: { name: string | undefined; text: string } | null = null;
  readonly #find: () => Preamble | null;

  /** @param find the preamble, asked for when the statement is sent; null: none, as in a transaction that has set it */
  constructor(
    find: () => Preamble | null,
    text: string | pg.QueryConfig,
    values: unknown[] | undefined,
    callback: Callback,
  ) {
    super(text, values, callback);
    this.#find = find;
  }

  override submit(wire: Wire): Error | null {
    this.#preamble = this.#find();
    this.#isPreamble = this.#preamble !== null;
    return super.submit(wire);
  }

  override requiresPreparation(): boolean {
    return this.#isPreamble || super.requiresPreparation();
  }

  override prepare(wire: Wire): void {
    if (this.#preamble === null) {
      super.prepare(wire);
      return;
    }
    const { name, text, values } = this.#preamble;
    const isParsed = name !== undefined && wire.parsedStatements[name] !== undefined;
    if (!isParsed) wire.parse({ name, text });
    wire.bind({ statement: name, values });
    wire.execute({});
    super.prepare(wire);
    if (isParsed) return;
    // The driver notes what was parsed by the name that the statement has at that moment.
    this.#own = { name: this.name, text: this.text };
    Object.assign(this, { name, text });
  }

  override handleDataRow(message: object): void {
    if (!this.#isPreamble) super.handleDataRow(message);
  }

  override handleCommandComplete(message: object, wire: Wire): void {
    if (!this.#isPreamble) {
      super.handleCommandComplete(message, wire);
      return;
    }
    this.#isPreamble = false;
    if (this.#own !== null) Object.assign(this, this.#own);
  }
}
