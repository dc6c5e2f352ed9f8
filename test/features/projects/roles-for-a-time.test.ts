import { mustSucceed } from '../../kit/caller.js';
import { otherNodeInAll } from '../../kit/scope.js';
import { useMovedStrongroom } from '../../kit/strongroom.js';
import { forGood } from './member-roles.js';

const strongroom = useMovedStrongroom();
const HOUR = 3_600;

const forTime = (role: string, temporaryRange: string, more: object = {}) => ({
  role,
  isTemporary: true,
  temporaryMode: 'relative',
  temporaryRange,
  ...more,
});

/** A machine identity with these roles in a project, and the path of its membership. */
async function scene(...roles: readonly object[]) {
  const { admin, project } = await strongroom.seed.project();
  const caller = await strongroom.seed.caller(admin, {});
  const path = `/api/v2/workspace/${project.id}/identity-memberships/${caller.identityId}`;
  if (roles.length > 0) mustSucceed(await admin.post(path, { roles }));
  return { admin, project, caller, path, own: `/api/v1/projects/${project.id}` };
}

describe('a role for a time', () => {
  test('is shown with its term, which begins now', async () => {
    const { admin, path, project, caller } = await scene();
    const added = mustSucceed(await admin.post(path, { roles: [forTime('viewer', '2h'), { role: 'no-access' }] }));
    const [role, lasting] = added.body.identityMembership.roles;
    expect(lasting).toEqual(forGood('no-access')[0]);
    const { temporaryAccessStartTime: start, temporaryAccessEndTime: end, ...rest } = role;
    expect(rest).toEqual(forTime('viewer', '2h'));
    expect(Date.parse(end) - Date.parse(start)).toBe(2 * HOUR * 1000);
    expect(Math.abs(Date.parse(start) - Date.now())).toBeLessThan(60_000);
    expect((await admin.get(path)).body).toEqual(added.body);
    const { projectMembership } = await admin.data(
      `query ($p: ID!, $m: ID!) { projectMembership(projectId: $p, memberKind: IDENTITY, memberId: $m) {
        roleSlugs roleAssignments { roleSlug isTemporary range startsAt endsAt isActive } } }`,
      { p: project.id, m: caller.identityId },
    );
    expect(projectMembership).toEqual({
      roleSlugs: ['viewer', 'no-access'],
      roleAssignments: [
        { roleSlug: 'viewer', isTemporary: true, range: '2h', startsAt: start, endsAt: end, isActive: true },
        { roleSlug: 'no-access', isTemporary: false, range: null, startsAt: null, endsAt: null, isActive: true },
      ],
    });
    const [row] = await strongroom.auditRows(`request_id = $1`, [added.headers['x-request-id']]);
    expect(row?.facts).toMatchObject({ roles: ['viewer', 'no-access'], terms: [`viewer ${start}/${end}`] });
  });

  test('holds until its end, at the next request on every node, without a job', async () => {
    const second = await otherNodeInAll(strongroom);
    const { caller, own } = await scene(forTime('viewer', '1h'));
    const nodes = [caller, second.caller(caller.token as string)];
    await strongroom.advanceClock(HOUR - 60);
    for (const node of nodes) expect((await node.get(own)).status).toBe(200);
    await strongroom.advanceClock(61);
    for (const node of nodes) {
      expect(await node.get(own)).toBeError(404, 'PROJECT_NOT_FOUND');
      expect((await node.get('/api/v1/projects')).body.projects).toEqual([]);
    }
  });

  test('ends by itself, beside others that go on', async () => {
    const { admin, caller, own, path } = await scene({ role: 'viewer' }, forTime('member', '30m'));
    const tags = `${own}/tags`;
    mustSucceed(await caller.post(tags, { slug: 'one', color: '#aa0000' }));
    await strongroom.advanceClock(30 * 60 + 1);
    expect(await caller.post(tags, { slug: 'two', color: '#aa0000' })).toBeError(403, 'PERMISSION_DENIED');
    expect((await caller.get(tags)).status).toBe(200);
    const { roles } = (await admin.get(path)).body.identityMembership;
    expect(roles.map(({ role }: { role: string }) => role)).toEqual(['viewer', 'member']);
    mustSucceed(await admin.patch(path, { roles: [{ role: 'viewer' }, { role: 'member' }] }));
    mustSucceed(await caller.post(tags, { slug: 'two', color: '#aa0000' }));
  });

  test('begins when it is said to', async () => {
    const start = new Date(Date.now() + 2 * HOUR * 1000).toISOString();
    const { caller, own } = await scene(forTime('viewer', '1h', { temporaryAccessStartTime: start }));
    expect(await caller.get(own)).toBeError(404, 'PROJECT_NOT_FOUND');
    await strongroom.advanceClock(2 * HOUR + 1);
    expect((await caller.get(own)).status).toBe(200);
    await strongroom.advanceClock(HOUR);
    expect(await caller.get(own)).toBeError(404, 'PROJECT_NOT_FOUND');
  });

  test('is given to groups, and ends for their members', async () => {
    const { admin, project } = await strongroom.seed.project();
    const caller = await strongroom.seed.caller(admin, {});
    const group = await strongroom.seed.group(admin, caller);
    const path = `/api/v2/workspace/${project.id}/groups/${group.slug}`;
    const { groupMembership } = mustSucceed(await admin.post(path, { roles: [forTime('viewer', '4w')] })).body;
    expect(groupMembership.roles).toMatchObject([{ ...forTime('viewer', '4w'), customRoleSlug: null }]);
    expect((await caller.get(`/api/v1/projects/${project.id}`)).status).toBe(200);
    await strongroom.advanceClock(28 * 24 * HOUR + 1);
    expect(await admin.anonymous.get(`/api/v1/projects/${project.id}`)).toBeError(401, 'TOKEN_MISSING');
    const held = 'select 1 from project_member_now where project_id = $1 and member_id = $2';
    expect(await strongroom.sql(held, [project.id, caller.identityId])).toEqual([]);
  });

  test('is no way to be the last admin', async () => {
    const { admin, project, caller, path, own } = await scene(forTime('admin', '1h'));
    const first = `/api/v2/workspace/${project.id}/identity-memberships/${admin.identityId}`;
    mustSucceed(await caller.patch(own, { description: 'as admin' }));
    expect(await admin.delete(first)).toBeError(409, 'LAST_ADMIN');
    expect(await admin.patch(first, { roles: [forTime('admin', '7d')] })).toBeError(409, 'LAST_ADMIN');
    mustSucceed(await admin.patch(path, { role: 'admin' }));
    mustSucceed(await admin.patch(first, { roles: [forTime('admin', '7d')] }));
    expect(await caller.patch(path, { role: 'viewer' })).toBeError(409, 'LAST_ADMIN');
  });

  test('follows when its role gets another slug', async () => {
    const { admin, caller, own, path } = await scene({ role: 'no-access' });
    const permissions = [{ subject: 'tags', action: ['read'] }];
    const { role } = mustSucceed(await admin.post(`${own}/roles`, { slug: 'tagger', name: 'T', permissions })).body;
    mustSucceed(await admin.patch(path, { roles: [forTime('tagger', '1h')] }));
    const [before] = (await admin.get(path)).body.identityMembership.roles;
    mustSucceed(await admin.patch(`${own}/roles/${role.id}`, { slug: 'labeller' }));
    expect((await admin.get(path)).body.identityMembership.roles).toEqual([{ ...before, role: 'labeller' }]);
    expect((await caller.get(`${own}/tags`)).status).toBe(200);
    await strongroom.advanceClock(HOUR + 1);
    expect(await caller.get(`${own}/tags`)).toBeError(404, 'PROJECT_NOT_FOUND');
    expect(await admin.delete(`${own}/roles/${role.id}`)).toBeError(409, 'ROLE_IN_USE');
  });

  test('is bounded as if it were held now', async () => {
    const later = { temporaryAccessStartTime: new Date(Date.now() + HOUR * 1000).toISOString() };
    const { admin, project, path } = await scene(forTime('admin', '1h', later));
    const member = await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['member'] });
    expect(await member.patch(path, { role: 'viewer' })).toBeError(403, 'PERMISSION_BOUNDARY');
    expect(await member.delete(path)).toBeError(403, 'PERMISSION_BOUNDARY');
    const other = await strongroom.seed.caller(admin, {});
    const its = `/api/v2/workspace/${project.id}/identity-memberships/${other.identityId}`;
    expect(await member.post(its, { roles: [forTime('admin', '1m', later)] })).toBeError(403, 'PERMISSION_BOUNDARY');
    mustSucceed(await member.post(its, { roles: [forTime('member', '1m', later)] }));
  });

  test('is one of two changes that come at the same moment', async () => {
    const { admin, path } = await scene({ role: 'viewer' });
    for (let round = 0; round < 5; round += 1) {
      const [changed, removed] = await Promise.all([
        admin.patch(path, { roles: [forTime('viewer', '2h'), forTime('member', '1h')] }),
        round % 2 === 0 ? admin.delete(path) : admin.patch(path, { role: 'no-access' }),
      ]);
      expect([200, 404]).toContain(changed?.status);
      expect(removed?.status).toBe(200);
      const [row] = await strongroom.sql(
        `select roles, role_terms as terms from project_membership where identity_id = $1`,
        [path.split('/').at(-1)],
      );
      if (row === undefined) mustSucceed(await admin.post(path, { role: 'viewer' }));
      else if (row.terms === null) expect(row.roles).toEqual(['no-access']);
      else expect(row.roles.toSorted()).toEqual(Object.keys(row.terms).toSorted());
    }
  });

  test.each<[string, object]>([
    ['without a range', { temporaryRange: undefined }],
    ['with a range of less than a minute', { temporaryRange: '0m' }],
    ['with a range of more than ten years', { temporaryRange: '522w' }],
    ['with a range in another unit', { temporaryRange: '2y' }],
    ['with a range that is no text', { temporaryRange: 2 }],
    ['with another mode', { temporaryMode: 'absolute' }],
    ['with a start that is no time', { temporaryAccessStartTime: 'tomorrow' }],
    ['with a start that no calendar has', { temporaryAccessStartTime: '9999-12-31T00:00:00Z' }],
    ['unless it is said to be one', { isTemporary: undefined }],
  ])('is refused %s', async (_, change) => {
    const { admin, path } = await scene();
    const reply = await admin.post(path, { roles: [{ role: 'viewer' }, { ...forTime('member', '1h'), ...change }] });
    expect(reply).toBeError(422, 'VALIDATION_FAILED');
    expect(reply.body.details.map((violation: { path: string }) => violation.path)).toEqual([
      expect.stringMatching(/^body\.roles\[1\]\.(isTemporary|temporary\w+)$/),
    ]);
    expect(reply.text).not.toContain('tomorrow');
    mustSucceed(await admin.post(path, { ...forTime('member', '3650d') }));
  });

  test('is refused with all that is wrong with it and with the list', async () => {
    const { admin, path } = await scene();
    const roles = [{ role: 'viewer' }, { role: 'viewer' }, { role: 7, isTemporary: true }];
    const reply = await admin.post(path, { roles, role: 7 });
    expect(reply).toBeError(422, 'VALIDATION_FAILED');
    expect(
      reply.body.details.map((each: { path: string; code: string }) => `${each.path} ${each.code}`).sort(),
    ).toEqual([
      'body.role INVALID',
      'body.role INVALID_TYPE',
      'body.roles INVALID',
      'body.roles[2].role INVALID_TYPE',
      'body.roles[2].temporaryRange MISSING',
    ]);
  });

  test('may be sent back as it was shown, and not with another end', async () => {
    const { admin, path } = await scene();
    const { roles } = mustSucceed(await admin.post(path, { roles: [forTime('viewer', '2h')] })).body.identityMembership;
    const again = mustSucceed(await admin.patch(path, { roles })).body.identityMembership;
    expect(again.roles).toEqual(roles);
    for (const temporaryAccessEndTime of ['2099-01-01T00:00:00Z', 'soon', 7]) {
      const refused = await admin.patch(path, { roles: [{ ...roles[0], temporaryAccessEndTime }] });
      expect(refused).toBeError(422, 'VALIDATION_FAILED');
      expect(refused.body.details).toMatchObject([{ path: 'body.roles[0].temporaryAccessEndTime' }]);
    }
    expect(mustSucceed(await admin.get(path)).body.identityMembership.roles).toEqual(roles);
  });

  test('has its fields ignored where it is held for good', async () => {
    const { admin, path } = await scene();
    const entry = { ...forTime('viewer', 'nonsense'), isTemporary: false, temporaryAccessStartTime: '' };
    const { identityMembership } = mustSucceed(await admin.post(path, { roles: [entry] })).body;
    expect(identityMembership.roles).toEqual(forGood('viewer'));
  });
});
