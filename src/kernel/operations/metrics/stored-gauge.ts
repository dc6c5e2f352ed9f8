import type { Query } from '../../database/database.js';

/** A figure that a slice reads from the database for the metrics, at most every 15 s. */
export interface StoredGauge {
  readonly name: string;
  readonly help: string;
  /** Name of its only label, whose values are words of ours. */
  readonly label: string;
  readonly read: (query: Query) => Promise<readonly { readonly label: string; readonly value: number }[]>;
}
