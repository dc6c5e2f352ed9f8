import { setTimeout as delay } from 'node:timers/promises';

/** Asks something once for however many want to know it at a time, and lets nobody wait for the answer without end. */
export class SharedQuestion<T> {
  #asking: Promise<T> | null = null;

  constructor(
    private readonly ask: () => Promise<T>,
    private readonly withinMs: number,
  ) {}

  /**
   * @param late the answer when there is none in time
   * @throws what asking throws
   */
  async answer<L>(late: L): Promise<T | L> {
    this.#asking ??= this.ask();
    const mine = this.#asking;
    const patience = new AbortController();
    try {
      return await Promise.race([mine, delay(this.withinMs, late, { signal: patience.signal }).catch(() => late)]);
    } finally {
      patience.abort();
      // Also one that is never answered: who asks next must get a connection that lives.
      if (this.#asking === mine) this.#asking = null;
      mine.catch(() => undefined);
    }
  }
}
