import { randomUUID } from 'node:crypto';
import { Caller, mustSucceed } from '../../kit/caller.js';
import type { GivenRule } from '../../kit/rules.js';
import type { SeededProject } from '../../kit/seed.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';
import { groupInProject, groupWith, organizationCaller, organizationRole, projectRole } from '../groups/kit.js';

const strongroom = useSharedStrongroom();

const READ = ['describeSecret', 'readValue'];
const AT_TEAM: GivenRule = {
  subject: 'secrets',
  action: READ,
  conditions: { environment: '{{identity.metadata.team}}' },
};
const READ_PROD: GivenRule = { subject: 'secrets', action: READ, conditions: { environment: 'prod' } };
const READ_ALL: GivenRule = { subject: 'secrets', action: READ };
const NOT_TEAM: GivenRule = { ...AT_TEAM, inverted: true };
const WRITES: GivenRule = { subject: 'identity', action: ['read', 'edit', 'grant-privileges'] };
const READING_MISSING = [
  { path: 'secrets', code: 'describeSecret', message: 'requires the action describeSecret on secrets' },
  { path: 'secrets', code: 'readValue', message: 'requires the action readValue on secrets' },
];
const UPDATE = 'mutation ($input: UpdateIdentityInput!) { updateIdentity(input: $input) { identity { id } } }';
const CREATE = 'mutation ($input: CreateIdentityInput!) { createIdentity(input: $input) { identity { id } } }';
const SET = 'mutation ($input: SetOrganizationMemberInput!) { setOrganizationMember(input: $input) { __typename } }';

type Named = Pick<Caller, 'identityId'>;
const team = (value: string) => ({ metadata: [{ key: 'team', value }] });
const pathOf = ({ identityId }: Named) => `/api/v1/identities/${identityId}`;
const metadataOf = async (admin: Caller, who: Named) =>
  mustSucceed(await admin.get(pathOf(who))).body.identity.metadata;

async function join(admin: Caller, project: SeededProject, { identityId }: Named, ...roles: readonly string[]) {
  const path = `/api/v2/workspace/${project.id}/identity-memberships/${identityId}`;
  mustSucceed(await admin.post(path, { roles: roles.map((role) => ({ role })) }));
}

async function secretsIn(admin: Caller, project: SeededProject) {
  for (const environment of ['dev', 'prod'])
    mustSucceed(
      await admin.post('/api/v4/secrets/ONE', { projectId: project.id, environment, secretValue: environment }),
    );
}

const reads = async (caller: Caller, project: SeededProject, environment: string) =>
  (await caller.get(`/api/v4/secrets/ONE?projectId=${project.id}&environment=${environment}`)).status === 200;

/** A project with a secret in each of two environments, and a writer of metadata that has no right in it. */
async function written() {
  const { admin, project } = await strongroom.seed.project();
  await secretsIn(admin, project);
  const writer = await organizationCaller(strongroom, admin, WRITES);
  mustSucceed(await admin.patch(pathOf(writer), team('dev')));
  const role = (...rules: readonly GivenRule[]) => projectRole(admin, project.id, ...rules);
  return { admin, project, writer, role };
}

