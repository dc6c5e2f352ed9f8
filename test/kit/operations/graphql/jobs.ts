import { type GraphQLOperation, viewer } from '../operation.js';

/** Background jobs. Pausing a kind is the installation admin's, and has tests of its own. */
export const jobs: readonly GraphQLOperation[] = [
  {
    field: 'jobs',
    args: { projectId: '$project', kind: 'kit:idle', state: 'WAITING' },
    audit: 'job:list',
    denial: viewer('jobs:read'),
    saysNoOf: ['project'],
  },
  { field: 'job', args: { id: '$job' }, audit: 'job:get', denial: viewer('jobs:read') },
  { field: 'jobKinds', audit: 'job-kind:list', denial: viewer('jobs:read') },
  { field: 'retryJob', args: { id: '$job' }, audit: 'job:retry', denial: viewer('jobs:edit') },
  { field: 'cancelJob', args: { id: '$job' }, audit: 'job:cancel', denial: viewer('jobs:edit') },
];
