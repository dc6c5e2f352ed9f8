import type { ErrorCode } from '../../../src/kernel/errors.js';
import { again, type ErrorCase, unknown } from './scene.js';

const DATATOOL = '/api/v1/app-connections/datatool';

/** Of connections that are not there. */
export const CONNECTIONS_NOT_THERE: Partial<Record<ErrorCode, ErrorCase>> = {
  APP_CONNECTION_NOT_FOUND: unknown('connection', `GET ${DATATOOL}/{connectionId}`, 'appConnection'),
};

/** Of connections that are there already. */
export const CONNECTION_CLASHES: Partial<Record<ErrorCode, ErrorCase>> = {
  APP_CONNECTION_NAME_TAKEN: { rest: again(`POST ${DATATOOL}`), graphql: again('createAppConnection') },
};
