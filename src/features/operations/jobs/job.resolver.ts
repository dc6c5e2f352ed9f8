import { Ctx, FieldResolver, ID, Int, Query, Resolver, Root } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { batchedOrNull } from '../../../kernel/database/batched.js';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { enumType } from '../../../kernel/graphql/enums.js';
import { Node } from '../../../kernel/graphql/node.js';
import { objectType, orNull } from '../../../kernel/graphql/object-types.js';
import { mutation, nested, query } from '../../../kernel/graphql/operations.js';
import { connectionOf } from '../../../kernel/graphql/page.js';
import type { JobOutcome, JobState } from '../../../kernel/jobs/job.entity.js';
import type { CountedConnectionOf } from '../../../kernel/paging.js';
import { bodyOf, boundedPaging, routesAt, withoutNull } from '../../../rest/route.js';
import { type ProjectRelations, ProjectType, toProjectType } from '../../projects/public.js';
import { jobState, ListJobs, OneJob, OneJobKind } from './job.rules.js';
import type { JobKindService, JobService } from './job.service.js';

/** GraphQL's names of the states of jobs. */
const JobStateEnum = enumType<JobState>(
  'JobState',
  'States of a job.',
  {
    waiting: 'The job is queued for its first or next attempt.',
    running: 'A node is running the job.',
    done: 'The job succeeded.',
    failed: 'The job failed permanently. It runs again only if somebody retries it.',
    cancelled: 'The job was cancelled.',
  },
  jobState,
);

/** GraphQL's names of how attempts end. */
const JobOutcomeEnum = enumType<JobOutcome>('JobOutcome', 'Outcomes of an attempt.', {
  done: 'The attempt succeeded.',
  failed: 'The attempt failed. `errorCode` has the reason.',
  lost: 'The node did not renew its lease, so another node took over the job.',
  released:
    'The job returned to the queue: its node shut down, or it waits for what `errorCode` says. It is no failure.',
  cancelled: 'The job was cancelled during the attempt.',
});

/** What the API shows of a job. */
const JobType = objectType(
  'Job',
  'A background job of the service.',
  {
    kind: [String, 'Name of the job kind, for example `jobs:delete-finished`. See `jobKinds`.'],
    isOfInstallation: [Boolean, 'Whether the job belongs to the installation and not to an organization.'],
    projectId: [orNull(ID), 'ID of the project of the job. Null if it has none.'],
    subjectId: [
      orNull(ID),
      'ID of the resource that the job processes, whose type depends on the kind. Null if it does not process a single resource.',
    ],
    state: [JobStateEnum, 'State of the job.'],
    attemptCount: [Int, 'Number of attempts since the job was queued or last retried manually.'],
    dueAt: [orNull(DateTime), 'When the next attempt is due. Null unless the job is waiting.'],
    leaseEndsAt: [
      orNull(DateTime),
      'When the lease of the node ends, unless the node renews it. Null unless the job is running.',
    ],
    errorCode: [
      orNull(String),
      'Error code of the last attempt, or what the job waits for: `KEY_DISABLED`, `TARGET_UNRESPONSIVE`. Null if it neither failed nor waits.',
    ],
    isCancelRequested: [
      Boolean,
      'Whether cancellation of the job was requested. A running job stops within a few seconds.',
    ],
    createdAt: [DateTime, 'When the job was queued.'],
    finishedAt: [orNull(DateTime), 'When the job ended. Null while it is waiting or running.'],
  },
  { implements: Node },
);
type JobType = InstanceType<typeof JobType>;

const JobConnection = connectionOf(JobType, 'Job', 'creation time, newest first');

/** What the API shows of an attempt. */
const JobAttemptType = objectType('JobAttempt', 'An attempt of a node to run a job.', {
  number: [Int, 'Number of the attempt, starting at 1. A manual retry continues the numbering.'],
  node: [String, 'ID of the node (UUID), which changes with every start of the node.'],
  startedAt: [DateTime, 'When the attempt started.'],
  endedAt: [orNull(DateTime), 'When the attempt ended. Null while it is running.'],
  outcome: [orNull(JobOutcomeEnum), 'Outcome of the attempt. Null while it is running.'],
  errorCode: [
    orNull(String),
    'Error code of the attempt, or what it waited for. Null if it neither failed nor waited.',
  ],
});
type JobAttemptType = InstanceType<typeof JobAttemptType>;

const WHOSE = 'of your organization (for the admin of the installation: of all organizations)';

/** What the API shows of a kind of jobs. */
const JobKindType = objectType('JobKind', 'A kind of background jobs.', {
  name: [String, 'Name of the job kind, for example `jobs:delete-finished`.'],
  description: [
    orNull(String),
    'What jobs of this kind do. Null if this version of the service does not know the kind.',
  ],
  everySeconds: [
    orNull(Int),
    'Interval of the schedule in seconds: a job is queued at each multiple of it since 1970-01-01 UTC. Null: no schedule.',
  ],
  nextAt: [orNull(DateTime), 'When the schedule queues the next job. Null: no schedule.'],
  isPaused: [Boolean, 'Whether the kind is paused: no job starts, and the schedule queues none.'],
  waitingCount: [Int, `Number of waiting jobs ${WHOSE}.`],
  runningCount: [Int, `Number of running jobs ${WHOSE}.`],
  failedCount: [Int, `Number of permanently failed jobs ${WHOSE}.`],
  nextDueAt: [orNull(DateTime), `When the first waiting job ${WHOSE} is due. Null if no job is waiting.`],
});
type JobKindType = InstanceType<typeof JobKindType>;

