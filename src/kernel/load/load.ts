import { AppError } from '../errors.js';
import { FairQueue, type Ticket } from './fair-queue.js';
import { RequestWork } from './request-work.js';

/** A response is at most this long, in bytes. */
export const MAX_RESPONSE_BYTES = 64 * 1024 * 1024;
/** Shorter responses are not counted once they are built: connections are bounded too, and take as much. */
const SMALL_BYTES = 64 * 1024;
/** Memory that a byte of a response takes while it is built: as it was read, in the clear, as JSON, and what of these is garbage. */
const WORKING_COPIES = 3.5;

/** Heavy reads that run at once: they share one event loop, and more of them take more memory and are no faster. */
const HEAVY_READS = { capacity: 6, spare: 3, maxWaiting: 100 };
/** Parts of that capacity. */
const WEIGHTS = { large: 1, huge: 3 } as const;

/** How heavy a read is: of one folder (large), or of many (huge). */
export type ReadSize = keyof typeof WEIGHTS;

/** A built response. */
interface BuiltResponse {
  /** For whom it was built. */
  readonly caller: string;
  /** How many responses send it. */
  responses: number;
}

/** Memory and turns of all responses of this process. */
export class Load {
  readonly #queue = new FairQueue(HEAVY_READS);
  /** Built responses that are not sent yet. */
  readonly #built = new WeakMap<Buffer, BuiltResponse>();
  /** Bytes of these, by whom they were built for. */
  readonly #ofCallers = new Map<string, number>();
  readonly #refused = { tooLarge: 0, overloaded: 0 };
  #bytes = 0;

  /**
   * @param maxBytes memory of all responses together
   * @param maxObjects of one response whose document the service has written
   */
  constructor(
    private readonly maxBytes: number,
    private readonly maxObjects = Number.POSITIVE_INFINITY,
  ) {}

