import { randomUUID } from 'node:crypto';
import { type GraphQLInputType, getNamedType, isInputObjectType } from 'graphql';
import type { Caller, Reply } from '../kit/caller.js';
import { storedOfConnected } from '../kit/connections.js';
import { GRAPHQL, graphqlOperations, rootTypes } from '../kit/operations/graphql.js';
import { type Ids, type Operation, type Thing, thingsIn } from '../kit/operations/operation.js';
import { REST } from '../kit/operations/rest.js';
import { restOperations } from '../kit/operations/rest-requests.js';
import { PATHS } from '../kit/reference.js';
import { sample } from '../kit/scope.js';
import { someAtATime } from '../kit/some-at-a-time.js';
import { LENIENT, type SharedStrongroom, useSharedStrongroom } from '../kit/strongroom.js';
import { makeWorld, seedWorld, type World } from '../kit/world.js';

const strongroom: SharedStrongroom = useSharedStrongroom(LENIENT, 'every operation');
const operations = [...restOperations(), ...graphqlOperations()];

/** Things that are named by a text of their owner's choice; everything else is named by a UUID. */
const SLUGS: ReadonlySet<Thing> = new Set([
  'projectSlug',
  'username',
  'otherUsername',
  'subSlug',
  'tagSlug',
  'roleSlug',
  'organizationRoleSlug',
  'secretKey',
  'connectionName',
  'smbConnectionName',
  'rotationName',
  'accountRotationName',
]);
/** A credential is no id: whoever holds one acts by it, from wherever it comes. */
const CREDENTIALS: ReadonlySet<Thing> = new Set([
  ...([
    'heldToken',
    'clientId',
    'heldClientSecret',
    'platformToken',
    'platformIdentity',
    'serviceAccountToken',
  ] as const),
  // Texts that are no names of anything.
  ...(['authorityAnswer', 'datatoolUrl', 'datatoolToken', 'clusterUrl', 'clusterAuthority'] as const),
]);
/** Things inside a project: another project of the same organization hides them as well. */
const INSIDE_PROJECTS: ReadonlySet<Thing> = new Set([
  'project',
  'projectSlug',
  'environment',
  'folder',
  'import',
  'secret',
  'secretKey',
  'memberMembership',
  'identityMembership',
  'tag',
  'tagSlug',
  'role',
  'roleSlug',
  'certificateProject',
  'certificateAlert',
  'alertChannel',
  'notificationChannel',
  'changeWebhook',
  'alertMessage',
  'notificationMessage',
  'certificateAuthority',
  'pendingAuthority',
  'issuedAuthority',
  'certificate',
  'identityAlert',
  // Connections of all projects are those of their organization, too.
  ...([
    'rotation',
    'rotationName',
    'accountRotation',
    'accountRotationName',
    'waitingAttempt',
    'credentialDebt',
  ] as const),
]);
/**
 * Names a key of the organization; no operation shows the id of one, so it has a test of its own. And a channel, which GraphQL's row
 * names: REST fails where it does not accept a test. And gateways, which there are none of, and
 * accounts of external systems. And a request of the audit trail, which anybody may have sent. And the certificate that an import
 * replaces, after which no other could: tests of the inventory try it.
 */
