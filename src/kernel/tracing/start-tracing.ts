import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import type { Log } from '../log.js';
import { type EndedSpan, SpanExporter } from './span-exporter.js';
import { type Span, type SpanAttributes, type SpanStart, type Tracer, traceWith } from './spans.js';
import type { Sampler, TraceSettings } from './trace-settings.js';

/** Begins to trace. @param version of the service @returns what ends it, and sends what is left */
export function startTracing(settings: TraceSettings, version: string, log: Log): () => Promise<void> {
  const tracer = new SpanTracer(settings.sampler, new SpanExporter(settings, version, log));
  traceWith(tracer);
  return async () => {
    traceWith(null);
    await tracer.close();
  };
}

/** What children and other services know of a span. */
interface SpanContext {
  readonly traceId: string;
  readonly spanId: string;
  readonly isSampled: boolean;
}

/** Version 00, as W3C's "Trace Context" has it; later versions begin in the same way. */
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/;

/**
 * Makes spans, decides which are recorded, and hands those that ended to an exporter.
 *
 * Our own, because OpenTelemetry's packages for this weigh 28 MiB, as much as everything else that serves requests.
 */
class SpanTracer implements Tracer {
  readonly #current = new AsyncLocalStorage<SpanContext>();
  readonly #sampler: Sampler;
  readonly #exporter: SpanExporter;

  constructor(sampler: Sampler, exporter: SpanExporter) {
    this.#sampler = sampler;
    this.#exporter = exporter;
  }

  start({ name, kind, attributes, traceparent }: SpanStart): Span {
    const parent = contextOf(traceparent) ?? this.#current.getStore();
    const traceId = parent?.traceId ?? randomBytes(16).toString('hex');
    const isLocal = traceparent === undefined && parent !== undefined;
    const context: SpanContext = {
      traceId,
      spanId: randomBytes(8).toString('hex'),
      isSampled: isLocal ? parent.isSampled : this.#isSampled(traceId, parent),
    };
    const since = performance.timeOrigin + performance.now();
    let isOver = false;
    return {
      run: (work) => this.#current.run(context, work),
      end: (errorType: string | null, further: SpanAttributes = {}) => {
        if (isOver || !context.isSampled) return;
        isOver = true;
        const ended: EndedSpan = {
          ...context,
          parentSpanId: parent?.spanId ?? null,
          name,
          kind,
          startMs: since,
          endMs: performance.timeOrigin + performance.now(),
          errorType,
          attributes: { ...attributes, ...further },
        };
        this.#exporter.add(ended);
      },
    };
  }

  startChild(start: () => SpanStart): Span | undefined {
    return this.#current.getStore()?.isSampled === true ? this.start(start()) : undefined;
  }

  close(): Promise<void> {
    return this.#exporter.close();
  }

  /** By the ID of the trace, so that all services with one ratio record the same traces. */
  #isSampled(traceId: string, parent: SpanContext | undefined): boolean {
    if (this.#sampler.followsParent && parent !== undefined) return parent.isSampled;
    return Number.parseInt(traceId.slice(-12), 16) < this.#sampler.ratio * 2 ** 48;
  }
}

function contextOf(traceparent: string | undefined): SpanContext | undefined {
  const [, traceId, spanId, flags] = TRACEPARENT.exec(traceparent ?? '') ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 };
}
