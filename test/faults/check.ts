import type { StoreApart } from './store-apart.ts';

/** A promise of the service, tried by breaking things. One file each. */
export interface Check {
  /** Its number in the list of checks, `C40`. */
  readonly id: string;
  readonly title: string;
  /** How often a full run tries it. */
  readonly fullTimes: number;
  /**
   * It is no part of `npm test`: it takes minutes, judges milliseconds or draws random requests, or costs many seconds for what other
   * tests try too.
   */
  readonly needsQuiet?: true;
  /** One run takes many minutes: it runs only when `--only` names it. */
  readonly isLong?: true;
  /**
   * Tries it and answers what was counted, in words.
   *
   * @param store of the jobs of all nodes; null: they are kept in the database of the service
   * @throws Error when the promise is broken
   */
  run(times: number, store: StoreApart | null): Promise<string>;
}

/** The promise, as a condition. @throws Error that says what was found */
export function expectThat(isKept: boolean, found: string): asserts isKept {
  if (!isKept) throw new Error(found);
}

/** As `expectThat`, of milliseconds; not in a brief run, beside other tests, where they say nothing. */
export function expectWithin(limitMs: number, tookMs: number, what: string): void {
  if (!process.argv.includes('--brief')) expectThat(tookMs <= limitMs, `${what} took ${Math.round(tookMs)} ms`);
}

/** Runs `work` once for each number from 0. */
export async function repeat(times: number, work: (index: number) => Promise<void>): Promise<void> {
  for (let index = 0; index < times; index += 1) await work(index);
}
