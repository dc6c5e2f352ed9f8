import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Caller, mustSucceed, type Reply } from '../kit/caller.js';
import { expectOneRow, rowsOf, takesKey } from '../kit/operations/effects.js';
import { OF_SCHEMA } from '../kit/operations/fields.js';
import { GRAPHQL, graphqlOperations, rootTypes } from '../kit/operations/graphql.js';
import type { Operation } from '../kit/operations/operation.js';
import { REST } from '../kit/operations/rest.js';
import { restOperations } from '../kit/operations/rest-requests.js';
import { sample } from '../kit/scope.js';
import { someAtATime } from '../kit/some-at-a-time.js';
import { LENIENT, type SharedStrongroom, useSharedStrongroom } from '../kit/strongroom.js';
import { CANARY, seedWorld, type World } from '../kit/world.js';

/** Of the installation admin, with tests of their own. */
const OF_INSTALLATION = [
  ...['pauseJobKind', 'resumeJobKind', 'createOrganization'],
  ...['verifyAuditTrail', 'auditTrailVerification', 'auditTrailVerifications'],
];
/** It needs a host that speaks SMB: tests of connections to hosts send it. */
const ROUTES_WITH_HOSTS = ['POST /api/v1/app-connections/smb'];
const ROUTES_OF_INSTALLATION = [
  ...['pause', 'resume'].map((verb) => `POST /api/v1/job-kinds/{name}/${verb}`),
  ...['POST', 'GET'].map((method) => `${method} /api/v1/audit-trail-verifications`),
  'GET /api/v1/audit-trail-verifications/{verificationId}',
];

const strongroom: SharedStrongroom = useSharedStrongroom(LENIENT, 'every operation');
const operations = [...restOperations(), ...graphqlOperations()];
const STEP = 4;
/** Those of other descriptions are others in `npm test`. */
const sampled = (list: readonly Operation[], offset: number): [string, Operation][] =>
  sample(list, STEP, offset).map((each) => [each.name, each]);

describe('the table of operations', () => {
  test('has every route of the API reference, once, but for those of the installation admin', () => {
    const { paths } = JSON.parse(readFileSync(join(import.meta.dirname, '../../schema/openapi.json'), 'utf8'));
    const routes = Object.entries(paths as Record<string, object>).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );

    expect([...REST.map(({ route }) => route), ...ROUTES_OF_INSTALLATION, ...ROUTES_WITH_HOSTS].sort()).toEqual(
      routes.sort(),
    );
  });

  test('has every root field of the schema, once, but for those of the installation admin and the schema itself', () => {
    const { Query, Mutation } = rootTypes();
    const fields = [Query, Mutation].flatMap((type) => Object.keys(type.getFields()));

    expect([...GRAPHQL.map(({ field }) => field), ...OF_INSTALLATION, ...OF_SCHEMA].sort()).toEqual(fields.sort());
  });
});

let shared: { world: World; admin: Caller; viewer: Caller; powerless: Caller };

beforeAll(async () => {
  const { world, admin } = await seedWorld(strongroom.seed);
  const project = world.project;
  shared = {
    world,
    admin,
    viewer: await strongroom.seed.caller(admin, { organizationRole: 'member', project, projectRoles: ['viewer'] }),
    powerless: await strongroom.seed.caller(admin, { project, projectRoles: ['no-access'] }),
  };
  const members = `/api/v2/workspace/${world.certificateProject}/identity-memberships`;
  mustSucceed(await admin.post(`${members}/${shared.viewer.identityId}`, { role: 'viewer' }));
});

/** The rows of reads that come first. */
const lookedUp = ({ looksUp }: Operation): string[] => (looksUp === undefined ? [] : [looksUp]);

const isOk = ({ status, body }: Reply): boolean => status === 200 && body?.errors === undefined;

// Changes that take a key leave one as well: test/features/replies/every-change-once.all.test.ts sends each.
describe('allowed: one row, of the caller, without values', () => {
  test.each(
    sampled(
      operations.filter((operation) => !takesKey(operation)),
      0,
    ),
  )('%s', async (_, operation) => {
    const place = operation.changes ? await seedWorld(strongroom.seed, operation.things) : shared;

    expectOneRow(await rowsOf(strongroom, () => operation.send(place.admin, place.world)), operation, place);
  });
});

