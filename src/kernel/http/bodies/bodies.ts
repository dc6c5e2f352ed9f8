import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { callersNetwork, isWithin, readAddress } from '../../addresses.js';
import { AppError } from '../../errors.js';
import { nextTurn, runAndYield, whenTurnAllows } from '../../event-loop.js';
import { FairQueue, type Ticket } from '../../load/fair-queue.js';
import { countEntries, parseJson } from './json-body.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Takes a form in place of JSON, whose fields become an object of texts. */
    readonly takesForm?: boolean;
  }
  interface FastifyRequest {
    /** Key of the caller, known from the header fields before the body is read; null without a valid token. */
    caller: string | null;
  }
}

const KIB = 1024;
const MIB = 1024 * KIB;

/** What a body may have, by whether its caller is known. */
const LIMITS = {
  ofCallers: { bytes: MIB, entries: 10_000 },
  // Logins, token renewal and revocation, introspection: nothing else runs without a token.
  ofAnonymous: { bytes: 16 * KIB, entries: 1_000 },
} as const;
/** A body beyond either waits for `LARGE_AT_ONCE`. */
const LARGE = { bytes: 64 * KIB, entries: 1_000 } as const;
const LARGE_AT_ONCE = { capacity: 2, spare: 0, maxWaiting: 64 };
/** Up to this size a body is parsed as soon as it has arrived. */
const SMALL_BYTES = 4 * KIB;
/** Bodies up to this size are not counted, so that small requests pass when large ones are refused. */
const FREE_BYTES = { ofCallers: 16 * KIB, ofAnonymous: 4 * KIB } as const;

/** Requests whose body, if there is one, nobody reads. */
const WITHOUT_BODY: ReadonlySet<string> = new Set(['GET', 'HEAD']);

/**
 * Receives bodies, and parses them as JSON unless the route takes another type, after authentication, in bounded memory and time:
 *
 * - a caller without a valid token may send 16 KiB, others 1 MiB; a longer body is refused before it has arrived
 * - bytes of unfinished bodies are bounded in total, for each caller, and for each address that sends no token
 * - entries are counted before anything is parsed
 * - large bodies run two at a time, begun one by one
 *
 * The media type is checked here, once: rules that depend on how a framework reads a Content-Type have been bypassed again and
 * again by a tab, a blank, another case.
 */
export function receiveBodies(app: FastifyInstance, trustedProxies: readonly string[]): void {
  const budgets = {
    ofCallers: new ByteBudget({ total: 64 * MIB, perHolder: 32 * MIB }),
    ofAnonymous: new ByteBudget({ total: 16 * MIB, perHolder: MIB }),
  };
  const large = new FairQueue(LARGE_AT_ONCE);
  const ends = new WeakMap<FastifyRequest, RequestEnd>();
  app.decorateRequest('caller', null);
  app.removeAllContentTypeParsers();
  app.addHook('preParsing', async (request, reply) => {
    if (WITHOUT_BODY.has(request.method) || !hasBody(request)) return;
    refuseOtherType(request);
    const declared = Number(request.headers['content-length'] ?? 0);
    if (declared > limitsOf(request).bytes) throw tooLarge(request);
    ends.set(request, new RequestEnd(reply.raw));
  });
  app.addContentTypeParser('*', async (request: FastifyRequest, payload: IncomingMessage) => {
    const { caller } = request;
    const holder = caller ?? addressOf(request, trustedProxies);
    const kind = caller === null ? 'ofAnonymous' : 'ofCallers';
    const held = new HeldBytes(budgets[kind], holder, FREE_BYTES[kind]);
    try {
      const bytes = await receive(payload, limitsOf(request).bytes, held, () => tooLarge(request));
      if (wantedType(request) !== undefined) return bytes;
      if (isForm(request)) return Object.fromEntries(new URLSearchParams(bytes.toString('utf8')));
      const count = (): number => countEntries(bytes, limitsOf(request).entries);
      const entries = bytes.length > SMALL_BYTES ? await whenTurnAllows(count) : count();
      const end = ends.get(request);
      if (end !== undefined && (bytes.length > LARGE.bytes || entries > LARGE.entries)) {
        await end.hold(large.enter(caller ?? '', 1));
        await nextTurn();
      }
      return await runAndYield(() => parseJson(bytes));
    } finally {
      held.release();
    }
  });
  app.addHook('onRoute', (route) => {
    const { handler } = route;
    route.handler = function handle(request, reply) {
      const end = ends.get(request);
      return end === undefined
        ? handler.call(this, request, reply)
        : end.around(async () => handler.call(this, request, reply));
    };
  });
}

const hasBody = ({ headers }: FastifyRequest): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

/** What the route takes instead of JSON; undefined where it takes JSON. */
const wantedType = ({ routeOptions }: FastifyRequest) => routeOptions.config.bodyType;

