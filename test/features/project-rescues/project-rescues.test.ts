import { randomUUID } from 'node:crypto';
import { Caller, mustSucceed, type Reply } from '../../kit/caller.js';
import { rounds } from '../../kit/scope.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';
import { groupInProject, groupWith, organizationCaller, projectRole, word } from '../groups/kit.js';

const strongroom = useSharedStrongroom();

const FIELDS = 'id projectId projectName reason createdAt endsAt isActive identity { id } user { id }';
const RESCUE = `mutation ($input: RescueProjectInput!) { rescueProject(input: $input) { rescue { ${FIELDS} } } }`;
const END = `mutation ($input: RevokeProjectRescueInput!) { revokeProjectRescue(input: $input) { rescue { ${FIELDS} } } }`;
const WITHOUT_ADMIN = '{ projectsWithoutAdmin { nodes { projectId name slug project { id } } } }';
const REASON = 'The only admin has left.';

const rescue = (caller: Caller, projectId: string, more: object = {}): Promise<Reply> =>
  caller.graphql(RESCUE, { input: { projectId, reason: REASON, ...more } });
const end = (caller: Caller, id: string): Promise<Reply> => caller.graphql(END, { input: { id } });
const rescued = (reply: Reply) => mustSucceed(reply).body.data.rescueProject.rescue;
const opens = async (caller: Caller, projectId: string): Promise<number> =>
  (await caller.get(`/api/v1/projects/${projectId}`)).status;
const membershipsOf = (projectId: string) => `/api/v2/workspace/${projectId}/identity-memberships`;
const lost = async (admin: Caller): Promise<string[]> =>
  (await admin.data(WITHOUT_ADMIN)).projectsWithoutAdmin.nodes.map(({ projectId }: { projectId: string }) => projectId);

/** A project with one admin, which is an identity, and an admin of the organization who is no member of it. */
async function owned() {
  const { admin, organization } = await strongroom.seed.organization();
  const owner = await strongroom.seed.caller(admin, { organizationRole: 'admin' });
  const { id: projectId } = await strongroom.seed.projectOf(owner);
  return { admin, owner, organization, projectId };
}

/** As by itself: nobody takes a login from who may do more. */
const detach = ({ identityId }: Caller) =>
  strongroom.sql(
    `with removed as (delete from identity_token_auth where identity_id = $1)
     delete from access_token where identity_id = $1 and auth_method = 'token-auth'`,
    [identityId],
  );

const adminFor = (temporaryRange: string) => ({
  role: 'admin',
  isTemporary: true,
  temporaryMode: 'relative',
  temporaryRange,
  temporaryAccessStartTime: new Date().toISOString(),
});

/** As `owned`, after its admin lost its only way to authenticate. */
async function abandoned() {
  const made = await owned();
  await detach(made.owner);
  return made;
}

