import { randomUUID } from 'node:crypto';
import { createServer, type ServerOptions } from 'node:http';
import fastify, { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { isWithin, readAddress } from '../addresses.js';
import type { RequestInfo } from '../context.js';
import type { Load } from '../load/load.js';
import { type Log, logFailure } from '../log.js';
import { isTraced } from '../tracing/spans.js';
import { traceRequests } from '../tracing/trace-requests.js';
import { Acceptors } from './acceptors.js';
import { acceptJsonOnly } from './bodies/bodies.js';
import { discardUnreadBodies } from './bodies/unread-bodies.js';
import { compressResponses } from './compression.js';
import { boundConnections } from './connections.js';
import { Cors } from './cors.js';
import { respondByDeadline } from './deadlines.js';
import { drainOnClose } from './drain.js';
import { sendError, translate } from './error-replies.js';
import type { Lifecycle } from './health.js';
import { type LostVisitor, refuseOtherMethods } from './methods.js';
import { oneAtATime } from './pipelines.js';
import { RawRefusals } from './raw-refusals.js';
import { logRequests } from './request-log.js';
import { checkHeaders, MAX_HEADER_FIELDS, refuseUnstorable } from './requests.js';
import { boundResponses } from './response-load.js';
import { nameRequests } from './running-requests.js';
import { securityHeaders } from './security-headers.js';

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
  readonly lostVisitor: LostVisitor;
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
    serverFactory: (handle) => createServer(LIMITS, oneAtATime(handle)).setTimeout(CONNECTION_TIMEOUT_MS),
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
  acceptJsonOnly(app, trustedProxies);
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
  refuseOtherMethods(app, cors, options.lostVisitor);
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
