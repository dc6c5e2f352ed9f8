import pg from 'pg';
import { mustSucceed } from '../../kit/caller.js';
import { rounds } from '../../kit/scope.js';
import { Caller, useSharedStrongroom } from '../../kit/strongroom.js';
import { untilWaiting } from '../../kit/waiting.js';
import { projectRole } from '../groups/kit.js';

const strongroom = useSharedStrongroom();

const SET = `mutation ($input: SetOrganizationMemberInput!) { setOrganizationMember(input: $input) { member { id } } }`;
const REMOVE = `mutation ($input: RemoveOrganizationMemberInput!) { removeOrganizationMember(input: $input) { member { id } } }`;
const CREATE_USER = 'mutation ($input: CreateUserInput!) { createUser(input: $input) { user { id } } }';
const DELETE_USER = 'mutation ($input: DeleteUserInput!) { deleteUser(input: $input) { user { id } } }';

const adminsOf = (projectId: string) =>
  strongroom.sql(`select id from project_membership where project_id = $1 and 'admin' = any(roles)`, [projectId]);
const identityPath = ({ identityId }: Caller): string => `/api/v1/identities/${identityId}`;

/** An identity that is the only admin of a project, in which the organization's admin has another role or none. */
async function seedSoleAdmin(adminRole: 'viewer' | null) {
  const { admin, project } = await strongroom.seed.project();
  const sole = await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['admin'] });
  const own = `/api/v2/workspace/${project.id}/identity-memberships/${admin.identityId}`;
  mustSucceed(await (adminRole === null ? sole.delete(own) : sole.patch(own, { role: adminRole })));
  return { admin, project, sole };
}

/** A sub-organization, and its admin with a token scoped to it. */
async function seedSubOrganization() {
  const { admin } = await strongroom.seed.organization();
  const { createSubOrganization } = await admin.data(
    'mutation { createSubOrganization(input: { name: "Team", slug: "team" }) { organization { id } } }',
  );
  const tokens = (identityId: string) => `/api/v1/auth/token-auth/identities/${identityId}/tokens`;
  const inSub = async (caller: Caller): Promise<Caller> => {
    const { body } = mustSucceed(await admin.post(tokens(caller.identityId), { organizationSlug: 'team' }));
    return new Caller(caller.url, body.accessToken, caller.identityId);
  };
  return { admin, organizationId: createSubOrganization.organization.id as string, inSub };
}

describe('the only admin of a project', () => {
  test('is not deleted as an identity; the refusal names the projects that the caller is a member of', async () => {
    const { admin, project, sole } = await seedSoleAdmin('viewer');
    const refused = await admin.delete(identityPath(sole));
    expect(refused).toBeError(409, 'LAST_ADMIN');
    expect(refused.body.details).toEqual([
      { path: 'project', code: 'LAST_ADMIN', message: `is the only admin of project ${project.id}` },
    ]);
    expect(await adminsOf(project.id)).toHaveLength(1);
    mustSucceed(await sole.delete(`/api/v1/projects/${project.id}`));
    expect((await admin.delete(identityPath(sole))).status).toBe(200);
  });

  test('is not deleted either when the caller may not know of the project, which is only counted', async () => {
    const { admin, project, sole } = await seedSoleAdmin(null);
    const refused = await admin.delete(identityPath(sole));
    expect(refused).toBeError(409, 'LAST_ADMIN');
    expect(refused.body.details).toEqual([
      { path: 'project', code: 'LAST_ADMIN', message: 'is the only admin of projects that are not listed: 1' },
    ]);
    expect(refused.text).not.toContain(project.id);
    expect(await adminsOf(project.id)).toHaveLength(1);
  });

  test('is not deleted as a user', async () => {
    const { admin, project } = await strongroom.seed.project();
    const { user } = (await admin.data(CREATE_USER, { input: { username: 'ada' } })).createUser;
    mustSucceed(await admin.post(`/api/v1/projects/${project.id}/memberships`, { userId: user.id, role: 'admin' }));
    const own = `/api/v2/workspace/${project.id}/identity-memberships/${admin.identityId}`;
    mustSucceed(await admin.patch(own, { role: 'viewer' }));
    expect(await admin.graphql(DELETE_USER, { input: { id: user.id } })).toBeError(409, 'LAST_ADMIN');
    await strongroom.sql(`update project_membership set roles = '{admin}' where identity_id = $1`, [admin.identityId]);
    expect((await admin.graphql(DELETE_USER, { input: { id: user.id } })).body.errors).toBeUndefined();
    expect(await adminsOf(project.id)).toHaveLength(1);
  });

  test('is not lost when one admin is deleted while the other steps down', async () => {
    for (let round = 0; round < rounds(8); round += 1) {
      const { admin, project } = await strongroom.seed.project();
      const other = await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['admin'] });
      const own = `/api/v2/workspace/${project.id}/identity-memberships/${admin.identityId}`;
      const [deleted, demoted] = await Promise.all([
        admin.delete(identityPath(other)),
        admin.patch(own, { role: 'viewer' }),
      ]);
      // Who was demoted first may do less than the other.
      expect([
        [200, 409],
        [409, 200],
        [403, 200],
      ]).toContainEqual([deleted.status, demoted.status]);
      expect(await adminsOf(project.id)).toHaveLength(1);
    }
  });
});