@Resolver(() => JobType)
export class JobResolver {
  constructor(
    private readonly service: JobService,
    private readonly relations: ProjectRelations,
  ) {}

  @query(JobType, OneJob, 'Returns a background job of your organization.')
  job(ctx: Context, args: object): Promise<JobType> {
    return this.service.get(ctx, args);
  }

  @query(
    JobConnection,
    ListJobs,
    'Lists the background jobs of your organization, newest first. The admin of the installation also sees the jobs that belong to no organization.',
  )
  jobs(ctx: Context, args: object): Promise<CountedConnectionOf<JobType>> {
    return this.service.list(ctx, args);
  }

  @mutation(
    OneJob,
    { job: [JobType, 'The job after the change.'] },
    'Retries a failed or cancelled job with a full number of attempts. A waiting job starts immediately.',
  )
  async retryJob(ctx: Context, input: object): Promise<{ job: JobType }> {
    return { job: await this.service.retry(ctx, input) };
  }

  @mutation(
    OneJob,
    { job: [JobType, 'The job after the change.'] },
    'Cancels a waiting job. A running job is asked to stop; what it has already done stays. The work of the job ends with it, for example an attempt to rotate; if only another operation can end that work, JOB_IS_NEEDED names it.',
  )
  async cancelJob(ctx: Context, input: object): Promise<{ job: JobType }> {
    return { job: await this.service.cancel(ctx, input) };
  }

  @FieldResolver(() => [JobAttemptType], { description: 'Attempts of the job, oldest first.' })
  attempts(@Root() job: JobType, @Ctx() ctx: Context): Promise<readonly JobAttemptType[]> {
    return this.service.attemptsOf(ctx, job);
  }

  @nested(ProjectType, 'Project of the job. Null if it has none, or if you are not a member of the project.')
  async project({ projectId }: JobType, ctx: Context): Promise<ProjectType | null> {
    const found = await batchedOrNull(ctx, this.relations.projects, projectId);
    return found === null ? null : toProjectType(found);
  }
}

@Resolver(() => JobKindType)
export class JobKindResolver {
  constructor(private readonly service: JobKindService) {}

  @Query(() => [JobKindType], { description: 'Lists the kinds of background jobs, by name.' })
  jobKinds(@Ctx() ctx: Context): Promise<readonly JobKindType[]> {
    return this.service.list(ctx);
  }

  @mutation(
    OneJobKind,
    { jobKind: [JobKindType, 'The job kind after the change.'] },
    'Pauses a kind of jobs for all organizations and on all nodes. No job of this kind starts until you resume it; running jobs continue. Only the admin of the installation can do this.',
  )
  async pauseJobKind(ctx: Context, input: object): Promise<{ jobKind: JobKindType }> {
    return { jobKind: await this.service.pause(ctx, input) };
  }

  @mutation(
    OneJobKind,
    { jobKind: [JobKindType, 'The job kind after the change.'] },
    'Resumes a paused kind of jobs. If its schedule was missed meanwhile, one job is queued. Only the admin of the installation can do this.',
  )
  async resumeJobKind(ctx: Context, input: object): Promise<{ jobKind: JobKindType }> {
    return { jobKind: await this.service.resume(ctx, input) };
  }
}

const jobs = routesAt('/api/v1/jobs', { select: '* attempts' });
const kinds = routesAt('/api/v1/job-kinds');

export const jobRoutes = [
  jobs.get('', 'List jobs of the organization, newest first', {
    field: 'jobs',
    select: '*',
    query: withoutNull(bodyOf(ListJobs, 'first', 'after')).extend(boundedPaging),
  }),
  jobs.get('/{jobId}', 'Get a job', { field: 'job', errors: ['JOB_NOT_FOUND'] }),
  jobs.post('/{jobId}/retry', 'Retry a job', {
    field: 'retryJob',
    errors: ['JOB_NOT_FOUND', 'JOB_NOT_RETRYABLE'],
  }),
  jobs.post('/{jobId}/cancel', 'Cancel a job', {
    field: 'cancelJob',
    errors: ['JOB_NOT_FOUND', 'JOB_NOT_CANCELLABLE', 'JOB_IS_NEEDED'],
  }),
  kinds.get('', 'List the kinds of jobs', { field: 'jobKinds' }),
  kinds.post('/{name}/pause', 'Pause a kind of jobs', {
    field: 'pauseJobKind',
    errors: ['JOB_KIND_NOT_FOUND'],
  }),
  kinds.post('/{name}/resume', 'Resume a kind of jobs', {
    field: 'resumeJobKind',
    errors: ['JOB_KIND_NOT_FOUND'],
  }),
];
