import { type GraphQLOperation, powerless, viewer } from '../operation.js';

const DESCRIBE = powerless('secrets:describeSecret');

/** Versions of secrets, and what is restored from them. */
export const history: readonly GraphQLOperation[] = [
  { field: 'secretVersions', args: { secretId: '$secret' }, audit: 'secret-version:list', denial: DESCRIBE },
  { field: 'secretVersion', args: { secretId: '$secret', version: 1 }, audit: 'secret-version:get', denial: DESCRIBE },
  {
    field: 'compareSecretVersions',
    args: { secretId: '$secret', from: 1, to: 1 },
    audit: 'secret-version:compare',
    denial: DESCRIBE,
  },
  {
    field: 'deletedSecrets',
    args: { projectId: '$project', environment: 'dev' },
    audit: 'secret:list-deleted',
    denial: DESCRIBE,
  },
  {
    field: 'restoreSecret',
    args: { id: '$secret', version: 1 },
    audit: 'secret:restore',
    denial: viewer('secrets:edit'),
  },
  {
    field: 'restoreSecrets',
    args: { projectId: '$project', environment: 'dev', at: '2100-01-01T00:00:00Z' },
    audit: 'secret:restore-state',
    denial: viewer('secrets:edit'),
  },
];
