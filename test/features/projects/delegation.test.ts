import { type Caller, mustSucceed } from '../../kit/caller.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';

const strongroom = useSharedStrongroom();
const READS = { subject: 'secrets', action: ['describeSecret', 'readValue'] };
const EDITS = { subject: 'secrets', action: 'edit' };
const assign = (conditions?: object, subject = 'identity') => ({ subject, action: 'assign-role', conditions });

/** A project with the roles reader and editor, and a caller who is no editor of members but has these rules. */
async function scene(...rules: readonly object[]) {
  const { admin, project, organization } = await strongroom.seed.project();
  const make = async (slug: string, ...permissions: readonly object[]) =>
    mustSucceed(await admin.post(`/api/v1/projects/${project.id}/roles`, { slug, name: slug, permissions })).body.role;
  await make('reader', READS);
  await make('editor', EDITS);
  const own = await make('delegate', READS, ...rules);
  const delegate = await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['delegate'] });
  const other = await strongroom.seed.caller(admin, {});
  const pathOf = (identityId: string | undefined) =>
    `/api/v2/workspace/${project.id}/identity-memberships/${identityId}`;
  return { admin, project, organization, delegate, other, own, make, pathOf, path: pathOf(other.identityId) };
}

describe('whoever may assign roles without editing memberships', () => {
  test('adds, changes and removes the roles that its rules name', async () => {
    const { admin, delegate, path } = await scene(assign({ role: 'reader' }));
    expect(await delegate.post(path, { role: 'editor' })).toBeError(403, 'PERMISSION_DENIED');
    expect(await delegate.post(path, { roles: [{ role: 'reader' }, { role: 'viewer' }] })).toBeError(
      403,
      'PERMISSION_DENIED',
    );
    mustSucceed(await delegate.post(path, { role: 'reader' }));
    mustSucceed(await delegate.patch(path, { role: 'reader' }));
    mustSucceed(await delegate.delete(path));
    mustSucceed(await admin.post(path, { roles: [{ role: 'no-access' }, { role: 'editor' }] }));
    const kept = [{ role: 'no-access' }, { role: 'editor' }];
    mustSucceed(await delegate.patch(path, { roles: [...kept, { role: 'reader' }] }));
    const temporary = { role: 'reader', isTemporary: true, temporaryMode: 'relative', temporaryRange: '1h' };
    mustSucceed(await delegate.patch(path, { roles: [...kept, temporary] }));
    mustSucceed(await delegate.patch(path, { roles: kept }));
    for (const roles of [[{ role: 'no-access' }], [{ role: 'reader' }], kept])
      expect(await delegate.patch(path, { roles })).toBeError(403, 'PERMISSION_DENIED');
    expect(await delegate.delete(path)).toBeError(403, 'PERMISSION_DENIED');
    const denied = await strongroom.auditRows(`outcome = 'denied' and actor_id = $1`, [delegate.identityId]);
    expect(new Set(denied.map(({ action }) => action))).toEqual(new Set(['identity:assign-role']));
  });

  test('stays within its own rights', async () => {
    const { delegate, path, admin, own, project } = await scene(assign());
    const beyond = await delegate.post(path, { role: 'editor' });
    expect(beyond).toBeError(403, 'PERMISSION_BOUNDARY');
    expect(beyond.body.details).toEqual([
      { path: 'secrets', code: 'edit', message: 'requires the action edit on secrets' },
    ]);
    mustSucceed(await admin.post(path, { roles: [{ role: 'editor' }, { role: 'reader' }] }));
    expect(await delegate.patch(path, { role: 'reader' })).toBeError(403, 'PERMISSION_BOUNDARY');
    expect(await delegate.delete(path)).toBeError(403, 'PERMISSION_BOUNDARY');
    mustSucceed(await delegate.patch(path, { role: 'editor' }));
    const permissions = [READS, EDITS, { subject: 'identity', action: 'grant-privileges' }];
    mustSucceed(await admin.patch(`/api/v1/projects/${project.id}/roles/${own.id}`, { permissions }));
    mustSucceed(await delegate.delete(path));
  });

  test('is judged by whom it gives roles to, and learns nothing of others', async () => {
    const { admin, delegate, other, path, pathOf, own, project } = await scene();
    const stranger = await strongroom.seed.caller(admin, { project: project.id });
    const permissions = [READS, assign({ identityId: other.identityId })];
    mustSucceed(await admin.patch(`/api/v1/projects/${project.id}/roles/${own.id}`, { permissions }));
    const texts = [];
    for (const identityId of [stranger.identityId, '6f1c2a60-5a3e-4c52-9f43-6f4b8f0f2f11', 'no-uuid']) {
      const reply = await delegate.patch(pathOf(identityId), { role: 'reader' });
      expect(reply).toBeError(403, 'PERMISSION_DENIED');
      texts.push(reply.text.replace(reply.body.reqId, ''));
    }
    expect(new Set(texts).size).toBe(1);
    expect(await delegate.patch(path, { role: 'reader' })).toBeError(404, 'MEMBERSHIP_NOT_FOUND');
    expect(await delegate.post(path, { role: 'nothing' })).toBeError(404, 'ROLE_NOT_FOUND');
    mustSucceed(await delegate.post(path, { role: 'reader' }));
    expect(await delegate.get(path)).toBeError(403, 'PERMISSION_DENIED');
  });

  test('is judged by each subject and action that the role allows', async () => {
    const { delegate, path, make } = await scene({ subject: 'tags', action: 'read' }, assign({ subject: 'secrets' }), {
      ...assign({ action: 'edit' }),
      inverted: true,
    });
    await make('tagger', READS, { subject: 'tags', action: 'read' });
    expect(await delegate.post(path, { role: 'tagger' })).toBeError(403, 'PERMISSION_DENIED');
    expect(await delegate.post(path, { role: 'editor' })).toBeError(403, 'PERMISSION_DENIED');
    mustSucceed(await delegate.post(path, { role: 'reader' }));
  });

  test('gives them to users by name, and to groups by slug', async () => {
    const { admin, delegate, project, own } = await scene();
    const user = await strongroom.seed.user(admin);
    const { user: found } = await admin.data('query ($id: ID!) { user(id: $id) { username } }', { id: user.userId });
    const [group, foreign] = [await strongroom.seed.group(admin), await strongroom.seed.group(admin)];
    const permissions = [
      READS,
      assign({ username: found.username, role: 'reader' }, 'member'),
      assign({ groupSlug: group.slug }, 'groups'),
    ];
    mustSucceed(await admin.patch(`/api/v1/projects/${project.id}/roles/${own.id}`, { permissions }));
    const people = `/api/v1/projects/${project.id}/memberships`;
    const other = await strongroom.seed.user(admin);
    expect(await delegate.post(people, { userId: other.userId, role: 'reader' })).toBeError(403, 'PERMISSION_DENIED');
    mustSucceed(await delegate.post(people, { userId: user.userId, role: 'reader' }));
    mustSucceed(await delegate.delete(`${people}/${user.userId}`));
    const invite = (...usernames: string[]) =>
      delegate.post(`/api/v2/workspace/${project.id}/memberships`, { usernames, roleSlugs: ['reader'] });
    expect(await invite(found.username, 'nobody')).toBeError(403, 'PERMISSION_DENIED');
    mustSucceed(await invite(found.username));
    const groups = `/api/v2/workspace/${project.id}/groups`;
    expect(await delegate.post(`${groups}/${foreign.slug}`, { role: 'reader' })).toBeError(403, 'PERMISSION_DENIED');
    mustSucceed(await delegate.post(`${groups}/${group.id}`, { role: 'reader' }));
    mustSucceed(await delegate.delete(`${groups}/${group.slug}`));
  });

  test('takes privileges with a membership only where it may assign these too', async () => {
    const { admin, delegate, other, path, project, own } = await scene(assign());
    mustSucceed(await admin.post(path, { role: 'reader' }));
    await strongroom.sql(
      `insert into additional_privilege (id, organization_id, project_id, membership_id, slug, permissions)
       select gen_random_uuid(), organization_id, project_id, id, 'extra', $2::jsonb from project_membership where identity_id = $1`,
      [other.identityId, JSON.stringify([READS])],
    );
    expect(await delegate.delete(path)).toBeError(403, 'PERMISSION_DENIED');
    const permissions = [READS, assign(), { subject: 'identity', action: 'assign-additional-privileges' }];
    mustSucceed(await admin.patch(`/api/v1/projects/${project.id}/roles/${own.id}`, { permissions }));
    mustSucceed(await delegate.delete(path));
  });
});