describe('a project whose only admin cannot authenticate any more', () => {
  test('is listed, rescued, given a lasting admin, and left again', async () => {
    const { admin, organization, projectId } = await abandoned();
    const successor = await strongroom.seed.caller(admin);
    expect(await opens(admin, projectId)).toBe(404);
    expect((await admin.data(WITHOUT_ADMIN)).projectsWithoutAdmin.nodes).toEqual([
      { projectId, name: expect.any(String), slug: expect.any(String), project: null },
    ]);

    const made = rescued(await rescue(admin, projectId, { range: '30m' }));
    expect(made).toMatchObject({
      projectId,
      reason: REASON,
      isActive: true,
      identity: { id: admin.identityId },
      user: null,
    });
    expect(Date.parse(made.endsAt) - Date.parse(made.createdAt)).toBeGreaterThan(29 * 60_000);
    expect(Date.parse(made.endsAt) - Date.parse(made.createdAt)).toBeLessThanOrEqual(30 * 60_000);
    expect(await opens(admin, projectId)).toBe(200);
    expect(await lost(admin)).toEqual([]);

    mustSucceed(await admin.post(`${membershipsOf(projectId)}/${successor.identityId}`, { role: 'admin' }));
    expect(mustSucceed(await end(admin, made.id)).body.data.revokeProjectRescue.rescue).toMatchObject({
      id: made.id,
      isActive: false,
    });
    expect([await opens(admin, projectId), await opens(successor, projectId)]).toEqual([404, 200]);
    expect(await rescue(admin, projectId)).toBeError(409, 'PROJECT_HAS_ADMIN');

    const rows = await strongroom.auditRows(`organization_id = $1 and action like 'project:%rescue'`, [
      organization.id,
    ]);
    expect(rows.map(({ action, project_id, actor_id }) => [action, project_id, actor_id])).toEqual([
      ['project:rescue', projectId, admin.identityId],
      ['project:revoke-rescue', projectId, admin.identityId],
    ]);
    expect(rows[0]?.facts).toEqual({ rescueId: made.id, reason: REASON, endsAt: made.endsAt });
  });

  test('is left by itself when the time is over, and can be rescued again', async () => {
    const { admin, projectId } = await abandoned();
    const first = rescued(await rescue(admin, projectId));
    expect(await rescue(admin, projectId)).toBeError(409, 'PROJECT_HAS_ADMIN');
    await strongroom.sql(`update project_rescue set ends_at = now() where id = $1`, [first.id]);
    await strongroom.sql(
      `update project_membership set role_terms = jsonb_set(role_terms, '{admin,endsAt}', to_jsonb(now())) where project_id = $1 and identity_id = $2`,
      [projectId, admin.identityId],
    );
    expect(await opens(admin, projectId)).toBe(404);
    expect(await lost(admin)).toEqual([projectId]);
    const second = rescued(await rescue(admin, projectId));
    expect(await opens(admin, projectId)).toBe(200);
    const listed = await admin.data(
      `{ all: projectRescues { nodes { id } } active: projectRescues(isActive: true) { nodes { id } }
        here: projectRescues(projectId: "${projectId}") { nodes { id } } none: projectRescues(projectId: "none") { nodes { id } } }`,
    );
    expect(listed.all.nodes).toEqual([{ id: second.id }, { id: first.id }]);
    expect(listed.active.nodes).toEqual([{ id: second.id }]);
    expect([listed.here.nodes, listed.none.nodes]).toEqual([listed.all.nodes, []]);
  });

  test('keeps the roles that its rescuer had there, before and after', async () => {
    const { admin, owner, projectId } = await owned();
    mustSucceed(await owner.post(`${membershipsOf(projectId)}/${admin.identityId}`, { role: 'viewer' }));
    await detach(owner);
    const { id } = rescued(await rescue(admin, projectId));
    const rename = (name: string) => admin.patch(`/api/v1/projects/${projectId}`, { name });
    expect((await rename('mine')).status).toBe(200);
    mustSucceed(await end(admin, id));
    expect([await opens(admin, projectId), (await rename('still mine')).status]).toEqual([200, 403]);
  });

  test('stays with its rescuer whom another admin appointed for good', async () => {
    const { admin, projectId } = await abandoned();
    const successor = await strongroom.seed.caller(admin);
    const { id } = rescued(await rescue(admin, projectId));
    mustSucceed(await admin.post(`${membershipsOf(projectId)}/${successor.identityId}`, { role: 'admin' }));
    mustSucceed(await successor.patch(`${membershipsOf(projectId)}/${admin.identityId}`, { role: 'admin' }));
    mustSucceed(await end(admin, id));
    expect(await opens(admin, projectId)).toBe(200);
  });

  test('is rescued once by a hundred who try at once', async () => {
    const { admin, projectId } = await abandoned();
    const colleague = await strongroom.seed.caller(admin, { organizationRole: 'admin' });
    const replies = await Promise.all(
      Array.from({ length: 100 }, (_, at) => rescue((at % 2 === 0 ? admin : colleague).patient, projectId)),
    );
    expect(replies.filter(({ body }) => body.errors === undefined)).toHaveLength(1);
    for (const reply of replies.filter(({ body }) => body.errors !== undefined))
      expect(reply).toBeError(409, 'PROJECT_HAS_ADMIN');
    expect(await strongroom.sql('select from project_rescue where project_id = $1', [projectId])).toHaveLength(1);
    expect(await strongroom.sql('select from project_membership where project_id = $1', [projectId])).toHaveLength(2);
  });

  test('is ended by a colleague too, once', async () => {
    const { admin, projectId } = await abandoned();
    const colleague = await strongroom.seed.caller(admin, { organizationRole: 'admin' });
    const { id } = rescued(await rescue(admin, projectId));
    const replies = await Promise.all(Array.from({ length: 20 }, () => end(colleague.patient, id)));
    expect(replies.filter(({ body }) => body.errors === undefined)).toHaveLength(1);
    expect(await opens(admin, projectId)).toBe(404);
    expect(await end(admin, id)).toBeError(404, 'PROJECT_RESCUE_NOT_FOUND');
  });

  test('leaves its rescuer an admin for as long as another admin said meanwhile', async () => {
    const { admin, projectId } = await abandoned();
    const successor = await strongroom.seed.caller(admin);
    const { id } = rescued(await rescue(admin, projectId));
    mustSucceed(await admin.post(`${membershipsOf(projectId)}/${successor.identityId}`, { role: 'admin' }));
    mustSucceed(await successor.patch(`${membershipsOf(projectId)}/${admin.identityId}`, { roles: [adminFor('7d')] }));
    mustSucceed(await end(admin, id));
    expect(await opens(admin, projectId)).toBe(200);
  });

  test('is not rescued by an admin for longer, who keeps its time, and is by an admin for a shorter one', async () => {
    const { admin, owner, projectId } = await owned();
    mustSucceed(await owner.post(`${membershipsOf(projectId)}/${admin.identityId}`, { roles: [adminFor('2h')] }));
    await detach(owner);
    expect(await rescue(admin, projectId)).toBeError(409, 'PROJECT_HAS_ADMIN');
    const { id } = rescued(await rescue(admin, projectId, { range: '3h' }));
    expect(await lost(admin)).toEqual([]);
    mustSucceed(await end(admin, id));
    expect(await lost(admin)).toEqual([projectId]);
  });

  test('is still listed as rescued after its rescuer deleted it', async () => {
    const { admin, projectId } = await abandoned();
    const made = rescued(await rescue(admin, projectId));
    mustSucceed(await admin.delete(`/api/v1/projects/${projectId}`));
    const { projectRescues } = await admin.data(
      `{ projectRescues(projectId: "${projectId}") { nodes { ${FIELDS} } } }`,
    );
    expect(projectRescues.nodes).toEqual([{ ...made, projectName: null }]);
    expect(mustSucceed(await end(admin, made.id)).body.data.revokeProjectRescue.rescue.isActive).toBe(false);
  });
});

