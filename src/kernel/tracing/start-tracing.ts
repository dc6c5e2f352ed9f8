import { setTimeout as delay } from 'node:timers/promises';
import {
  context,
  DiagLogLevel,
  defaultTextMapGetter,
  diag,
  type Tracer as OpenTracer,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { type ExportResult, ExportResultCode, W3CTraceContextPropagator } from '@opentelemetry/core';
import { JsonTraceSerializer } from '@opentelemetry/otlp-transformer';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  type ReadableSpan,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { describeError, type Log, type LogFields } from '../log.js';
import { type Span, type SpanAttributes, type SpanStart, type Tracer, traceWith } from './spans.js';
import { pairsOf, type TraceSettings } from './trace-settings.js';

/** Pauses before further attempts, while the collector is away or asks for patience: each is twice the last. */
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 32_000;
const TRY_AGAIN: readonly number[] = [429, 502, 503, 504];
const CLOSE_MS = 2_000;
/** The longest that a timer takes: the exporter ends by itself. */
const WITHOUT_LIMIT_MS = 2 ** 31 - 1;
const KINDS = { internal: SpanKind.INTERNAL, server: SpanKind.SERVER, client: SpanKind.CLIENT } as const;
const MESSAGE = 'traces not exported';
/** OpenTelemetry's own start of a span is by the millisecond. */
const now = (): number => performance.timeOrigin + performance.now();

/** Begins to trace. @param version of the service @returns what ends it, and sends what is left */
export function startTracing(
  settings: TraceSettings,
  version: string,
  log: Log,
  firstPauseMs = FIRST_PAUSE_MS,
): () => Promise<void> {
  const { resource, sampler } = settings;
  diag.setLogger(diagnosticsTo(log), { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  const exporter = new CollectorExporter(settings, log, firstPauseMs);
  const root = new TraceIdRatioBasedSampler(sampler.ratio);
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.version': version, ...resource }),
    sampler: sampler.followsParent ? new ParentBasedSampler({ root }) : root,
    spanProcessors: [new BatchSpanProcessor({ exporter, exportTimeoutMillis: WITHOUT_LIMIT_MS })],
  });
  traceWith(new SpanTracer(provider.getTracer('strongroom', version)));
  return async () => {
    traceWith(null);
    exporter.close();
    await provider.shutdown();
    context.disable();
  };
}

const ignored = (): void => undefined;

/** The one diagnosis that operators need: what the queue had no room for. */
const diagnosticsTo = (log: Log) => ({
  ...{ error: ignored, info: ignored, debug: ignored, verbose: ignored },
  warn: (text: string): void => {
    const [, dropped] = /^Dropped (\d+) spans/.exec(text) ?? [];
    if (dropped !== undefined) log.warn(MESSAGE, { dropped: Number(dropped) });
  },
});

/**
 * Sends spans to a collector as OTLP over HTTP in JSON. Nobody waits for it. OpenTelemetry's own exporter drops a batch after the time
 * of one request; this one keeps it for as long as the collector is away, and what finds no room in the queue meanwhile is dropped.
 */
class CollectorExporter implements SpanExporter {
  readonly #closing = new AbortController();
  readonly #closed = new AbortController();

  constructor(
    private readonly settings: TraceSettings,
    private readonly log: Log,
    private readonly firstPauseMs: number,
  ) {}

  export(spans: ReadableSpan[], done: (result: ExportResult) => void): void {
    // What failed is in the log.
    void this.#deliver(spans).then(() => done({ code: ExportResultCode.SUCCESS }));
  }

  /** From now on each batch is tried once more, and given up after two seconds. */
  close(): void {
    this.#closing.abort();
    setTimeout(() => this.#closed.abort(), CLOSE_MS).unref();
  }

  async shutdown(): Promise<void> {}

  async #deliver(spans: ReadableSpan[]): Promise<void> {
    const body = JsonTraceSerializer.serializeRequest(spans);
    for (let pauseMs = this.firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      const isLast = this.#closing.signal.aborted;
      const { status, ...error } = await this.#post(body);
      if (status !== null && status < 300) return;
      if (isLast || (status !== null && !TRY_AGAIN.includes(status))) {
        this.log.warn(MESSAGE, { dropped: spans.length, status, ...error });
        return;
      }
      await delay(pauseMs, undefined, { signal: this.#closing.signal, ref: false }).catch(ignored);
    }
  }

  /** The collector is the operator's own: it may be in a private network, as external systems of customers may not. */
  async #post(body: Uint8Array | undefined): Promise<LogFields & { readonly status: number | null }> {
    const { url, headers: sealed, timeoutMs } = this.settings;
    const signal = AbortSignal.any([AbortSignal.timeout(timeoutMs), this.#closed.signal]);
    const headers = { ...(sealed && pairsOf(sealed.reveal())), 'content-type': 'application/json' };
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers,
        body: body as Uint8Array<ArrayBuffer>,
        signal,
        redirect: 'error',
      });
      await response.body?.cancel();
      return { status: response.status };
    } catch (error) {
      return { status: null, ...describeError(error) };
    }
  }
}

class SpanTracer implements Tracer {
  readonly #traceContext = new W3CTraceContextPropagator();

  constructor(private readonly tracer: OpenTracer) {}

  start({ name, kind, attributes, traceparent }: SpanStart): Span {
    const current = context.active();
    const parent =
      traceparent === undefined ? current : this.#traceContext.extract(current, { traceparent }, defaultTextMapGetter);
    const span = this.tracer.startSpan(name, { kind: KINDS[kind], attributes, startTime: now() }, parent);
    const inside = trace.setSpan(parent, span);
    return {
      run: (work) => context.with(inside, work),
      end: (errorType: string | null, further: SpanAttributes = {}) => {
        // It has ended before, or is not sampled.
        if (!span.isRecording()) return;
        span.setAttributes({ ...further, ...(errorType === null ? {} : { 'error.type': errorType }) });
        if (errorType !== null) span.setStatus({ code: SpanStatusCode.ERROR });
        span.end(now());
      },
    };
  }

  startChild(start: () => SpanStart): Span | undefined {
    const flags = trace.getSpanContext(context.active())?.traceFlags ?? TraceFlags.NONE;
    return (flags & TraceFlags.SAMPLED) === 0 ? undefined : this.start(start());
  }
}
