import * as z from 'zod';
import { type Data, paging, type Route, routesAt } from '../../../rest/route.js';
import { typeNameOf } from './connection.resolver.js';
import type { ConnectionRules } from './connection.rules.js';
import { type AnyKind, type App, KINDS } from './kinds.js';

const BASE = '/api/v1/app-connections';
const NOT_FOUND = ['APP_CONNECTION_NOT_FOUND'] as const;
const OUTSIDE = ['UPSTREAM_REJECTED', 'UPSTREAM_UNREACHABLE'] as const;

const COMMON = 'id name orgId: organizationId createdAt updatedAt app method';
const REST = 'description version projectId credentialsHash project { name id type slug }';
const CHECK = 'checkState checkCode checkedAt failingSince unresponsive';
const credentialsOf = ({ app }: AnyKind): string => `... on ${typeNameOf(app)} { credentials }`;

/** The fields of a connection in the order of the specification. */
const toReply = ({ description, version, projectId, credentialsHash, project, ...first }: Data): Data => ({
  ...first,
  description,
  version,
  isPlatformManagedCredentials: false,
  gatewayId: null,
  projectId,
  credentialsHash,
  project,
});

const projectId = z.string().optional();

/** Fields of features that do not exist here. Clients may send the values that responses have; all others are refused. */
const unsupported = {
  isPlatformManagedCredentials: z
    .boolean()
    .refine((given) => !given, { error: 'is not supported', params: { code: 'INVALID_VALUE' } })
    .optional()
    .meta({ description: 'Credentials managed by the platform are not supported: only false.' }),
  gatewayId: z
    .string()
    .nullish()
    .refine((given) => given == null, { error: 'gateways are not supported', params: { code: 'INVALID_VALUE' } })
    .meta({ description: 'Gateways are not supported: only null.' }),
};

/** What routes of connections show. */
const SHOWN = { as: ['appConnection', 'appConnections'], show: toReply } as const;

const listQuery = (about: string) => z.strictObject({ projectId: projectId.meta({ description: about }), ...paging });
const OF_ORGANIZATION = 'Only those of this project; absent: all of the organization.';

/** App connections (operations 13 to 15). */
export const connectionRoutes = (rules: ConnectionRules): Route[] => [
  routesAt(BASE, { ...SHOWN, select: `${COMMON} ${KINDS.map(credentialsOf).join(' ')} ${REST}` }).get(
    '',
    'List connections of all apps',
    { field: 'appConnections', query: listQuery(OF_ORGANIZATION), errors: ['PROJECT_NOT_FOUND'] },
  ),
  routesAt(BASE).get('/options', 'List the apps that can be connected', {
    field: 'appConnectionKinds',
    select: 'name: title app methods',
    as: 'appConnectionOptions',
  }),
  ...KINDS.flatMap((kind) => routesOf(kind, rules)),
];

/** `a datatool`, `an smb`. */
const an = (app: App): string => `${/^(?:[aeiou]|smb)/.test(app) ? 'an' : 'a'} ${app}`;

/** Clients repeat in the body what the path names. */
const REPEATED = { App: null };

const methodOf = (kind: AnyKind) =>
  z.enum([kind.method]).optional().meta({ description: 'Authentication method, which cannot be changed.' });

/** The input of a change: the credentials by their app, and without what is not supported. */
const inputOf =
  (app: App) =>
  (body: Readonly<Record<string, unknown>>): object => {
    const { method: _, isPlatformManagedCredentials: __, gatewayId: ___, credentials, ...rest } = body;
    return { ...rest, ...(credentials === undefined ? {} : { credentials: { [app]: credentials } }) };
  };

