import { nextCursor, routesAt } from '../../../rest/route.js';

const select =
  'id projectId state totalValues doneValues unreadableValues destroyedKeys finishedAt createdAt updatedAt';
const ofProject = routesAt('/api/v1/projects/{projectId}/re-encryptions', { select, errors: ['PROJECT_NOT_FOUND'] });
const reencryptions = routesAt('/api/v1/re-encryptions/{reencryptionId}', {
  select,
  errors: ['REENCRYPTION_NOT_FOUND'],
});
const errors = ['REENCRYPTION_ENDED'] as const;

/** Re-encryptions of projects. */
export const reencryptionRoutes = [
  ofProject.post('', 'Encrypt the values of a project with a new key', {
    field: 'startProjectReencryption',
    as: 'reencryption',
    errors: ['REENCRYPTION_RUNNING', 'KEY_DISABLED'],
  }),
  ofProject.get('', 'List the re-encryptions of a project, newest first', {
    field: 'projectReencryptions',
    reply: ({ projectReencryptions: { nodes, pageInfo } }) => ({ reencryptions: nodes, ...nextCursor(pageInfo) }),
  }),
  reencryptions.get('', 'Get a re-encryption with its progress', { field: 'projectReencryption', as: 'reencryption' }),
  reencryptions.post('/pause', 'Pause a re-encryption', {
    field: 'pauseProjectReencryption',
    as: 'reencryption',
    errors,
  }),
  reencryptions.post('/resume', 'Resume a re-encryption', {
    field: 'resumeProjectReencryption',
    as: 'reencryption',
    errors,
  }),
  reencryptions.post('/cancel', 'Cancel a re-encryption', {
    field: 'cancelProjectReencryption',
    as: 'reencryption',
    errors,
  }),
];
