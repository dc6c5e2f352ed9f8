import { conflict, declareErrors, notFound } from '../../../kernel/errors.js';

const ERRORS = declareErrors({
  JOB_NOT_FOUND: notFound('job'),
  JOB_KIND_NOT_FOUND: notFound('job kind'),
  JOB_NOT_RETRYABLE: conflict('The job is running or done. Only failed, cancelled or waiting jobs can be retried.'),
  JOB_NOT_CANCELLABLE: conflict('The job has finished, or its cancellation was already requested. Read it again.'),
  JOB_IS_NEEDED: conflict(
    'Only this job can finish the work that it has begun. Cancel that work with the operation of its resource.',
  ),
});

declare module '../../../kernel/errors.js' {
  interface ErrorTables {
    readonly jobs: typeof ERRORS;
  }
}
