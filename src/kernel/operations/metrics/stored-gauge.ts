import type { Query } from '../../database/database.js';

/** Gauges that a slice reads from the database for the metrics in one statement, at most every 15 s. Each row has one sample of each. */
export interface StoredGauges<Row extends object = object> {
  readonly read: (query: Query) => Promise<readonly Row[]>;
  /** Columns of the rows, in the order of the names of labels. Their values are words of ours, and few. */
  readonly labels: Readonly<Record<string, keyof Row & string>>;
  readonly gauges: readonly StoredGauge<Row>[];
}

/** A gauge of them. */
export interface StoredGauge<Row> {
  readonly name: string;
  readonly help: string;
  /** Null: there is nothing to measure, and the sample is left out. */
  readonly value: (row: Row) => number | null;
}

/** Declares gauges. */
export const storedGauges = <Row extends object>(gauges: StoredGauges<Row>): StoredGauges => gauges as never;
