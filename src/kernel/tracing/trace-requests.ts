import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type Span, startSpan } from './spans.js';

/** Asked by machines every few seconds: their traces would bury the others. */
const PROBES: ReadonlySet<string> = new Set(['/livez', '/readyz', '/metrics']);

/**
 * One span for each request, named by method and pattern of the route; what it causes belongs to it. A valid `traceparent` makes it
 * part of the caller's trace. Paths, queries and bodies are left out: they hold input of callers, such as keys of secrets.
 */
export function traceRequests(app: FastifyInstance): void {
  const spans = new WeakMap<FastifyRequest, Span>();
  app.addHook('onRequest', (request, _reply, done) => {
    const { url: route, config } = request.routeOptions;
    // Streams last as long as their clients stay.
    if (route === undefined || PROBES.has(route) || config.isStream === true) return done();
    const traceparent = request.headers.traceparent;
    const span = startSpan({
      name: `${request.method} ${route}`,
      kind: 'server',
      attributes: {
        'http.request.method': request.method,
        'http.route': route,
        'url.scheme': request.protocol,
        'strongroom.request_id': request.id,
      },
      traceparent: typeof traceparent === 'string' ? traceparent : undefined,
    });
    if (span === undefined) return done();
    spans.set(request, span);
    span.run(done);
  });
  // The end of a body is told outside of what the first hook began.
  app.addHook('preValidation', (request, _reply, done) => {
    const span = spans.get(request);
    if (span === undefined) done();
    else span.run(done);
  });
  app.addHook('onResponse', async (request, reply) => {
    const { statusCode, errorCode } = reply;
    const failure = statusCode >= 500 ? (errorCode ?? String(statusCode)) : null;
    spans.get(request)?.end(failure, {
      'http.response.status_code': statusCode,
      ...(typeof errorCode === 'string' && failure === null ? { 'strongroom.error_code': errorCode } : {}),
    });
  });
}
