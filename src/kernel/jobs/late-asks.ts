import type { Context } from '../context.js';
import { inBackground } from '../database/background.js';
import { inTransaction, sqlState } from '../database/in-transaction.js';
import { ask, type JobRequest } from './queue.js';

const FOREIGN_KEY_VIOLATION = '23503';
type Asked = Iterable<readonly [string, readonly JobRequest[]]>;

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

  /** Stores all of them, in one statement for each kind; one by one if what one of them is about was deleted meanwhile. */
  async store(): Promise<void> {
    const asked = [...this.#asked].map(([name, requests]) => [name, [...requests.values()]] as const);
    if (asked.length === 0) return;
    this.#asked = new Map();
    try {
      await this.#ask(asked);
    } catch (error) {
      if (sqlState(error) !== FOREIGN_KEY_VIOLATION) throw error;
      for (const [name, requests] of asked)
        for (const request of requests) await this.#ask([[name, [request]]]).catch(refuseOthers);
    }
  }

  #ask(asked: Asked): Promise<void> {
    return inBackground(() =>
      inTransaction(this.contextOf(), async (tx) => {
        for (const [name, requests] of asked) await ask(tx, { name }, requests);
      }),
    );
  }
}

function refuseOthers(error: unknown): void {
  if (sqlState(error) !== FOREIGN_KEY_VIOLATION) throw error;
}