describe('metadata that rules of roles name', () => {
  test('is not changed by who thereby got what it does not have itself, which is said without a location', async () => {
    const { admin, project, writer, role } = await written();
    await join(admin, project, writer, await role(AT_TEAM));
    const refused = await writer.patch(pathOf(writer), { name: 'renamed', ...team('prod') });
    expect(refused).toBeError(403, 'PERMISSION_BOUNDARY');
    expect(refused.body.details).toEqual(READING_MISSING);
    expect(refused.text).not.toContain(project.id);
    expect(await reads(writer, project, 'prod')).toBe(false);
    expect(mustSucceed(await admin.get(pathOf(writer))).body.identity).toMatchObject({
      name: expect.not.stringMatching('renamed'),
      ...team('dev'),
    });
    const input = { id: writer.identityId, ...team('prod') };
    expect(await writer.graphql(UPDATE, { input })).toBeError(403, 'PERMISSION_BOUNDARY');
    mustSucceed(await writer.patch(pathOf(writer), { name: 'renamed' }));
    mustSucceed(await admin.patch(pathOf(writer), team('prod')));
    expect(await reads(writer, project, 'prod')).toBe(true);
  });

  test('of another identity gives what its writer has in the same project alone', async () => {
    const { admin, project, writer, role } = await written();
    const other = await strongroom.seed.caller(admin, { project: project.id, projectRoles: [await role(AT_TEAM)] });
    // A project that the writer knows nothing of.
    expect(await writer.patch(pathOf(other), team('prod'))).toBeError(403, 'PERMISSION_BOUNDARY');
    const elsewhere = await strongroom.seed.projectOf(admin);
    await join(admin, elsewhere, writer, 'admin');
    expect(await writer.patch(pathOf(other), team('prod'))).toBeError(403, 'PERMISSION_BOUNDARY');
    expect(await metadataOf(admin, other)).toEqual([]);
    await join(admin, project, writer, await role(READ_PROD));
    expect(await writer.patch(pathOf(other), team('dev'))).toBeError(403, 'PERMISSION_BOUNDARY');
    mustSucceed(await writer.patch(pathOf(other), team('prod')));
    expect(await reads(other, project, 'prod')).toBe(true);
  });

  test('gives nothing that the identity has anyway, whatever the writer has', async () => {
    const { admin, project, writer, role } = await written();
    const roles = [await role(READ_PROD), await role(AT_TEAM), 'viewer'];
    const other = await strongroom.seed.caller(admin, { project: project.id, projectRoles: roles });
    mustSucceed(await writer.patch(pathOf(other), team('prod')));
    mustSucceed(await writer.patch(pathOf(other), team('staging')));
  });

  test('counts for what the identity has by groups and privileges', async () => {
    const { admin, project, writer, role } = await written();
    const grouped = await strongroom.seed.caller(admin);
    const group = await groupWith(admin, 'no-access', grouped);
    mustSucceed(await writer.patch(pathOf(grouped), team('prod')));
    await groupInProject(admin, group, project.id, await role(AT_TEAM));
    expect(await writer.patch(pathOf(grouped), team('dev'))).toBeError(403, 'PERMISSION_BOUNDARY');
    expect(await metadataOf(admin, grouped)).toEqual(team('prod').metadata);
    const favoured = await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['no-access'] });
    const privilege = { projectId: project.id, identityId: favoured.identityId, permissions: [AT_TEAM] };
    mustSucceed(await admin.post('/api/v2/identity-project-additional-privilege', privilege));
    expect(await writer.patch(pathOf(favoured), team('dev'))).toBeError(403, 'PERMISSION_BOUNDARY');
    mustSucceed(await admin.patch(pathOf(favoured), team('dev')));
  });

  test('counts for a role that begins later, and for a prohibition that ends', async () => {
    const { admin, project, writer, role } = await written();
    const later = await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['no-access'] });
    const membership = `/api/v2/workspace/${project.id}/identity-memberships/${later.identityId}`;
    const forADay = (slug: string, startsAt: Date) => ({
      role: slug,
      isTemporary: true,
      temporaryMode: 'relative',
      temporaryRange: '1d',
      temporaryAccessStartTime: startsAt.toISOString(),
    });
    const tomorrow = new Date(Date.now() + 86_400_000);
    const atTeam = await role(AT_TEAM);
    const roles = [{ role: 'no-access' }, forADay(atTeam, tomorrow)];
    mustSucceed(await admin.patch(membership, { roles }));
    expect(await writer.patch(pathOf(later), team('prod'))).toBeError(403, 'PERMISSION_BOUNDARY');
    const nothing = await role({ ...READ_ALL, inverted: true });
    mustSucceed(await admin.patch(membership, { roles: [{ role: atTeam }, forADay(nothing, new Date())] }));
    expect(await writer.patch(pathOf(later), team('prod'))).toBeError(403, 'PERMISSION_BOUNDARY');
    mustSucceed(await admin.patch(membership, { roles: [{ role: atTeam }, { role: nothing }] }));
    mustSucceed(await writer.patch(pathOf(later), team('prod')));
  });

  test('does not lift a prohibition for what its writer does not have', async () => {
    const { admin, project, writer, role } = await written();
    const roles = [await role(READ_ALL, NOT_TEAM)];
    const other = await strongroom.seed.caller(admin, { project: project.id, projectRoles: roles });
    mustSucceed(await admin.patch(pathOf(other), team('prod')));
    expect(await reads(other, project, 'prod')).toBe(false);
    const refused = await writer.patch(pathOf(other), team('dev'));
    expect(refused).toBeError(403, 'PERMISSION_BOUNDARY');
    expect(refused.body.details).toEqual(READING_MISSING);
    // Without the attribute everything is forbidden.
    mustSucceed(await writer.patch(pathOf(other), { metadata: [] }));
    expect(await writer.patch(pathOf(other), team('prod'))).toBeError(403, 'PERMISSION_BOUNDARY');
    mustSucceed(await admin.patch(pathOf(other), team('prod')));
    await join(admin, project, writer, await role(READ_PROD));
    mustSucceed(await writer.patch(pathOf(other), team('dev')));
    expect(await reads(other, project, 'prod')).toBe(true);
  });

  test('is changed freely where that only takes away, or no rule names it', async () => {
    const { admin, project, writer, role } = await written();
    const other = await strongroom.seed.caller(admin, { project: project.id, projectRoles: [await role(AT_TEAM)] });
    mustSucceed(await admin.patch(pathOf(other), team('prod')));
    const more = [...team('prod').metadata, { key: 'floor', value: '2' }];
    mustSucceed(await writer.patch(pathOf(other), { metadata: more }));
    const renamed = [{ key: 'crew', value: 'prod' }];
    mustSucceed(await writer.patch(pathOf(other), { metadata: renamed }));
    expect(await reads(other, project, 'prod')).toBe(false);
    expect(await writer.patch(pathOf(other), team('prod'))).toBeError(403, 'PERMISSION_BOUNDARY');
    expect(await metadataOf(admin, other)).toEqual(renamed);
    const unnamed = await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['admin'] });
    mustSucceed(await writer.patch(pathOf(unnamed), team('prod')));
  });

  test('of an identity that a project owns is held to the rights of its writer in the project', async () => {
    const { admin, project, role } = await written();
    const writer = await strongroom.seed.caller(admin, { project: project.id, projectRoles: [await role(WRITES)] });
    const made = await admin.data(CREATE, { input: { name: 'robot', projectId: project.id } });
    const robot = { identityId: made.createIdentity.identity.id as string };
    mustSucceed(await writer.patch(pathOf(robot), team('dev')));
    const membership = `/api/v2/workspace/${project.id}/identity-memberships/${robot.identityId}`;
    mustSucceed(await admin.patch(membership, { roles: [{ role: await role(AT_TEAM) }] }));
    const refused = await writer.patch(pathOf(robot), team('prod'));
    expect(refused).toBeError(403, 'PERMISSION_BOUNDARY');
    expect(refused.body.details).toEqual(READING_MISSING);
    expect(await metadataOf(admin, robot)).toEqual(team('dev').metadata);
    mustSucceed(await admin.patch(pathOf(robot), team('prod')));
  });
});

