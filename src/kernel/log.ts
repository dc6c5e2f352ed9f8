import { type Logger as PinoLogger, pino } from 'pino';

/** IDs, counts, names of settings and codes: scalars only, so that no object with a value can be logged by accident. */
export type LogFields = Readonly<Record<string, string | number | boolean | null>>;

/** Writes one line for each event. */
export interface Log {
  debug(event: string, fields?: LogFields): void;
  info(event: string, fields?: LogFields): void;
  warn(event: string, fields?: LogFields): void;
  error(event: string, fields?: LogFields): void;
}

/** JSON lines on standard output. @param level as `LOG_LEVEL` */
export function createLog(level: string): Log {
  const logger: PinoLogger = pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime });
  const write =
    (method: 'debug' | 'info' | 'warn' | 'error') =>
    (event: string, fields: LogFields = {}) =>
      logger[method](fields, event);
  return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
}

/** The code of a driver's or of the system's error, when it looks like one; it may be said, where the message may not. */
export function codeOf(error: Error): string | null {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' && /^[A-Z0-9_]{1,40}$/.test(code) ? code : null;
}

/**
 * What may be said of an unexpected error: its class, its code, and the lines of our own code that it passed.
 * Not its message: drivers and validators put values into theirs.
 */
export function describeError(error: unknown): LogFields {
  if (!(error instanceof Error)) return { error: typeof error };
  // The message stands above the frames and may have lines that look like some: whatever it has is cut off, not filtered.
  const stack = error.stack ?? '';
  const above = stack.indexOf(error.message);
  const below = above === -1 ? '' : stack.slice(above + error.message.length);
  const frames = below.split('\n').filter((line) => /^\s+at /.test(line));
  return {
    error: classOf(error),
    code: codeOf(error),
    at: frames
      .map((line) =>
        line
          .trim()
          .replace(/^at /, '')
          .replace(/\(?(file:\/\/)?\/\S*\/(?=[^/]+\/[^/]+:\d)/, '('),
      )
      .slice(0, 6)
      .join(' < '),
    ...(error.cause instanceof Error ? { cause: describeCause(error.cause) } : {}),
  };
}

/** The build puts a line before the names of some classes. */
const classOf = (error: Error): string => error.constructor.name.replace(/^_/, '');

const describeCause = (cause: Error): string => [classOf(cause), codeOf(cause) ?? []].flat().join(' ');

/**
 * Logs failures on our side: unexpected errors as errors; an unavailable database or a value that cannot be decrypted as warnings.
 * Refusals of a draining node are not logged, because `draining` was.
 */
export function logFailure(
  log: Log,
  failure: { code: string; status: number },
  cause: unknown,
  requestId: string,
): void {
  if (failure.status < 500 || failure.code === 'SHUTTING_DOWN') return;
  const fields = { requestId, failure: failure.code, ...describeError(cause) };
  if (failure.code === 'INTERNAL') log.error('request failed', fields);
  else log.warn('request failed', fields);
}
