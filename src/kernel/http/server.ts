import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import fastify, { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import ipaddr from 'ipaddr.js';
import type { RequestInfo } from '../context.js';
import { AppError, type ErrorCode, toAppError, toEnvelope } from '../errors.js';
import { type Log, logFailure } from '../log.js';
import { readAddress } from './addresses.js';
import { drainOnClose } from './drain.js';
import type { Lifecycle } from './health.js';
import { logRequests } from './request-log.js';
import { securityHeaders } from './security-headers.js';

const BODY_LIMIT = 1024 * 1024;
const HEADER_LIMIT = 16 * 1024;

/** Fastify's own refusals, by its code. Everything else of its own with a 4xx status is a malformed request. */
const FASTIFY_CODES: Readonly<Record<string, ConstructorParameters<typeof AppError>[0]>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'BODY_TOO_LARGE',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'UNSUPPORTED_MEDIA_TYPE',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'MALFORMED_JSON',
  FST_ERR_CTP_INVALID_JSON_BODY: 'MALFORMED_JSON',
  FST_ERR_CTP_EMPTY_TYPE: 'UNSUPPORTED_MEDIA_TYPE',
  FST_ERR_MAX_PARAM_LENGTH: 'ROUTE_NOT_FOUND',
};

declare module 'fastify' {
  interface FastifyReply {
    /** What the answer says went wrong; null when nothing did. */
    errorCode: ErrorCode | null;
  }
}

interface HttpOptions {
  readonly log: Log;
  readonly lifecycle: Lifecycle;
  readonly trustedProxies: readonly string[];
}

/** The HTTP server before its routes: limits, security headers, request ids, and errors in one shape on every path. */
export async function createHttpServer({ log, trustedProxies, lifecycle }: HttpOptions): Promise<FastifyInstance> {
  const always = await securityHeaders();
  const app = fastify({
    logger: false,
    bodyLimit: BODY_LIMIT,
    requestTimeout: 30_000,
    connectionTimeout: 60_000,
    keepAliveTimeout: 72_000,
    http: {
      maxHeaderSize: HEADER_LIMIT,
      headersTimeout: 10_000,
      connectionsCheckingInterval: 1_000,
      requireHostHeader: false,
    } as object,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 500 },
    trustProxy: trustedProxies.length === 0 ? false : (address: string) => isTrusted(address, trustedProxies),
    genReqId: () => randomUUID(),
    clientErrorHandler: answerBrokenRequest,
    // The router's own refusals: no hook runs before them.
    frameworkErrors: (error, request, reply) => {
      reply.headers(always).header('x-request-id', request.id);
      void sendError(reply as FastifyReply, request.id, translate(error));
    },
  });
  app.decorateReply('errorCode', null);
  acceptJsonOnly(app);
  app.addHook('onRequest', async (request, reply) => {
    reply.headers(always).header('x-request-id', request.id);
    if (request.headers.host === undefined && request.raw.httpVersion !== '1.0')
      throw new AppError('MALFORMED_REQUEST');
    const encoding = request.headers['content-encoding'];
    if (encoding !== undefined && encoding.toLowerCase() !== 'identity') throw new AppError('UNSUPPORTED_ENCODING');
  });
  answerOddRequests(app);
  drainOnClose(app, lifecycle);
  logRequests(app, log);
  app.setErrorHandler((error, request, reply) => {
    const ours = translate(error as FastifyError);
    logFailure(log, ours, error, request.id);
    return sendError(reply, request.id, ours);
  });
  answerOtherMethods(app);
  return app;
}

/** What the kernel keeps of a request: never its headers or its body. */
export const requestInfo = (request: FastifyRequest): RequestInfo => ({
  requestId: request.id,
  address: readAddress(request.ip),
  userAgent: request.headers['user-agent'] ?? null,
});

/** The token of `Authorization: Bearer ...`; null when the header is absent or of another scheme. */
export function bearerToken(request: FastifyRequest): string | null {
  return /^bearer +(?<token>\S+) *$/i.exec(request.headers.authorization ?? '')?.groups?.token ?? null;
}