const NOTHING_TO_NAME = ['kmsKeyId', 'channelId', 'gatewayId', 'accountId', 'requestId', 'replacesId'];
/** Of channels: who is no member of the project is 422, there or not; tests of channels try it. */
const PEOPLE = ['userIds', 'groupIds'];
/** Fields that name either of two things, of which the other has a row of its own or the same path. */
const EITHER = [
  ...['explainAccess.identityId', 'effectivePermissions.userId', 'can.userId'],
  'revokeAccessTokens.identityId',
  // Whatever is there or not, it only finds events; tests of the audit trail try it.
  ...['auditEvents.actorId', 'auditEvents.subjectId'],
  ...['explainOrganizationAccess.userId', 'canInOrganization.identityId'],

  ...['setOrganizationMember.identityId', 'removeOrganizationMember.userId'],
  ...['addGroupMember.userId', 'addGroupMembers.identityIds'],
  ...['removeGroupMember.identityId', 'removeGroupMembers.userIds'],
];
/** The optional owner beside an id, which the rows of REST give. */
const WHERE_IT_MUST_BE = [
  ...['updateFolder', 'updateSecretImport', 'deleteSecretImport', 'tag', 'updateTag', 'deleteTag'],
  ...['notificationChannel', 'updateNotificationChannel', 'testNotificationChannel', 'deleteNotificationChannel'],
  ...['changeWebhook', 'updateChangeWebhook', 'rotateChangeWebhookSecret', 'testChangeWebhook', 'deleteChangeWebhook'],
  ...['notificationMessage', 'retryNotificationMessage'],
  ...['environment', 'updateEnvironment', 'deleteEnvironment'],
  ...['projectRole', 'updateProjectRole', 'deleteProjectRole'],
  ...['additionalPrivilege', 'updateAdditionalPrivilege', 'deleteAdditionalPrivilege'],
]
  .map((field) => `${field}.projectId`)
  .concat(
    'updateAppConnection.projectId',
    // It cannot change: another one is 422, there or not.
    'updateSecretRotation.connectionId',
    // Of rotations to stay away from: those of other projects are 422, there or not.
    ...['create', 'update', 'preview'].map((verb) => `${verb}SecretRotation.rotationId`),
    'clientSecret.identityId',
    'revokeClientSecret.identityId',
    'retryAlertMessage.alertId',
  );

let own: World;
let admin: Caller;
let foreign: World;
let neighbour: World;

beforeAll(async () => {
  ({ world: own, admin } = await seedWorld(strongroom.seed));
  ({ world: foreign } = await seedWorld(strongroom.seed));
  const colleague = await strongroom.seed.caller(admin, { organizationRole: 'admin' });
  neighbour = await makeWorld(colleague, own.organization);
  neighbour = {
    ...neighbour,
    alertMessage: await strongroom.seed.failedMessage(neighbour.certificateAlert),
    notificationMessage: await strongroom.seed.failedNotice(neighbour.notificationChannel),
    ...(await storedOfConnected(strongroom.seed, neighbour)),
  };
});

const unknownOf = (thing: Thing): string =>
  SLUGS.has(thing) ? own[thing].replace(/[0-9a-f]{8}$/i, randomUUID().slice(0, 8)) : randomUUID();

/** A reply without what differs from request to request: every other byte and header has to be the same. */
function comparable({ status, headers, text, body }: Reply) {
  const id = String(headers['x-request-id']);
  const { 'x-request-id': _, date: __, ...others } = headers;
  const error = body?.errors?.[0]?.extensions ?? body;
  return { status, headers: others, names: Object.keys(headers), text: text.replaceAll(id, ''), code: error?.code };
}

function expectSame({ operation, thing }: Case, hidden: Reply, unknown: Reply): void {
  expect(comparable(hidden)).toEqual(comparable(unknown));
  if (thing !== undefined && operation.saysNoOf?.includes(thing)) return;
  if (operation.hidesAs === 'null') {
    expect(hidden.status).toBe(200);
    expect([hidden.body.data.node ?? null, hidden.body.data.nodes ?? [null]]).toEqual([null, [null]]);
    return;
  }
  expect(comparable(hidden)).toMatchObject({ status: 404, code: expect.stringMatching(/_NOT_FOUND$/) });
}

/** How one operation answers about one thing, or about all of its things at once. */
interface Case {
  readonly operation: Operation;
  readonly thing?: Thing;
}
const named = (cases: readonly Case[]) =>
  cases.map((each) => [each.operation.name, each.thing ?? 'everything at once', each] as const);