/** Whether the body is a form, and the route takes one. */
const isForm = ({ routeOptions, headers }: FastifyRequest): boolean =>
  routeOptions.config.takesForm === true && isFormMediaType(headers['content-type'] ?? '');

/** @throws UNSUPPORTED_MEDIA_TYPE */
function refuseOtherType(request: FastifyRequest): void {
  const given = request.headers['content-type'] ?? '';
  const wanted = wantedType(request);
  if (wanted === undefined) {
    if (!isJsonMediaType(given) && !isForm(request)) throw new AppError('UNSUPPORTED_MEDIA_TYPE');
  } else if (given.trim().toLowerCase() !== wanted)
    throw new AppError('UNSUPPORTED_MEDIA_TYPE', `Send the body as ${wanted}.`);
}

const limitsOf = ({ caller }: FastifyRequest) => (caller === null ? LIMITS.ofAnonymous : LIMITS.ofCallers);

const tooLarge = ({ caller }: FastifyRequest): AppError =>
  caller === null
    ? new AppError('BODY_TOO_LARGE', 'The body is larger than 16 KiB, the limit for requests without a token.')
    : new AppError('BODY_TOO_LARGE');

/** Whose memory a body without a token takes; null for a trusted proxy itself: its clients have addresses of their own. */
function addressOf({ ip }: FastifyRequest, trustedProxies: readonly string[]): string | null {
  if (isWithin(trustedProxies, ip)) return null;
  const address = readAddress(ip);
  return address === null ? '' : callersNetwork(address);
}

/**
 * Reads a body into one buffer that grows with it: the number of chunks, which the client chooses, costs no memory.
 *
 * @throws what `tooLarge` makes, OVERLOADED, MALFORMED_REQUEST when the client breaks off
 */
function receive(payload: IncomingMessage, limit: number, held: HeldBytes, tooLarge: () => AppError): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const declared = Number(payload.headers['content-length'] ?? 0);
  let buffer = Buffer.alloc(0);
  let size = 0;
  const append = (chunk: Buffer): void => {
    const wanted = size + chunk.length;
    if (wanted > limit) throw tooLarge();
    if (wanted > buffer.length) {
      const capacity = Math.min(limit, Math.max(wanted, 2 * buffer.length, declared));
      held.growTo(capacity);
      const grown = Buffer.allocUnsafe(capacity);
      buffer.copy(grown, 0, 0, size);
      buffer = grown;
    }
    size += chunk.copy(buffer, size);
  };
  const onData = (chunk: Buffer): void => {
    try {
      append(chunk);
      paceBody(payload, chunk.length);
    } catch (error) {
      stop();
      reject(error as Error);
    }
  };
  const onEnd = (): void => {
    stop();
    resolve(buffer.subarray(0, size));
  };
  const onBreak = (): void => {
    stop();
    reject(new AppError('MALFORMED_REQUEST'));
  };
  const stop = (): void => {
    payload.off('data', onData).off('end', onEnd).off('error', onBreak).off('close', onBreak);
  };
  payload.on('data', onData).on('end', onEnd).on('error', onBreak).on('close', onBreak).resume();
  return promise;
}

/** How many bytes may be held at once, in total and for each holder. */
interface ByteLimits {
  readonly total: number;
  readonly perHolder: number;
}

/** Counts bytes that are held for somebody, and refuses more than the limits allow. */
class ByteBudget {
  #total = 0;
  readonly #holders = new Map<string, number>();

  constructor(private readonly limits: ByteLimits) {}

