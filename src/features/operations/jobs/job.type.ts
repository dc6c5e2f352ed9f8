import { Field, ID, Int, ObjectType, registerEnumType } from 'type-graphql';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { enumOfRule } from '../../../kernel/graphql/inputs.js';
import { Node } from '../../../kernel/graphql/node.js';
import { connectionOf } from '../../../kernel/graphql/page.js';
import type { JobOutcome, JobState } from '../../../kernel/jobs/job.entity.js';
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
  description: 'States of a job.',
  valuesConfig: {
    WAITING: { description: 'The job is queued for its first or next attempt.' },
    RUNNING: { description: 'A node is running the job.' },
    DONE: { description: 'The job succeeded.' },
    FAILED: { description: 'The job failed permanently. It runs again only if somebody retries it.' },
    CANCELLED: { description: 'The job was cancelled.' },
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
  description: 'Outcomes of an attempt.',
  valuesConfig: {
    DONE: { description: 'The attempt succeeded.' },
    FAILED: { description: 'The attempt failed. `errorCode` has the reason.' },
    LOST: { description: 'The node did not renew its lease, so another node took over the job.' },
    RELEASED: {
      description:
        'The job returned to the queue: its node shut down, or it waits for what `errorCode` says. It is no failure.',
    },
    CANCELLED: { description: 'The job was cancelled during the attempt.' },
  },
});

/** What the API shows of a job. */
@ObjectType('Job', {
  implements: Node,
  description: 'A background job of the service.',
  simpleResolvers: true,
})
export class JobType extends Node {
  @Field(() => String, { description: 'Name of the job kind, for example `jobs:delete-finished`. See `jobKinds`.' })
  kind!: string;

  @Field(() => Boolean, { description: 'Whether the job belongs to the installation and not to an organization.' })
  isOfInstallation!: boolean;

  @Field(() => ID, { nullable: true, description: 'ID of the project of the job. Null if it has none.' })
  projectId!: string | null;

  @Field(() => ID, {
    nullable: true,
    description:
      'ID of the resource that the job processes, whose type depends on the kind. Null if it does not process a single resource.',
  })
  subjectId!: string | null;

  @Field(() => JobStateEnum, { description: 'State of the job.' })
  state!: JobState;

  @Field(() => Int, { description: 'Number of attempts since the job was queued or last retried manually.' })
  attemptCount!: number;

  @Field(() => DateTime, {
    nullable: true,
    description: 'When the next attempt is due. Null unless the job is waiting.',
  })
  dueAt!: Date | null;

  @Field(() => DateTime, {
    nullable: true,
    description: 'When the lease of the node ends, unless the node renews it. Null unless the job is running.',
  })
  leaseEndsAt!: Date | null;

  @Field(() => String, {
    nullable: true,
    description:
      'Error code of the last attempt, or what the job waits for: `KEY_DISABLED`, `TARGET_UNRESPONSIVE`. Null if it neither failed nor waits.',
  })
  errorCode!: string | null;

  @Field(() => Boolean, {
    description: 'Whether cancellation of the job was requested. A running job stops within a few seconds.',
  })
  isCancelRequested!: boolean;

  @Field(() => DateTime, { description: 'When the job was queued.' })
  createdAt!: Date;

  @Field(() => DateTime, { nullable: true, description: 'When the job ended. Null while it is waiting or running.' })
  finishedAt!: Date | null;
}

export const JobConnection = connectionOf(JobType, 'Job', 'creation time, newest first');

/** What the API shows of an attempt. */
@ObjectType('JobAttempt', { description: 'An attempt of a node to run a job.', simpleResolvers: true })
export class JobAttemptType {
  @Field(() => Int, { description: 'Number of the attempt, starting at 1. A manual retry continues the numbering.' })
  number!: number;

  @Field(() => String, { description: 'ID of the node (UUID), which changes with every start of the node.' })
  node!: string;

  @Field(() => DateTime, { description: 'When the attempt started.' })
  startedAt!: Date;

  @Field(() => DateTime, { nullable: true, description: 'When the attempt ended. Null while it is running.' })
  endedAt!: Date | null;

  @Field(() => JobOutcomeEnum, { nullable: true, description: 'Outcome of the attempt. Null while it is running.' })
  outcome!: JobOutcome | null;

  @Field(() => String, {
    nullable: true,
    description: 'Error code of the attempt, or what it waited for. Null if it neither failed nor waited.',
  })
  errorCode!: string | null;
}

const WHOSE = 'of your organization (for the admin of the installation: of all organizations)';

/** What the API shows of a kind of jobs. */
@ObjectType('JobKind', { description: 'A kind of background jobs.', simpleResolvers: true })
export class JobKindType {
  @Field(() => String, { description: 'Name of the job kind, for example `jobs:delete-finished`.' })
  name!: string;

  @Field(() => String, {
    nullable: true,
    description: 'What jobs of this kind do. Null if this version of the service does not know the kind.',
  })
  description!: string | null;

  @Field(() => Int, {
    nullable: true,
    description:
      'Interval of the schedule in seconds: a job is queued at each multiple of it since 1970-01-01 UTC. Null: no schedule.',
  })
  everySeconds!: number | null;

  @Field(() => DateTime, { nullable: true, description: 'When the schedule queues the next job. Null: no schedule.' })
  nextAt!: Date | null;

  @Field(() => Boolean, { description: 'Whether the kind is paused: no job starts, and the schedule queues none.' })
  isPaused!: boolean;

  @Field(() => Int, { description: `Number of waiting jobs ${WHOSE}.` })
  waitingCount!: number;

  @Field(() => Int, { description: `Number of running jobs ${WHOSE}.` })
  runningCount!: number;

  @Field(() => Int, { description: `Number of permanently failed jobs ${WHOSE}.` })
  failedCount!: number;

  @Field(() => DateTime, {
    nullable: true,
    description: `When the first waiting job ${WHOSE} is due. Null if no job is waiting.`,
  })
  nextDueAt!: Date | null;
}
