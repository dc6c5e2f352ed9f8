import { randomUUID } from 'node:crypto';
import { createServer, type ServerOptions } from 'node:http';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import helmet from '@fastify/helmet';
import fastify, { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { isWithin, readAddress } from '../addresses.js';
import type { RequestInfo } from '../context.js';
import { AppError } from '../errors.js';
import type { Load, ResponseLoad } from '../load/load.js';
import { type Log, logFailure } from '../log.js';
import { encodedTag } from '../operations/responses/response.js';
import { type Running, runAs } from '../running.js';
import { isTraced } from '../tracing/spans.js';
import { traceRequests } from '../tracing/trace-requests.js';
import { discardUnreadBodies, receiveBodies } from './bodies/bodies.js';
import { Acceptors, boundConnections, inRequestOrder, RawRefusals } from './connections.js';
import { addVary, type Encoding, preferredEncoding } from './content-negotiation.js';
import { drainOnClose, respondByDeadline } from './drain.js';
import { sendError, translate } from './error-replies.js';
import type { Lifecycle } from './health.js';
import { Cors, checkHeaders, MAX_HEADER_FIELDS, refuseUnstorable } from './requests.js';

const CONNECTION_TIMEOUT_MS = 60_000;

/** Times in milliseconds, sizes in bytes. */
const LIMITS: ServerOptions = {
  requestTimeout: 30_000,
  // A little more than balancers keep a connection that they believe to be open.
  keepAliveTimeout: 61_000,
  // With the path and its query: 20,000 characters of ASCII fit, each percent-encoded, beside the usual header fields.
  maxHeaderSize: 64 * 1024,
  headersTimeout: 10_000,
  // How often Node looks for requests that are late; its own 30 s would be the real limit.
  connectionsCheckingInterval: 1_000,
  // A request without a host is refused by us, with a body.
  requireHostHeader: false,
};

declare module 'fastify' {
  interface FastifyRequest {
    /** What the response takes. Null in refusals of the router itself. */
    load: ResponseLoad;
  }
  interface FastifyContextConfig {
    /** Name of the operation of the route. */
    readonly operation?: () => string;
    /** The answers of the route, or those that it names, hold no secret value and no token, whoever asks. */
    readonly isCompressible?: boolean | ((request: FastifyRequest) => boolean);
  }
}

interface HttpOptions {
  readonly log: Log;
  readonly lifecycle: Lifecycle;
  readonly trustedProxies: readonly string[];
  /** Whose pages may call the service from a browser. */
  readonly corsOrigins: readonly string[];
  readonly maxConnections: number;
  readonly maxConnectionsPerAddress: number;
  /** How long a request may take. */
  readonly requestSeconds: number;
  readonly load: Load;
  /** Requests are logged at level `info`. */
  readonly accessLog: boolean;
  readonly notFoundResponse: NotFoundResponse;
}

/** The HTTP server before its routes: limits, security headers, request ids, and errors in one shape on every path. */
export async function createHttpServer(options: HttpOptions): Promise<FastifyInstance> {
  const { log, trustedProxies, corsOrigins, lifecycle } = options;
  const always = await securityHeaders();
  const cors = new Cors(corsOrigins);
  const rawRefusals = new RawRefusals(always);
  const begin = (request: FastifyRequest, reply: FastifyReply): void => {
    reply.headers(always).headers(cors.headers(request)).header('x-request-id', request.id);
  };
  const app = fastify({
    serverFactory: (handle) => createServer(LIMITS, inRequestOrder(handle)).setTimeout(CONNECTION_TIMEOUT_MS),
    logger: false,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 500 },
    trustProxy: trustedProxies.length === 0 ? false : (address: string) => isWithin(trustedProxies, address),
    genReqId: () => randomUUID(),
    // `GET http://host/path`, as clients of proxies write it: the same path.
    rewriteUrl: ({ url = '/' }) => url.replace(/^https?:\/\/[^/?#]*(?=[/?]|$)/i, '') || '/',
    clientErrorHandler: rawRefusals.refuse,
    // The router's own refusals: no hook runs before them.
    frameworkErrors: (error, request, reply) => {
      begin(request, reply as FastifyReply);
      void sendError(reply as FastifyReply, request.id, translate(error));
    },
  });
  app.decorateReply('errorCode', null);
  rawRefusals.watch(app.server);
  boundConnections(app, options);
  // Node drops the fields beyond its limit without a word: it must let one more through than we do.
  app.server.maxHeadersCount = MAX_HEADER_FIELDS + 1;
  receiveBodies(app, trustedProxies);
  nameRequests(app);
  app.addHook('onRequest', async (request, reply) => {
    begin(request, reply);
    checkHeaders(request);
  });
  app.addHook('preHandler', refuseUnstorable);
  if (isTraced()) traceRequests(app);
  boundResponses(app, options.load);
  respondByDeadline(app, options);
  compressResponses(app);
  discardUnreadBodies(app);
  app.decorate('acceptors', new Acceptors(app));
  drainOnClose(app, lifecycle);
  logRequests(app, log, options.accessLog ? 'info' : 'debug');
  app.setErrorHandler((error, request, reply) => {
    const ours = translate(error as FastifyError);
    logFailure(log, ours, error, request.id);
    return sendError(reply, request.id, ours);
  });
  refuseOtherMethods(app, cors, options.notFoundResponse);
  return app;
}

/** What the kernel keeps of a request: never its headers or its body. */
export const requestInfo = (request: FastifyRequest): RequestInfo => ({
  requestId: request.id,
  address: readAddress(request.ip),
  userAgent: request.headers['user-agent'] ?? null,
  load: request.load,
});

/** The token of `Authorization: Bearer ...`; null when the header is absent or of another scheme. */
export function bearerToken(request: FastifyRequest): string | null {
  return /^bearer +(?<token>\S+) *$/i.exec(request.headers.authorization ?? '')?.groups?.token ?? null;
}

/** Sends a page to a browser at an address that does not exist; null for all other callers. */
type NotFoundResponse = (request: FastifyRequest, reply: FastifyReply) => FastifyReply | null;

/**
 * Remembers which methods each path answers to, for what the router does not: `OPTIONS`, of a browser that asks for leave too,
 * and 405 with `Allow`.
 */
function refuseOtherMethods(app: FastifyInstance, cors: Cors, notFoundResponse: NotFoundResponse): void {
  const routes: { readonly method: string; readonly pattern: RegExp }[] = [];
  app.addHook('onRoute', ({ method, url }) => {
    const pattern = new RegExp(`^${url.replace(/[.+]/g, '\\$&').replace(/:\w+/g, '[^/]+').replace('*', '.*')}/?$`);
    for (const each of [method].flat()) routes.push({ method: each, pattern });
  });
  const answer = (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const path = request.url.replace(/[?#].*$/, '');
    const allowed = [...new Set(routes.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method))];
    if (allowed.length === 0)
      return notFoundResponse(request, reply) ?? sendError(reply, request.id, new AppError('ROUTE_NOT_FOUND'));
    reply.header('allow', [...allowed, 'OPTIONS'].join(', '));
    return request.method === 'OPTIONS'
      ? reply.code(204).headers(cors.preflightHeaders(request, allowed)).send()
      : sendError(reply, request.id, new AppError('METHOD_NOT_ALLOWED'));
  };
  app.setNotFoundHandler(answer);
  // Before a body is read: its faults are not what is wrong.
  app.addHook('onRequest', async (request, reply) => (request.is404 ? answer(request, reply) : undefined));
}

/**
 * Logs one line for each response, at level `debug` or, as an access log, at `info`, with the pattern of the route. Paths and
 * queries are never logged, because they contain input of callers, such as keys of secrets.
 */
function logRequests(app: FastifyInstance, log: Log, level: 'debug' | 'info'): void {
  app.addHook('onResponse', async (request, reply) => {
    log[level]('request completed', {
      requestId: request.id,
      method: request.method,
      route: request.routeOptions.url ?? null,
      status: reply.statusCode,
      milliseconds: Math.round(reply.elapsedTime * 10) / 10,
    });
  });
}

/** Gives each request an account of what its response takes, until it is sent or its connection has ended. */
function boundResponses(app: FastifyInstance, load: Load): void {
  app.decorateRequest('load', null as unknown as ResponseLoad);
  app.addHook('onRequest', async (request, reply) => {
    request.load = load.open();
    // Also emitted if the client has gone, or is cut because it does not read.
    reply.raw.once('close', () => request.load.close());
  });
  // Also errors come through here, when nobody works on the response any more.
  app.addHook('onSend', async ({ load: ended }) => (ended as ResponseLoad | null)?.end());
}

/** Gives each request its name, for who wants to know what runs. The first hook of all. */
function nameRequests(app: FastifyInstance): void {
  const named = new WeakMap<FastifyRequest, Running>();
  app.addHook('onRequest', (request, _reply, done) => {
    const { url = '(unknown path)', config } = request.routeOptions;
    const running: Running = {
      requestId: request.id,
      route: `${request.method} ${url}`,
      operation: config.operation,
    };
    named.set(request, running);
    runAs(running, done);
  });
  // The end of a body is reported outside of what the first hook began.
  app.addHook('preValidation', (request, _reply, done) => runAs(named.get(request) ?? {}, done));
}

/**
 * Helmet's headers for a service without pages. They are the same on every response, so helmet computes them only once.
 */
async function securityHeaders(): Promise<Readonly<Record<string, string>>> {
  const sample = fastify();
  await sample.register(helmet, {
    contentSecurityPolicy: { directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } },
  });
  sample.get('/', (_request, reply) => reply.send(Object.fromEntries(Object.entries(reply.raw.getHeaders()))));
  const headers = (await sample.inject('/')).json<Record<string, string>>();
  await sample.close();
  return Object.freeze(headers);
}

/** Below this a packet is saved at best. */
const SMALLEST = 1_024;

const COMPRESS: Readonly<Record<Encoding, (bytes: Buffer) => Promise<Buffer>>> = {
  // Quality 4: the usual 11 is for files that are compressed once in their life.
  br: (bytes) => promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }),
  gzip: (bytes) => promisify(gzip)(bytes),
};

