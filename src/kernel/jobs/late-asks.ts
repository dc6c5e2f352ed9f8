import type { Context } from '../context.js';
import { inBackground } from '../database/background.js';
import { inTransaction, sqlState } from '../database/in-transaction.js';
import { storeTogether } from '../storing-together.js';
import { ask, type JobRequest } from './queue.js';

const FOREIGN_KEY_VIOLATION = '23503';

/** A job, by the name of its kind. */
interface Asked {
  readonly name: string;
  readonly request: JobRequest;
}

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

  /** Stores all of them, in one statement for each kind; apart from them those that fail on what they are about. */
  async store(): Promise<void> {
    const asked = [...this.#asked].flatMap(([name, requests]) =>
      [...requests.values()].map((request) => ({ name, request })),
    );
    if (asked.length === 0) return;
    this.#asked = new Map();
    let failure: unknown;
    await storeTogether(
      asked,
      (some) => this.#ask(some),
      (_, result) => {
        // What one of them is about was deleted meanwhile.
        if (result.status === 'rejected' && sqlState(result.reason) !== FOREIGN_KEY_VIOLATION) failure = result.reason;
      },
    );
    if (failure !== undefined) throw failure;
  }

  #ask(asked: readonly Asked[]): Promise<void> {
    return inBackground(() =>
      inTransaction(this.contextOf(), async (tx) => {
        for (const [name, some] of Map.groupBy(asked, (one) => one.name))
          await ask(
            tx,
            { name },
            some.map(({ request }) => request),
          );
      }),
    );
  }
}
