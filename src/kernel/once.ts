import { setTimeout as delay } from 'node:timers/promises';

/** A function that makes its value when it is first called, and returns the same one from then on. */
export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

/** The same for what takes time to make. A failure is not kept: the next call tries again. */
export function onceLoaded<T>(load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | undefined;
  return () => {
    loading ??= load().catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    return loading;
  };
}

/** An object whose properties are made when they are first read. */
export function lazily<T extends object>(makers: { readonly [Name in keyof T]: () => T[Name] }): T {
  const made = {} as T;
  for (const [name, make] of Object.entries(makers) as [keyof T, () => T[keyof T]][])
    Object.defineProperty(made, name, { get: once(make), enumerable: true });
  return made;
}

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
