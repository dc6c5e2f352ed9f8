/** How many days records are kept whose project does not say; null: for ever. */
export interface Retention {
  readonly days: number | null;
  /** Of reads without values. */
  readonly browseDays: number | null;
}

export const NO_EXPIRATION: Retention = { days: null, browseDays: null };

/** Ten years. */
export const MAX_RETENTION_DAYS = 3_650;

/** Name of the job that makes partitions for the months in which rows end: who sets a retention asks for it. */
export const PREPARE_PARTITIONS = 'audit:prepare-partitions';
