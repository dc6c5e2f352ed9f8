import { p } from '@mikro-orm/core';

/** Columns of a target of events: where it is, and how far it has received. */
export const targetColumns = {
  name: p.text(),
  isEnabled: p.boolean().default(true),
  /** Scheme, host and port of the URL. */
  origin: p.text(),
  configSealed: p.blob(),
  configVersion: p.integer().default(1),
  position: p.bigint('string'),
  positionIndex: p.integer(),
  positionAt: p.datetime(3).defaultRaw('now()'),
  failures: p.integer().default(0),
  nextAttemptAt: p.datetime(3).nullable(),
  lastSuccessAt: p.datetime(3).nullable(),
  lastFailureAt: p.datetime(3).nullable(),
  lastFailure: p.text().nullable(),
  lastStatus: p.integer().nullable(),
  rejectedRecords: p.bigint('string').defaultRaw('0'),
  rewoundAt: p.datetime(3).nullable(),
  expirySeen: p.bigint('string').defaultRaw('0'),
  isResetPending: p.boolean().default(false),
};
