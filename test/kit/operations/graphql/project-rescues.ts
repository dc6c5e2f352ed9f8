import { type GraphQLOperation, viewer } from '../operation.js';

/** Rescues of projects that have lost their last admin. */
export const projectRescues: readonly GraphQLOperation[] = [
  {
    field: 'projectsWithoutAdmin',
    audit: 'project:list-without-admin',
    denial: viewer('workspace:rescue'),
  },
  {
    field: 'projectRescues',
    args: { projectId: '$lostProject', isActive: true },
    audit: 'project-rescue:list',
    denial: viewer('workspace:rescue'),
    saysNoOf: ['lostProject'],
  },
  {
    field: 'projectRescue',
    args: { id: '$rescue' },
    audit: 'project-rescue:get',
    denial: viewer('workspace:rescue'),
  },
  {
    field: 'rescueProject',
    args: { projectId: '$lostProject', reason: 'The only admin has left the company.', range: '30m' },
    audit: 'project:rescue',
    denial: viewer('workspace:rescue'),
  },
  {
    field: 'revokeProjectRescue',
    args: { id: '$rescue' },
    audit: 'project:revoke-rescue',
    denial: viewer('workspace:rescue'),
  },
];
