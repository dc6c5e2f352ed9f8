/** What a span says of itself. Never a value of a caller: names and texts are ours, or stand in the schema or the route. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

/** Something that takes time, as traces show it. */
export interface SpanStart {
  readonly name: string;
  /** `server`: a request to this service; `client`: one of this service to another. */
  readonly kind: 'server' | 'client' | 'internal';
  readonly attributes: SpanAttributes;
  /** W3C `traceparent` of whoever asked. Without one, or with one that is malformed, it belongs to the current span. */
  readonly traceparent?: string | undefined;
}

/** A span that has not ended. */
export interface Span {
  /** Runs work in it: spans that start meanwhile are its children. */
  run<T>(work: () => T): T;
  /** @param errorType code of what failed; null when nothing did */
  end(errorType: string | null, attributes?: SpanAttributes): void;
}

/** Makes spans and sends those that are sampled to a collector. */
export interface Tracer {
  start(start: SpanStart): Span;
  /** A child of the current span, where there is one that is recorded. */
  startChild(start: () => SpanStart): Span | undefined;
}

let tracer: Tracer | null = null;

/** Begins to trace, or ends it. */
export const traceWith = (given: Tracer | null): void => {
  tracer = given;
};

/** A new span; undefined when nothing is traced. */
export const startSpan = (start: SpanStart): Span | undefined => tracer?.start(start);

/** A child of the current span; undefined when there is none. @param start asked for only when there is one */
export const startChildSpan = (start: () => SpanStart): Span | undefined =>
  tracer === null ? undefined : tracer.startChild(start);

/** Whether anything is traced. */
export const isTraced = (): boolean => tracer !== null;

/** Runs work as a span, when something is traced. */
export async function inSpan<T>(
  start: () => SpanStart,
  codeOf: (error: unknown) => string,
  work: () => Promise<T>,
): Promise<T> {
  const span = tracer?.start(start());
  if (span === undefined) return work();
  try {
    const result = await span.run(work);
    span.end(null);
    return result;
  } catch (error) {
    span.end(codeOf(error));
    throw error;
  }
}
