import type { FastifyInstance } from 'fastify';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { AuditTrail } from '../audit/audit-trail.js';
import type { Database } from '../database/database.js';
import type { ReplyCache } from '../replies/reply-cache.js';

/** `GET /metrics` in the Prometheus text format. Labels are route patterns and codes, never what a caller sent. */
export function mountMetrics(
  app: FastifyInstance,
  { database, auditTrail, replyCache }: { database: Database; auditTrail: AuditTrail; replyCache: ReplyCache },
): void {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const duration = new Histogram({
    name: 'strongroom_http_request_duration_seconds',
    help: 'Time from the request line to the last byte of the answer.',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  });
  new Counter({
    name: 'strongroom_sql_statements_total',
    help: 'SQL statements sent to Postgres, transaction control included: for requests, or by upkeep in the background.',
    labelNames: ['origin'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [origin, count] of Object.entries(database.statements)) this.inc({ origin }, count);
    },
  });
  new Gauge({
    name: 'strongroom_database_connections',
    help: 'Connections of the pool by state; waiting are callers without one.',
    labelNames: ['state'],
    registers: [registry],
    collect() {
      for (const [state, count] of Object.entries(database.connections)) this.set({ state }, count);
    },
  });
  new Gauge({
    name: 'strongroom_audit_queue_length',
    help: 'Audit records of reads that wait for their insert.',
    registers: [registry],
    collect() {
      this.set(auditTrail.queued);
    },
  });
  measureReplyCache(registry, replyCache);
  app.addHook('onResponse', async (request, reply) => {
    const route = request.routeOptions.url ?? 'unknown';
    duration.observe({ method: request.method, route, status: reply.statusCode }, reply.elapsedTime / 1000);
  });
  app.get('/metrics', async (_request, reply) => reply.type(registry.contentType).send(await registry.metrics()));
}

function measureReplyCache(registry: Registry, replyCache: ReplyCache): void {
  new Counter({
    name: 'strongroom_reply_cache_requests_total',
    help: 'Requests for replies that may be kept: answered from memory (hit), or made (miss).',
    labelNames: ['result'],
    registers: [registry],
    collect() {
      this.reset();
      this.inc({ result: 'hit' }, replyCache.figures.hits);
      this.inc({ result: 'miss' }, replyCache.figures.misses);
    },
  });
  new Gauge({
    name: 'strongroom_reply_cache_bytes',
    help: 'Memory taken by kept replies.',
    registers: [registry],
    collect() {
      this.set(replyCache.figures.bytes);
    },
  });
}
