import { defineEntity, p } from '@mikro-orm/core';

/** How far a job is. `failed` is for good: somebody may retry it by hand. */
export const JOB_STATES = ['waiting', 'running', 'done', 'failed', 'cancelled'] as const;
export type JobState = (typeof JOB_STATES)[number];

/** How an attempt ended. `lost`: another node took the job over after the lease ended. `released`: its node was stopped. */
export const JOB_OUTCOMES = ['done', 'failed', 'lost', 'released', 'cancelled'] as const;
export type JobOutcome = (typeof JOB_OUTCOMES)[number];

const JobKindSchema = defineEntity({
  name: 'StoredJobKind',
  tableName: 'job_kind',
  properties: {
    name: p.text().primary(),
    isPaused: p.boolean().default(false),
  },
});

/** A kind of work, on all nodes. */
export class StoredJobKind extends JobKindSchema.class {}
JobKindSchema.setClass(StoredJobKind);

export const JobSchema = defineEntity({
  name: 'StoredJob',
  tableName: 'job',
  uniques: [{ name: 'job_kind_dedupe_key_key', properties: ['kind', 'dedupeKey'] }],
  properties: {
    id: p.uuid().primary(),
    kind: p.text(),
    organizationId: p.uuid().nullable(),
    projectId: p.uuid().nullable(),
    dedupeKey: p.text(),
    subjectId: p.uuid().nullable(),
    /** The external system that it calls, as its organization names it. */
    target: p.text().nullable(),
    /** Somebody waits for it. */
    isUrgent: p.boolean().default(false),
    state: p.text().$type<JobState>(),
    wakeAt: p.datetime(3).nullable(),
    attempts: p.integer().default(0),
    fence: p.bigint('string').defaultRaw('0'),
    node: p.uuid().nullable(),
    isCancelRequested: p.boolean().default(false),
    isAskedAgain: p.boolean().default(false),
    /** It recurs: each kind has at most one such job, which is due again after it has finished. */
    everySeconds: p.integer().nullable(),
    giveUpAt: p.datetime(3).nullable(),
    giveUpFrom: p.datetime(3).defaultRaw('now()'),
    errorCode: p.text().nullable(),
    createdAt: p.datetime(3).defaultRaw('now()'),
    finishedAt: p.datetime(3).nullable(),
  },
});

/** Work to be done once, after its transaction has committed, or again and again. It holds ids only: what they name is read when it runs. */
export class StoredJob extends JobSchema.class {}
JobSchema.setClass(StoredJob);

export const JobAttemptSchema = defineEntity({
  name: 'StoredJobAttempt',
  tableName: 'job_attempt',
  properties: {
    jobId: p.uuid().primary(),
    fence: p.bigint('string').primary(),
    node: p.uuid(),
    startedAt: p.datetime(3).defaultRaw('now()'),
    endedAt: p.datetime(3).nullable(),
    outcome: p.text().$type<JobOutcome>().nullable(),
    errorCode: p.text().nullable(),
  },
});

/** One node's lease of a job. */
export class StoredJobAttempt extends JobAttemptSchema.class {}
JobAttemptSchema.setClass(StoredJobAttempt);
