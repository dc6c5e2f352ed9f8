import { mustSucceed } from '../../kit/caller.js';
import { Caller, type OtherNode, type Reply, useSharedStrongroom } from '../../kit/strongroom.js';

// Hooks run in this order: after the next line the database is let go of.
afterAll(() => pauseForgetting(false));
const strongroom = useSharedStrongroom();
let other: OtherNode;
beforeAll(async () => {
  other = await strongroom.otherNode();
  await pauseForgetting(true);
});

/** An hourly job makes nodes forget whose access they know. */
const pauseForgetting = (isPaused: boolean) =>
  strongroom.sql(`update job_kind set is_paused = $1 where name = 'access:delete-change-marks'`, [isPaused]);

async function hitsAtOther(): Promise<number> {
  const { text } = await new Caller(other.url, null).get('/metrics');
  return Number(/^strongroom_reply_cache_requests_total\{result="hit"\} (\d+)/m.exec(text)?.[1] ?? 0);
}

const READS = {
  'a project': (reader: Caller, id: string) => reader.get(`/api/v1/projects/${id}`),
  'a project by its older path': (reader: Caller, id: string) => reader.get(`/api/v1/workspace/${id}`),
  'a project by GraphQL': (reader: Caller, id: string) =>
    reader.graphql('query ($id: ID!) { project(id: $id) { id name description environments { id name slug } } }', {
      id,
    }),
  'a list of projects with their roles': (reader: Caller) => reader.get('/api/v1/projects?includeRoles=true'),
};
type Name = keyof typeof READS;
const LIST = 'a list of projects with their roles';
const ALL = Object.keys(READS) as Name[];

interface Scene {
  readonly admin: Caller;
  readonly projectId: string;
  readonly environmentId: string;
  /** At the other node, which keeps what `read` gets. */
  readonly reader: Caller;
  readonly read: () => Promise<Reply>;
  /** Each of them at once: each is the next reading. */
  readonly readAll: () => Promise<Readonly<Record<Name, Reply>>>;
}

/** @param names what the other node keeps; `read` is the first of them */
async function scene(...names: readonly [Name, ...Name[]]): Promise<Scene> {
  const { admin } = await strongroom.seed.organization();
  const { id: projectId, environments } = await strongroom.seed.projectOf(admin);
  const reader = (
    await strongroom.seed.caller(admin, { organizationRole: 'admin', project: projectId, projectRoles: ['member'] })
  ).at(other.url);
  for (const name of names) {
    const read = () => READS[name](reader, projectId);
    // The first two find changes that were made before.
    for (let times = 0; times < 3; times += 1) mustSucceed(await read());
    const before = await hitsAtOther();
    mustSucceed(await read());
    expect(await hitsAtOther()).toBe(before + 1);
  }
  const readAll = async () =>
    Object.fromEntries(
      await Promise.all(ALL.map(async (name) => [name, await READS[name](reader, projectId)] as const)),
    ) as Record<Name, Reply>;
  const read = () => READS[names[0]](reader, projectId);
  return { admin, projectId, environmentId: environments[0]?.id as string, reader, read, readAll };
}

const keptAll = () => scene(...(ALL as [Name, ...Name[]]));

const projectIn = ({ body }: Reply) => body.project ?? body.workspace ?? body.data?.project ?? body.projects[0];
const namesIn = (reply: Reply) => projectIn(reply).environments.map(({ name }: { name: string }) => name);

