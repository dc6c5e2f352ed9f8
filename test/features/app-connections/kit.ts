import { randomUUID } from 'node:crypto';
import { type Caller, mustSucceed, type Reply } from '../../kit/caller.js';
import type { FakeDatatool } from '../../kit/datatool.js';

export const ALL = '/api/v1/app-connections';
export const DATATOOL = `${ALL}/datatool`;

/** Asks for a connection, of the organization unless `more` names a project. */
export const postConnection = (admin: Caller, datatool: FakeDatatool, more: object = {}): Promise<Reply> =>
  admin.post(DATATOOL, {
    name: `analytics-${randomUUID().slice(0, 8)}`,
    method: 'api-token',
    credentials: datatool.credentials,
    ...more,
  });

/** The same, of one that works. */
export const makeConnection = async (admin: Caller, datatool: FakeDatatool, more: object = {}) =>
  mustSucceed(await postConnection(admin, datatool, more)).body.appConnection as {
    id: string;
    credentialsHash: string;
    version: number;
  };

/** Places and codes of the details of a refusal, of either interface. */
export const detailsOf = ({ body }: Reply): string[] =>
  (body.details ?? body.errors[0].extensions.details).map(
    ({ path, code }: { path: string; code: string }) => `${path} ${code}`,
  );
