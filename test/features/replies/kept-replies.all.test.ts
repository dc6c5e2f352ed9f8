import { randomUUID } from 'node:crypto';
import { mustSucceed } from '../../kit/caller.js';
import { Caller, type OtherNode, type Reply, useSharedStrongroom } from '../../kit/strongroom.js';
import { withoutRecordsOf } from '../../kit/trail.js';
import { everything, type Filled, fill, type Interface, LIST, listOver, type Scene } from './kept-scene.js';

// Hooks run in this order: after the next line the database is let go of.
afterAll(() => pauseForgetting(false));
const strongroom = useSharedStrongroom();
let other: OtherNode;
beforeAll(async () => {
  other = await strongroom.otherNode();
  await pauseForgetting(true);
  // It knows that the document fits the schema from then on.
  const { admin } = await strongroom.seed.organization();
  await admin.at(other.url).graphql(LIST, { projectId: randomUUID(), environment: 'dev', secretPath: '/' });
});

/** An hourly job makes nodes forget whose access they know. */
const pauseForgetting = (isPaused: boolean) =>
  strongroom.sql(`update job_kind set is_paused = $1 where name = 'access:delete-change-marks'`, [isPaused]);

async function hitsAtOther(): Promise<number> {
  const { text } = await new Caller(other.url, null).get('/metrics');
  return Number(/^strongroom_reply_cache_requests_total\{result="hit"\} (\d+)/m.exec(text)?.[1] ?? 0);
}

const filledOf = async (admin: Caller): Promise<Filled> => {
  const project = await strongroom.seed.projectOf(admin);
  return fill(admin, project, (projectRoles) => strongroom.seed.caller(admin, { project: project.id, projectRoles }));
};

interface Kept extends Scene {
  /** Over both interfaces at once: each is the next reading. */
  readonly readBoth: () => Promise<readonly [Reply, Reply]>;
}

/** A list that the other node keeps, over either interface: it answers the second reading from memory. */
async function keptAt(filled: Filled, caller: Caller): Promise<Kept> {
  const reader = caller.at(other.url);
  const listBy = (over: Interface) => () => listOver[over](reader, filled.place);
  for (const list of [listBy('REST'), listBy('GraphQL')]) {
    const before = await hitsAtOther();
    const [first, second] = [await list(), await list()];
    expect(second.text).toBe(first.text);
    expect(second.headers.etag).toBe(first.headers.etag);
    expect(await hitsAtOther()).toBe(before + 1);
  }
  const readBoth = () => Promise.all([listBy('REST')(), listBy('GraphQL')()]);
  return { ...filled, reader, list: listBy('REST'), readBoth };
}

async function scene(): Promise<Kept> {
  const { admin } = await strongroom.seed.organization();
  const filled = await filledOf(admin);
  return keptAt(filled, await strongroom.seed.caller(admin, { project: filled.project.id, projectRoles: ['viewer'] }));
}

const mustBeDone = (reply: Reply): void =>
  expect(reply.status === 200 && reply.body?.errors === undefined ? 'done' : reply.text).toBe('done');

const secretIn = (reply: Reply) => reply.body.secrets[0];

