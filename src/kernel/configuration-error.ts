/** Exit code of a program that cannot work as it is set up (EX_CONFIG of sysexits.h). */
export const EXIT_CONFIGURATION = 78;
/** Exit code of a program that can work later, as it is set up (EX_TEMPFAIL). */
const EXIT_TEMPORARY = 75;

/**
 * The configuration, or the place that the service was started in, cannot work. Programs write `report` to
 * standard error and exit with `exitCode`. A fault names settings and reasons, never a value: `DATABASE_URL` holds a password.
 */
export class ConfigurationError extends Error {
  readonly exitCode: number = EXIT_CONFIGURATION;

  constructor(readonly violations: readonly string[]) {
    super(violations.join('\n'));
    this.name = 'ConfigurationError';
  }

  /** A line for each fault. */
  get report(): string {
    return this.violations.map((violation) => `strongroom: ${violation}\n`).join('');
  }
}

/** The same of something that passes by itself: whoever starts the service may start it again. */
export class TemporaryError extends ConfigurationError {
  override readonly exitCode = EXIT_TEMPORARY;
}
