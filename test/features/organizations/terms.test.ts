import { randomUUID } from 'node:crypto';
import { type Caller, mustSucceed } from '../../kit/caller.js';
import { otherNodeInAll } from '../../kit/scope.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';

const strongroom = useSharedStrongroom();

const MEMBER = 'member { id memberId roleSlug endsAt role { slug } }';
const SET = `mutation ($input: SetOrganizationMemberInput!) { setOrganizationMember(input: $input) { ${MEMBER} } }`;
const UPDATE = `mutation ($input: UpdateOrganizationMemberInput!) { updateOrganizationMember(input: $input) { ${MEMBER} } }`;
const TOKEN_AUTH = '/api/v1/auth/token-auth/identities';
const UNIVERSAL_AUTH = '/api/v1/auth/universal-auth/identities';
const inSeconds = (seconds: number): string => new Date(Date.now() + seconds * 1000).toISOString();

const set = async (admin: Caller, input: object) => (await admin.data(SET, { input })).setOrganizationMember.member;

/** Moves the end of a membership into the past, as time would. */
const elapse = (identityId: string): Promise<unknown> =>
  strongroom.sql(`update organization_membership set ends_at = now() where identity_id = $1`, [identityId]);

/** An organization with two lasting admins. */
async function twoAdmins() {
  const { organization, admin } = await strongroom.seed.organization();
  const other = await strongroom.seed.caller(admin, { organizationRole: 'admin' });
  return { organization, admin, other };
}

