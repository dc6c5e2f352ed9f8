/**
 * The configuration, or the place that the service was started in, cannot work. Start-up prints the faults, one a line,
 * and exits with 78. A fault names settings and reasons, never a value: `DATABASE_URL` holds a password.
 * Source: reliability P14.
 */
export class ConfigurationFault extends Error {
  constructor(readonly faults: readonly string[]) {
    super(faults.join('\n'));
    this.name = 'ConfigurationFault';
  }
}
