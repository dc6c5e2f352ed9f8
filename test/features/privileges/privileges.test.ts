import { type Caller, mustSucceed } from '../../kit/caller.js';
import { callerWithRules, type GivenRule } from '../../kit/rules.js';
import { type SharedStrongroom, useSharedStrongroom } from '../../kit/strongroom.js';

const PRIVILEGES = '/api/v2/identity-project-additional-privilege';
const READ: GivenRule = { subject: 'secrets', action: ['readValue'], conditions: { environment: 'dev' } };
const FIELDS = `id slug isTemporary range startsAt endsAt isActive membershipId membership { id memberId } project { id }
  rules { subject action inverted conditions { environment { is } } } permissions { action }`;

/** An organization with a project, its admin, and a machine identity that is a member without rights. */
async function scene(strongroom: SharedStrongroom) {
  const { admin, project } = await strongroom.seed.project();
  const holder = await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['no-access'] });
  await strongroom.seed.secrets(admin, project, 'dev', 1);
  const place = { projectId: project.id, identityId: holder.identityId };
  const give = (caller: Caller, body: object = {}) =>
    caller.post(PRIVILEGES, { ...place, permissions: [READ], ...body });
  const reads = async (): Promise<number> =>
    (await holder.get(`/api/v4/secrets/KEY_00000?projectId=${project.id}&environment=dev`)).status;
  return { admin, project, holder, place, give, reads };
}

