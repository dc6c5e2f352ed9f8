import { type RestOperation, viewer } from '../operation.js';

const JOBS = '/api/v1/jobs';
const path = { jobId: '$job' };

/** Background jobs. Pausing a kind is the installation admin's, and has tests of its own. */
export const jobs: readonly RestOperation[] = [
  {
    route: `GET ${JOBS}`,
    query: { projectId: '$project', kind: 'kit:idle', state: 'waiting' },
    audit: 'job:list',
    denial: viewer('jobs:read'),
    saysNoOf: ['project'],
  },
  { route: `GET ${JOBS}/{jobId}`, path, audit: 'job:get', denial: viewer('jobs:read') },
  { route: `POST ${JOBS}/{jobId}/retry`, path, audit: 'job:retry', denial: viewer('jobs:edit') },
  { route: `POST ${JOBS}/{jobId}/cancel`, path, audit: 'job:cancel', denial: viewer('jobs:edit') },
  { route: 'GET /api/v1/job-kinds', audit: 'job-kind:list', denial: viewer('jobs:read') },
];
