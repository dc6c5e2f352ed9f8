import { bodyOf, boundedPaging, routesAt, withoutNull } from '../../../rest/route.js';
import { ListJobs } from './job.rules.js';

const JOB = `id kind isOfInstallation projectId subjectId state attemptCount dueAt leaseEndsAt errorCode isCancelRequested
  createdAt finishedAt`;
const JOB_WITH_ATTEMPTS = `${JOB} attempts { number node startedAt endedAt outcome errorCode }`;

const jobs = routesAt('/api/v1/jobs', { select: JOB_WITH_ATTEMPTS });
const kinds = routesAt('/api/v1/job-kinds', {
  select: 'name description everySeconds nextAt isPaused waitingCount runningCount failedCount nextDueAt',
});

export const jobRoutes = [
  jobs.get('', 'List jobs of the organization, newest first', {
    field: 'jobs',
    select: JOB,
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
