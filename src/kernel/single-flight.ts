import { setTimeout as delay } from 'node:timers/promises';

/** Does work once for all who ask for its result meanwhile, and lets nobody wait for it without end. */
export class SingleFlight<T> {
  #running: Promise<T> | null = null;

  constructor(
    private readonly work: () => Promise<T>,
    private readonly withinMs: number,
  ) {}

  /**
   * @param late the result when there is none in time
   * @throws what the work throws
   */
  async result<L>(late: L): Promise<T | L> {
    this.#running ??= this.work();
    const mine = this.#running;
    const patience = new AbortController();
    try {
      return await Promise.race([mine, delay(this.withinMs, late, { signal: patience.signal }).catch(() => late)]);
    } finally {
      patience.abort();
      // Also one that never ends: who asks next must get a connection that lives.
      if (this.#running === mine) this.#running = null;
      mine.catch(() => undefined);
    }
  }
}
