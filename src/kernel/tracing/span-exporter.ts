import { setTimeout as delay } from 'node:timers/promises';
import { describeError, type Log, type LogFields } from '../log.js';
import type { SpanAttributes, SpanStart } from './spans.js';
import { pairsOf, type TraceSettings } from './trace-settings.js';

/** A span that has ended. */
export interface EndedSpan extends Pick<SpanStart, 'name' | 'kind'> {
  /** 32 and 16 hexadecimal digits. */
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | null;
  /** In milliseconds since 1970, with fractions. */
  readonly startMs: number;
  readonly endMs: number;
  /** Null when nothing failed. */
  readonly errorType: string | null;
  readonly attributes: SpanAttributes;
}

const MAX_WAITING = 2_048;
const MAX_BATCH = 512;
const SEND_AFTER_MS = 5_000;
/** Pauses before further attempts, while the collector is away or asks for patience: each is twice the last. */
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 32_000;
const TRY_AGAIN: readonly number[] = [429, 502, 503, 504];
const CLOSE_MS = 2_000;
const KINDS = { internal: 1, server: 2, client: 3 } as const;
const ERROR = 2;

/**
 * Sends spans to a collector as OTLP over HTTP in JSON, in batches. Nobody waits for it: what a collector that is away cannot take is
 * dropped beyond a bounded queue. Source: OpenTelemetry, "OTLP Specification", OTLP/HTTP.
 */
export class SpanExporter {
  readonly #settings: TraceSettings;
  readonly #version: string;
  readonly #log: Log;
  #waiting: EndedSpan[] = [];
  #dropped = 0;
  #timer: NodeJS.Timeout | null = null;
  #sending: Promise<void> | null = null;
  readonly #closing = new AbortController();

  readonly #firstPauseMs: number;

  /** @param version of the service */
  constructor(settings: TraceSettings, version: string, log: Log, firstPauseMs = FIRST_PAUSE_MS) {
    this.#settings = settings;
    this.#version = version;
    this.#log = log;
    this.#firstPauseMs = firstPauseMs;
  }

  /** Takes a span, and sends it soon. */
  add(span: EndedSpan): void {
    if (this.#waiting.length >= MAX_WAITING) {
      this.#dropped += 1;
      return;
    }
    this.#waiting.push(span);
    if (this.#waiting.length >= MAX_BATCH) this.#send();
    else this.#timer ??= setTimeout(() => this.#send(), SEND_AFTER_MS).unref();
  }

  /** Sends what is left, and gives up after two seconds. */
  async close(): Promise<void> {
    const limit = setTimeout(() => this.#closing.abort(), CLOSE_MS).unref();
    await this.#sending;
    this.#send();
    await this.#sending;
    clearTimeout(limit);
  }

  #send(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    if (this.#sending !== null) return;
    this.#sending = this.#sendAll().finally(() => {
      this.#sending = null;
    });
  }

  async #sendAll(): Promise<void> {
    while (this.#waiting.length > 0 && !this.#closing.signal.aborted) {
      const batch = this.#waiting.splice(0, MAX_BATCH);
      const failure = await this.#deliver(batch);
      if (failure !== null) this.#dropped += batch.length;
      this.#reportDropped(failure ?? {});
    }
  }

  /** @returns null when the collector has it, else why it never will */
  async #deliver(batch: readonly EndedSpan[]): Promise<LogFields | null> {
    const body = JSON.stringify(otlpOf(batch, this.#settings.resource, this.#version));
    for (let pauseMs = this.#firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      const { status, error } = await this.#post(body);
      if (status !== null && status < 300) return null;
      const failure = { status, ...(error === null ? {} : describeError(error)) };
      if ((status !== null && !TRY_AGAIN.includes(status)) || this.#closing.signal.aborted) return failure;
      this.#reportDropped(failure);
      await delay(pauseMs, undefined, { signal: this.#closing.signal, ref: false }).catch(() => undefined);
    }
  }

  #reportDropped(failure: LogFields): void {
    if (this.#dropped > 0) this.#log.warn('traces not exported', { dropped: this.#dropped, ...failure });
    this.#dropped = 0;
  }

  /** The collector is the operator's own: it may be in a private network, as external systems of customers may not. */
  async #post(body: string): Promise<{ status: number | null; error: unknown }> {
    const { url, headers, timeoutMs } = this.#settings;
    const signal = AbortSignal.any([AbortSignal.timeout(timeoutMs), this.#closing.signal]);
    const given = headers === null ? {} : pairsOf(headers.reveal());
    try {
      const init = { method: 'POST', headers: { ...given, 'content-type': 'application/json' }, body, signal } as const;
      const response = await fetch(url, { ...init, redirect: 'error' });
      await response.body?.cancel();
      return { status: response.status, error: null };
    } catch (error) {
      return { status: null, error };
    }
  }
}

const otlpOf = (spans: readonly EndedSpan[], resource: Readonly<Record<string, string>>, version: string) => ({
  resourceSpans: [
    {
      resource: { attributes: attributesOf({ 'service.version': version, ...resource }) },
      scopeSpans: [{ scope: { name: 'strongroom', version }, spans: spans.map(spanOf) }],
    },
  ],
});

const spanOf = (span: EndedSpan) => ({
  traceId: span.traceId,
  spanId: span.spanId,
  ...(span.parentSpanId === null ? {} : { parentSpanId: span.parentSpanId }),
  name: span.name,
  kind: KINDS[span.kind],
  startTimeUnixNano: nanoseconds(span.startMs),
  endTimeUnixNano: nanoseconds(span.endMs),
  attributes: attributesOf({
    ...span.attributes,
    ...(span.errorType === null ? {} : { 'error.type': span.errorType }),
  }),
  ...(span.errorType === null ? {} : { status: { code: ERROR } }),
});

const nanoseconds = (ms: number): string => String(BigInt(Math.round(ms * 1_000)) * 1_000n);

const attributesOf = (attributes: SpanAttributes) =>
  Object.entries(attributes).map(([key, value]) => ({ key, value: otlpValue(value) }));

function otlpValue(value: string | number | boolean): Record<string, string | number | boolean> {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}
