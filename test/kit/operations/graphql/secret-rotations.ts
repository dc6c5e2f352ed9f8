import { CANARY } from '../../world.js';
import { type GraphQLOperation, powerless, viewer } from '../operation.js';

const READ = powerless('secret-rotation:read');
const CREATE = viewer('secret-rotation:create');
const EDIT = viewer('secret-rotation:edit');
const ROTATE = viewer('secret-rotation:rotate-secrets');
const PUBLISHED = { alsoLeaves: ['secret:rotate', 'secret-rotation:publish'] } as const;

const args = { id: '$rotation' };
const project = { projectId: '$project' };
const made = {
  ...project,
  name: 'analytics',
  description: CANARY,
  environment: 'prod',
  connectionId: '$rotationConnection',
  rotationInterval: 30,
  content: {
    datatoolServiceToken: {
      parameters: { tokenName: CANARY, permissionGrants: [{ permissionSet: 'JOB_VIEWER' }] },
      secretsMapping: { serviceToken: 'NEW_TOKEN' },
    },
  },
};

/** Rotations of the environment prod. */
export const secretRotations: readonly GraphQLOperation[] = [
  { field: 'secretRotationKinds', audit: 'secret-rotation:list-kinds', denial: null },
  { field: 'secretRotations', args: project, audit: 'secret-rotation:list', denial: READ },
  { field: 'secretRotation', args, audit: 'secret-rotation:get', denial: READ },
  {
    field: 'secretRotationByName',
    args: { ...project, environment: 'prod', name: '$rotationName' },
    audit: 'secret-rotation:get',
    denial: READ,
  },
  {
    field: 'generatedCredentials',
    args,
    audit: 'secret-rotation:read-generated-credentials',
    denial: viewer('secret-rotation:read-generated-credentials'),
  },
  { field: 'secretRotationAttempts', args, audit: 'secret-rotation:list-attempts', denial: READ },
  { field: 'credentialDebts', args: project, audit: 'secret-rotation:list-debts', denial: READ },
  { field: 'upcomingSecretRotations', args: project, audit: 'secret-rotation:list-upcoming', denial: READ },
  { field: 'previewSecretRotation', args: made, audit: 'secret-rotation:preview', denial: CREATE },
  { field: 'createSecretRotation', args: made, audit: 'secret-rotation:create', denial: CREATE, ...PUBLISHED },
  {
    field: 'updateSecretRotation',
    args: { ...args, name: 'renamed', description: CANARY },
    audit: 'secret-rotation:update',
    denial: EDIT,
  },
  {
    field: 'moveSecretRotation',
    args: { ...args, destinationEnvironment: 'staging' },
    audit: 'secret-rotation:move',
    alsoLeaves: ['secret:move'],
    denial: EDIT,
  },
  { field: 'rotateSecrets', args, audit: 'secret-rotation:begin', denial: ROTATE, ...PUBLISHED },
  {
    field: 'rotateManySecrets',
    args: { ...project, connectionId: '$rotationConnection' },
    audit: 'secret-rotation:request-many',
    denial: ROTATE,
    // Nothing of the project uses a connection that is not there.
    saysNoOf: ['rotationConnection'],
    leavesLater: ['secret-rotation:begin', 'secret:rotate', 'secret-rotation:publish'],
  },
  { field: 'checkSecretRotation', args, audit: 'secret-rotation:check', denial: ROTATE },
  {
    field: 'reconcileSecretRotation',
    args: { id: '$accountRotation' },
    audit: 'secret-rotation:begin',
    denial: ROTATE,
    needsHost: true,
  },
  {
    field: 'cancelSecretRotationAttempt',
    args: { attemptId: '$waitingAttempt' },
    audit: 'secret-rotation:cancel',
    denial: ROTATE,
  },
  {
    field: 'deleteSecretRotation',
    args,
    audit: 'secret-rotation:delete',
    alsoLeaves: ['secret:release'],
    denial: viewer('secret-rotation:delete'),
  },
];