describe('metadata that roles of organizations name', () => {
  const ON_ONE: GivenRule = {
    subject: 'groups',
    action: ['add-identities'],
    conditions: { groupSlug: '{{identity.metadata.ward}}' },
  };
  const ward = (value: string) => ({ metadata: [{ key: 'ward', value }] });

  test('is held to the rights of its writer in the organization', async () => {
    const { admin, writer } = await written();
    const other = await organizationCaller(strongroom, admin, ON_ONE);
    const refused = await writer.patch(pathOf(other), ward('a'));
    expect(refused).toBeError(403, 'PERMISSION_BOUNDARY');
    expect(refused.body.details).toEqual([
      { path: 'groups', code: 'add-identities', message: 'requires the action add-identities on groups' },
    ]);
    expect(await metadataOf(admin, other)).toEqual([]);
    mustSucceed(await admin.patch(pathOf(other), ward('a')));
    const role = await organizationRole(admin, WRITES, { subject: 'groups', action: ['add-identities'] });
    mustSucceed(await admin.patch(pathOf(writer), { role }));
    mustSucceed(await writer.patch(pathOf(other), ward('b')));
  });

  test('is compared with the role that the same request gives', async () => {
    const { admin, writer } = await written();
    const role = await organizationRole(admin, ON_ONE);
    const other = await strongroom.seed.caller(admin);
    expect(await writer.patch(pathOf(other), { role, ...ward('a') })).toBeError(403, 'PERMISSION_BOUNDARY');
    mustSucceed(await admin.patch(pathOf(other), { role, ...ward('a') }));
  });

  test('counts in sub-organizations that the identity belongs to, and in their projects', async () => {
    const { admin, writer } = await written();
    const slug = `sub-${randomUUID().slice(0, 8)}`;
    const { createSubOrganization } = await admin.data(
      'mutation ($input: CreateSubOrganizationInput!) { createSubOrganization(input: $input) { organization { id } } }',
      { input: { name: slug, slug } },
    );
    const organizationId = createSubOrganization.organization.id as string;
    const put = ({ identityId }: Named, roleSlug: string) =>
      admin.data(SET, { input: { identityId, organizationId, roleSlug } });
    await put(admin, 'admin');
    const tokens = `/api/v1/auth/token-auth/identities/${admin.identityId}/tokens`;
    const { accessToken } = mustSucceed(await admin.post(tokens, { organizationSlug: slug })).body;
    const below = new Caller(admin.url, accessToken, admin.identityId);
    const other = await strongroom.seed.caller(admin);
    await put(other, await organizationRole(below, ON_ONE));
    expect(await writer.patch(pathOf(other), ward('a'))).toBeError(403, 'PERMISSION_BOUNDARY');
    await put(writer, 'admin');
    mustSucceed(await writer.patch(pathOf(other), ward('a')));
    // Whoever may change sub-organizations makes itself an admin there anyway.
    const deputy = await strongroom.seed.caller(admin, { organizationRole: 'admin' });
    mustSucceed(await deputy.patch(pathOf(other), ward('b')));
    mustSucceed(await deputy.patch(pathOf(other), ward('a')));
    const project = await strongroom.seed.projectOf(below);
    await join(below, project, other, await projectRole(below, project.id, AT_TEAM));
    const both = { metadata: [...ward('a').metadata, ...team('prod').metadata] };
    expect(await writer.patch(pathOf(other), both)).toBeError(403, 'PERMISSION_BOUNDARY');
    mustSucceed(await admin.patch(pathOf(other), both));
  });
});