const ofOne = operations.flatMap((operation) =>
  operation.things.filter((thing) => !CREDENTIALS.has(thing)).map((thing): Case => ({ operation, thing })),
);
const ofAll = operations
  .filter(({ things }) => things.length > 1 && !things.some((thing) => CREDENTIALS.has(thing)))
  .map((operation): Case => ({ operation }));
const cases = sample([...ofOne, ...ofAll], 8);

interface About {
  isAsked(each: Case): boolean;
  /** In place of ids of the own world. */
  ids(each: Case): Partial<Ids>;
}
const OF_NOBODY: About = {
  isAsked: () => true,
  ids: ({ operation, thing }) =>
    Object.fromEntries((thing === undefined ? operation.things : [thing]).map((each) => [each, unknownOf(each)])),
};
const OF_STRANGER: About = {
  isAsked: () => true,
  ids: ({ thing }) => (thing === undefined ? foreign : { [thing]: foreign[thing] }),
};
const OF_COLLEAGUE: About = {
  isAsked: ({ thing }) => thing !== undefined && INSIDE_PROJECTS.has(thing),
  ids: ({ thing = 'project' }) => ({ [thing]: neighbour[thing] }),
};
const NO_ID: About = {
  isAsked: ({ thing }) => thing !== undefined && !SLUGS.has(thing),
  ids: ({ thing = 'project' }) => ({ [thing]: 'no-such-thing' }),
};

/** Replies to each case, by what it is asked about. None of these requests changes what another one finds. */
const replies = new Map<Case, Map<About, Reply>>(cases.map((each) => [each, new Map()]));

beforeAll(async () => {
  const requests = cases.flatMap((each) =>
    [OF_NOBODY, OF_STRANGER, OF_COLLEAGUE, NO_ID]
      .filter((about) => about.isAsked(each))
      .map((about) => ({ each, about, ids: { ...own, ...about.ids(each) } })),
  );
  await someAtATime(requests, async ({ each, about, ids }) => {
    replies.get(each)?.set(about, await each.operation.send(admin, ids));
  });
});

describe.each([
  { name: "the id of a stranger's thing is answered like one that nobody has", about: OF_STRANGER },
  { name: 'a project of colleagues is answered like one that nobody has', about: OF_COLLEAGUE },
  { name: 'a text that is no id is answered like an id that nobody has', about: NO_ID },
])('$name', ({ about }) => {
  test.each(named(cases.filter((each) => about.isAsked(each))))('%s: %s', (_name, _thing, each) => {
    const [hidden, unknown] = [about, OF_NOBODY].map((one) => replies.get(each)?.get(one) as Reply);
    expectSame(each, hidden as Reply, unknown as Reply);
  });
});

test("a stranger's organization key is answered like one that nobody has", async () => {
  const [key] = await strongroom.sql<{ id: string }>(
    'select id from data_key where organization_id = $1 and project_id is null',
    [foreign.organization],
  );
  const create = (kmsKeyId: string | undefined): Promise<Reply> =>
    admin.post('/api/v2/workspace', { projectName: 'Web shop', kmsKeyId });

  const [hidden, unknown, noId] = [await create(key?.id), await create(randomUUID()), await create('no-such-thing')];

  expect(hidden).toBeError(404, 'KEY_NOT_FOUND');
  expect(comparable(hidden)).toEqual(comparable(unknown));
  expect(comparable(noId)).toEqual(comparable(unknown));
});

test("a stranger's rotation to stay away from, and its connection, are answered like those that nobody has", async () => {
  const path = `/api/v2/secret-rotations/datatool-service-token/${own.rotation}`;
  const others = [foreign, neighbour].flatMap(({ rotation, rotationConnection }) => [
    { apartFrom: [{ rotationId: rotation, minutes: 5 }] },
    { connectionId: rotationConnection },
  ]);
  const nobodys = [{ apartFrom: [{ rotationId: randomUUID(), minutes: 5 }] }, { connectionId: randomUUID() }];
  const replies = await Promise.all([...others, ...nobodys].map((body) => admin.patch(path, body)));

  for (const reply of replies) expect(reply).toBeError(422, 'VALIDATION_FAILED');
  const [apart, connected] = [0, 1].map((rest) => replies.filter((_, at) => at % 2 === rest).map(comparable));
  for (const same of [apart, connected]) expect(same).toEqual(same?.map(() => same[0]));
});