describe(`the very next reading of ${ALL.join(', of ')}, at another node that keeps it, sees`, () => {
  test('a project that was changed', async () => {
    const { admin, projectId, readAll } = await keptAll();
    mustSucceed(await admin.patch(`/api/v1/projects/${projectId}`, { name: 'Renamed', description: 'other' }));
    for (const reply of Object.values(await readAll()))
      expect(projectIn(reply)).toMatchObject({ name: 'Renamed', description: 'other' });
  });

  test('an environment that was made, renamed and deleted', async () => {
    const { admin, projectId, environmentId, readAll } = await keptAll();
    const path = `/api/v1/projects/${projectId}/environments`;
    const { environment } = mustSucceed(await admin.post(path, { name: 'Later', slug: 'later' })).body;
    for (const reply of Object.values(await readAll())) expect(namesIn(reply)).toContain('Later');
    mustSucceed(await admin.patch(`${path}/${environmentId}`, { name: 'Desk' }));
    for (const reply of Object.values(await readAll())) expect(namesIn(reply)).toContain('Desk');
    mustSucceed(await admin.delete(`${path}/${environment.id}`));
    for (const reply of Object.values(await readAll())) expect(namesIn(reply)).not.toContain('Later');
  });

  test('a project that was deleted, or that the caller left', async () => {
    const [one, two] = [await keptAll(), await keptAll()];
    mustSucceed(await one.admin.delete(`/api/v1/projects/${one.projectId}`));
    mustSucceed(
      await two.admin.delete(`/api/v2/workspace/${two.projectId}/identity-memberships/${two.reader.identityId}`),
    );
    for (const { readAll } of [one, two]) {
      const { [LIST]: list, ...others } = await readAll();
      expect(list.body.projects).toEqual([]);
      for (const reply of Object.values(others)) expect(reply).toBeError(404, 'PROJECT_NOT_FOUND');
    }
  });

  test('a token that was revoked', async () => {
    const { admin, reader, readAll } = await keptAll();
    mustSucceed(await admin.post('/api/v1/auth/token/revoke', { accessToken: reader.token }));
    for (const reply of Object.values(await readAll())) expect(reply).toBeError(401, 'TOKEN_REVOKED');
  });

  const TERM = `jsonb_build_object('startsAt', now(), 'endsAt', now() + interval '1 hour')`;
  test.each([
    [
      'role in it',
      `update project_membership set role_terms = jsonb_build_object('member', ${TERM}) where identity_id = $1`,
    ],
    [
      'membership of the organization',
      `update organization_membership set ends_at = now() + interval '1 hour' where identity_id = $1`,
    ],
    [
      'privilege in it',
      `insert into additional_privilege (id, organization_id, project_id, membership_id, slug, permissions, temporary_range, starts_at, ends_at)
       select gen_random_uuid(), organization_id, project_id, id, 'timed', '[]', '1h', now(), now() + interval '1 hour'
       from project_membership where identity_id = $1`,
    ],
  ])('the rights of one whose %s is for a time only', async (_, limit) => {
    const { reader, projectId, readAll } = await keptAll();
    await strongroom.sql(limit, [reader.identityId]);
    for (const reply of Object.values(await readAll())) mustSucceed(reply);
    const before = await hitsAtOther();
    for (const reply of Object.values(await readAll())) mustSucceed(reply);
    expect(await hitsAtOther()).toBe(before);
    for (const reply of Object.values(await readAll())) expect(projectIn(reply).id).toBe(projectId);
  });
});

test('a list sees a role that was made, changed and deleted, and a project that was made', async () => {
  const { admin, projectId, reader, read } = await scene(LIST);
  const roles = `/api/v1/projects/${projectId}/roles`;
  const slugs = async () => projectIn(await read()).roles.map(({ slug }: { slug: string }) => slug);
  const { role } = mustSucceed(await admin.post(roles, { slug: 'own', name: 'Own', permissions: [] })).body;
  expect(await slugs()).toContain('own');
  mustSucceed(await admin.patch(`${roles}/${role.id}`, { slug: 'other' }));
  expect(await slugs()).toContain('other');
  mustSucceed(await admin.delete(`${roles}/${role.id}`));
  expect(await slugs()).not.toContain('other');
  await strongroom.seed.projectOf(reader.at(strongroom.url));
  expect((await read()).body.projects).toHaveLength(2);
});

test('a change of secrets leaves them kept', async () => {
  const { admin, projectId, read } = await scene('a project');
  const before = await hitsAtOther();
  mustSucceed(await admin.post('/api/v4/secrets/KEY', { projectId, environment: 'dev', secretValue: 'value' }));
  mustSucceed(await read());
  expect(await hitsAtOther()).toBe(before + 1);
});

test('nobody gets what another one sees, and each is in the audit trail', async () => {
  const { admin, reader, read } = await scene(LIST);
  const { id } = await strongroom.seed.projectOf(admin);
  const asAdmin = () => admin.at(other.url).get('/api/v1/projects?includeRoles=true');
  for (let times = 0; times < 3; times += 1) mustSucceed(await asAdmin());
  const replies = [await asAdmin(), await read()];
  expect(replies.map(({ body }) => body.projects.length)).toEqual([2, 1]);
  expect(replies[1]?.text).not.toContain(id);
  for (const [index, actor] of [admin, reader].entries()) {
    const rows = await strongroom.auditRows('request_id = $1', [replies[index]?.headers['x-request-id']]);
    expect(rows).toMatchObject([{ action: 'project:list', outcome: 'allowed', actor_id: actor.identityId }]);
  }
});

test('one who was withdrawn from a project gets no list of before with a token that the node does not know yet', async () => {
  const { admin, projectId, reader } = await scene(LIST);
  const path = `/api/v1/auth/token-auth/identities/${reader.identityId}/tokens`;
  const { accessToken } = mustSucceed(await admin.post(path, {})).body;
  await strongroom.sql('delete from project_membership where project_id = $1 and identity_id = $2', [
    projectId,
    reader.identityId,
  ]);
  const reply = await new Caller(other.url, accessToken).get('/api/v1/projects?includeRoles=true');
  expect(mustSucceed(reply).body.projects).toEqual([]);
});
