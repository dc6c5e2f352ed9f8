import { Counter, Histogram, type Registry } from 'prom-client';
import type { ErrorCode } from '../../errors.js';

/** From a kept reply to what a person gives up on. */
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** What came of an operation: one of our codes, or OK. */
export type Outcome = ErrorCode | 'OK';

/**
 * What was asked of this node, how long it took, and what came of it. Every label is a name of ours (a route's pattern, a
 * root field of the schema, an error code), so that no caller can make new series or put a word of his own in.
 */
export class OperationMetrics {
  readonly #operations = new Counter({
    name: 'strongroom_operations_total',
    help: 'Operations by name and result code. The name is a REST route or a GraphQL root field, or none if no field was reached.',
    labelNames: ['api', 'operation', 'code'],
    registers: [],
  });
  readonly #requests = new Histogram({
    name: 'strongroom_http_request_duration_seconds',
    help: 'Time from the request line to the last byte of the response.',
    labelNames: ['method', 'route', 'status'],
    buckets: SECONDS,
    registers: [],
  });
  readonly #fields = new Histogram({
    name: 'strongroom_graphql_operation_duration_seconds',
    help: 'Duration of GraphQL requests, for each of their root fields.',
    labelNames: ['operation'],
    buckets: SECONDS,
    registers: [],
  });
  readonly #refusedTokens = new Counter({
    name: 'strongroom_tokens_refused_total',
    help: 'Requests whose access token was rejected, by code. TOKEN_INVALID: unknown tokens.',
    labelNames: ['code'],
    registers: [],
  });

  registerAt(registry: Registry): void {
    for (const metric of [this.#operations, this.#requests, this.#fields, this.#refusedTokens])
      registry.registerMetric(metric as Counter);
  }

  /** @param route pattern of a route of ours; null when no route has the path */
  countRequest(method: string, route: string | null, { status, errorCode, seconds }: Answered): void {
    // Only of known routes: methods are no closed set.
    this.#requests.observe({ method: route === null ? 'any' : method, route: route ?? 'unknown', status }, seconds);
    if (errorCode?.startsWith('TOKEN_')) this.#refusedTokens.inc({ code: errorCode });
    if (route === '/graphql') {
      // What Apollo got to see is counted by field.
      if (errorCode !== null) this.countField('none', errorCode);
      return;
    }
    const code: Outcome = errorCode ?? (status < 400 ? 'OK' : 'INTERNAL');
    this.#operations.inc({ api: 'rest', operation: route === null ? 'unknown' : `${method} ${route}`, code });
  }

  /** @param operation a root field of the schema, or `none` */
  countField(operation: string, code: Outcome): void {
    this.#operations.inc({ api: 'graphql', operation, code });
  }

  timeField(operation: string, seconds: number): void {
    this.#fields.observe({ operation }, seconds);
  }
}

interface Answered {
  readonly status: number;
  /** `null`: nothing went wrong, as far as HTTP saw. */
  readonly errorCode: ErrorCode | null;
  readonly seconds: number;
}