describe('an additional privilege', () => {
  const strongroom = useSharedStrongroom();

  test('allows its holder more from the next request on, and no more when it is gone', async () => {
    const { admin, project, holder, give, reads } = await scene(strongroom);
    expect(await reads()).not.toBe(200);

    const { privilege } = mustSucceed(await give(admin, { slug: 'release-week' })).body;
    expect(privilege).toMatchObject({
      slug: 'release-week',
      projectId: project.id,
      isTemporary: false,
      temporaryMode: null,
      temporaryRange: null,
      temporaryAccessStartTime: null,
      temporaryAccessEndTime: null,
      isActive: true,
      permissions: [{ subject: 'secrets', action: ['readValue'], inverted: false, conditions: { environment: 'dev' } }],
    });
    await admin.patch(`${PRIVILEGES}/${privilege.id}`, {
      permissions: [{ subject: 'secrets', action: 'read', conditions: { environment: 'dev' } }],
    });
    expect(await reads()).toBe(200);

    const shown = mustSucceed(await admin.get(`${PRIVILEGES}/${privilege.id}`)).body.privilege;
    expect(shown.permissions[0].action).toEqual(['read']);
    const list = `${PRIVILEGES}?projectId=${project.id}&identityId=${holder.identityId}`;
    expect(mustSucceed(await admin.get(list)).body.privileges).toEqual([shown]);

    mustSucceed(await admin.delete(`${PRIVILEGES}/${privilege.id}`));
    expect(await reads()).not.toBe(200);
    expect(mustSucceed(await admin.get(list)).body.privileges).toEqual([]);
    expect(await admin.get(`${PRIVILEGES}/${privilege.id}`)).toBeError(404, 'PRIVILEGE_NOT_FOUND');
    expect(await admin.delete(`${PRIVILEGES}/${privilege.id}`)).toBeError(404, 'PRIVILEGE_NOT_FOUND');
  });

  test('holds for its time, and not a moment longer, without anything that would end it', async () => {
    const { admin, give, reads } = await scene(strongroom);
    const permissions = [{ subject: 'secrets', action: 'read' }];
    const type = { isTemporary: true, temporaryMode: 'relative', temporaryRange: '2h' };
    const { privilege } = mustSucceed(await give(admin, { permissions, type })).body;
    const { temporaryAccessStartTime: start, temporaryAccessEndTime: end } = privilege;
    expect(Date.parse(end) - Date.parse(start)).toBe(2 * 3_600_000);
    expect(privilege).toMatchObject({
      isTemporary: true,
      temporaryMode: 'relative',
      temporaryRange: '2h',
      isActive: true,
    });
    expect(await reads()).toBe(200);

    const move = (column: string) =>
      strongroom.sql(`update additional_privilege set starts_at = ${column} where id = $1`, [privilege.id]);
    await move(`now() + interval '1 minute'`);
    expect(await reads()).not.toBe(200);
    await move('now()');
    expect(await reads()).toBe(200);
    await strongroom.sql('update additional_privilege set ends_at = now() where id = $1', [privilege.id]);
    expect(await reads()).not.toBe(200);
    expect(mustSucceed(await admin.get(`${PRIVILEGES}/${privilege.id}`)).body.privilege.isActive).toBe(false);

    const forGood = {
      type: { isTemporary: false, temporaryRange: '', temporaryAccessStartTime: '0001-01-01T00:00:00Z' },
    };
    const after = mustSucceed(await admin.patch(`${PRIVILEGES}/${privilege.id}`, forGood)).body.privilege;
    expect(after).toMatchObject({ isTemporary: false, temporaryAccessEndTime: null, isActive: true });
    expect(await reads()).toBe(200);
  });

  test('begins when it says, with a range of its own', async () => {
    const { admin, give } = await scene(strongroom);
    const type = { isTemporary: true, temporaryRange: '1w', temporaryAccessStartTime: '2030-01-01T00:00:00+01:00' };
    const { privilege } = mustSucceed(await give(admin, { type })).body;
    expect(privilege).toMatchObject({
      temporaryAccessStartTime: '2029-12-31T23:00:00.000Z',
      temporaryAccessEndTime: '2030-01-07T23:00:00.000Z',
      isActive: false,
    });
  });

  test('has a slug that is unique for its member, and one of its own without', async () => {
    const { admin, project, give } = await scene(strongroom);
    mustSucceed(await give(admin, { slug: 'own' }));
    expect(await give(admin, { slug: 'own' })).toBeError(409, 'PRIVILEGE_SLUG_TAKEN');
    const other = await strongroom.seed.caller(admin, { project: project.id });
    mustSucceed(await give(admin, { slug: 'own', identityId: other.identityId }));

    const made = mustSucceed(await give(admin)).body.privilege;
    expect(made.slug).toMatch(/^privilege-[a-z0-9]+$/);
    const { body } = await give(admin, { slug: 'second' });
    const path = `${PRIVILEGES}/${body.privilege.id}`;
    expect(await admin.patch(path, { slug: 'own' })).toBeError(409, 'PRIVILEGE_SLUG_TAKEN');
    expect(mustSucceed(await admin.patch(path, { slug: 'third' })).body.privilege.slug).toBe('third');
  });

  test('is given once when two give it at the same moment', async () => {
    const { admin, give } = await scene(strongroom);
    const replies = await Promise.all([give(admin, { slug: 'own' }), give(admin, { slug: 'own' })]);
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409]);
  });

  test('is found by GraphQL from its project, its member and its id alone, for users too', async () => {
    const { admin, project } = await scene(strongroom);
    const user = await strongroom.seed.user(admin, { project: project.id });
    const input = {
      projectId: project.id,
      memberKind: 'USER',
      memberId: user.userId,
      slug: 'own',
      permissions: [{ subject: 'SECRETS', action: ['EDIT'], conditions: { environment: { is: 'dev' } } }],
      term: { range: '30m' },
    };
    const { createAdditionalPrivilege } = await admin.data(
      `mutation ($input: CreateAdditionalPrivilegeInput!) { createAdditionalPrivilege(input: $input) { privilege { ${FIELDS} } } }`,
      { input },
    );
    const { privilege } = createAdditionalPrivilege;
    expect(privilege).toMatchObject({
      slug: 'own',
      isTemporary: true,
      range: '30m',
      isActive: true,
      project: { id: project.id },
      membership: { id: privilege.membershipId, memberId: user.userId },
      rules: [{ subject: 'SECRETS', action: ['EDIT'], inverted: false, conditions: { environment: { is: 'dev' } } }],
      permissions: [{ action: 'EDIT' }],
    });
    const found = await admin.data(
      `query ($id: ID!, $projectId: ID!, $memberId: ID!) {
        node(id: $id) { ... on AdditionalPrivilege { ${FIELDS} } }
        additionalPrivilege(id: $id) { ${FIELDS} }
        additionalPrivilegeBySlug(projectId: $projectId, memberKind: USER, memberId: $memberId, slug: "own") { ${FIELDS} }
        additionalPrivileges(projectId: $projectId, first: 1) { nodes { ${FIELDS} } pageInfo { hasNextPage } }
        projectMembership(projectId: $projectId, memberKind: USER, memberId: $memberId) {
          additionalPrivileges { nodes { ${FIELDS} } }
        }
      }`,
      { id: privilege.id, projectId: project.id, memberId: user.userId },
    );
    expect(found).toEqual({
      node: privilege,
      additionalPrivilege: privilege,
      additionalPrivilegeBySlug: privilege,
      additionalPrivileges: { nodes: [privilege], pageInfo: { hasNextPage: false } },
      projectMembership: { additionalPrivileges: { nodes: [privilege] } },
    });
  });

  test('ends with the membership, and is for nobody without one of its own', async () => {
    const { admin, project, holder, give } = await scene(strongroom);
    const { privilege } = mustSucceed(await give(admin)).body;
    mustSucceed(await admin.delete(`/api/v2/workspace/${project.id}/identity-memberships/${holder.identityId}`));
    const list = `${PRIVILEGES}?projectId=${project.id}&identityId=${holder.identityId}`;
    expect(await admin.get(list)).toBeError(404, 'MEMBERSHIP_NOT_FOUND');
    expect(await admin.get(`${PRIVILEGES}/${privilege.id}`)).toBeError(404, 'PRIVILEGE_NOT_FOUND');
    expect(await give(admin)).toBeError(404, 'MEMBERSHIP_NOT_FOUND');
    expect(await give(admin, { identityId: 'nobody' })).toBeError(404, 'MEMBERSHIP_NOT_FOUND');
    expect(await give(admin, { projectId: holder.identityId })).toBeError(404, 'PROJECT_NOT_FOUND');
  });

  test('is refused with all that is wrong with it', async () => {
    const { admin, give } = await scene(strongroom);
    const reply = await give(admin, {
      slug: 'Not a slug',
      permissions: [{ subject: 'secrets', action: 'fly' }],
      type: {
        isTemporary: true,
        temporaryMode: 'absolute',
        temporaryRange: '5 parsecs',
        temporaryAccessStartTime: 'soon',
      },
    });
    expect(reply).toBeError(422, 'VALIDATION_FAILED');
    const paths = reply.body.details.map(({ path }: { path: string }) => path);
    for (const path of [
      'slug',
      'permissions[0].action',
      'type.temporaryMode',
      'type.temporaryRange',
      'type.temporaryAccessStartTime',
    ])
      expect(paths).toContainEqual(expect.stringContaining(path));
    expect(await give(admin, { type: { isTemporary: true } })).toBeError(422, 'VALIDATION_FAILED');
  });

  test('is hidden from other organizations as one that does not exist', async () => {
    const { admin, give, project } = await scene(strongroom);
    const { privilege } = mustSucceed(await give(admin)).body;
    const { admin: stranger } = await strongroom.seed.project();
    const path = `${PRIVILEGES}/${privilege.id}`;
    for (const reply of [await stranger.get(path), await stranger.patch(path, {}), await stranger.delete(path)])
      expect(reply).toBeError(404, 'PRIVILEGE_NOT_FOUND');
    expect(await give(stranger)).toBeError(404, 'PROJECT_NOT_FOUND');
    expect((await stranger.get(`${PRIVILEGES}?projectId=${project.id}&identityId=x`)).status).toBe(404);
  });
});

