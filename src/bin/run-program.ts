import { ConfigurationError } from '../kernel/configuration-error.js';
import { FILE_REASONS } from '../kernel/files.js';
import { describeError } from '../kernel/log.js';

/**
 * Runs a program and ends the process with its exit code: that of a configuration error (78, 75), or another one for all other errors.
 * A file that cannot be read or written is reported in words, with its path: whoever runs the program has given it.
 *
 * @param failure `event`: what is logged then, and `code`: the exit code
 */
export function runProgram(main: () => Promise<number>, failure: { event: string; code: number }): void {
  main().then(
    (code) => process.exit(code),
    (error: unknown) => {
      if (error instanceof ConfigurationError) {
        process.stderr.write(error.report);
        process.exit(error.exitCode);
      }
      const ofFile = ofFileIn(error);
      if (ofFile !== null) {
        process.stderr.write(`strongroom: ${failure.event}: ${ofFile}\n`);
        process.exit(failure.code);
      }
      process.stderr.write(`${JSON.stringify({ event: failure.event, ...describeError(error) })}\n`);
      process.exit(failure.code);
    },
  );
}

const CALLS: ReadonlySet<string> = new Set(['open', 'read', 'write', 'stat', 'access', 'rename', 'mkdir']);

/** What is wrong with a file, in words; null for other errors. */
function ofFileIn(error: unknown): string | null {
  const { syscall = '', code = '', path } = (error ?? {}) as Partial<NodeJS.ErrnoException>;
  if (!CALLS.has(syscall)) return null;
  const reason = code === 'ENOENT' ? 'there is no such file or directory' : FILE_REASONS[code];
  return reason === undefined ? null : [path ?? [], reason].flat().join(': ');
}