  /** Now, and since start. */
  get figures() {
    return { bytes: this.#bytes, ...this.#refused, heavyReads: this.#queue.figures };
  }

  /** What one response takes. Whoever opens it closes it when the response is sent or its connection has ended. */
  open(): ResponseLoad {
    return new ResponseLoad(this, this.maxObjects);
  }

  /** @throws OVERLOADED */
  reserve(bytes: number): void {
    if (this.#bytes + bytes > this.maxBytes) this.#refuse();
    this.#bytes += bytes;
  }

  release(bytes: number): void {
    this.#bytes -= bytes;
  }

  /**
   * Keeps account of a buffer until all responses that send it have let go of it. One caller may have half of the memory: what
   * its clients do not read stands there for a minute.
   *
   * @throws OVERLOADED
   */
  hold(buffer: Buffer, caller: string): void {
    const built = this.#built.get(buffer);
    if (built !== undefined) {
      built.responses += 1;
      return;
    }
    const ofCaller = (this.#ofCallers.get(caller) ?? 0) + buffer.length;
    if (ofCaller > this.maxBytes / 2) this.#refuse();
    this.reserve(buffer.length);
    this.#ofCallers.set(caller, ofCaller);
    this.#built.set(buffer, { caller, responses: 1 });
  }

  letGo(buffer: Buffer): void {
    const built = this.#built.get(buffer);
    if (built === undefined) return;
    built.responses -= 1;
    if (built.responses > 0) return;
    this.#built.delete(buffer);
    this.release(buffer.length);
    const left = (this.#ofCallers.get(built.caller) ?? 0) - buffer.length;
    if (left > 0) this.#ofCallers.set(built.caller, left);
    else this.#ofCallers.delete(built.caller);
  }

  enter(caller: string, heaviness: ReadSize): Ticket {
    return this.#queue.enter(caller, WEIGHTS[heaviness]);
  }

  tooLarge(): AppError {
    this.#refused.tooLarge += 1;
    return new AppError('ANSWER_TOO_LARGE');
  }

  #refuse(): never {
    this.#refused.overloaded += 1;
    throw new AppError('OVERLOADED');
  }
}

/** What the response of one request takes. All lists of a GraphQL document share it. */
export class ResponseLoad {
  /** Key of the caller, as soon as it is known. */
  caller: string | null = null;
  #size = 0;
  #written = 0;
  #besides = 0;
  #reserved = 0;
  #ticket: Ticket | null = null;
  #held: Buffer | null = null;
  /** Reads that share the turn. */
  #reads = 0;
  #isClosed = false;
  #isOver = false;

  /** What the request may still do. */
  readonly work: RequestWork;

  /** @param maxObjects of a document that the service has written */
  constructor(
    private readonly load: Load,
    maxObjects: number,
  ) {
    this.work = new RequestWork(maxObjects, () => this.turn(this.caller ?? '', 'huge'));
  }

  /**
   * Counts bytes that the response will contain. Called before they are decrypted or copied.
   *
   * @throws ANSWER_TOO_LARGE, OVERLOADED
   */
  add(bytes: number): void {
    this.refuseLate();
    this.#size += bytes;
    if (this.#size > MAX_RESPONSE_BYTES) throw this.load.tooLarge();
    this.load.reserve(bytes * WORKING_COPIES);
    this.#reserved += bytes * WORKING_COPIES;
  }

  /** Reserves memory for what is read and is no part of the response. @throws OVERLOADED */
  reserve(bytes: number): void {
    this.refuseLate();
    this.load.reserve(bytes);
    this.#reserved += bytes;
    this.#besides += bytes;
  }

  /**
   * Counts bytes of the response as they are written: aliases and escapes make more of values than was added.
   *
   * @throws ANSWER_TOO_LARGE, OVERLOADED
   */
  write(bytes: number): void {
    this.#written += bytes;
    if (this.#written > MAX_RESPONSE_BYTES) throw this.load.tooLarge();
    // Written all the same, for its idempotency key: the change has been made. Nothing more was read for it.
    if (this.#isOver) return;
    // The values, what is written of them, and the texts that it was written from.
    const missing = this.#besides + this.#size + 2 * this.#written - this.#reserved;
    if (missing <= 0) return;
    this.load.reserve(missing);
    this.#reserved += missing;
  }

  /** How many bytes of the response are known of. Keys, names and times are not among them. */
  get expectedBytes(): number {
    return this.#size;
  }

  /** What to throw if more was found than the response may have. */
  tooLarge(): AppError {
    return this.load.tooLarge();
  }

  /**
   * Waits for the turn of a heavy read, which lasts until the response is built. A request has one turn, however many lists it
   * reads.
   *
   * @param caller whose turn it is
   * @throws OVERLOADED
   */
  async turn(caller: string, heaviness: ReadSize): Promise<void> {
    this.refuseLate();
    this.#reads += 1;
    this.#ticket ??= this.load.enter(caller, heaviness);
    await this.#ticket.turn;
  }

  /** A read was not heavy after all. Its turn ends, so that nobody waits while its audit record is stored. */
  endTurn(): void {
    this.#reads -= 1;
    if (this.#reads > 0) return;
    this.#ticket?.end();
    this.#ticket = null;
  }

  /** The response is built: only its bytes are in memory now, until it is sent. @throws OVERLOADED */
  hold(response: Buffer): void {
    this.#free();
    if (this.#isClosed || this.#held === response || response.length < SMALL_BYTES) return;
    this.#letGo();
    this.load.hold(response, this.caller ?? '');
    this.#held = response;
  }

  /** The response is decided, possibly an error. Further work for the request would be useless and is refused. */
  end(): void {
    this.#isOver = true;
    this.work.abandon('DEADLINE_EXCEEDED');
    this.#free();
  }

  /** The response is sent, or its connection has ended. A change goes on, and counts until its end. */
  close(): void {
    this.#isClosed = true;
    this.work.abandon('REQUEST_TIMEOUT');
    this.#ticket?.cancel();
    this.#letGo();
  }

  #free(): void {
    this.#ticket?.end();
    this.#ticket = null;
    this.load.release(this.#reserved);
    this.#reserved = 0;
  }

  /** It is decided what is sent. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** For work that has not begun. @throws DEADLINE_EXCEEDED when it is decided what is sent */
  refuseLate(): void {
    if (this.#isOver) throw new AppError('DEADLINE_EXCEEDED');
  }

  #letGo(): void {
    if (this.#held !== null) this.load.letGo(this.#held);
    this.#held = null;
  }
}
