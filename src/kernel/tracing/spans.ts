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
  /** Runs work that belongs to it. */
  within<T>(work: () => T): T;
  /** @param errorType code of what failed; null when nothing did */
  end(errorType: string | null, attributes?: SpanAttributes): void;
}

/** Makes spans and sends those that are sampled to a collector. */
export interface Tracer {
  begin(start: SpanStart): Span;
  /** A part of what is traced now; undefined outside of that. */
  part(start: () => SpanStart): Span | undefined;
  /** Sends what has not been sent, as far as the collector takes it soon. */
  close(): Promise<void>;
}

let tracer: Tracer | null = null;

/** Begins to trace, or ends it. */
export const traceWith = (given: Tracer | null): void => {
  tracer = given;
};

/** A new span; undefined when nothing is traced. */
export const beginSpan = (start: SpanStart): Span | undefined => tracer?.begin(start);

/** A part of the current span; undefined when there is none. @param start asked for only when there is one */
export const beginPart = (start: () => SpanStart): Span | undefined =>
  tracer === null ? undefined : tracer.part(start);

/** Whether anything is traced. */
export const isTraced = (): boolean => tracer !== null;

/** Runs work as a span, when something is traced. */
export async function inSpan<T>(
  start: () => SpanStart,
  codeOf: (error: unknown) => string,
  work: () => Promise<T>,
): Promise<T> {
  const span = tracer?.begin(start());
  if (span === undefined) return work();
  try {
    const result = await span.within(work);
    span.end(null);
    return result;
  } catch (error) {
    span.end(codeOf(error));
    throw error;
  }
}