describe('the very next reading over REST and over GraphQL, at another node that keeps the reply, sees', () => {
  const MEMBER = (id: string, of: Caller) => `/api/v2/workspace/${id}/identity-memberships/${of.identityId}`;

  test.each<[string, (scene: Scene) => Promise<Reply>, (reply: Reply) => void]>([
    [
      'a secret that was written',
      ({ writer, place }) => writer.patch('/api/v4/secrets/KEY', { ...place, secretValue: 'second' }),
      (reply) => expect(secretIn(reply)).toMatchObject({ secretValue: 'second', version: 2 }),
    ],
    [
      'a secret that was made',
      ({ writer, place }) => writer.post('/api/v4/secrets/LATER', { ...place, secretValue: 'x' }),
      (reply) => expect(reply.body.secrets).toHaveLength(3),
    ],
    [
      'a secret that was deleted',
      ({ writer, place }) => writer.delete('/api/v4/secrets/KEY', place),
      (reply) => expect(reply.body.secrets).toHaveLength(1),
    ],
    [
      'what an import brings and a reference means, when its source was written',
      ({ writer, place }) =>
        writer.patch('/api/v4/secrets/BASE', { ...place, secretPath: '/shared', secretValue: 'other' }),
      ({ body }) => {
        expect(body.imports[0].secrets[0].secretValue).toBe('other');
        expect(body.secrets[1].secretValue).toBe('other!');
      },
    ],
    [
      'an import that was deleted',
      ({ admin, project, link }) =>
        admin.delete(`/api/v2/secret-imports/${link.id}`, {
          projectId: project.id,
          environment: 'dev',
          path: '/app',
        }),
      (reply) => expect(reply.body.imports).toEqual([]),
    ],
    [
      'a role that was taken away',
      ({ admin, project, reader }) => admin.patch(MEMBER(project.id, reader), { roles: [{ role: 'no-access' }] }),
      (reply) => expect(reply).toBeError(403, 'PERMISSION_DENIED'),
    ],
    [
      'a membership that was ended',
      ({ admin, project, reader }) => admin.delete(MEMBER(project.id, reader)),
      (reply) => expect(reply).toBeError(404, 'PROJECT_NOT_FOUND'),
    ],
    [
      'a token that was revoked',
      ({ admin, reader }) => admin.post('/api/v1/auth/token/revoke', { accessToken: reader.token }),
      (reply) => expect(reply).toBeError(401, 'TOKEN_REVOKED'),
    ],
    [
      'a tag that was renamed',
      ({ admin, project, tag }) => admin.patch(`/api/v1/projects/${project.id}/tags/${tag.id}`, { slug: 'data' }),
      (reply) => expect(secretIn(reply).tags[0].slug).toBe('data'),
    ],
    [
      'a folder that was renamed',
      ({ admin, folder, project }) =>
        admin.patch(`/api/v2/folders/${folder.id}`, { projectId: project.id, environment: 'dev', name: 'web' }),
      (reply) => expect(reply).toBeError(404, 'FOLDER_NOT_FOUND'),
    ],
    [
      'an environment that was renamed',
      ({ admin, project }) =>
        admin.patch(`/api/v1/projects/${project.id}/environments/${project.environments[0]?.id}`, { slug: 'work' }),
      (reply) => expect(reply).toBeError(404, 'ENVIRONMENT_NOT_FOUND'),
    ],
    [
      'a project that was deleted',
      ({ admin, project }) => admin.delete(`/api/v1/projects/${project.id}`),
      (reply) => expect(reply).toBeError(404, 'PROJECT_NOT_FOUND'),
    ],
    [
      'an identity that was renamed',
      ({ admin, writer }) => admin.patch(`/api/v1/identities/${writer.identityId}`, { name: 'other' }),
      (reply) => expect(secretIn(reply).actor.name).toBe('other'),
    ],
    [
      'an identity that was deleted',
      ({ admin, writer }) => admin.delete(`/api/v1/identities/${writer.identityId}`),
      (reply) => expect(secretIn(reply).actor).toMatchObject({ name: null, membershipId: null }),
    ],
    [
      'a writer who left the project',
      ({ admin, project, writer }) => admin.delete(MEMBER(project.id, writer)),
      (reply) => expect(secretIn(reply).actor.membershipId).toBeNull(),
    ],
  ])('%s', async (_, change, judge) => {
    const it = await scene();

    mustBeDone(await change(it));

    for (const reply of await it.readBoth()) judge(reply);
  });

  /** A user who wrote the secret, in a sub-organization that has the project. */
  async function sceneOfUser() {
    const { admin } = await strongroom.seed.organization();
    const create = 'mutation { createSubOrganization(input: { name: "Team", slug: "team" }) { organization { id } } }';
    const sub = (await admin.data(create)).createSubOrganization.organization.id;
    const user = (await admin.data('mutation { createUser(input: { username: "ada" }) { user { id } } }')).createUser
      .user.id;
    await admin.data(
      `mutation ($input: SetOrganizationMemberInput!) { setOrganizationMember(input: $input) { __typename } }`,
      { input: { organizationId: sub, userId: user, roleSlug: 'member' } },
    );
    const scoped = (
      await admin.post(`/api/v1/auth/token-auth/identities/${admin.identityId}/tokens`, { organizationSlug: 'team' })
    ).body.accessToken;
    const personal = (
      await admin.data(
        `mutation ($input: CreatePersonalAccessTokenInput!) { createPersonalAccessToken(input: $input) { accessToken } }`,
        { input: { userId: user, organizationSlug: 'team' } },
      )
    ).createPersonalAccessToken.accessToken;
    const subAdmin = new Caller(strongroom.url, scoped, admin.identityId);
    const person = new Caller(strongroom.url, personal);
    const filled = await filledOf(subAdmin);
    await subAdmin.post(`/api/v1/projects/${filled.project.id}/memberships`, { userId: user, role: 'member' });
    mustBeDone(await person.patch('/api/v4/secrets/KEY', { ...filled.place, secretValue: 'of ada' }));
    return { root: admin, sub, user, person, filled, readBoth: (await keptAt(filled, subAdmin)).readBoth };
  }

  test('a user who was renamed, left the organization, and was deleted', async () => {
    const { root, sub, user, readBoth } = await sceneOfUser();
    const actors = async () => (await readBoth()).map((reply) => secretIn(reply).actor);
    const twice = (actor: object) => [actor, actor].map((each) => expect.objectContaining(each));
    expect(await actors()).toEqual(twice({ name: 'ada', membershipId: expect.any(String) }));

    const input = { id: user, username: 'grace' };
    await root.data('mutation ($input: UpdateUserInput!) { updateUser(input: $input) { __typename } }', { input });
    expect(await actors()).toEqual(twice({ name: 'grace' }));

    await root.data(
      'mutation ($input: RemoveOrganizationMemberInput!) { removeOrganizationMember(input: $input) { __typename } }',
      { input: { organizationId: sub, userId: user } },
    );
    expect(await actors()).toEqual(twice({ name: 'grace', membershipId: null }));

    await root.data('mutation ($input: DeleteUserInput!) { deleteUser(input: $input) { __typename } }', {
      input: { id: user },
    });
    expect(await actors()).toEqual(twice({ name: null }));
  });

  test('a role of the project that was written anew', async () => {
    const { admin } = await strongroom.seed.organization();
    const filled = await filledOf(admin);
    const roles = `/api/v1/projects/${filled.project.id}/roles`;
    const may = (...action: string[]) => [{ subject: 'secrets', action }];
    const body = { slug: 'reader', name: 'Reader', permissions: may('describeSecret', 'readValue') };
    const { role } = mustSucceed(await admin.post(roles, body)).body;
    const reader = await strongroom.seed.caller(admin, { project: filled.project.id, projectRoles: ['reader'] });
    const { readBoth } = await keptAt(filled, reader);
    const values = async () => (await readBoth()).map((reply) => secretIn(reply).secretValue);
    expect(await values()).toEqual(['first', 'first']);

    mustBeDone(await admin.patch(`${roles}/${role.id}`, { permissions: may('describeSecret') }));

    expect(await values()).toEqual(['<hidden>', '<hidden>']);
    mustBeDone(await admin.patch(`${roles}/${role.id}`, { permissions: [] }));
    for (const reply of await readBoth()) expect(reply).toBeError(403, 'PERMISSION_DENIED');
  });

  test("a value of one's own, that was made, changed and deleted, and nobody else sees it", async () => {
    const { person, filled, readBoth } = await sceneOfUser();
    const { readBoth: readOwn } = await keptAt(filled, person);
    const path = '/api/v4/secrets/KEY';
    const body = { ...filled.place, type: 'personal' };
    const valuesIn = ({ body }: Reply) => body.secrets.map((it: { secretValue: string }) => it.secretValue);
    const expectOwn = async (...values: string[]) => expect((await readOwn()).map(valuesIn)).toEqual([values, values]);
    await expectOwn('of ada', 'base!');

    mustBeDone(await person.post(path, { ...body, secretValue: 'mine' }));
    await expectOwn('of ada', 'mine', 'base!');
    mustBeDone(await person.patch(path, { ...body, secretValue: 'still mine' }));
    await expectOwn('of ada', 'still mine', 'base!');
    for (const { text } of await readBoth()) expect(text).not.toContain('mine');
    mustBeDone(await person.delete(path, body));
    await expectOwn('of ada', 'base!');
  });
});