describe('a change of metadata', () => {
  test('takes the same statements for any number of projects', async () => {
    const { admin, project, role } = await written();
    const other = await strongroom.seed.caller(admin, { project: project.id, projectRoles: [await role(AT_TEAM)] });
    let made = 0;
    const change = async () => {
      made += 1;
      const { result, count } = await strongroom.statements(() => admin.patch(pathOf(other), team(`team-${made}`)));
      mustSucceed(result);
      return count;
    };
    await change();
    const one = await change();
    for (let at = 0; at < 9; at += 1) {
      const further = await strongroom.seed.projectOf(admin);
      await join(admin, further, other, await projectRole(admin, further.id, AT_TEAM));
    }
    await change();
    expect(await change()).toBe(one);
  });

  test('waits for another of the same identity', async () => {
    const { admin, project, writer, role } = await written();
    const other = await strongroom.seed.caller(admin, { project: project.id, projectRoles: [await role(AT_TEAM)] });
    mustSucceed(await admin.patch(pathOf(other), team('prod')));
    const replies = await Promise.all(
      ['dev', 'prod', 'staging', 'dev', 'prod', ''].map((value) => writer.patch(pathOf(other), team(value))),
    );
    // Once it is taken away, nobody without the right brings it back.
    const [{ value }] = await metadataOf(admin, other);
    expect(['prod', '']).toContain(value);
    expect(replies.map(({ status }) => status).filter((status) => status !== 200 && status !== 403)).toEqual([]);
  });
});
