import { conflict, declareErrors, notFound } from '../../kernel/errors.js';

const ERRORS = declareErrors({
  JOB_NOT_FOUND: notFound('job'),
  JOB_KIND_NOT_FOUND: notFound('kind of jobs'),
  JOB_NOT_RETRYABLE: conflict('The job runs or is done; retry one that has failed, was cancelled or waits.'),
  JOB_NOT_CANCELLABLE: conflict('The job has finished, or somebody asked to cancel it before; read it again.'),
});

declare module '../../kernel/errors.js' {
  interface ErrorTables {
    readonly jobs: typeof ERRORS;
  }
}
