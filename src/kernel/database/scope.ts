import { AsyncLocalStorage } from 'node:async_hooks';
import pg from 'pg';
import { NO_ID } from '../ids.js';
import { setLocal } from './session.sql.js';

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
/** It ends with the transaction, so that a pooler between may give the connection to somebody else. */
/** Its value is the parameter. */
const SET_TEXT = setLocal(SCOPE_SETTING);
const SET_NAME = 'scope';
const SCOPE = /^(\*|[0-9a-f-]{36})$/;

const beginning = new AsyncLocalStorage<Scope>();

/** Begins a transaction whose statements reach the rows of a scope. */
export const beginIn = <T>(scope: Scope, begin: () => T): T => beginning.run(scope, begin);

/** The text that begins a transaction, with its scope in the same round trip; a text that begins none stays as it is. */
export function withScope(text: string): string {
  const scope = text.startsWith('start transaction') ? beginning.getStore() : undefined;
  if (scope === undefined) return text;
  if (!SCOPE.test(scope)) throw new Error('this is no scope');
  return `${text}; ${setLocal(SCOPE_SETTING, scope)}`;
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
) => pg.Submittable & {
  name: string | undefined;
  text: string;
  prepare(wire: Wire): void;
  handleDataRow(message: object): void;
  handleCommandComplete(message: object, wire: Wire): void;
};

/**
 * A statement outside of transactions, and before it the setting of its scope: both are sent together and end with one Sync, so that
 * the server runs them in one transaction and responds once.
 */
export class ScopedQuery extends (pg.Query as unknown as DriverQuery) {
  /** The server has not set the scope yet: what it says is about that. */
  #isScoping = true;
  #own: { name: string | undefined; text: string } | null = null;
  readonly #scope: Scope;

  constructor(scope: Scope, text: string, values: unknown[], callback: Callback) {
    super(text, values, callback);
    this.#scope = scope;
  }

  requiresPreparation(): boolean {
    return true;
  }

  override prepare(wire: Wire): void {
    const isParsed = wire.parsedStatements[SET_NAME] !== undefined;
    if (!isParsed) wire.parse({ name: SET_NAME, text: SET_TEXT });
    wire.bind({ statement: SET_NAME, values: [this.#scope] });
    wire.execute({});
    super.prepare(wire);
    if (isParsed) return;
    // The driver notes what was parsed by the name that the statement has at that moment.
    this.#own = { name: this.name, text: this.text };
    Object.assign(this, { name: SET_NAME, text: SET_TEXT });
  }

  override handleDataRow(message: object): void {
    if (!this.#isScoping) super.handleDataRow(message);
  }

  override handleCommandComplete(message: object, wire: Wire): void {
    if (!this.#isScoping) {
      super.handleCommandComplete(message, wire);
      return;
    }
    this.#isScoping = false;
    if (this.#own !== null) Object.assign(this, this.#own);
  }
}
