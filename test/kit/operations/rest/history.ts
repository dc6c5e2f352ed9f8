import { powerless, type RestOperation, viewer } from '../operation.js';

const HISTORY = '/api/v1/secrets';
const DESCRIBE = powerless('secrets:describeSecret');

/** Versions of secrets, and what is restored from them. */
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
  {
    route: `POST ${HISTORY}/{secretId}/restore`,
    path: { secretId: '$secret' },
    body: { version: 1 },
    audit: 'secret:restore',
    denial: viewer('secrets:edit'),
  },
  {
    route: `POST ${HISTORY}/restore`,
    body: { projectId: '$project', environment: 'dev', at: '2100-01-01T00:00:00Z' },
    audit: 'secret:restore-state',
    denial: viewer('secrets:edit'),
  },
];
