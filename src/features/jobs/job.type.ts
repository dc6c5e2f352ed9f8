import { Field, ID, Int, ObjectType, registerEnumType } from 'type-graphql';
import { DateTime } from '../../kernel/graphql/date-time.js';
import { enumOfRule } from '../../kernel/graphql/inputs.js';
import { Node } from '../../kernel/graphql/node.js';
import { connectionOf } from '../../kernel/graphql/page.js';
import type { JobOutcome, JobState } from '../../kernel/jobs/job.entity.js';
import { jobState } from './job.rules.js';

/** GraphQL's names of the states of jobs. */
const JobStateEnum = {
  WAITING: 'waiting',
  RUNNING: 'running',
  DONE: 'done',
  FAILED: 'failed',
  CANCELLED: 'cancelled',
} as const satisfies Record<string, JobState>;
registerEnumType(JobStateEnum, {
  name: 'JobState',
  description: 'How far a job is.',
  valuesConfig: {
    WAITING: { description: 'It is tried, again or for the first time, when it is due.' },
    RUNNING: { description: 'A node does it.' },
    DONE: { description: 'It has been done.' },
    FAILED: { description: 'It is not tried any more, unless somebody retries it.' },
    CANCELLED: { description: 'Somebody cancelled it.' },
  },
});
enumOfRule(jobState, JobStateEnum);

/** GraphQL's names of how attempts end. */
const JobOutcomeEnum = {
  DONE: 'done',
  FAILED: 'failed',
  LOST: 'lost',
  RELEASED: 'released',
  CANCELLED: 'cancelled',
} as const satisfies Record<string, JobOutcome>;
registerEnumType(JobOutcomeEnum, {
  name: 'JobOutcome',
  description: 'How an attempt of a job ended.',
  valuesConfig: {
    DONE: { description: 'The job was done.' },
    FAILED: { description: 'It failed: `errorCode` says why.' },
    LOST: { description: 'The node did not renew its lease, and another one took the job over.' },
    RELEASED: { description: 'The node was stopped and gave the job back.' },
    CANCELLED: { description: 'The job was cancelled while it ran.' },
  },
});

/** What the API shows of a job. */
@ObjectType('Job', {
  implements: Node,
  description: 'Work that the service does in the background.',
  simpleResolvers: true,
})
export class JobType extends Node {
  @Field(() => String, { description: 'Name of its kind: `jobKinds` describes these.' })
  kind!: string;

  @Field(() => Boolean, { description: 'It is work of the whole installation, and of no organization.' })
  isOfInstallation!: boolean;

  @Field(() => ID, { nullable: true, description: 'The project that it is about; null for none.' })
  projectId!: string | null;

  @Field(() => ID, {
    nullable: true,
    description: 'What it is about: the kind says what that is. Null if it is about nothing single.',
  })
  subjectId!: string | null;

  @Field(() => JobStateEnum, { description: 'How far it is.' })
  state!: JobState;

  @Field(() => Int, { description: 'How often it was tried since it was queued or retried by hand.' })
  attemptCount!: number;

  @Field(() => DateTime, { nullable: true, description: 'When it is tried next; null unless it waits.' })
  dueAt!: Date | null;

  @Field(() => DateTime, {
    nullable: true,
    description: 'Until when its node has it, unless the node renews that; null unless it runs.',
  })
  leaseEndsAt!: Date | null;

  @Field(() => String, { nullable: true, description: 'Why its last attempt failed; null if that did not.' })
  errorCode!: string | null;

  @Field(() => Boolean, { description: 'Somebody cancelled it. One that runs stops within some seconds.' })
  isCancelRequested!: boolean;

  @Field(() => DateTime, { description: 'When it was queued.' })
  createdAt!: Date;

  @Field(() => DateTime, { nullable: true, description: 'When it ended; null as long as it waits or runs.' })
  finishedAt!: Date | null;
}

export const JobConnection = connectionOf(JobType, 'Job', 'when they were queued, newest first');

/** What the API shows of an attempt. */
@ObjectType('JobAttempt', { description: 'One time that a node tried a job.', simpleResolvers: true })
export class JobAttemptType {
  @Field(() => Int, { description: 'Its number, from 1. It goes on after the job was retried by hand.' })
  number!: number;

  @Field(() => String, { description: 'The node, by a name that it takes at its start.' })
  node!: string;

  @Field(() => DateTime, { description: 'When it began.' })
  startedAt!: Date;

  @Field(() => DateTime, { nullable: true, description: 'When it ended; null for one that runs.' })
  endedAt!: Date | null;

  @Field(() => JobOutcomeEnum, { nullable: true, description: 'How it ended; null for one that runs.' })
  outcome!: JobOutcome | null;

  @Field(() => String, { nullable: true, description: 'Why it failed; null if it did not.' })
  errorCode!: string | null;
}

const WHOSE = 'of your organization, or of all for the admin of the installation';

/** What the API shows of a kind of jobs. */
@ObjectType('JobKind', { description: 'A kind of work in the background.', simpleResolvers: true })
export class JobKindType {
  @Field(() => String, { description: 'Its name: slice and work.' })
  name!: string;

  @Field(() => String, {
    nullable: true,
    description: 'What the work is; null if this version of the service does not know the kind.',
  })
  description!: string | null;

  @Field(() => Int, {
    nullable: true,
    description: 'A job is queued at every multiple of so many seconds since 1970, UTC; null for no schedule.',
  })
  everySeconds!: number | null;

  @Field(() => DateTime, { nullable: true, description: 'When its schedule queues the next job; null for none.' })
  nextAt!: Date | null;

  @Field(() => Boolean, { description: 'No job of it begins, and its schedule queues none.' })
  isPaused!: boolean;

  @Field(() => Int, { description: `How many jobs wait, ${WHOSE}.` })
  waitingCount!: number;

  @Field(() => Int, { description: `How many jobs run, ${WHOSE}.` })
  runningCount!: number;

  @Field(() => Int, { description: `How many jobs have failed and are not tried any more, ${WHOSE}.` })
  failedCount!: number;

  @Field(() => DateTime, {
    nullable: true,
    description: `When the first of the waiting jobs is due, ${WHOSE}; null when none waits.`,
  })
  nextDueAt!: Date | null;
}
