import { setImmediate as immediately } from 'node:timers/promises';
import { AppError } from '../errors.js';

/** When to retry: work that is shared takes less. */
const RETRY_AFTER_SECONDS = 1;

interface Bounds {
  /** Maximum number of requests that share one turn: they go on in the same moment. */
  readonly most: number;
  /** Of one name. */
  readonly maxWaiting: number;
}

/** One turn of the work, for all requests that arrived before it began. */
interface Turn<Item, Result> {
  readonly items: Item[];
  hasBegun: boolean;
  result: Promise<Result>;
}

/** The turns of one name. */
interface Line<Item, Result> {
  last: Turn<Item, Result> | null;
  waiting: number;
}

/** What the work of a turn returned, and which of its items this one was. */
interface Share<Result> {
  readonly result: Result;
  readonly place: number;
}

/** Calls `begin` when it begins, which returns the items of its requests; later ones do not join. */
type Work<Item, Result> = (begin: () => readonly Item[]) => Promise<Result>;

/**
 * Runs one turn at a time per name. Requests that arrive at the same moment, or during a turn, share the next one, which begins after they
 * arrived: what it finds is valid for each of them, and a hundred requests at once take a few turns.
 */
export class SharedWork<Item, Result> {
  readonly #lines = new Map<string, Line<Item, Result>>();

  constructor(private readonly bounds: Bounds) {}

  /**
   * @param name requests with the same one share turns
   * @param item what this request has of its own
   * @throws OVERLOADED when too many wait; what the work throws, to all who share it
   */
  async share(name: string, item: Item, work: Work<Item, Result>): Promise<Share<Result>> {
    const line = this.#lines.get(name) ?? { last: null, waiting: 0 };
    if (line.waiting === this.bounds.maxWaiting)
      throw new AppError('OVERLOADED', undefined, { retryAfterSeconds: RETRY_AFTER_SECONDS });
    this.#lines.set(name, line);
    line.waiting += 1;
    const { last } = line;
    if (last === null || last.hasBegun || last.items.length === this.bounds.most)
      return { result: await this.#takeTurn(name, line, item, work), place: 0 };
    const place = last.items.push(item) - 1;
    return { result: await last.result, place };
  }

  async #takeTurn(name: string, line: Line<Item, Result>, item: Item, work: Work<Item, Result>): Promise<Result> {
    const turn = { items: [item], hasBegun: false };
    const begin = (): readonly Item[] => {
      if (!turn.hasBegun) line.waiting -= turn.items.length;
      turn.hasBegun = true;
      return turn.items;
    };
    const run = async (): Promise<Result> => {
      try {
        // All that has come was read by then.
        await immediately();
        return await work(begin);
      } finally {
        // Work that fails before it begins is over as well.
        begin();
      }
    };
    const added = Object.assign(turn, { result: line.last === null ? run() : line.last.result.then(run, run) });
    line.last = added;
    try {
      return await added.result;
    } finally {
      if (line.last === added) this.#lines.delete(name);
    }
  }
}