  /**
   * Takes bytes for a holder.
   *
   * @param holder null: whoever it is has no limit of its own
   * @returns false, and takes nothing, where a limit would be exceeded
   */
  take(holder: string | null, bytes: number): boolean {
    const held = holder === null ? 0 : (this.#holders.get(holder) ?? 0);
    if (this.#total + bytes > this.limits.total || held + bytes > this.limits.perHolder) return false;
    this.#total += bytes;
    if (holder !== null) this.#holders.set(holder, held + bytes);
    return true;
  }

  giveBack(holder: string | null, bytes: number): void {
    this.#total -= bytes;
    if (holder === null) return;
    const left = (this.#holders.get(holder) ?? 0) - bytes;
    if (left > 0) this.#holders.set(holder, left);
    else this.#holders.delete(holder);
  }
}

/** The bytes that one unfinished body holds of a budget. */
class HeldBytes {
  #taken = 0;

  /** @param free a body up to this size is not counted */
  constructor(
    private readonly budget: ByteBudget,
    private readonly holder: string | null,
    private readonly free: number,
  ) {}

  /** @throws OVERLOADED */
  growTo(bytes: number): void {
    const more = bytes > this.free ? bytes - this.#taken : 0;
    if (!this.budget.take(this.holder, more)) throw new AppError('OVERLOADED');
    this.#taken += more;
  }

  release(): void {
    this.budget.giveBack(this.holder, this.#taken);
    this.#taken = 0;
  }
}

// Our own, since `content-type` passes over what is no parameter, and over a second `charset`, by which a body could be read otherwise.

const JSON_TYPE = /^application\/(?:json|graphql-response\+json|merge-patch\+json)[ \t]*(?=;|$)/i;
const FORM_TYPE = /^application\/x-www-form-urlencoded[ \t]*(?=;|$)/i;
const TOKEN = "[\\w!#$%&'*+.^`|~-]+";
/** One parameter, or none after its semicolon: RFC 9110 lets `application/json;` pass. */
const PARAMETER = new RegExp(`;[ \\t]*(?:(${TOKEN})=(?:"((?:[^"\\\\]|\\\\.)*)"|(${TOKEN})))?[ \\t]*`, 'y');

/**
 * Whether a `Content-Type` says JSON in UTF-8, the whole of it read: a server that looks at the beginning only takes
 * `application/jsonx` or `application/json, text/plain` for JSON. Parameters other than `charset` say nothing.
 */
export const isJsonMediaType = (header: string): boolean => isInUtf8(JSON_TYPE, header);

/** The same of a form. */
const isFormMediaType = (header: string): boolean => isInUtf8(FORM_TYPE, header);

function isInUtf8(wanted: RegExp, header: string): boolean {
  const type = wanted.exec(header);
  if (type === null) return false;
  const charsets: string[] = [];
  for (let at = type[0].length; at < header.length; at = PARAMETER.lastIndex) {
    PARAMETER.lastIndex = at;
    const found = PARAMETER.exec(header);
    if (found === null) return false;
    const [, name, quoted, plain] = found;
    if (name?.toLowerCase() === 'charset') charsets.push(quoted ?? plain ?? '');
  }
  return charsets.length <= 1 && charsets.every((charset) => /^utf-?8$/i.test(charset));
}

/** Holds a place in a queue until a request has ended: its handler, or the connection if there was no handler yet. */
class RequestEnd {
  #ticket: Ticket | null = null;
  #isHandled = false;
  #isClosed = false;

  constructor(response: ServerResponse) {
    response.once('close', () => {
      this.#isClosed = true;
      this.#leaveUnhandled();
    });
  }

  /** Waits for the turn that a place gives. @throws OVERLOADED, also when nobody waits for the response any more */
  async hold(ticket: Ticket): Promise<void> {
    this.#ticket = ticket;
    if (this.#isClosed) this.#leaveUnhandled();
    await ticket.turn;
  }

  /** Runs the handler of the request. */
  async around<T>(handler: () => Promise<T>): Promise<T> {
    this.#isHandled = true;
    try {
      return await handler();
    } finally {
      this.#ticket?.end();
    }
  }

  #leaveUnhandled(): void {
    this.#ticket?.cancel();
    if (!this.#isHandled) this.#ticket?.end();
  }
}

const LINGER_MS = 2_000;
const MAX_BYTES = 8 * 1024 * 1024;

/**
 * Lets clients read why their request was refused before all of it had come. A connection closed with bytes unread is reset,
 * and the reset overtakes the answer; one that is kept reads on for as long as the request may take, whatever comes. So the rest is
 * thrown away for a moment, and not without end: then the connection is cut.
 */
export function discardUnreadBodies(app: FastifyInstance): void {
  app.addHook('onSend', async ({ raw: request }, reply) => {
    if (request.complete || request.destroyed) return;
    const { raw: response } = reply;
    const { socket } = request;
    const isLast = !response.shouldKeepAlive;
    // Node would close as soon as the answer is written.
    reply.removeHeader('connection');
    response.shouldKeepAlive = true;
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > MAX_BYTES) socket.destroy();
      paceBody(request, chunk.length);
    });
    response.once('finish', () => {
      const linger = setTimeout(() => socket.destroy(), LINGER_MS).unref();
      const done = (): void => {
        clearTimeout(linger);
        if (isLast) socket.destroySoon();
      };
      if (request.complete) done();
      else request.once('end', done).once('close', () => clearTimeout(linger));
    });
  });
}

/** So many bytes of bodies are received in one turn of the event loop. */
const BYTES_PER_TURN = 64 * 1024;

let received = 0;
const resting = new Set<Readable>();

/**
 * Counts a piece of a body that has arrived. When a turn has had its share, who sends more rests until the next: Node reads up to 2 MiB
 * of each connection in a turn and accepts one new connection, which would wait for all that many clients send at once.
 */
export function paceBody(body: Readable, bytes: number): void {
  if (received === 0) setImmediate(beginAnew);
  received += bytes;
  if (received < BYTES_PER_TURN) return;
  body.pause();
  resting.add(body);
}

function beginAnew(): void {
  received = 0;
  for (const body of resting) body.resume();
  resting.clear();
}