describe('a membership with an end', () => {
  test('holds exactly until then, on two nodes, and can be given anew', async () => {
    const { admin } = await strongroom.seed.organization();
    const caller = await strongroom.seed.caller(admin);
    const second = await otherNodeInAll(strongroom);
    const endsAt = inSeconds(3600);
    const input = { identityId: caller.identityId, roleSlug: 'member' };
    expect(await set(admin, { ...input, endsAt })).toMatchObject({ roleSlug: 'member', endsAt });
    const { organizationMembers } = await admin.data('{ organizationMembers { nodes { memberId endsAt } } }');
    expect(organizationMembers.nodes).toContainEqual({ memberId: caller.identityId, endsAt });
    const nodes = [caller, caller.at(second.url)];
    for (const node of nodes) mustSucceed(await node.get('/api/v1/identities'));
    await elapse(String(caller.identityId));
    for (const node of nodes) expect(await node.get('/api/v1/identities')).toBeError(401, 'TOKEN_SCOPE_REFUSED');
    expect(await set(admin, input)).toMatchObject({ endsAt: null });
    for (const node of nodes) mustSucceed(await node.get('/api/v1/identities'));
  });

  test('ends what it was given in projects, also for who is still there through a group', async () => {
    const { admin, project } = await strongroom.seed.project();
    const path = `/api/v1/projects/${project.id}`;
    const caller = await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['viewer'] });
    const { id } = mustSucceed(await admin.post('/api/v1/groups', { name: 'stays', role: 'member' })).body;
    mustSucceed(await admin.post(`/api/v1/groups/${id}/machine-identities/${caller.identityId}`));
    const readers = `query ($projectId: ID!, $at: DateTime) {
      now: accessAt(projectId: $projectId, subject: ENVIRONMENTS, action: READ) { nodes { identity { id } } }
      then: accessAt(projectId: $projectId, subject: ENVIRONMENTS, action: READ, at: $at) { nodes { identity { id } } } }`;
    const isReader = async (): Promise<boolean> => {
      const [{ at } = {}] = await strongroom.sql<{ at: Date }>('select now() as at');
      const { now, then } = await admin.data(readers, { projectId: project.id, at: at?.toISOString() });
      expect(then).toEqual(now);
      return JSON.stringify(now).includes(String(caller.identityId));
    };
    const explain = `query ($projectId: ID!, $identityId: ID!) {
      explainAccess(projectId: $projectId, identityId: $identityId, subject: ENVIRONMENTS, action: READ) { isAllowed } }`;
    const isAllowed = async (): Promise<boolean> =>
      (await admin.data(explain, { projectId: project.id, identityId: caller.identityId })).explainAccess.isAllowed;

    expect([(await caller.get(path)).status, await isReader(), await isAllowed()]).toEqual([200, true, true]);
    await elapse(String(caller.identityId));
    mustSucceed(await caller.get('/api/v1/identities'));
    expect([(await caller.get(path)).status, await isReader(), await isAllowed()]).toEqual([404, false, false]);
    mustSucceed(await admin.post(`/api/v2/workspace/${project.id}/groups/${id}`, { role: 'viewer' }));
    expect([(await caller.get(path)).status, await isReader(), await isAllowed()]).toEqual([200, true, true]);
  });

  test('keeps its end with another role, unless the change says so', async () => {
    const { admin } = await strongroom.seed.organization();
    const { identityId } = await strongroom.seed.caller(admin);
    const endsAt = inSeconds(60);
    const { id } = await set(admin, { identityId, roleSlug: 'member', endsAt });
    expect(await set(admin, { identityId, roleSlug: 'admin' })).toMatchObject({ id, roleSlug: 'admin', endsAt });
    mustSucceed(await admin.patch(`/api/v1/identities/${identityId}`, { role: 'member' }));
    const change = async (input: object) =>
      (await admin.data(UPDATE, { input: { id, ...input } })).updateOrganizationMember.member;
    expect(await change({})).toMatchObject({ id, memberId: identityId, roleSlug: 'member', endsAt });
    expect(await change({ roleSlug: 'no-access' })).toMatchObject({
      roleSlug: 'no-access',
      role: { slug: 'no-access' },
      endsAt,
    });
    expect(await change({ endsAt: null })).toMatchObject({ roleSlug: 'no-access', endsAt: null });
    const later = inSeconds(120);
    expect(await change({ roleSlug: 'member', endsAt: later })).toMatchObject({ roleSlug: 'member', endsAt: later });
  });

  test('ends in the future, and is changed by those who may', async () => {
    const { organization, admin } = await strongroom.seed.organization();
    const caller = await strongroom.seed.caller(admin, { organizationRole: 'member' });
    const { identityId } = caller;
    const past = await admin.graphql(SET, { input: { identityId, roleSlug: 'member', endsAt: inSeconds(-1) } });
    expect(past).toBeError(422, 'VALIDATION_FAILED');
    expect(past.body.errors[0].extensions.details).toMatchObject([{ path: 'input.endsAt', code: 'NOT_IN_FUTURE' }]);
    expect(await admin.graphql(SET, { input: { identityId, roleSlug: 'member', endsAt: 'soon' } })).toBeError(
      422,
      'VALIDATION_FAILED',
    );
    const { id } = await set(admin, { identityId, roleSlug: 'member' });
    expect(await caller.graphql(UPDATE, { input: { id, roleSlug: 'member' } })).toBeError(403, 'PERMISSION_DENIED');
    const { admin: stranger } = await strongroom.seed.organization();
    for (const unknown of [id, randomUUID(), 'no-uuid', organization.id])
      expect(await stranger.graphql(UPDATE, { input: { id: unknown } })).toBeError(404, 'MEMBERSHIP_NOT_FOUND');
    expect(await admin.graphql(UPDATE, { input: { id, roleSlug: 'nobody' } })).toBeError(404, 'ROLE_NOT_FOUND');
  });

  test('in a sub-organization is given anew by its holder only after it has ended', async () => {
    const { admin } = await strongroom.seed.organization();
    const { createSubOrganization } = await admin.data(
      'mutation { createSubOrganization(input: { name: "Team" }) { organization { id } } }',
    );
    const input = {
      organizationId: createSubOrganization.organization.id as string,
      identityId: admin.identityId,
      roleSlug: 'admin',
    };
    const endIn = (interval: string) =>
      strongroom.sql(
        'update organization_membership set ends_at = now() + $1::interval where organization_id = $2 and identity_id = $3',
        [interval, input.organizationId, input.identityId],
      );
    await endIn('1 hour');
    expect(await admin.graphql(SET, { input: { ...input, endsAt: null } })).toBeError(403, 'PERMISSION_BOUNDARY');
    await endIn('-1 hour');
    expect(await set(admin, { ...input, endsAt: null })).toMatchObject({ roleSlug: 'admin', endsAt: null });
  });
});

