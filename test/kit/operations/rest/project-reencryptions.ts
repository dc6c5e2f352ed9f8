import { type RestOperation, viewer } from '../operation.js';

const OF_PROJECT = '/api/v1/projects/{projectId}/re-encryptions';
const ONE = '/api/v1/re-encryptions/{reencryptionId}';
const project = { projectId: '$project' };
const reencryption = { reencryptionId: '$reencryption' };
const denial = viewer('workspace:edit');
/** What the job does with the values of the project. */
const leavesLater = ['project-reencryption:reseal', 'project-reencryption:finish'];

/** Re-encryptions of projects. */
export const projectReencryptions: readonly RestOperation[] = [
  { route: `POST ${OF_PROJECT}`, path: project, audit: 'project-reencryption:start', denial, leavesLater },
  { route: `GET ${OF_PROJECT}`, path: project, audit: 'project-reencryption:list', denial },
  { route: `GET ${ONE}`, path: reencryption, audit: 'project-reencryption:get', denial },
  { route: `POST ${ONE}/pause`, path: reencryption, audit: 'project-reencryption:pause', denial },
  { route: `POST ${ONE}/resume`, path: reencryption, audit: 'project-reencryption:resume', denial, leavesLater },
  { route: `POST ${ONE}/cancel`, path: reencryption, audit: 'project-reencryption:cancel', denial },
];
