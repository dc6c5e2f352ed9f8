import { type GraphQLOperation, powerless } from '../operation.js';

const DESCRIBE = powerless('secrets:describeSecret');

/** Versions of secrets. */
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
];
