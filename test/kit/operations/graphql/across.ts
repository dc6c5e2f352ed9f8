import { CANARY } from '../../world.js';
import { type GraphQLOperation, powerless, viewer } from '../operation.js';

/** Questions across folders, environments and projects. */
export const across: readonly GraphQLOperation[] = [
  { field: 'node', args: { id: '$folder' }, audit: 'folder:get', denial: null, hidesAs: 'null' },
  { field: 'nodes', args: { ids: ['$folder'] }, audit: 'folder:get', denial: null, hidesAs: 'null' },
  {
    field: 'searchSecrets',
    args: { input: { projectIds: ['$project'], key: { glob: 'KEY_*' }, viewSecretValue: true } },
    audit: 'secret:search',
    denial: powerless('secrets:describeSecret'),
  },
  {
    field: 'whereUsed',
    args: { input: { secret: { projectId: '$project', environment: 'dev', secretKey: '$secretKey' } } },
    audit: 'secret:where-used',
    denial: powerless('secrets:describeSecret'),
  },
  {
    field: 'duplicateValues',
    args: { input: { projectIds: ['$project'], environments: ['dev'] } },
    audit: 'secret:duplicates',
    denial: powerless('secrets:readValue'),
  },
  {
    field: 'compareEnvironments',
    args: { input: { projectId: '$project', environments: ['dev', 'prod'] } },
    audit: 'secret:compare',
    denial: powerless('secrets:describeSecret'),
  },
  {
    field: 'updateSecretsById',
    args: {
      secrets: [
        { id: '$secret', secretValue: `${CANARY} value`, tagIds: ['$tag'], secretReminderRecipients: ['$user'] },
      ],
    },
    audit: 'secret:update',
    denial: viewer('secrets:edit'),
  },
  {
    field: 'replaceValue',
    args: { likeSecretId: '$secret', secretValue: `${CANARY} value`, projectIds: ['$project'] },
    audit: 'secret:replace',
    denial: viewer('secrets:edit'),
  },
];
