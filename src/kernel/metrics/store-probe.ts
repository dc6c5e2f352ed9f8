import { setTimeout as delay } from 'node:timers/promises';
import { type KeyFigures, keyFigures } from '../crypto/key-store.js';
import type { Database } from '../database/database.js';

const ANSWER_WITHIN_MS = 1_000;
const FRESH_MS = 15_000;
/** A database that is away is asked again sooner. */
const RETRY_MS = 1_000;

interface Reading {
  readonly isUp: boolean;
  readonly keys: KeyFigures | null;
}

const AWAY: Reading = { isUp: false, keys: null };

/** Asks the database what only it knows, at most every 15 s however many ask, and never holds who asks for over a second. */
export class StoreProbe {
  #last: Reading = AWAY;
  #readAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<Reading> | null = null;

  constructor(private readonly database: Database) {}

  async read(): Promise<Reading> {
    if (performance.now() - this.#readAt < (this.#last.isUp ? FRESH_MS : RETRY_MS)) return this.#last;
    this.#reading ??= this.#ask();
    const mine = this.#reading;
    const patience = new AbortController();
    const late = delay(ANSWER_WITHIN_MS, AWAY, { signal: patience.signal }).catch(() => AWAY);
    const reading = await Promise.race([mine, late]);
    patience.abort();
    // Also one that never answers: the next must get a connection that lives.
    if (this.#reading === mine) this.#reading = null;
    return reading;
  }

  async #ask(): Promise<Reading> {
    this.#last = await this.database.withConnection(keyFigures).then(
      (keys) => ({ isUp: true, keys }),
      () => AWAY,
    );
    this.#readAt = performance.now();
    return this.#last;
  }
}