describe('a project has an admin', () => {
  test('as long as the token of a user is valid: nobody else may make it another, but its rescuer', async () => {
    const { admin, owner, projectId } = await owned();
    const user = await strongroom.seed.user(owner, { project: projectId, projectRoles: ['admin'] });
    await detach(owner);
    expect(await lost(admin)).toEqual([]);
    await strongroom.sql('update access_token set expires_at = now() where user_id = $1', [user.userId]);
    const renew = () =>
      admin.graphql(
        'mutation ($input: CreatePersonalAccessTokenInput!) { createPersonalAccessToken(input: $input) { accessToken } }',
        { input: { userId: user.userId } },
      );
    expect(await renew()).toBeError(403, 'PERMISSION_BOUNDARY');
    expect(await lost(admin)).toEqual([projectId]);
    const { id } = rescued(await rescue(admin, projectId));
    mustSucceed(await renew());
    mustSucceed(await end(admin, id));
    expect(await lost(admin)).toEqual([]);
  });

  test('as long as a client secret is valid, with or without a token', async () => {
    const { admin, owner, projectId } = await owned();
    const path = `/api/v1/auth/universal-auth/identities/${owner.identityId}`;
    mustSucceed(await owner.post(path, {}));
    const { clientSecretData } = mustSucceed(await owner.post(`${path}/client-secrets`, {})).body;
    await detach(owner);
    expect(await lost(admin)).toEqual([]);
    await strongroom.sql('update universal_auth_client_secret set is_revoked = true where id = $1', [
      clientSecretData.id,
    ]);
    expect(await lost(admin)).toEqual([projectId]);
  });
});