/**
 * Compresses responses of routes with `isCompressible` in their `config`. Other responses are never compressed, whatever a client
 * accepts: the length of a compressed response depends on its repetitions, so a response with a secret next to input of the
 * caller would reveal the secret bit by bit (BREACH).
 *
 * A compressed response is another representation: it has its own ETag, and `HEAD` reports its length. It is compressed off the
 * event loop, and only once for bytes that are sent repeatedly.
 *
 * `@fastify/compress` is not used: it gives both representations the same strong ETag, reports another length and encoding for
 * HEAD than for GET, and sets Vary only on compressed responses.
 */
function compressResponses(app: FastifyInstance): void {
  const made = new WeakMap<Buffer, Map<Encoding, Promise<Buffer>>>();
  const compressed = (bytes: Buffer, encoding: Encoding): Promise<Buffer> => {
    const known = made.get(bytes) ?? new Map<Encoding, Promise<Buffer>>();
    const promise = known.get(encoding) ?? COMPRESS[encoding](bytes);
    made.set(bytes, known.set(encoding, promise));
    return promise;
  };
  app.addHook('onSend', async (request, reply, payload) => {
    const { isCompressible = false } = request.routeOptions.config;
    if (isCompressible === false) return payload;
    addVary(reply, 'Accept-Encoding');
    if (reply.statusCode !== 200 || reply.hasHeader('content-encoding')) return payload;
    if (typeof payload !== 'string' && !Buffer.isBuffer(payload)) return payload;
    const { encoding, isNeeded } = preferredEncoding(String(request.headers['accept-encoding'] ?? ''));
    if (encoding === null || (Buffer.byteLength(payload) < SMALLEST && !isNeeded)) return payload;
    if (isCompressible !== true && !isCompressible(request)) return payload;
    const bytes = await compressed(Buffer.isBuffer(payload) ? payload : Buffer.from(payload), encoding);
    const tag = reply.getHeader('etag');
    if (tag !== undefined) reply.header('etag', encodedTag(String(tag), encoding));
    reply.header('content-encoding', encoding).removeHeader('content-length');
    return bytes;
  });
}