describe('a reply from memory', () => {
  test('costs three statements: token, access, audit', async () => {
    const { admin } = await strongroom.seed.organization();
    const { place } = await filledOf(admin);
    const query = everything(place);
    await admin.get(`/api/v4/secrets?${query}`);

    const { result, count } = await strongroom.statements(() => admin.get(`/api/v4/secrets?${query}`));

    expect(secretIn(result).secretValue).toBe('first');
    expect(count).toBe(3);
  });

  test('costs two of a caller that asks for the same project again', async () => {
    const { list } = await scene();
    const sentAtOther = async () => {
      const { text } = await new Caller(other.url, null).get('/metrics');
      return Number(/^strongroom_sql_statements_total\{origin="request"\} (\d+)/m.exec(text)?.[1]);
    };
    for (let times = 0; times < 3; times += 1) await list();
    // What the node has just looked at holds for half a second, which a machine that does much else may sleep through once.
    const counts: number[] = [];
    for (let times = 0; times < 10 && !counts.includes(2); times += 1) {
      const before = await sentAtOther();
      expect(secretIn(await list()).secretValue).toBe('first');
      counts.push((await sentAtOther()) - before);
    }

    expect(Math.min(...counts)).toBe(2);
  });

  test('is shared by identities with equal rules, each in the audit trail as itself', async () => {
    const it = await scene();
    const twin = (await strongroom.seed.caller(it.admin, { project: it.project.id, projectRoles: ['viewer'] })).at(
      other.url,
    );
    const query = everything(it.place);
    // The new member is a change of the project.
    await it.list();
    const before = await hitsAtOther();

    const reply = await twin.get(`/api/v4/secrets?${query}`);

    expect(await hitsAtOther()).toBe(before + 1);
    expect(reply.text).toBe((await it.list()).text);
    const [first] = await strongroom.auditRows('actor_id = $1 and action = $2', [it.reader.identityId, 'secret:list']);
    const rows = await strongroom.auditRows('request_id = $1', [reply.headers['x-request-id']]);
    expect(rows).toMatchObject([{ action: 'secret:list', outcome: 'allowed', actor_id: twin.identityId }]);
    expect(rows[0]?.facts).toEqual(first?.facts);
    expect(rows[0]?.project_id).toBe(it.project.id);
  });

  test('is not shared with one who has other rules, nor between people', async () => {
    const it = await scene();
    const query = everything(it.place);
    const person = async (name: string): Promise<Caller> => {
      const create = 'mutation ($input: CreateUserInput!) { createUser(input: $input) { user { id } } }';
      const userId = (await it.admin.data(create, { input: { username: name } })).createUser.user.id;
      await it.admin.post(`/api/v1/projects/${it.project.id}/memberships`, { userId, role: 'viewer' });
      const { createPersonalAccessToken } = await it.admin.data(
        'mutation ($userId: ID!) { createPersonalAccessToken(input: { userId: $userId }) { accessToken } }',
        { userId },
      );
      return new Caller(other.url, createPersonalAccessToken.accessToken);
    };
    const callers = [it.admin.at(other.url), await person('ada'), await person('grace')];
    const before = await hitsAtOther();

    for (const caller of callers) mustBeDone(await caller.get(`/api/v4/secrets?${query}`));

    expect(await hitsAtOther()).toBe(before);
  });

  test('is a 304 without a body for who has it, and is audited all the same', async () => {
    const it = await scene();
    const query = everything(it.place);
    const { etag } = (await it.list()).headers;

    const reply = await it.reader.get(`/api/v4/secrets?${query}`, { 'if-none-match': String(etag) });

    expect([reply.status, reply.text]).toEqual([304, '']);
    expect(await strongroom.auditRows('request_id = $1', [reply.headers['x-request-id']])).toHaveLength(1);
  });

  test('is not told when it cannot be audited', async () => {
    const it = await scene();

    const [row] = await strongroom.sql<{ id: string }>('select organization_id as id from project where id = $1', [
      it.project.id,
    ]);
    const reply = await withoutRecordsOf(strongroom, row?.id as string, it.list);

    expect(reply).toBeError(503, 'AUDIT_UNAVAILABLE');
    expect(reply.text).not.toContain('first');
  });

  test('is another one for another request, however alike', async () => {
    const it = await scene();
    const query = new URLSearchParams({ ...it.place, viewSecretValue: 'false' });
    const reply = await it.reader.get(`/api/v4/secrets?${query}`);
    expect(secretIn(reply).secretValue).toBe('<hidden>');
    const single = await it.reader.get(`/api/v4/secrets/KEY?${new URLSearchParams(it.place)}`);
    expect(single.body.secret.secretValue).toBe('first');
  });
});

describe('with REPLY_CACHE_MIB=0', () => {
  const uncached = useSharedStrongroom({ REPLY_CACHE_MIB: '0' });

  test('nothing is kept', async () => {
    const { admin, project } = await uncached.seed.project();
    const place = { projectId: project.id, environment: 'dev' };
    mustBeDone(await admin.post('/api/v4/secrets/KEY', { ...place, secretValue: 'first' }));
    for (let times = 0; times < 2; times += 1)
      mustBeDone(await admin.get(`/api/v4/secrets?${new URLSearchParams(place)}`));

    const { text } = await admin.anonymous.get('/metrics');

    expect(text).toContain('strongroom_reply_cache_requests_total{result="hit"} 0');
    expect(text).toContain('strongroom_reply_cache_bytes 0');
  });
});