describe('a project', () => {
  test('has an admin as long as one can authenticate', async () => {
    const { admin, owner, projectId } = await owned();
    expect(await rescue(admin, projectId)).toBeError(409, 'PROJECT_HAS_ADMIN');
    const other = await strongroom.seed.caller(admin);
    mustSucceed(await owner.post(`${membershipsOf(projectId)}/${other.identityId}`, { role: 'admin' }));
    await detach(owner);
    expect(await rescue(admin, projectId)).toBeError(409, 'PROJECT_HAS_ADMIN');
    expect(await lost(admin)).toEqual([]);
  });

  test('has none by an admin for a time, a group, or one whom a role forbids to manage members', async () => {
    const { admin, owner, projectId } = await owned();
    const other = await strongroom.seed.caller(admin);
    const role = await projectRole(owner, projectId, { subject: 'member', action: ['edit'], inverted: true });
    mustSucceed(
      await owner.post(`${membershipsOf(projectId)}/${other.identityId}`, {
        roles: [adminFor('1h')],
      }),
    );
    const group = await groupWith(admin, 'no-access', other);
    await groupInProject(owner, group, projectId, 'admin');
    expect(await lost(admin)).toEqual([]);
    const own = `${membershipsOf(projectId)}/${owner.identityId}`;
    mustSucceed(await owner.patch(own, { roles: [{ role: 'admin' }, { role }] }));
    expect(await lost(admin)).toEqual([projectId]);
    expect(await rescue(owner, projectId)).toBeError(409, 'PROJECT_HAS_ADMIN');
    const { id } = rescued(await rescue(admin, projectId));
    mustSucceed(await admin.patch(own, { role: 'admin' }));
    mustSucceed(await end(admin, id));
    expect(await rescue(admin, projectId)).toBeError(409, 'PROJECT_HAS_ADMIN');
  });

  test('has none by one whom a group or a privilege without an end forbids to manage members', async () => {
    const { admin, owner, projectId } = await owned();
    const rule = { subject: 'member', action: ['edit'], inverted: true };
    const group = await groupWith(admin, 'no-access', owner);
    await groupInProject(owner, group, projectId, await projectRole(owner, projectId, rule));
    expect(await lost(admin)).toEqual([projectId]);
    await strongroom.sql('delete from project_membership where group_id = $1', [group]);
    expect(await lost(admin)).toEqual([]);
    const forbid = (type: object) =>
      owner.post('/api/v2/identity-project-additional-privilege', {
        projectId,
        identityId: owner.identityId,
        permissions: [rule],
        type,
      });
    const { temporaryMode, temporaryRange, temporaryAccessStartTime, isTemporary } = adminFor('1h');
    mustSucceed(await forbid({ isTemporary, temporaryMode, temporaryRange, temporaryAccessStartTime }));
    expect(await lost(admin)).toEqual([]);
    await strongroom.sql('delete from additional_privilege where project_id = $1', [projectId]);
    mustSucceed(await forbid({ isTemporary: false }));
    expect(await lost(admin)).toEqual([projectId]);
  });

  test('is rescued by somebody or gives him its membership, when an admin for a time does so at that moment', async () => {
    for (let round = 0; round < rounds(4); round += 1) {
      const { admin, owner, projectId } = await owned();
      const deputy = await strongroom.seed.caller(admin);
      mustSucceed(await owner.post(`${membershipsOf(projectId)}/${deputy.identityId}`, { roles: [adminFor('1h')] }));
      await detach(owner);
      const [given, made] = await Promise.all([
        deputy.post(`${membershipsOf(projectId)}/${admin.identityId}`, { role: 'admin' }),
        rescue(admin, projectId),
      ]);
      expect([given.status === 200, made.body.errors === undefined].sort()).toEqual([false, true]);
      expect(await lost(admin)).toEqual([]);
      expect(await opens(admin, projectId)).toBe(200);
    }
  });

  test('is rescued by nobody without the right, and that of another organization is not there', async () => {
    const { admin, owner, projectId } = await abandoned();
    const member = await strongroom.seed.caller(admin, { organizationRole: 'member' });
    const holder = await organizationCaller(
      strongroom,
      admin,
      { subject: 'workspace', action: ['rescue'] },
      { subject: 'identity', action: ['read'] },
    );
    const stranger = (await strongroom.seed.organization()).admin;
    expect(await rescue(member, projectId)).toBeError(403, 'PERMISSION_DENIED');
    expect(await rescue(owner, projectId)).toBeError(401, 'TOKEN_INVALID');
    expect(await rescue(stranger, projectId)).toBeError(404, 'PROJECT_NOT_FOUND');
    expect(await rescue(admin, randomUUID())).toBeError(404, 'PROJECT_NOT_FOUND');
    const { id } = rescued(await rescue(holder, projectId));
    expect(await end(member, id)).toBeError(403, 'PERMISSION_DENIED');
    expect(await end(stranger, id)).toBeError(404, 'PROJECT_RESCUE_NOT_FOUND');
    expect(await opens(holder, projectId)).toBe(200);
  });

  test('of a sub-organization is rescued by a member of that, not by who is in it through a group alone', async () => {
    const { admin } = await strongroom.seed.organization();
    const [first, linked] = [await strongroom.seed.caller(admin), await strongroom.seed.caller(admin)];
    const slug = word('sub');
    const { createSubOrganization } = await admin.data(
      'mutation ($input: CreateSubOrganizationInput!) { createSubOrganization(input: $input) { organization { id } } }',
      { input: { name: slug, slug } },
    );
    const organizationId = createSubOrganization.organization.id;
    const group = await groupWith(admin, 'no-access', linked);
    await admin.data(
      `mutation ($member: SetOrganizationMemberInput!, $link: LinkGroupInput!) {
        setOrganizationMember(input: $member) { __typename } linkGroup(input: $link) { __typename } }`,
      {
        member: { organizationId, identityId: first.identityId, roleSlug: 'admin' },
        link: { organizationId, groupId: group, roleSlug: 'admin' },
      },
    );
    const below = async (caller: Caller): Promise<Caller> => {
      const { createAccessToken } = await admin.data(
        'mutation ($input: CreateAccessTokenInput!) { createAccessToken(input: $input) { accessToken } }',
        { input: { identityId: caller.identityId, organizationSlug: slug } },
      );
      return new Caller(admin.url, createAccessToken.accessToken, caller.identityId);
    };
    const { id: projectId } = await strongroom.seed.projectOf(await below(first));
    await detach(first);
    expect(await rescue(await below(linked), projectId)).toBeError(404, 'MEMBERSHIP_NOT_FOUND');
    await admin.data(
      'mutation ($member: SetOrganizationMemberInput!) { setOrganizationMember(input: $member) { __typename } }',
      {
        member: { organizationId, identityId: linked.identityId, roleSlug: 'admin' },
      },
    );
    await strongroom.sql(
      'update organization_membership set ends_at = now() where organization_id = $1 and identity_id = $2',
      [organizationId, linked.identityId],
    );
    expect(await rescue(await below(linked), projectId)).toBeError(404, 'MEMBERSHIP_NOT_FOUND');
    expect(rescued(await rescue(await below(admin), projectId)).isActive).toBe(true);
  });

  test('tells all that is wrong with a request', async () => {
    const { admin, projectId } = await abandoned();
    const refused = await rescue(admin, projectId, { reason: ' ', range: '25h' });
    expect(refused).toBeError(422, 'VALIDATION_FAILED');
    expect(refused.body.errors[0].extensions.details.map(({ path }: { path: string }) => path)).toEqual([
      'input.reason',
      'input.range',
    ]);
    expect(await lost(admin)).toEqual([projectId]);
  });
});

test('rescues, and projects without an admin, are listed in as many statements for one as for four', async () => {
  // One after the other: lists of one request share the statements of their projects when they come at the same moment.
  const RESCUES =
    '{ projectRescues { nodes { user { id } identity { id name } project { id } organization { id } } } }';
  const LOST = '{ projectsWithoutAdmin { nodes { name project { id } } } }';
  const counts: number[][] = [];
  for (const size of [1, 4]) {
    const { admin, owner, projectId } = await owned();
    const others = await Promise.all(
      Array.from({ length: 2 * size - 1 }, async () => (await strongroom.seed.projectOf(owner)).id),
    );
    await detach(owner);
    for (const id of [projectId, ...others].slice(0, size)) rescued(await rescue(admin, id));
    const rescues = await strongroom.statements(() => admin.data(RESCUES));
    const left = await strongroom.statements(() => admin.data(LOST));
    expect([rescues.result.projectRescues.nodes.length, left.result.projectsWithoutAdmin.nodes.length]).toEqual([
      size,
      size,
    ]);
    counts.push([rescues.count, left.count]);
  }
  expect(counts[1]).toEqual(counts[0]);
});