describe('who may give an additional privilege', () => {
  const strongroom = useSharedStrongroom();
  const EDIT: GivenRule = { subject: 'identity', action: ['read', 'edit'] };

  test('has the rights that it gives, and takes', async () => {
    const { admin, project, give } = await scene(strongroom);
    const { caller, change } = await callerWithRules(strongroom, admin, project.id, EDIT);
    const beyond = await give(caller);
    expect(beyond).toBeError(403, 'PERMISSION_BOUNDARY');
    expect(beyond.body.details).toEqual([expect.objectContaining({ path: 'secrets', code: 'readValue' })]);

    await change(EDIT, READ);
    const { privilege } = mustSucceed(await give(caller)).body;
    const path = `${PRIVILEGES}/${privilege.id}`;
    const everywhere = { permissions: [{ subject: 'secrets', action: 'readValue' }] };
    expect(await caller.patch(path, everywhere)).toBeError(403, 'PERMISSION_BOUNDARY');
    mustSucceed(await caller.patch(path, { type: { isTemporary: true, temporaryRange: '1h' } }));

    // An attribute is its holder's: nobody knows whether it is one of the giver's own environments.
    const named = { permissions: [{ ...READ, conditions: { environment: '{{identity.metadata.name}}' } }] };
    expect(await caller.patch(path, named)).toBeError(403, 'PERMISSION_BOUNDARY');

    await change(EDIT);
    expect(await caller.delete(path)).toBeError(403, 'PERMISSION_BOUNDARY');
    await strongroom.sql(
      `update additional_privilege set starts_at = now() - interval '2h', ends_at = now() where id = $1`,
      [privilege.id],
    );
    mustSucceed(await caller.delete(path));
  });

  test('neither forbids rights that it does not have, nor lifts what forbids them', async () => {
    const { admin, project, give } = await scene(strongroom);
    const forbids = { permissions: [{ ...READ, inverted: true }] };
    const { privilege } = mustSucceed(await give(admin, forbids)).body;
    const path = `${PRIVILEGES}/${privilege.id}`;
    const { caller, change } = await callerWithRules(strongroom, admin, project.id, EDIT);
    for (const reply of [
      await give(caller, { ...forbids, slug: 'other' }),
      await caller.delete(path),
      await caller.patch(path, { permissions: [] }),
      await caller.patch(path, { type: { isTemporary: true, temporaryRange: '1h' } }),
    ])
      expect(reply).toBeError(403, 'PERMISSION_BOUNDARY');
    await change(EDIT, READ);
    mustSucceed(await caller.delete(path));
  });

  test('may edit members of the kind, or hand on just this', async () => {
    const { admin, project, holder, give } = await scene(strongroom);
    const giver = async (...rules: readonly GivenRule[]) =>
      (await callerWithRules(strongroom, admin, project.id, READ, ...rules)).caller;
    const on = (conditions: object): GivenRule => ({
      subject: 'identity',
      action: ['assign-additional-privileges'],
      conditions: conditions as never,
    });

    expect(await give(await giver({ subject: 'identity', action: 'read' }))).toBeError(403, 'PERMISSION_DENIED');
    expect(await give(await giver({ subject: 'member', action: 'edit' }))).toBeError(403, 'PERMISSION_DENIED');
    mustSucceed(await give(await giver({ subject: 'identity', action: 'grant-privileges' })));
    mustSucceed(await give(await giver(on({ subject: 'secrets', action: { $in: ['readValue'] } }))));
    mustSucceed(await give(await giver(on({ identityId: holder.identityId }))));
    for (const conditions of [
      { identityId: admin.identityId },
      { subject: 'tags' },
      { subject: 'secrets', action: 'edit' },
      { identityId: holder.identityId, action: { $ne: 'readValue' } },
    ]) {
      expect(await give(await giver(on(conditions)))).toBeError(403, 'PERMISSION_DENIED');
    }
    const delegate = await giver(on({ subject: 'secrets', action: 'readValue' }), {
      subject: 'secrets',
      action: 'edit',
    });
    expect(await give(delegate, { permissions: [READ, { subject: 'secrets', action: 'edit' }] })).toBeError(
      403,
      'PERMISSION_DENIED',
    );
    const { privilege } = mustSucceed(await give(delegate)).body;
    mustSucceed(await delegate.patch(`${PRIVILEGES}/${privilege.id}`, { slug: 'mine' }));
    mustSucceed(await delegate.delete(`${PRIVILEGES}/${privilege.id}`));
  });

  test('sees those of the members that it may read', async () => {
    const { admin, project, holder, give } = await scene(strongroom);
    const { privilege } = mustSucceed(await give(admin)).body;
    const { caller } = await callerWithRules(strongroom, admin, project.id, {
      subject: 'identity',
      action: 'read',
      conditions: { identityId: { $ne: holder.identityId } },
    });
    const list = `${PRIVILEGES}?projectId=${project.id}&identityId=${holder.identityId}`;
    expect(await caller.get(list)).toBeError(403, 'PERMISSION_DENIED');
    const { additionalPrivileges } = await caller.data(
      'query ($id: ID!) { additionalPrivileges(projectId: $id, memberKind: IDENTITY) { nodes { id } } }',
      { id: project.id },
    );
    expect(additionalPrivileges.nodes).toEqual([]);
    expect(await caller.get(`${PRIVILEGES}/${privilege.id}`)).toBeError(403, 'PERMISSION_DENIED');
    expect(await caller.data('query ($id: ID!) { node(id: $id) { id } }', { id: privilege.id })).toEqual({
      node: null,
    });
  });
});