test('memberships are edited where the rules of the editor say', async () => {
  const { admin, delegate, other, path, pathOf, own, project } = await scene();
  const stranger = await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['no-access'] });
  const life = { subject: 'identity', action: ['read', 'create', 'edit', 'delete'] };
  const permissions = [READS, { ...life, conditions: { identityId: other.identityId } }];
  mustSucceed(await admin.patch(`/api/v1/projects/${project.id}/roles/${own.id}`, { permissions }));
  for (const reply of [
    await delegate.get(pathOf(stranger.identityId)),
    await delegate.patch(pathOf(stranger.identityId), { role: 'reader' }),
    await delegate.delete(pathOf(stranger.identityId)),
  ])
    expect(reply).toBeError(403, 'PERMISSION_DENIED');
  mustSucceed(await delegate.post(path, { role: 'reader' }));
  const list = `/api/v2/workspace/${project.id}/identity-memberships`;
  for (const page of ['', '?limit=1']) {
    const { identityMemberships, nextCursor } = (await delegate.get(list + page)).body;
    expect(identityMemberships.map(({ identityId }: { identityId: string }) => identityId)).toEqual([other.identityId]);
    expect(nextCursor).toBeUndefined();
  }
  mustSucceed(await delegate.delete(path));
});

describe('a new slug of a role', () => {
  const roleOf = async (admin: Caller, projectId: string, slug: string) =>
    mustSucceed(await admin.get(`/api/v1/projects/${projectId}/roles/slug/${slug}`)).body.role;

  test('is put in the place of the old one where rules of roles and privileges name it', async () => {
    const forbidden = { ...assign({ role: 'reader' }), inverted: true };
    const { admin, project, delegate, other, own, path } = await scene(assign(), forbidden);
    mustSucceed(await admin.post(path, { role: 'no-access' }));
    const privileges = '/api/v2/identity-project-additional-privilege';
    const { privilege } = mustSucceed(
      await admin.post(privileges, {
        projectId: project.id,
        identityId: other.identityId,
        permissions: [assign({ role: { $in: ['reader', 'viewer'] } })],
      }),
    ).body;
    const { id } = await roleOf(admin, project.id, 'reader');

    mustSucceed(await admin.patch(`/api/v1/projects/${project.id}/roles/${id}`, { slug: 'watcher' }));

    expect(await delegate.patch(path, { role: 'watcher' })).toBeError(403, 'PERMISSION_DENIED');
    expect((await roleOf(admin, project.id, 'delegate')).permissions.at(-1)).toMatchObject({
      inverted: true,
      conditions: { role: 'watcher' },
    });
    const { permissions } = mustSucceed(await admin.get(`${privileges}/${privilege.id}`)).body.privilege;
    expect(permissions).toMatchObject([{ conditions: { role: { $in: ['watcher', 'viewer'] } } }]);
    const [row] = await strongroom.auditRows(`action = 'project-role:update' and project_id = $1`, [project.id]);
    expect(row?.facts).toMatchObject({ roleId: id, slug: 'watcher', renamedIn: [own.id, privilege.id] });
  });

  test('needs the rights of a rule that selects the role by one of the two all the same', async () => {
    const { admin, project, make } = await scene(assign({ role: { $glob: 'read*' } }));
    await make('renamer', READS, { subject: 'role', action: ['read', 'edit'] });
    const renamer = await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['renamer'] });
    const { id } = await roleOf(admin, project.id, 'reader');
    const rename = (caller: Caller, slug: string) =>
      caller.patch(`/api/v1/projects/${project.id}/roles/${id}`, { slug });

    mustSucceed(await rename(renamer, 'reads'));
    expect(await rename(renamer, 'watcher')).toBeError(403, 'PERMISSION_BOUNDARY');
    expect((await roleOf(admin, project.id, 'reads')).id).toBe(id);
    mustSucceed(await rename(admin, 'watcher'));
  });
});