test('all of that changed nothing', async () => {
  const reads = sample(
    operations.filter(({ changes }) => !changes),
    8,
  );
  await someAtATime(reads, async (operation) => {
    const { status, body } = await operation.send(admin, own);
    expect([operation.name, status, body?.errors]).toEqual([operation.name, 200, undefined]);
  });
});

describe('the table of operations', () => {
  test('puts a thing at every id of the API reference', () => {
    const missing = REST.flatMap(({ route, path, query, body }) => {
      const [method = '', pattern = ''] = route.split(' ');
      const { parameters = [], requestBody } = PATHS[pattern][method.toLowerCase()];
      const named = [
        ...parameters.map((parameter: { name: string }) => parameter.name),
        ...propertyNames(requestBody?.content['application/json'].schema),
      ];
      const given = { ...path, ...query, ...flat(body) };
      return (
        named
          .filter((name: string) => /(Ids?|IdOrName)$/.test(name) && !NOTHING_TO_NAME.includes(name))
          .filter((name: string) => !(/notification-channels/.test(route) && PEOPLE.includes(name)))
          // Of a connection it cannot change: another one is 422, there or not; tests of connections try it.
          .filter((name: string) => !(/^PATCH .*app-connections/.test(route) && name === 'projectId'))
          // The same of a rotation and its connection, and of what it must stay away from; a project of an external system is a number.
          .filter((name: string) => !(/^PATCH .*secret-rotations/.test(route) && /^(connection|project)Id$/.test(name)))
          .filter((name: string) => !(/^POST .*secret-rotations/.test(route) && name === 'rotationId'))
          // They only find events; tests of the audit trail try them.
          .filter((name: string) => !(/^GET .*audit-events/.test(route) && /^(actor|subject)Id$/.test(name)))
          .filter((name: string) => thingsIn([given[name]]).length === 0)
          .map((name: string) => `${route}: ${name}`)
      );
    });

    expect(missing).toEqual([]);
  });

  test('puts a thing at every id of the schema', () => {
    const { Query, Mutation } = rootTypes();
    const fields = { ...Query.getFields(), ...Mutation.getFields() };
    const missing = GRAPHQL.flatMap(({ field, args }) => {
      const named = (fields[field]?.args ?? []).flatMap(({ name, type }) => idNames(name, type));
      const given = flat(args);
      return named
        .filter(
          (name) => !NOTHING_TO_NAME.includes(name) && ![...EITHER, ...WHERE_IT_MUST_BE].includes(`${field}.${name}`),
        )
        .filter((name) => thingsIn([given[name]]).length === 0)
        .map((name) => `${field}: ${name}`);
    });

    expect(missing).toEqual([]);
  });
});

/** The names of the arguments and input fields of type ID, however deep. */
function idNames(name: string, type: GraphQLInputType): string[] {
  const named = getNamedType(type);
  if (isInputObjectType(named)) {
    return Object.values(named.getFields()).flatMap((field) => idNames(field.name, field.type));
  }
  return named.name === 'ID' ? [name] : [];
}

interface JsonSchema {
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly items?: JsonSchema;
}

const propertyNames = (schema: JsonSchema = {}): string[] => [
  ...Object.entries(schema.properties ?? {}).flatMap(([name, inner]) => [name, ...propertyNames(inner)]),
  ...(schema.items === undefined ? [] : propertyNames(schema.items)),
];

/** Every key of a request body at any depth; those inside of lists by their first entry. */
function flat(body: unknown): Record<string, unknown> {
  if (Array.isArray(body)) return flat(body[0]);
  if (typeof body !== 'object' || body === null) return {};
  return Object.assign({}, body, ...Object.values(body).map(flat)) as Record<string, unknown>;
}
