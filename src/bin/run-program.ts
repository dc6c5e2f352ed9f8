import { ConfigurationError } from '../kernel/configuration-error.js';
import { describeError } from '../kernel/log.js';

/**
 * Runs a program and ends the process with its exit code: that of a configuration error (78, 75), or another one for all other errors.
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
      process.stderr.write(`${JSON.stringify({ event: failure.event, ...describeError(error) })}\n`);
      process.exit(failure.code);
    },
  );
}