describe('the older form of additional privileges', () => {
  const strongroom = useSharedStrongroom();
  const OLDER = '/api/v1/additional-privilege/identity';

  test('gives, shows, changes and takes them by slugs', async () => {
    const { admin, project, holder, reads } = await scene(strongroom);
    const key = { projectSlug: project.slug, identityId: holder.identityId };
    const privilegePermission = {
      subject: 'secrets',
      actions: ['describeSecret', 'readValue'],
      conditions: { environment: 'dev' },
    };
    const { privilege } = mustSucceed(
      await admin.post(`${OLDER}/permanent`, { ...key, slug: 'own', privilegePermission }),
    ).body;
    expect(privilege).toMatchObject({
      slug: 'own',
      isTemporary: false,
      permissions: ['describeSecret', 'readValue'].map((action) => ({
        subject: 'secrets',
        action,
        inverted: false,
        conditions: { environment: 'dev' },
      })),
    });
    expect(await reads()).toBe(200);

    const at = `${OLDER}/own?projectSlug=${project.slug}&identityId=${holder.identityId}`;
    expect(mustSucceed(await admin.get(at)).body.privilege).toEqual(privilege);
    const list = `${OLDER}?projectSlug=${project.slug}&identityId=${holder.identityId}`;
    expect(mustSucceed(await admin.get(list)).body.privileges).toEqual([privilege]);

    const details = { slug: 'renamed', isTemporary: true, temporaryMode: 'relative', temporaryRange: '2h' };
    const changed = mustSucceed(
      await admin.patch(OLDER, { ...key, privilegeSlug: 'own', privilegeDetails: details }),
    ).body;
    expect(changed.privilege).toMatchObject({
      id: privilege.id,
      slug: 'renamed',
      isTemporary: true,
      temporaryRange: '2h',
    });
    expect(await admin.get(at)).toBeError(404, 'PRIVILEGE_NOT_FOUND');
    expect(await admin.delete(OLDER, { ...key, privilegeSlug: 'own' })).toBeError(404, 'PRIVILEGE_NOT_FOUND');
    mustSucceed(await admin.delete(OLDER, { ...key, privilegeSlug: 'renamed' }));
    expect(await reads()).not.toBe(200);
  });

  test('shows an environment that a rule is equal to by itself', async () => {
    const { admin, project, holder, give } = await scene(strongroom);
    const conditions = { environment: { $eq: 'dev' }, secretPath: { $glob: '/**' } };
    mustSucceed(await give(admin, { slug: 'own', permissions: [{ ...READ, conditions }] }));
    const at = `${OLDER}/own?projectSlug=${project.slug}&identityId=${holder.identityId}`;
    const { privilege } = mustSucceed(await admin.get(at)).body;
    expect(privilege.permissions[0].conditions).toEqual({ environment: 'dev', secretPath: { $glob: '/**' } });
  });

  test('is refused with all that is wrong with it', async () => {
    const { admin, project, holder } = await scene(strongroom);
    const reply = await admin.post(`${OLDER}/temporary`, {
      projectSlug: project.slug,
      identityId: holder.identityId,
      privilegePermission: { subject: 'secrets', actions: ['fly'], conditions: { secretPath: 'a' } },
      temporaryRange: 'x',
    });
    expect(reply).toBeError(422, 'VALIDATION_FAILED');
    const paths = reply.body.details.map(({ path }: { path: string }) => path);
    for (const path of ['privilegePermission.actions', 'temporaryRange'])
      expect(paths).toContainEqual(expect.stringContaining(path));
    const unknown = { projectSlug: 'no-such', identityId: holder.identityId, privilegeSlug: 'own' };
    expect(await admin.delete(OLDER, unknown)).toBeError(404, 'PROJECT_NOT_FOUND');
  });
});
