import { AppError, type ErrorCode, toAppError } from '../errors.js';
import { isTurnOver, nextTurn, yieldToEventLoop } from '../event-loop.js';

/** A statement may find more than is shown of it: what the caller may not read, and what a filter leaves out. */
const ROWS_FOR_OBJECT = 2;
/** The same list is looked at for every field that leads to it, which may show a page of it. */
const LISTED_FOR_OBJECT = 5;
/** A response with more is heavy: it waits for its turn among others. */
const HEAVY_OBJECTS = 2_000;
/** A response with more lets other requests run between its fields. Those of a smaller one load together what they lead to. */
const PAUSED_OBJECTS = 5_000;
/** So many fields, or items of lists, go on together behind a pause. */
const PAUSING_TOGETHER = 200;

/**
 * What one request may still do while it runs. Each object that fields bring into the response is counted, however often it is
 * reached, and the request ends as soon as there are too many, as its deadline passes, or its client has gone. One with many objects
 * waits for its turn, as other heavy reads do.
 */
export class RequestWork {
  #objects = 0;
  /** Fields that have not returned what they bring. */
  #open = 0;
  /** Made for fields that have not returned them yet. */
  #made = 0;
  /** In lists that were loaded, of which fields make what they return. */
  #listed = 0;
  #maxObjects: number;
  #isLimited = false;
  #end: AppError | null = null;
  #abandoned: ErrorCode | null = null;
  #mustFinish = false;
  #running = 0;
  #turn: Promise<void> | null = null;
  #last: Promise<unknown> = Promise.resolve();
  #pause: Promise<void> | null = null;
  #pausing = 0;
  readonly #ended = Promise.withResolvers<never>();

  /**
   * @param maxObjects of a response whose document the service has written
   * @param takeTurn waits for the turn of a heavy read
   */
  constructor(
    maxObjects: number,
    private readonly takeTurn: () => Promise<void>,
  ) {
    this.#maxObjects = maxObjects;
    // Nobody may be waiting for it.
    this.#ended.promise.catch(() => undefined);
  }

  /** Objects that the response has so far. */
  get objects(): number {
    return this.#objects;
  }

  /** So many rows one statement may answer; null: any number. */
  get maxRows(): number | null {
    return this.#isLimited ? ROWS_FOR_OBJECT * this.#maxObjects : null;
  }

  /** Sets how many objects a response may have whose document the caller has written. */
  limitObjects(maxObjects: number): void {
    this.#maxObjects = maxObjects;
    this.#isLimited = true;
  }

  /** It may change something: it is reported, for an idempotency key too, whoever waits for it. */
  mustFinish(): void {
    this.#mustFinish = true;
  }

