import { CANARY } from '../../world.js';
import { powerless, type RestOperation, viewer } from '../operation.js';

const SECRETS = '/api/v4/secrets';
const place = { projectId: '$project', environment: 'dev' };
const newSecret = {
  secretValue: `${CANARY} value`,
  secretComment: `${CANARY} comment`,
  secretMetadata: [{ key: 'owner', value: `${CANARY} metadata` }],
  tagIds: ['$tag'],
  secretReminderRecipients: ['$user'],
};

/** Secrets. */
const transfer = {
  projectId: '$project',
  sourceEnvironment: 'dev',
  sourceSecretPath: '/',
  destinationEnvironment: 'prod',
  destinationSecretPath: '/',
  secretIds: ['$secret'],
};

export const secrets: readonly RestOperation[] = [
  { route: `GET ${SECRETS}`, query: place, audit: 'secret:list', denial: powerless('secrets:describeSecret') },
  {
    route: `GET ${SECRETS}/id/{secretId}`,
    path: { secretId: '$secret' },
    audit: 'secret:get',
    denial: powerless('secrets:describeSecret'),
  },
  {
    route: `GET ${SECRETS}/{secretName}`,
    path: { secretName: '$secretKey' },
    query: place,
    audit: 'secret:get',
    denial: powerless('secrets:describeSecret'),
  },
  {
    route: `POST ${SECRETS}/{secretName}`,
    path: { secretName: 'NEW_KEY' },
    body: { ...place, ...newSecret },
    audit: 'secret:create',
    denial: viewer('secrets:create'),
  },
  {
    route: `PATCH ${SECRETS}/{secretName}`,
    path: { secretName: '$secretKey' },
    body: { ...place, ...newSecret },
    audit: 'secret:update',
    denial: viewer('secrets:edit'),
  },
  {
    route: `DELETE ${SECRETS}/{secretName}`,
    path: { secretName: '$secretKey' },
    body: place,
    audit: 'secret:delete',
    denial: viewer('secrets:delete'),
  },
  {
    route: `POST ${SECRETS}/batch`,
    body: { ...place, secrets: [{ secretKey: 'NEW_KEY', ...newSecret }] },
    audit: 'secret:create',
    denial: viewer('secrets:create'),
  },
  {
    route: `PATCH ${SECRETS}/batch`,
    body: { ...place, secrets: [{ secretKey: '$secretKey', ...newSecret }] },
    audit: 'secret:update',
    denial: viewer('secrets:edit'),
  },
  {
    route: `DELETE ${SECRETS}/batch`,
    body: { ...place, secrets: [{ secretKey: '$secretKey' }] },
    audit: 'secret:delete',
    denial: viewer('secrets:delete'),
  },
  { route: `POST ${SECRETS}/move`, body: transfer, audit: 'secret:move', denial: viewer('secrets:delete') },
  { route: `POST ${SECRETS}/copy`, body: transfer, audit: 'secret:copy', denial: viewer('secrets:create') },
  {
    route: `POST ${SECRETS}/import`,
    body: { ...place, format: 'json', content: `{"NEW_KEY": "${CANARY} value"}` },
    audit: 'secret:import',
    denial: viewer('secrets:create'),
  },
  {
    route: `GET ${SECRETS}/export`,
    query: { ...place, format: 'dotenv' },
    audit: 'secret:list',
    denial: powerless('secrets:describeSecret'),
  },
];
