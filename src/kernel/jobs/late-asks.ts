import type { Context } from '../context.js';
import { inBackground } from '../database/background.js';
import { inTransaction } from '../database/in-transaction.js';
import { ask, type JobRequest } from './queue.js';

/**
 * Standing jobs that transactions of this node have asked for and that are not stored yet, each once. A node that dies forgets them,
 * and so does a failure to store them.
 */
export class LateAsks {
  #asked = new Map<string, Map<string, JobRequest>>();

  /** @param contextOf of the installation: they are of many organizations */
  constructor(private readonly contextOf: () => Context) {}

  /** Called after the commit of what the jobs are to find. */
  add(kind: string, requests: readonly JobRequest[]): void {
    const ofKind = this.#asked.get(kind) ?? new Map<string, JobRequest>();
    this.#asked.set(kind, ofKind);
    for (const request of requests) ofKind.set(request.key, request);
  }

  /** Stores all of them, in one statement for each kind. */
  async store(): Promise<void> {
    const asked = this.#asked;
    if (asked.size === 0) return;
    this.#asked = new Map();
    await inBackground(() =>
      inTransaction(this.contextOf(), async (tx) => {
        for (const [name, requests] of asked) await ask(tx, { name }, [...requests.values()]);
      }),
    );
  }
}
