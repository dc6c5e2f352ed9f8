/** Exit code of a program that cannot work as it is set up (EX_CONFIG of sysexits.h). */
export const EXIT_CONFIGURATION = 78;

/**
 * The configuration, or the place that the service was started in, cannot work. Programs write `report` to
 * standard error and exit with `EXIT_CONFIGURATION`. A fault names settings and reasons, never a value: `DATABASE_URL` holds a password.
 * Source: reliability P14.
 */
export class ConfigurationFault extends Error {
  constructor(readonly faults: readonly string[]) {
    super(faults.join('\n'));
    this.name = 'ConfigurationFault';
  }

  /** A line for each fault. */
  get report(): string {
    return this.faults.map((fault) => `strongroom: ${fault}\n`).join('');
  }
}
