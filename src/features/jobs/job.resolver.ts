import { Ctx, FieldResolver, Query, Resolver, Root } from 'type-graphql';
import type { Context } from '../../kernel/context.js';
import { linked } from '../../kernel/database/batched.js';
import { mutation, nested, query } from '../../kernel/graphql/operations.js';
import type { ConnectionOf } from '../../kernel/paging.js';
import { type ProjectLinks, ProjectType, toProjectType } from '../projects/public.js';
import { ListJobs, OneJob, OneJobKind } from './job.rules.js';
import type { JobService } from './job.service.js';
import { JobAttemptType, JobConnection, JobKindType, JobType } from './job.type.js';
import type { JobKindService } from './job-kind.service.js';

@Resolver(() => JobType)
export class JobResolver {
  constructor(
    private readonly service: JobService,
    private readonly links: ProjectLinks,
  ) {}

  @query(JobType, OneJob, 'One job of your organization.')
  job(ctx: Context, args: object): Promise<JobType> {
    return this.service.get(ctx, args);
  }

  @query(
    JobConnection,
    ListJobs,
    'Work in the background for your organization, newest first; for the admin of the installation also that of no organization.',
  )
  jobs(ctx: Context, args: object): Promise<ConnectionOf<JobType>> {
    return this.service.list(ctx, args);
  }

  @mutation(
    OneJob,
    { job: [JobType, 'The job as it is now.'] },
    'Tries a job again that has failed or was cancelled, with all its attempts, or at once one that waits.',
  )
  async retryJob(ctx: Context, input: object): Promise<{ job: JobType }> {
    return { job: await this.service.retry(ctx, input) };
  }

  @mutation(
    OneJob,
    { job: [JobType, 'The job as it is now.'] },
    'Cancels a job that waits. One that runs is asked to stop: what it has done by then stays.',
  )
  async cancelJob(ctx: Context, input: object): Promise<{ job: JobType }> {
    return { job: await this.service.cancel(ctx, input) };
  }

  @FieldResolver(() => [JobAttemptType], { description: 'Its attempts, oldest first.' })
  attempts(@Root() job: JobType, @Ctx() ctx: Context): Promise<readonly JobAttemptType[]> {
    return this.service.attemptsOf(ctx, job);
  }

  @nested(ProjectType, 'The project that it is about; null for none, and for one that you are no member of.')
  async project({ projectId }: JobType, ctx: Context): Promise<ProjectType | null> {
    const found = await linked(ctx, this.links.projects, projectId);
    return found === null ? null : toProjectType(found);
  }
}

@Resolver(() => JobKindType)
export class JobKindResolver {
  constructor(private readonly service: JobKindService) {}

  @Query(() => [JobKindType], { description: 'The kinds of work in the background, by name.' })
  jobKinds(@Ctx() ctx: Context): Promise<readonly JobKindType[]> {
    return this.service.list(ctx);
  }

  @mutation(
    OneJobKind,
    { jobKind: [JobKindType, 'The kind as it is now.'] },
    'Lets no job of a kind begin, for all organizations and on all nodes, until it is resumed. Jobs that run go on. For the admin of the installation alone.',
  )
  async pauseJobKind(ctx: Context, input: object): Promise<{ jobKind: JobKindType }> {
    return { jobKind: await this.service.pause(ctx, input) };
  }

  @mutation(
    OneJobKind,
    { jobKind: [JobKindType, 'The kind as it is now.'] },
    'Lets jobs of a kind begin again. A schedule that was missed meanwhile queues one job. For the admin of the installation alone.',
  )
  async resumeJobKind(ctx: Context, input: object): Promise<{ jobKind: JobKindType }> {
    return { jobKind: await this.service.resume(ctx, input) };
  }
}
