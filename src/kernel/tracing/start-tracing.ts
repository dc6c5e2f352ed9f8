import type { Log } from '../log.js';
import { SpanExporter } from './span-exporter.js';
import { traceWith } from './spans.js';
import type { TraceSettings } from './trace-settings.js';
import { SpanTracer } from './tracer.js';

/** Begins to trace. @param version of the service @returns what ends it, and sends what is left */
export function startTracing(settings: TraceSettings, version: string, log: Log): () => Promise<void> {
  const tracer = new SpanTracer(settings.sampler, new SpanExporter(settings, version, log));
  traceWith(tracer);
  return async () => {
    traceWith(null);
    await tracer.close();
  };
}
