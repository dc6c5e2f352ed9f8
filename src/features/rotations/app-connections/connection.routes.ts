import * as z from 'zod';
import { type Data, nextCursor, paging, type Route, route } from '../../../rest/route.js';
import { typeNameOf } from './connection.resolver.js';
import type { ConnectionRules } from './connection.rules.js';
import { type AnyKind, type App, KINDS } from './kinds.js';

const BASE = '/api/v1/app-connections';
const NOT_FOUND = ['APP_CONNECTION_NOT_FOUND'] as const;
const OUTSIDE = ['UPSTREAM_REJECTED', 'UPSTREAM_UNREACHABLE'] as const;

const COMMON = 'id name orgId: organizationId createdAt updatedAt app method';
const REST = 'description version projectId credentialsHash project { name id type slug }';
const CHECK = 'checkState checkCode checkedAt failingSince unresponsive { since failures code nextTryAt }';
const credentialsOf = ({ app, publicRules }: AnyKind): string =>
  `... on ${typeNameOf(app)} { credentials { ${Object.keys(publicRules.shape).join(' ')} } }`;

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

/** App connections (operations 13 to 15). */
export const connectionRoutes = (rules: ConnectionRules): Route[] => [
  listAt(BASE, 'List connections of all apps', {
    field: 'appConnections',
    select: `${COMMON} ${KINDS.map(credentialsOf).join(' ')} ${REST}`,
    about: 'Only those of this project; absent: all of the organization.',
    show: toReply,
  }),
  route({
    method: 'GET',
    path: `${BASE}/options`,
    summary: 'List the apps that can be connected',
    extension: true,
    document: '{ appConnectionKinds { name: title app methods } }',
    variables: () => ({}),
    reply: ({ appConnectionKinds }) => ({ appConnectionOptions: appConnectionKinds }),
  }),
  ...KINDS.flatMap((kind) => [...readsOf(kind), ...changesOf(kind, rules)]),
];

/** `a datatool`, `an smb`. */
const an = (app: App): string => `${/^(?:[aeiou]|smb)/.test(app) ? 'an' : 'a'} ${app}`;

/** The number of the operation of the interface, which knows one app only. */
const operation = ({ isOfInterface }: AnyKind, number: number) =>
  isOfInterface === true ? ({ operation: number } as const) : ({ extension: true } as const);

/** What routes of one app have in common. */
const partsOf = (kind: AnyKind) => ({
  path: `${BASE}/${kind.app}`,
  /** As the enum has it. */
  name: kind.app.toUpperCase(),
  /** For the ids of operations. */
  noun: `${kind.app.charAt(0).toUpperCase()}${kind.app.slice(1)}Connection`,
  select: `${COMMON} ${credentialsOf(kind)} ${REST}`,
});

/** A list, with what its rows become. */
const listAt = (
  path: string,
  summary: string,
  {
    operationId,
    field,
    app = '',
    select,
    about,
    show,
  }: {
    readonly operationId?: string;
    readonly field: string;
    readonly app?: string;
    readonly select: string;
    readonly about: string;
    readonly show: (row: Data) => Data;
  },
  numbered: { readonly operation: number } | { readonly extension: true } = { extension: true },
): Route =>
  route({
    method: 'GET',
    path,
    summary,
    ...(operationId === undefined ? {} : { operationId }),
    ...numbered,
    query: z.strictObject({ projectId: projectId.meta({ description: about }), ...paging }),
    document: `query ($projectId: ID, $first: Int, $after: String) {
      ${field}(${app} projectId: $projectId, first: $first, after: $after) {
        nodes { ${select} } pageInfo { hasNextPage endCursor } } }`,
    variables: ({ query: { limit, cursor, ...query } }) => ({ ...query, first: limit, after: cursor }),
    reply: ({ [field]: { nodes, pageInfo } }) => ({ appConnections: nodes.map(show), ...nextCursor(pageInfo) }),
    errors: ['PROJECT_NOT_FOUND'],
  });

function readsOf(kind: AnyKind): Route[] {
  const { app } = kind;
  const { path, name, noun, select } = partsOf(kind);
  return [
    listAt(
      path,
      `List ${app} connections`,
      {
        operationId: `list${noun}s`,
        field: 'appConnections',
        app: `app: ${name},`,
        select,
        about: 'Only those of this project; absent: all of the organization.',
        show: toReply,
      },
      operation(kind, 13),
    ),
    listAt(`${path}/available`, `List ${app} connections that you can use`, {
      operationId: `listUsable${noun}s`,
      field: 'usableAppConnections',
      app: `app: ${name},`,
      select: 'app name id projectId orgId: organizationId',
      about: 'Also those of this project.',
      show: (row) => row,
    }),
    route({
      method: 'GET',
      path: `${path}/connection-name/{name}`,
      summary: `Get ${an(app)} connection by its name`,
      operationId: `get${noun}ByName`,
      extension: true,
      query: z.strictObject({
        projectId: projectId.meta({
          description: 'ID of the project. Without it, the resource belongs to the organization.',
        }),
      }),
      document: `query ($name: String!, $projectId: ID) {
        appConnectionByName(app: ${name}, name: $name, projectId: $projectId) { ${select} } }`,
      variables: ({ params, query }) => ({ name: params.name, ...query }),
      reply: ({ appConnectionByName }) => ({ appConnection: toReply(appConnectionByName) }),
      errors: [...NOT_FOUND, 'PROJECT_NOT_FOUND'],
    }),
    route({
      method: 'GET',
      path: `${path}/{connectionId}`,
      summary: `Get ${an(app)} connection`,
      operationId: `get${noun}`,
      ...operation(kind, 14),
      document: `query ($id: ID!) { appConnection(app: ${name}, id: $id) { ${select} } }`,
      variables: ({ params }) => ({ id: params.connectionId }),
      reply: ({ appConnection }) => ({ appConnection: toReply(appConnection) }),
      errors: NOT_FOUND,
    }),
  ];
}

