import { type GraphQLOperation, viewer } from '../operation.js';

const project = { projectId: '$project' };
const reencryption = { id: '$reencryption' };
const denial = viewer('workspace:edit');
/** What the job does with the values of the project. */
const leavesLater = ['project-reencryption:reseal', 'project-reencryption:finish'];

/** Re-encryptions of projects. */
export const projectReencryptions: readonly GraphQLOperation[] = [
  {
    field: 'startProjectReencryption',
    args: project,
    audit: 'project-reencryption:start',
    denial,
    leavesLater,
  },
  { field: 'projectReencryptions', args: project, audit: 'project-reencryption:list', denial },
  { field: 'projectReencryption', args: reencryption, audit: 'project-reencryption:get', denial },
  { field: 'pauseProjectReencryption', args: reencryption, audit: 'project-reencryption:pause', denial },
  { field: 'resumeProjectReencryption', args: reencryption, audit: 'project-reencryption:resume', denial, leavesLater },
  { field: 'cancelProjectReencryption', args: reencryption, audit: 'project-reencryption:cancel', denial },
];
