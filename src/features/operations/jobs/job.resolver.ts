import { Ctx, FieldResolver, Query, Resolver, Root } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { linked } from '../../../kernel/database/batched.js';
import { mutation, nested, query } from '../../../kernel/graphql/operations.js';
import type { ConnectionOf } from '../../../kernel/paging.js';
import { type ProjectRelations, ProjectType, toProjectType } from '../../projects/public.js';
import { ListJobs, OneJob, OneJobKind } from './job.rules.js';
import type { JobService } from './job.service.js';
import { JobAttemptType, JobConnection, JobKindType, JobType } from './job.type.js';
import type { JobKindService } from './job-kind.service.js';

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
  jobs(ctx: Context, args: object): Promise<ConnectionOf<JobType>> {
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
    const found = await linked(ctx, this.relations.projects, projectId);
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