const one = (payload: string) => (data: Data) => ({ appConnection: toReply(data[payload].appConnection) });

/** What a mutation of a connection returns. */
const mutationOf = (field: string, selected: string): string => {
  const input = `${field.charAt(0).toUpperCase()}${field.slice(1)}Input`;
  return `mutation ($input: ${input}!) { ${field}(input: $input) { appConnection { ${selected} } } }`;
};

/** Clients repeat in the body what the path names. */
const REPEATED = { App: null };

const methodOf = (kind: AnyKind) =>
  z.enum([kind.method]).optional().meta({ description: 'Authentication method, which cannot be changed.' });

/** The input of a change: the credentials by their app, and without what is not supported. */
const inputOf = (app: App, body: Readonly<Record<string, unknown>>): object => {
  const { method: _, isPlatformManagedCredentials: __, gatewayId: ___, credentials, ...rest } = body;
  return { ...rest, ...(credentials === undefined ? {} : { credentials: { [app]: credentials } }) };
};

function creationOf(kind: AnyKind, rules: ConnectionRules): Route {
  const { app } = kind;
  const { path, noun, select } = partsOf(kind);
  const { credentials, ...create } = rules.create.shape;
  return route({
    method: 'POST',
    path,
    summary: `Create ${an(app)} connection`,
    operationId: `create${noun}`,
    extension: true,
    body: z.strictObject({
      ...create,
      method: methodOf(kind),
      credentials: inBody(kind, credentials),
      ...unsupported,
    }),
    harmless: REPEATED,
    document: mutationOf('createAppConnection', select),
    variables: ({ body }) => ({ input: inputOf(app, body) }),
    reply: one('createAppConnection'),
    errors: ['PROJECT_NOT_FOUND', 'APP_CONNECTION_NAME_TAKEN', 'ACCOUNT_ROTATED', ...OUTSIDE],
    example: { name: 'analytics', method: kind.method, credentials: kind.example },
  });
}

function updateOf(kind: AnyKind, rules: ConnectionRules): Route {
  const { app } = kind;
  const { path, name, noun, select } = partsOf(kind);
  const { credentials, id: _, app: __, expectedVersion: ___, ...update } = rules.update.shape;
  return route({
    method: 'PATCH',
    path: `${path}/{connectionId}`,
    summary: `Update ${an(app)} connection`,
    operationId: `update${noun}`,
    ...operation(kind, 15),
    body: z.strictObject({
      ...update,
      method: methodOf(kind),
      credentials: inBody(kind, credentials.unwrap()).optional(),
      ...unsupported,
    }),
    harmless: { ...REPEATED, ID: 'connectionId' },
    document: mutationOf('updateAppConnection', select),
    variables: ({ params, body }) => ({ input: { id: params.connectionId, app: name, ...inputOf(app, body) } }),
    ifMatch: ({ appConnection }) => ({ expectedVersion: appConnection.version }),
    reply: one('updateAppConnection'),
    errors: [
      ...NOT_FOUND,
      'APP_CONNECTION_NAME_TAKEN',
      'CONNECTION_IN_USE',
      'ACCOUNT_ROTATED',
      'CONCURRENT_CHANGE',
      ...OUTSIDE,
    ],
    example: { description: 'Of the shop' },
  });
}

function changesOf(kind: AnyKind, rules: ConnectionRules): Route[] {
  const { app } = kind;
  const { path, name, noun, select } = partsOf(kind);
  return [
    creationOf(kind, rules),
    updateOf(kind, rules),
    route({
      method: 'DELETE',
      path: `${path}/{connectionId}`,
      summary: `Delete ${an(app)} connection`,
      operationId: `delete${noun}`,
      extension: true,
      document: mutationOf('deleteAppConnection', select),
      variables: ({ params }) => ({ input: { id: params.connectionId, app: name } }),
      reply: one('deleteAppConnection'),
      errors: [...NOT_FOUND, 'CONNECTION_IN_USE'],
    }),
    route({
      method: 'POST',
      path: `${path}/{connectionId}/check`,
      summary: `Check ${an(app)} connection`,
      operationId: `check${noun}`,
      extension: true,
      document: mutationOf('checkAppConnection', `${select} ${CHECK}`),
      variables: ({ params }) => ({ input: { id: params.connectionId, app: name } }),
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
