import { setTimeout as delay } from 'node:timers/promises';
import { inBackground } from '../database/background.js';
import type { Query } from '../database/database.js';
import { listChangedKeys } from './data-key.sql.js';

/** How long what a node knows of disabled keys holds. Every node has seen a change once this much time has passed. */
const HOLDS_MS = 1_000;
const PATIENCE_MS = 250;

/**
 * Projects whose key is disabled, and keys of projects that do not seal any more, of all organizations. Keys stay open on each node, so it asks the
 * database again before it uses one, unless it has asked within the last second.
 */
export class DisabledKeys {
  #ids: ReadonlySet<string> = new Set();
  #renewedKeys: ReadonlyMap<string, boolean> = new Map();
  /** `performance.now()` before it asked. */
  #askedAt = Number.NEGATIVE_INFINITY;
  #asking: Promise<void> | null = null;

  /** @param onConnection runs statements on a connection of their own, outside of any request */
  constructor(private readonly onConnection: (work: (query: Query) => Promise<void>) => Promise<void>) {}

  /**
   * True when the key of the project is disabled.
   *
   * @param query of the caller, for when no other connection is to be had
   */
  async has(query: Query, projectId: string): Promise<boolean> {
    const age = performance.now() - this.#askedAt;
    if (age >= HOLDS_MS) await this.#brought(query);
    // Ahead of time, so that nobody waits while the service is in use.
    else if (age >= HOLDS_MS / 2) this.#renew().catch(() => undefined);
    return this.#ids.has(projectId.toLowerCase());
  }

  /** Keys that were retired or destroyed recently, by ID, and whether they were destroyed, as of the last question. */
  get renewed(): ReadonlyMap<string, boolean> {
    return this.#renewedKeys;
  }

  /** Waits until every node has seen a change that was committed before. */
  async untilSeen(): Promise<void> {
    await delay(HOLDS_MS);
  }

  async #brought(query: Query): Promise<void> {
    const renewal = this.#renew();
    const isDone = await Promise.race([renewal.then(() => true), delay(PATIENCE_MS, false, { ref: false })]);
    // The question is the node's, whoever's connection it takes: it counts as nothing that the request asked.
    if (!isDone) await inBackground(() => this.#ask(query));
  }

  #renew(): Promise<void> {
    this.#asking ??= this.onConnection((query) => this.#ask(query)).finally(() => {
      this.#asking = null;
    });
    return this.#asking;
  }

  async #ask(query: Query): Promise<void> {
    const askedAt = performance.now();
    const rows = await listChangedKeys(query, {});
    if (askedAt < this.#askedAt) return;
    const closed = rows.filter(({ change }) => change === 'disabled');
    const renewed = rows.filter(({ change }) => change !== 'disabled');
    this.#ids = new Set(closed.map(({ id }) => id));
    this.#renewedKeys = new Map(renewed.map(({ id, change }) => [id, change === 'destroyed']));
    this.#askedAt = askedAt;
  }
}
