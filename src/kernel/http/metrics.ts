import { timingSafeEqual } from 'node:crypto';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import ipaddr from 'ipaddr.js';
import { Registry } from 'prom-client';
import { readAddress } from '../addresses.js';
import { hashToken } from '../crypto/token.js';
import { AppError } from '../errors.js';
import type { Load } from '../load/load.js';
import type { RateLimits } from '../operations/limits/rate-limits.js';
import {
  measureLoad,
  measureProcess,
  measureRateLimits,
  measureStreams,
  type StreamFigures,
} from '../operations/metrics/node-metrics.js';
import type { OperationMetrics } from '../operations/metrics/operation-metrics.js';
import { type MeasuredParts, measureStore } from '../operations/metrics/store-metrics.js';
import type { Lifecycle } from './health.js';
import { bearerToken } from './server.js';

interface Metered extends MeasuredParts {
  /** Of the service, as package.json has it. */
  readonly version: string;
  readonly lifecycle: Lifecycle;
  readonly operations: OperationMetrics;
  readonly rateLimits: RateLimits;
  readonly load: Load;
  readonly openStreams: { readonly figures: StreamFigures };
  /** Of the token that `GET /metrics` asks for; null: none, and it answers who is near. */
  readonly metricsTokenHash: Buffer | null;
}

/**
 * `GET /metrics` in the Prometheus text format. Labels are names of ours, never what a caller sent.
 *
 * With a token of its own it answers whoever has that; without one only this machine and private networks, and nobody who
 * comes through a proxy that is not trusted to say for whom.
 */
export function mountMetrics(app: FastifyInstance, metered: Metered): void {
  const registry = new Registry();
  measureProcess(registry, metered);
  measureStore(registry, metered);
  measureRateLimits(registry, metered.rateLimits);
  measureLoad(registry, metered.load);
  measureStreams(registry, () => metered.openStreams.figures);
  metered.operations.registerAt(registry);
  app.addHook('onResponse', async (request, reply) => {
    // Begun streams last as long as their clients stay.
    if (request.routeOptions.config.isStream === true && reply.statusCode === 200) return;
    metered.operations.countRequest(request.method, request.routeOptions.url ?? null, {
      status: reply.statusCode,
      errorCode: reply.errorCode,
      seconds: reply.elapsedTime / 1_000,
    });
  });
  app.get('/metrics', {
    onRequest: async (request) => {
      if (metered.metricsTokenHash === null) {
        if (!isNear(request)) throw new AppError('ROUTE_NOT_FOUND');
        return;
      }
      const token = bearerToken(request);
      if (token === null) throw new AppError('TOKEN_MISSING');
      if (!timingSafeEqual(hashToken(token), metered.metricsTokenHash)) throw new AppError('TOKEN_INVALID');
    },
    handler: async (_request, reply) => reply.type(registry.contentType).send(await registry.metrics()),
  });
}

const NEAR: ReadonlySet<string> = new Set(['loopback', 'private', 'uniqueLocal', 'linkLocal']);

/** Header fields of proxies: each says that somebody else has asked. Their words for the client are many. */
const OF_PROXIES =
  /^(?:via|forwarded|x-(?:original-)?forwarded(?:-[a-z-]+)?|(?:[a-z]+-)*(?:client|real|connecting|remote)-?ip(?:v6)?|x-envoy-external-address)$/;

/** True for this machine and for private networks, as far as nobody stands between. */
function isNear({ ip, raw, headers }: FastifyRequest): boolean {
  const address = readAddress(ip);
  if (address === null || !NEAR.has(ipaddr.parse(address).range())) return false;
  // A proxy that is not trusted: its own address says nothing of whom it answers.
  const isForwarded = Object.keys(headers).some((name) => OF_PROXIES.test(name));
  return !isForwarded || ip !== raw.socket.remoteAddress;
}