  /** Nobody waits for the response any more. @param code of the error that whoever shares the work gets */
  abandon(code: ErrorCode): void {
    this.#abandoned ??= code;
    if (!this.#mustFinish && this.#running > 0) this.#stop(new AppError(code));
  }

  /** Ends it, unless it has ended. @returns the error with which it ends */
  refuseTooMany(): AppError {
    // Each field may find that there are too many, and an error takes long to make.
    if (this.#end === null) this.#stop(tooManyObjects(this.#maxObjects));
    return this.#end as AppError;
  }

  #stop(error: AppError): void {
    if (this.#end !== null) return;
    this.#end = error;
    if (!this.#mustFinish) this.#ended.reject(error);
  }

  /** What `work` returns. @throws what it was stopped with, if that comes first */
  async finish<T>(work: Promise<T>): Promise<T> {
    this.#running += 1;
    if (this.#abandoned !== null) this.abandon(this.#abandoned);
    try {
      return await Promise.race([work, this.#ended.promise]);
    } finally {
      this.#running -= 1;
    }
  }

  /** Calls `report` with the error if the request is stopped before its work has ended. */
  onStop(report: (error: AppError) => void): void {
    this.#ended.promise.catch(report);
  }

  /** Whether no further field is resolved; `stopped` is what each gets. */
  get isStopped(): boolean {
    return this.#end !== null;
  }

  /**
   * In place of what a field returns after the end: it never settles, so that nothing is done with it. One for each field, since a promise
   * keeps what waits for it.
   *
   * @throws what it was stopped with, of a change
   */
  stopped(): Promise<never> {
    if (this.#mustFinish && this.#end !== null) throw this.#end;
    return new Promise(() => undefined);
  }

  /**
   * Where heavy work has taken its share of this turn of the event loop: what to wait for before a field of a large response goes on. Those
   * of others go on together, and load what they lead to in one statement.
   */
  pause(): Promise<void> | undefined {
    return this.#known > PAUSED_OBJECTS ? this.#pauseFor(1) : undefined;
  }

  #pauseFor(objects: number): Promise<void> | undefined {
    if (!isTurnOver()) return undefined;
    if (this.#pause === null || this.#pausing >= PAUSING_TOGETHER) {
      const pause = nextTurn().then(() => {
        if (this.#pause === pause) this.#pause = null;
      });
      this.#pause = pause;
      this.#pausing = 0;
    }
    this.#pausing += objects;
    return this.#pause;
  }

  /** Objects that the response has or is going to have, as far as is known. */
  get #known(): number {
    return this.#objects + this.#open;
  }

  get #isHeavy(): boolean {
    return this.#isLimited && this.#known > HEAVY_OBJECTS;
  }

  /**
   * Before a field is resolved: those of a thousand items are all asked for in the same moment, and each takes memory until it returns.
   *
   * @returns what to wait for; undefined: nothing
   */
  begin(): Promise<void> | undefined {
    this.#open += 1;
    if (!this.#isHeavy) return undefined;
    return this.#takeTurn().then(() => this.pause());
  }

  /** A field that was begun has returned, or failed. */
  settle(): void {
    this.#open -= 1;
  }

  /** For what does work for fields. @throws what the request was stopped with */
  refuseLate(): void {
    if (this.#end !== null) throw this.#end;
  }

  /** Counts what a field returned. @returns what to wait for before it is looked at; undefined: nothing */
  count(objects: number): Promise<void> | undefined {
    this.#objects += objects;
    if (this.#objects > this.#maxObjects) this.refuseTooMany();
    if (this.isStopped) return this.stopped();
    return this.#isHeavy ? this.#takeTurn() : undefined;
  }

  #takeTurn(): Promise<void> {
    this.#turn ??= this.takeTurn().catch((error: unknown) => this.#stop(toAppError(error)));
    return this.#turn.then(() => (this.isStopped ? this.stopped() : undefined));
  }

  /**
   * Before a field makes something of each item of a list that was loaded once for all fields which lead to it. Where fields do so with many
   * items, the request waits for its turn: what they make takes memory.
   *
   * @throws what the request was stopped with, QUERY_TOO_COMPLEX
   */
  async countListed(items: number): Promise<void> {
    this.#listed += items;
    if (this.#listed > LISTED_FOR_OBJECT * this.#maxObjects) this.refuseTooMany();
    if (this.#listed > PAUSED_OBJECTS) {
      if (this.#isLimited) await this.#takeTurn();
      await this.#pauseFor(items);
    }
    this.refuseLate();
  }

  /**
   * Before many fields each make many objects: lets other requests run.
   *
   * @throws what the request was stopped with, QUERY_TOO_COMPLEX
   */
  async countMade(objects: number): Promise<void> {
    this.#made += objects;
    if (this.#made > this.#maxObjects) this.refuseTooMany();
    await yieldToEventLoop();
    this.refuseLate();
  }

  /**
   * Does what takes long for each of many fields, for one after the other: each has its result before the next begins.
   *
   * @throws what the request was stopped with
   */
  inLine<T>(part: () => Promise<T>): Promise<T> {
    const run = (): Promise<T> => {
      this.refuseLate();
      return part();
    };
    const result = this.#last.then(run);
    this.#last = result.catch(() => undefined);
    return result;
  }
}

const tooManyObjects = (allowed: number): AppError =>
  new AppError('QUERY_TOO_COMPLEX', undefined, {
    details: [
      {
        path: 'query',
        code: 'OBJECTS_LIMIT',
        message: `The response has more than ${allowed} objects, the limit. Read its lists in pages, with \`first\` and \`after\`, or split the document`,
      },
    ],
  });
