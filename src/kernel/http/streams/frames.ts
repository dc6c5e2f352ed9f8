import { setTimeout as delay } from 'node:timers/promises';

/** What a stream sends: an event, or with an ID alone the new position of the client, which then gets no event. */
export interface Frame {
  /** What the client sends as `Last-Event-ID` when it connects again. Without line breaks. */
  readonly id?: string;
  /** Name of the event. Without line breaks. */
  readonly event?: string;
  /** JSON. Absent: the frame is no event. */
  readonly data?: unknown;
}

/** A comment: clients ignore it, and proxies see that the connection is in use. */
const HEARTBEAT = ':\n\n';
/** Shorter than the idle limits of the usual proxies, and of this service. */
const HEARTBEAT_MS = 15_000;

/** A frame as it is sent. Source: HTML, 9.2.5 and 9.2.6 (parsing and interpreting an event stream). */
export function frameText({ id, event, data }: Frame): string {
  const lines = [
    ...(id === undefined ? [] : [`id: ${id}`]),
    ...(event === undefined ? [] : [`event: ${event}`]),
    ...(data === undefined ? [] : [`data: ${JSON.stringify(data)}`]),
  ];
  return `${lines.join('\n')}\n\n`;
}

/**
 * What a source gives, and a heartbeat whenever it has given nothing for 15 seconds. The next item is asked for only when the one
 * before has been taken: a client that does not read holds its own source, and nothing gathers in memory.
 */
export async function* withHeartbeats(source: AsyncIterator<string>): AsyncGenerator<string> {
  // At once: some clients take the stream for open only when something comes.
  yield HEARTBEAT;
  let next = source.next();
  // A failure belongs to whoever waits for it below, which may be after a heartbeat.
  next.catch(() => undefined);
  try {
    for (;;) {
      const timer = new AbortController();
      const first = await Promise.race([
        next,
        delay(HEARTBEAT_MS, HEARTBEAT, { signal: timer.signal, ref: false }),
      ]).finally(() => timer.abort());
      if (typeof first === 'string') {
        yield first;
        continue;
      }
      if (first.done === true) return;
      yield first.value;
      next = source.next();
      next.catch(() => undefined);
    }
  } finally {
    await source.return?.();
  }
}