/** Answers an error in the one shape. */
export function sendError(reply: FastifyReply, requestId: string, thrown: unknown): FastifyReply {
  const { statusCode, headers, body } = toEnvelope(thrown, requestId);
  return noteError(reply, body)
    .code(statusCode)
    .headers({ 'cache-control': 'no-store', ...headers })
    .type('application/json; charset=utf-8')
    .send(JSON.stringify(body));
}

/** Says what an answer is about, for those who count answers. */
export function noteError(reply: FastifyReply, { code }: { readonly code: ErrorCode }): FastifyReply {
  reply.errorCode = code;
  return reply;
}

function acceptJsonOnly(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  const types = /^application\/(json|graphql-response\+json|merge-patch\+json)\s*(;|$)/i;
  app.addContentTypeParser(
    types,
    { parseAs: 'buffer' },
    async (_request: FastifyRequest, body: Buffer): Promise<unknown> => {
      // No body at all is not malformed: whether one is needed is the route's rule.
      if (body.length === 0) return undefined;
      try {
        return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body)) as unknown;
      } catch {
        throw new AppError('MALFORMED_JSON');
      }
    },
  );
}

function translate(error: FastifyError | AppError): AppError {
  if (error instanceof AppError) return error;
  const code = FASTIFY_CODES[error.code];
  if (code !== undefined) return new AppError(code);
  const status = error.statusCode ?? 500;
  return status >= 400 && status < 500 ? new AppError('MALFORMED_REQUEST') : toAppError(error);
}

/** Remembers which methods each path answers to, for what the router does not: `OPTIONS`, and 405 with `Allow`. */
function answerOtherMethods(app: FastifyInstance): void {
  const routes: { readonly method: string; readonly pattern: RegExp }[] = [];
  app.addHook('onRoute', ({ method, url }) => {
    const pattern = new RegExp(`^${url.replace(/[.+]/g, '\\$&').replace(/:\w+/g, '[^/]+')}/?$`);
    for (const each of [method].flat()) routes.push({ method: each, pattern });
  });
  const answer = (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const path = request.url.replace(/\?.*$/, '');
    const allowed = [...new Set(routes.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method))];
    if (allowed.length === 0) return sendError(reply, request.id, new AppError('ROUTE_NOT_FOUND'));
    reply.header('allow', [...allowed, 'OPTIONS'].join(', '));
    return request.method === 'OPTIONS'
      ? reply.code(204).send()
      : sendError(reply, request.id, new AppError('METHOD_NOT_ALLOWED'));
  };
  app.setNotFoundHandler(answer);
  // Before a body is read: its faults are not what is wrong.
  app.addHook('onRequest', async (request, reply) => (request.is404 ? answer(request, reply) : undefined));
}

const isTrusted = (text: string, trusted: readonly string[]): boolean => {
  const address = readAddress(text);
  if (address === null) return false;
  const caller = ipaddr.parse(address);
  return trusted.some((entry) => {
    const [network, bits] = entry.includes('/') ? ipaddr.parseCIDR(entry) : [ipaddr.parse(entry), null];
    if (network.kind() !== caller.kind()) return false;
    return bits === null ? network.toString() === caller.toString() : caller.match(network, bits);
  });
};

/** Node answers these without a body, or not at all. An expectation that nobody knows may be passed over (RFC 9110, 10.1.1). */
function answerOddRequests({ server }: FastifyInstance): void {
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  server.on('connect', (_request, socket: Socket) => answerBrokenRequest(new Error('no proxy'), socket));
}

/** A request that Node's parser refused has no route and no reply object: the envelope is written to the socket itself. */
function answerBrokenRequest(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  const code = error.code === 'HPE_HEADER_OVERFLOW' ? 'HEADERS_TOO_LARGE' : 'MALFORMED_REQUEST';
  const { statusCode, body } = toEnvelope(new AppError(code), randomUUID());
  const text = JSON.stringify(body);
  const head = [
    `HTTP/1.1 ${statusCode} ${body.error}`,
    `X-Request-Id: ${body.reqId}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(text)}`,
    'Cache-Control: no-store',
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${text}`);
}
