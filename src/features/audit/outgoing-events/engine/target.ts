import { type EntityName, type InferEntityFromProperties, p } from '@mikro-orm/core';
import * as z from 'zod';
import type { Context, Transaction } from '../../../../kernel/context.js';
import type { organizationColumns } from '../../../../kernel/database/columns.js';
import type { Connected } from '../../../../kernel/database/database.js';
import type { JobKind } from '../../../../kernel/jobs/job-kind.js';
import type { OutboundResponse } from '../../../../kernel/outbound/http.js';
import type { Position } from '../../change-feed/public.js';
import type { TARGETS } from './target.sql.js';

/** The configuration of a target, in the form in which it is sealed. */
export const TargetConfig = z.object({
  url: z.string(),
  /** Null: requests are not signed. */
  signingSecret: z.string().nullable(),
  /** Key of the IDs of events: one event has one ID in every attempt. */
  eventKey: z.string(),
  headers: z.array(z.object({ name: z.string(), value: z.string() })).readonly(),
});
export type TargetConfig = Readonly<z.output<typeof TargetConfig>>;

/** A target of events, as its job reads it. */
export interface Target {
  readonly id: string;
  readonly organizationId: string;
  readonly projectId: string | null;
  readonly isEnabled: boolean;
  /** The pause after a failure is not over. */
  readonly isPausing: boolean;
  readonly configSealed: Uint8Array;
  readonly configVersion: number;
  /** Sequence of a record, and number of a change in it: everything up to there was received. */
  readonly position: string;
  readonly positionIndex: number;
  readonly failures: number;
  /** Events expired before they were sent, and the target does not know it yet. */
  readonly isResetPending: boolean;
  /** Time of the database. */
  readonly now: Date;
}

/** The next events of a target. */
export interface Batch {
  /** Null: nothing up to the position is for the target. */
  readonly body: string | null;
  readonly upTo: Position;
  /** When the last record before the position was made; null: there are no further records. */
  readonly upToTime: Date | null;
}

/** The form of requests to a target. */
export interface Format {
  readonly contentType: string;
  /** How much of a response is read; null: its status alone. */
  readonly maxResponseBytes: number | null;
  /** Number of records that the target did not store, although it accepted them. */
  readonly rejected: (response: OutboundResponse) => number;
}

/** What a delivery changes in the row of a target. */
type TargetProgress = InferEntityFromProperties<typeof targetColumns & typeof organizationColumns>;

/** A kind of targets. */
export interface TargetKind<T extends Target = Target> {
  readonly job: Pick<JobKind, 'name' | 'description'>;
  readonly table: keyof typeof TARGETS;
  readonly entity: EntityName<TargetProgress>;
  readonly find: (ctx: Connected, params: { readonly ids: readonly string[] }) => Promise<readonly T[]>;
  /** The next events, up to a sequence. */
  readonly next: (ctx: Context, request: { target: T; config: TargetConfig; settled: bigint }) => Promise<Batch>;
  readonly formatOf: (target: T) => Format;
  /** The audit record of events that expired before they were sent. */
  readonly recordRewind: (tx: Transaction, target: T) => Promise<void>;
}

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