describe('the last lasting admin of an organization', () => {
  test('gets no end, and a temporary one does not count', async () => {
    const { organization, admin, other } = await twoAdmins();
    const endsAt = inSeconds(60);
    await set(admin, { identityId: other.identityId, roleSlug: 'admin', endsAt });
    const self = { organizationId: organization.id, identityId: admin.identityId };
    expect(await admin.graphql(SET, { input: { ...self, roleSlug: 'admin', endsAt } })).toBeError(409, 'LAST_ADMIN');
    expect(await admin.graphql(SET, { input: { ...self, roleSlug: 'member' } })).toBeError(409, 'LAST_ADMIN');
    expect(await other.patch(`/api/v1/identities/${admin.identityId}`, { role: 'member' })).toBeError(
      409,
      'LAST_ADMIN',
    );
    expect(await other.delete(`/api/v1/identities/${admin.identityId}`)).toBeError(409, 'LAST_ADMIN');
    await set(admin, { identityId: other.identityId, roleSlug: 'admin', endsAt: null });
    await set(admin, { ...self, roleSlug: 'admin', endsAt });
    expect(await admin.graphql(SET, { input: { identityId: other.identityId, roleSlug: 'admin', endsAt } })).toBeError(
      409,
      'LAST_ADMIN',
    );
  });

  test('is one of two, when both get an end or another role at the same moment', async () => {
    for (const change of [{ roleSlug: 'admin', endsAt: inSeconds(60) }, { roleSlug: 'member' }]) {
      const { admin, other } = await twoAdmins();
      const replies = await Promise.all([
        admin.graphql(SET, { input: { identityId: other.identityId, ...change } }),
        other.graphql(SET, { input: { identityId: admin.identityId, ...change } }),
      ]);
      const codes = replies.map(({ body }) => body.errors?.[0].extensions.code ?? 'done').sort();
      // Who was demoted before its own turn may do nothing any more.
      expect([
        ['LAST_ADMIN', 'done'],
        ['PERMISSION_DENIED', 'done'],
        ['PERMISSION_BOUNDARY', 'done'],
      ]).toContainEqual(codes);
      const [{ count } = { count: 0 }] = await strongroom.sql<{ count: number }>(
        `select count(*)::integer as count from organization_membership
         where identity_id = any($1::uuid[]) and role = 'admin' and ends_at is null`,
        [[admin.identityId, other.identityId]],
      );
      expect(count).toBe(1);
    }
  });

  test('keeps a token or a client secret: a method alone is no way to log in', async () => {
    const { admin } = await strongroom.seed.organization();
    const { identityId } = admin;
    expect(await admin.delete(`${TOKEN_AUTH}/${identityId}`)).toBeError(409, 'LAST_ADMIN');
    mustSucceed(await admin.post(`${UNIVERSAL_AUTH}/${identityId}`, {}));
    expect(await admin.delete(`${TOKEN_AUTH}/${identityId}`)).toBeError(409, 'LAST_ADMIN');
    const secrets = `${UNIVERSAL_AUTH}/${identityId}/client-secrets`;
    const { clientSecretData } = mustSucceed(await admin.post(secrets, {})).body;
    mustSucceed(await admin.post(`${secrets}/${clientSecretData.id}/revoke`, {}));
    expect(await admin.delete(`${TOKEN_AUTH}/${identityId}`)).toBeError(409, 'LAST_ADMIN');
    mustSucceed(await admin.post(secrets, {}));
    const both = await Promise.all([
      admin.delete(`${UNIVERSAL_AUTH}/${identityId}`),
      admin.delete(`${TOKEN_AUTH}/${identityId}`),
    ]);
    // The token of the caller goes with token authentication.
    expect(both.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  test('is one of two, when both lose their last way in at the same moment', async () => {
    const { admin, other } = await twoAdmins();
    const replies = await Promise.all([
      admin.delete(`${TOKEN_AUTH}/${other.identityId}`),
      other.delete(`${TOKEN_AUTH}/${admin.identityId}`),
    ]);
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
    const left = await strongroom.sql('select 1 from identity_token_auth where identity_id = any($1::uuid[])', [
      [admin.identityId, other.identityId],
    ]);
    expect(left).toHaveLength(1);
  });

  test('can log in: who cannot does not take its place', async () => {
    const { admin, other } = await twoAdmins();
    const self = `/api/v1/identities/${admin.identityId}`;
    mustSucceed(await admin.delete(`${TOKEN_AUTH}/${other.identityId}`));
    expect(await admin.delete(`${TOKEN_AUTH}/${admin.identityId}`)).toBeError(409, 'LAST_ADMIN');
    expect(await admin.patch(self, { role: 'member' })).toBeError(409, 'LAST_ADMIN');
    expect(await admin.delete(self)).toBeError(409, 'LAST_ADMIN');
    mustSucceed(await admin.delete(`/api/v1/identities/${other.identityId}`));
  });

  test('is none who is no admin: it may lose its last way in', async () => {
    const { admin } = await strongroom.seed.organization();
    const member = await strongroom.seed.caller(admin, { organizationRole: 'member' });
    mustSucceed(await admin.delete(`${TOKEN_AUTH}/${member.identityId}`));
    expect(await member.get('/api/v1/identities')).toBeError(401, 'TOKEN_INVALID');
  });
});
