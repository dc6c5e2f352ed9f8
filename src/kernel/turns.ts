/** Lets so many pieces of work run at once; the others wait in their order. For work that takes much memory while it runs. */
export class Turns {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  /** @param atOnce how many run at once */
  constructor(atOnce: number) {
    this.#free = atOnce;
  }

  /** Runs the work when its turn comes. @throws what it throws */
  async take<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      // Handed on, not given back: nobody who comes just now gets in between.
      const next = this.#waiting.shift();
      if (next === undefined) this.#free += 1;
      else next();
    }
  }
}
