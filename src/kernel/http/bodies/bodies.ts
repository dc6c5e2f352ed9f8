import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { callersNetwork, isWithin, readAddress } from '../../addresses.js';
import { AppError } from '../../errors.js';
import { inOneGo, inTurn, nextTurn } from '../../event-loop.js';
import { FairQueue } from '../../load/fair-queue.js';
import { paceBody } from './body-pace.js';
import { ByteBudget, HeldBytes } from './byte-budget.js';
import { countEntries, parseJson } from './json-body.js';
import { isFormMediaType, isJsonMediaType } from './media-type.js';
import { RequestEnd } from './request-end.js';

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
export function acceptJsonOnly(app: FastifyInstance, trustedProxies: readonly string[]): void {
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
      const entries = bytes.length > SMALL_BYTES ? await inTurn(count) : count();
      const end = ends.get(request);
      if (end !== undefined && (bytes.length > LARGE.bytes || entries > LARGE.entries)) {
        await end.hold(large.enter(caller ?? '', 1));
        await nextTurn();
      }
      return await inOneGo(() => parseJson(bytes));
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