/** Routes of the connections of one app. */
function routesOf(kind: AnyKind, rules: ConnectionRules): Route[] {
  const { app } = kind;
  const noun = `${app.charAt(0).toUpperCase()}${app.slice(1)}Connection`;
  const select = `${COMMON} ${credentialsOf(kind)} ${REST}`;
  const at = routesAt(`${BASE}/${app}`, { ...SHOWN, select, given: { app } });
  /** The number of the operation of the interface, which knows one app only. */
  const numbered = (operation: number) => (kind.isOfInterface === true ? { operation } : {});
  const { credentials, ...create } = rules.create.shape;
  const { credentials: changed, id: _, app: __, expectedVersion: ___, ...update } = rules.update.shape;
  return [
    at.get('', `List ${app} connections`, {
      ...numbered(13),
      operationId: `list${noun}s`,
      field: 'appConnections',
      query: listQuery(OF_ORGANIZATION),
      errors: ['PROJECT_NOT_FOUND'],
    }),
    at.get('/available', `List ${app} connections that you can use`, {
      operationId: `listUsable${noun}s`,
      field: 'usableAppConnections',
      select: 'app name id projectId orgId: organizationId',
      show: (row) => row,
      query: listQuery('Also those of this project.'),
      errors: ['PROJECT_NOT_FOUND'],
    }),
    at.get('/connection-name/{name}', `Get ${an(app)} connection by its name`, {
      operationId: `get${noun}ByName`,
      field: 'appConnectionByName',
      query: z.strictObject({
        projectId: projectId.meta({
          description: 'ID of the project. Without it, the resource belongs to the organization.',
        }),
      }),
      errors: [...NOT_FOUND, 'PROJECT_NOT_FOUND'],
    }),
    at.get('/{connectionId}', `Get ${an(app)} connection`, {
      ...numbered(14),
      operationId: `get${noun}`,
      field: 'appConnection',
      errors: NOT_FOUND,
    }),
    at.post('', `Create ${an(app)} connection`, {
      operationId: `create${noun}`,
      field: 'createAppConnection',
      // The credentials say of which app it is.
      given: {},
      body: z.strictObject({
        ...create,
        method: methodOf(kind),
        credentials: inBody(kind, credentials),
        ...unsupported,
      }),
      harmless: REPEATED,
      input: inputOf(app),
      errors: ['PROJECT_NOT_FOUND', 'APP_CONNECTION_NAME_TAKEN', 'ACCOUNT_ROTATED', ...OUTSIDE],
      example: { name: 'analytics', method: kind.method, credentials: kind.example },
    }),
    at.patch('/{connectionId}', `Update ${an(app)} connection`, {
      ...numbered(15),
      operationId: `update${noun}`,
      field: 'updateAppConnection',
      body: z.strictObject({
        ...update,
        method: methodOf(kind),
        credentials: inBody(kind, changed.unwrap()).optional(),
        ...unsupported,
      }),
      harmless: { ...REPEATED, ID: 'connectionId' },
      input: inputOf(app),
      ifMatch: ({ appConnection }) => ({ expectedVersion: appConnection.version }),
      errors: [
        ...NOT_FOUND,
        ...(['APP_CONNECTION_NAME_TAKEN', 'CONNECTION_IN_USE', 'ACCOUNT_ROTATED', 'CONCURRENT_CHANGE'] as const),
        ...OUTSIDE,
      ],
      example: { description: 'Of the shop' },
    }),
    at.delete('/{connectionId}', `Delete ${an(app)} connection`, {
      operationId: `delete${noun}`,
      field: 'deleteAppConnection',
      errors: [...NOT_FOUND, 'CONNECTION_IN_USE'],
    }),
    at.post('/{connectionId}/check', `Check ${an(app)} connection`, {
      operationId: `check${noun}`,
      field: 'checkAppConnection',
      select: `${select} ${CHECK}`,
      reply: ({ checkAppConnection: { appConnection } }) => {
        const { checkState: state, checkCode: code, ...row } = appConnection as Data;
        const { checkedAt, failingSince, unresponsive, ...connection } = row;
        return { appConnection: toReply(connection), check: { state, code, checkedAt, failingSince, unresponsive } };
      },
      errors: NOT_FOUND,
    }),
  ];
}

/** The credentials of one app. */
const inBody = ({ app }: AnyKind, choice: ConnectionRules['create']['shape']['credentials']): z.ZodObject =>
  choice.shape[app].unwrap();