describe('a read that is answered 304: one row', () => {
  test.each(
    sampled(
      restOperations().filter(({ changes }) => !changes),
      1,
    ),
  )('%s', async (_, operation) => {
    const { world, admin } = shared;
    const { etag } = (await operation.send(admin, world)).headers;

    const { reply, rows } = await rowsOf(strongroom, () =>
      operation.send(admin, world, { 'if-none-match': String(etag) }),
    );

    expect(reply.status).toBe(304);
    expect(reply.text).toBe('');
    expect(rows.map(({ action, outcome, actor_id }) => ({ action, outcome, actor_id }))).toEqual(
      [...lookedUp(operation), operation.audit].map((action) => ({
        action,
        outcome: 'allowed',
        actor_id: admin.identityId,
      })),
    );
  });
});

describe('denied: one row that says so, and nothing changes', () => {
  test.each(
    sampled(
      operations.filter(({ denial }) => denial !== null),
      2,
    ),
  )('%s', async (_, operation) => {
    const [who, action] = operation.denial as NonNullable<Operation['denial']>;
    const caller = shared[who];

    const { reply, rows } = await rowsOf(strongroom, () => operation.send(caller, shared.world));

    expect(reply).toBeError(403, 'PERMISSION_DENIED');
    const first = rows.splice(0, lookedUp(operation).length);
    expect(first.map(({ action }) => action)).toEqual(lookedUp(operation));
    expect(rows).toHaveLength(1);
    expect(rows[0]).toMatchObject({
      action,
      outcome: 'denied',
      organization_id: shared.world.organization,
      actor_id: caller.identityId,
      request_id: reply.headers['x-request-id'],
    });
    expect(JSON.stringify(rows)).not.toContain(CANARY);
  });

  test('so that an admin still finds everything as it was', async () => {
    const { world, admin } = shared;
    const reads = operations.filter(({ changes }) => !changes);
    await someAtATime(sample(reads, STEP, 3), async (operation) => {
      const reply = await operation.send(admin, world);
      expect(isOk(reply) ? 'done' : `${operation.name}: ${reply.text}`).toBe('done');
    });
  });
});

describe('what is no operation of a known caller', () => {
  test.each([
    ['an unknown token', 401, () => strongroom.admin.anonymous.get('/api/v1/projects', { authorization: 'Bearer x' })],
    ['no token', 401, () => strongroom.admin.anonymous.get('/api/v1/projects')],
    ['an unknown path', 404, () => shared.admin.get('/api/v9/projects')],
    ['a request of the wrong shape', 422, () => shared.admin.get('/api/v1/projects?nope=1')],
    ['an unknown id', 404, () => shared.admin.get('/api/v1/projects/nope')],
  ] as const)('%s leaves no row', async (_, status, send) => {
    const { reply, rows } = await rowsOf(strongroom, send);

    expect(reply.status).toBe(status);
    expect(rows).toEqual([]);
  });

  test('two root fields of one GraphQL document leave a row each', async () => {
    const { world, admin } = shared;
    const document = `query ($id: ID!) { a: project(id: $id) { id } b: tags(projectId: $id) { nodes { id } } }`;

    const { rows } = await rowsOf(strongroom, () => admin.graphql(document, { id: world.project }));

    expect(rows.map(({ action }) => action).sort()).toEqual(['project:get', 'tag:list']);
  });

  test('secrets inside the answer of another field leave a row for each environment that shows any', async () => {
    const { world, admin } = shared;
    const document = `query ($id: ID!) { project(id: $id) { environments { secrets { nodes { secretValue } } } } }`;

    const { reply, rows } = await rowsOf(strongroom, () => admin.graphql(document, { id: world.project }));

    expect(reply.text).toContain(CANARY);
    // Of dev, and of prod, where the secret of a rotation is.
    expect(rows.map(({ action }) => action).sort()).toEqual(['project:get', 'secret:list', 'secret:list']);
    expect(JSON.stringify(rows)).not.toContain(CANARY);
  });
});