describe('an admin whom another of its roles forbids to manage members', () => {
  /** Its admins: one that can do so, and one that cannot. */
  async function twoAdmins() {
    const { admin, project } = await strongroom.seed.project();
    const role = await projectRole(admin, project.id, {
      subject: 'member',
      action: ['create', 'edit'],
      inverted: true,
    });
    const bound = await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['admin', role] });
    const sole = await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['admin'] });
    const membership = ({ identityId }: Caller) => `/api/v2/workspace/${project.id}/identity-memberships/${identityId}`;
    mustSucceed(await sole.patch(membership(admin), { role: 'viewer' }));
    return { admin, project, role, bound, sole, membership };
  }

  test('keeps a project no admin: the last one that can manage them stays', async () => {
    const { admin, project, bound, sole, membership } = await twoAdmins();
    expect(await sole.patch(membership(sole), { role: 'viewer' })).toBeError(409, 'LAST_ADMIN');
    expect(await sole.delete(membership(sole))).toBeError(409, 'LAST_ADMIN');
    const refused = await admin.delete(identityPath(sole));
    expect(refused).toBeError(409, 'LAST_ADMIN');
    expect(refused.body.details).toMatchObject([{ message: `is the only admin of project ${project.id}` }]);
    const ends = { identityId: sole.identityId, roleSlug: 'no-access', endsAt: '2100-01-01T00:00:00Z' };
    expect(await admin.graphql(SET, { input: ends })).toBeError(409, 'LAST_ADMIN');
    mustSucceed(await sole.patch(membership(bound), { role: 'admin' }));
    mustSucceed(await sole.delete(membership(sole)));
  });

  test('leaves by itself and with its account, as long as there is another', async () => {
    const { admin, project, role, bound, sole, membership } = await twoAdmins();
    const second = await strongroom.seed.caller(admin);
    mustSucceed(await sole.post(membership(second), { roles: [{ role: 'admin' }, { role }] }));
    mustSucceed(await sole.delete(membership(second)));
    mustSucceed(await admin.patch(identityPath(sole), { role: 'admin' }));
    mustSucceed(await sole.delete(identityPath(bound)));
    expect(await adminsOf(project.id)).toHaveLength(1);
  });

  test('is the only admin where all are like that, as before', async () => {
    const { admin, project, role, bound, sole, membership } = await twoAdmins();
    mustSucceed(await sole.patch(membership(sole), { roles: [{ role: 'admin' }, { role }] }));
    mustSucceed(await admin.patch(identityPath(sole), { role: 'admin' }));
    mustSucceed(await sole.delete(identityPath(sole)));
    expect(await admin.delete(identityPath(bound))).toBeError(409, 'LAST_ADMIN');
    expect(await adminsOf(project.id)).toHaveLength(1);
  });

  test('is one whose role has rules that cannot be read', async () => {
    const { role, sole, membership } = await twoAdmins();
    await strongroom.sql(`update project_role set permissions = 'null' where slug = $1`, [role]);
    expect(await sole.delete(membership(sole))).toBeError(409, 'LAST_ADMIN');
  });
});

test('of two transactions that each end the membership of one of two admins, the second waits and fails', async () => {
  const { admin, project } = await strongroom.seed.project();
  const other = await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['admin'] });
  const clients = [admin, other].map(() => new pg.Client({ connectionString: strongroom.databaseUrl }));
  const [first, second] = clients as [pg.Client, pg.Client];
  const end = (client: pg.Client, { identityId }: Caller) =>
    client.query('delete from project_membership where identity_id = $1', [identityId]);
  try {
    for (const client of clients) await client.connect();
    for (const client of clients) await client.query('begin');
    await end(first, admin);
    const refused = expect(end(second, other)).rejects.toMatchObject({ constraint: 'project_keeps_an_admin' });
    await untilWaiting(strongroom, 1);
    await first.query('commit');
    await refused;
  } finally {
    for (const client of clients) await client.end();
  }
  expect(await adminsOf(project.id)).toHaveLength(1);
});

describe('leaving a sub-organization', () => {
  test('leaves its projects', async () => {
    const { admin, organizationId, inSub } = await seedSubOrganization();
    const subAdmin = await inSub(admin);
    const project = await strongroom.seed.projectOf(subAdmin);
    const member = await strongroom.seed.caller(admin);
    const who = { organizationId, identityId: member.identityId };
    await admin.data(SET, { input: { ...who, roleSlug: 'member' } });
    const path = `/api/v2/workspace/${project.id}/identity-memberships/${member.identityId}`;
    mustSucceed(await subAdmin.post(path, { role: 'viewer' }));
    const inside = await inSub(member);
    expect((await inside.get(`/api/v1/projects/${project.id}`)).status).toBe(200);
    await admin.data(REMOVE, { input: who });
    expect(await subAdmin.get(path)).toBeError(404, 'MEMBERSHIP_NOT_FOUND');
    expect(await inside.get(`/api/v1/projects/${project.id}`)).toBeError(401, 'TOKEN_SCOPE_REFUSED');
  });

  test('is refused to the only admin of one of its projects', async () => {
    const { admin, organizationId, inSub } = await seedSubOrganization();
    const member = await strongroom.seed.caller(admin);
    const who = { organizationId, identityId: member.identityId };
    await admin.data(SET, { input: { ...who, roleSlug: 'member' } });
    const project = await strongroom.seed.projectOf(await inSub(member));
    const refused = await admin.graphql(REMOVE, { input: who });
    expect(refused).toBeError(409, 'LAST_ADMIN');
    expect(refused.text).not.toContain(project.id);
    expect(await admin.delete(identityPath(member))).toBeError(409, 'LAST_ADMIN');
    expect(await adminsOf(project.id)).toHaveLength(1);
  });
});
