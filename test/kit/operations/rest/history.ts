import { powerless, type RestOperation } from '../operation.js';

const HISTORY = '/api/v1/secrets';
const DESCRIBE = powerless('secrets:describeSecret');

/** Versions of secrets. */
export const history: readonly RestOperation[] = [
  {
    route: `GET ${HISTORY}/{secretId}/versions`,
    path: { secretId: '$secret' },
    audit: 'secret-version:list',
    denial: DESCRIBE,
  },
  {
    route: `GET ${HISTORY}/{secretId}/versions/{version}`,
    path: { secretId: '$secret', version: '1' },
    audit: 'secret-version:get',
    denial: DESCRIBE,
  },
  {
    route: `GET ${HISTORY}/deleted`,
    query: { projectId: '$project', environment: 'dev' },
    audit: 'secret:list-deleted',
    denial: DESCRIBE,
  },
];
