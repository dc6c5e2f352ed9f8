// Our own, since `p-limit` and `p-queue` know neither callers that take turns, nor weights, nor a queue that ends.
import { AppError } from '../errors.js';

/** How long a request waits before it is refused, where nothing else is said. */
const MAX_WAIT_MS = 10_000;
/** When to try again: about as long as a full queue takes to become shorter. */
const RETRY_AFTER_SECONDS = 2;

interface Bounds {
  /** Total weight that runs at once. */
  readonly capacity: number;
  /** Weight beyond that, for callers that have nothing running. */
  readonly spare: number;
  readonly maxWaiting: number;
  /** Of these, of one caller. Absent: all. */
  readonly maxWaitingOfOne?: number;
  readonly maxWaitMs?: number;
}

/** A place in a queue. */
export interface Ticket {
  /** Resolves when the work may begin. @throws OVERLOADED */
  readonly turn: Promise<void>;
  /** Gives the place up, if the work has not begun. */
  cancel(): void;
  /** Ends the work. If it has not begun, it never will. */
  end(): void;
}

interface Waiter {
  readonly caller: string;
  readonly weight: number;
  start(): void;
  refuse(): void;
}

/**
 * Lets heavy work run a few at a time. The others wait, and callers take turns: whoever has a hundred requests waiting delays
 * the next caller by one of them. Lighter work overtakes only who waits for work of its own.
 *
 * The queue is bounded in length and in time; work that does not fit is refused with OVERLOADED. When it is full, the caller with the
 * most waiting gives up its last place to one with fewer.
 */
export class FairQueue {
  /** Callers in the order of their turns. */
  readonly #waiting = new Map<string, Waiter[]>();
  readonly #running = new Map<string, number>();
  #weight = 0;
  #refused = 0;

  constructor(private readonly bounds: Bounds) {}

  /** Now, and since start. */
  get figures(): { running: number; waiting: number; refused: number } {
    return { running: sum(this.#running.values()), waiting: this.#length, refused: this.#refused };
  }

  /**
   * Takes a place.
   *
   * @param caller whose work it is
   * @param weight part of the capacity that it takes
   */
  enter(caller: string, weight: number): Ticket {
    let state: 'waiting' | 'running' | 'over' = 'waiting';
    let timer: NodeJS.Timeout | undefined;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const refuse = (): void => {
      state = 'over';
      clearTimeout(timer);
      this.#refused += 1;
      reject(new AppError('OVERLOADED', undefined, { retryAfterSeconds: RETRY_AFTER_SECONDS }));
    };
    const start = (): void => {
      state = 'running';
      clearTimeout(timer);
      this.#weight += weight;
      this.#running.set(caller, (this.#running.get(caller) ?? 0) + 1);
      resolve();
    };
    const waiter: Waiter = { caller, weight, start, refuse };
    const cancel = (): void => {
      if (state !== 'waiting') return;
      this.#remove(waiter);
      refuse();
    };
    const end = (): void => {
      cancel();
      if (state === 'running') this.#end(waiter);
      state = 'over';
    };
    const isFirst = !this.#waiting.has(caller);
    if (isFirst && !this.#isHeldUp && this.#mayStart(waiter, this.#waiting.size === 0)) start();
    else if (this.#makeRoom(caller)) {
      this.#append(waiter);
      timer = setTimeout(cancel, this.bounds.maxWaitMs ?? MAX_WAIT_MS).unref();
    } else refuse();
    return { turn: promise, cancel, end };
  }

  get #length(): number {
    return sum([...this.#waiting.values()].map(({ length }) => length));
  }

  /** Somebody of whom nothing runs waits for enough room. Overtaken by lighter work again and again, it would never get it. */
  get #isHeldUp(): boolean {
    return [...this.#waiting.keys()].some((caller) => !this.#running.has(caller));
  }

  #mayStart({ caller, weight }: Waiter, isFirst: boolean): boolean {
    const { capacity, spare } = this.bounds;
    if (this.#weight === 0 || (isFirst && this.#weight + weight <= capacity)) return true;
    return !this.#running.has(caller) && this.#weight + weight <= capacity + spare;
  }

  /** True if the caller may wait. */
  #makeRoom(caller: string): boolean {
    const { maxWaiting, maxWaitingOfOne = maxWaiting } = this.bounds;
    const own = this.#waiting.get(caller)?.length ?? 0;
    if (own >= maxWaitingOfOne) return false;
    if (this.#length < maxWaiting) return true;
    const [longest] = [...this.#waiting.values()].sort((one, other) => other.length - one.length);
    if (longest === undefined || longest.length <= own + 1) return false;
    longest.pop()?.refuse();
    return true;
  }

  #append(waiter: Waiter): void {
    const line = this.#waiting.get(waiter.caller);
    if (line === undefined) this.#waiting.set(waiter.caller, [waiter]);
    else line.push(waiter);
  }

  #remove(waiter: Waiter): void {
    const line = this.#waiting.get(waiter.caller)?.filter((each) => each !== waiter) ?? [];
    if (line.length === 0) this.#waiting.delete(waiter.caller);
    else this.#waiting.set(waiter.caller, line);
    this.#startNext();
  }

  #end({ caller, weight }: Waiter): void {
    this.#weight -= weight;
    const left = (this.#running.get(caller) ?? 1) - 1;
    if (left === 0) this.#running.delete(caller);
    else this.#running.set(caller, left);
    this.#startNext();
  }

  #startNext(): void {
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      const { caller } = next;
      const line = this.#waiting.get(caller) ?? [];
      // Taken out of the array itself: what a map leaves behind may refer to it for long.
      line.shift();
      // Its caller moves to the end of the queue.
      this.#waiting.delete(caller);
      if (line.length > 0) this.#waiting.set(caller, line);
      next.start();
    }
  }

  #next(): Waiter | undefined {
    let isFirst = true;
    for (const [caller, [waiter]] of this.#waiting) {
      if (waiter !== undefined && this.#mayStart(waiter, isFirst)) return waiter;
      if (!this.#running.has(caller)) return undefined;
      isFirst = false;
    }
    return undefined;
  }
}

const sum = (numbers: Iterable<number>): number => [...numbers].reduce((total, number) => total + number, 0);
