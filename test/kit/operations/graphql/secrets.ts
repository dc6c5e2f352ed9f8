import { CANARY } from '../../world.js';
import { type GraphQLOperation, powerless, viewer } from '../operation.js';

const place = { projectId: '$project', environment: 'dev' };
const newSecret = {
  secretValue: `${CANARY} value`,
  secretComment: `${CANARY} comment`,
  tagIds: ['$tag'],
  secretReminderRecipients: ['$user'],
};

/** Secrets. */
const transfer = {
  projectId: '$project',
  source: { environment: 'dev', secretPath: '/' },
  destination: { environment: 'prod', secretPath: '/' },
};

export const secrets: readonly GraphQLOperation[] = [
  { field: 'secrets', args: place, audit: 'secret:list', denial: powerless('secrets:describeSecret') },
  { field: 'secret', args: { id: '$secret' }, audit: 'secret:get', denial: powerless('secrets:describeSecret') },
  {
    field: 'secretByKey',
    args: { ...place, secretKey: '$secretKey' },
    audit: 'secret:get',
    denial: powerless('secrets:describeSecret'),
  },
  {
    field: 'createSecret',
    args: { ...place, secretKey: 'NEW_KEY', ...newSecret },
    audit: 'secret:create',
    denial: viewer('secrets:create'),
  },
  {
    field: 'createSecrets',
    args: { ...place, secrets: [{ secretKey: 'NEW_KEY', ...newSecret }] },
    audit: 'secret:create',
    denial: viewer('secrets:create'),
  },
  {
    field: 'updateSecret',
    args: { id: '$secret', ...newSecret },
    audit: 'secret:update',
    denial: viewer('secrets:edit'),
  },
  {
    field: 'updateSecretByKey',
    args: { ...place, secretKey: '$secretKey', ...newSecret },
    audit: 'secret:update',
    denial: viewer('secrets:edit'),
  },
  {
    field: 'updateSecrets',
    args: { ...place, secrets: [{ secretKey: '$secretKey', ...newSecret }] },
    audit: 'secret:update',
    denial: viewer('secrets:edit'),
  },
  {
    field: 'deleteSecret',
    args: { id: '$secret' },
    audit: 'secret:delete',
    denial: viewer('secrets:delete'),
  },
  {
    field: 'deleteSecretByKey',
    args: { ...place, secretKey: '$secretKey' },
    audit: 'secret:delete',
    denial: viewer('secrets:delete'),
  },
  {
    field: 'deleteSecrets',
    args: { ...place, secrets: [{ secretKey: '$secretKey' }] },
    audit: 'secret:delete',
    denial: viewer('secrets:delete'),
  },
  {
    field: 'moveSecrets',
    args: { ...transfer, secretIds: ['$secret'] },
    audit: 'secret:move',
    denial: viewer('secrets:delete'),
  },
  {
    field: 'copySecrets',
    args: { ...transfer, secretIds: ['$secret'] },
    audit: 'secret:copy',
    denial: viewer('secrets:create'),
  },
  {
    field: 'importSecrets',
    args: { ...place, format: 'DOTENV', content: `# ${CANARY} comment\nNEW_KEY="${CANARY} value"` },
    audit: 'secret:import',
    denial: viewer('secrets:create'),
  },
  {
    field: 'exportSecrets',
    args: { ...place, format: 'YAML', includeComments: true },
    audit: 'secret:list',
    denial: powerless('secrets:describeSecret'),
  },
];
