import { mustSucceed } from '../../kit/caller.js';
import { callerWithRules, type GivenRule } from '../../kit/rules.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';
import { groupInProject, groupWith, organizationCaller, projectRole, word } from '../groups/kit.js';

const UPDATE_USER = 'mutation ($input: UpdateUserInput!) { updateUser(input: $input) { user { id username } } }';

describe('a new name of somebody whom a rule of a project names', () => {
  const strongroom = useSharedStrongroom();

  /** Somebody who may rename people and groups, and take any of them out of a project but for those that a rule names. */
  async function scene() {
    const { admin, project } = await strongroom.seed.project();
    const caller = await organizationCaller(
      strongroom,
      admin,
      { subject: 'groups', action: ['read', 'edit'] },
      { subject: 'member', action: ['read', 'edit'] },
    );
    const forbids = (subject: string, conditions: object) =>
      projectRole(admin, project.id, { subject, action: ['delete'], inverted: true, conditions } as never);
    return { admin, project, caller, forbids };
  }

  test('is refused for a group, without disclosing the rule, and given by who may rescue projects', async () => {
    const { admin, project, caller, forbids } = await scene();
    const group = await groupWith(admin, 'no-access');
    await groupInProject(admin, group, project.id, 'viewer');
    mustSucceed(await caller.patch(`/api/v1/groups/${group}`, { slug: word('free') }));
    const slug = word('vip');
    mustSucceed(await caller.patch(`/api/v1/groups/${group}`, { slug }));
    await forbids('groups', { groupSlug: slug });
    const refused = await caller.patch(`/api/v1/groups/${group}`, { slug: word('other') });
    expect(refused).toBeError(403, 'PERMISSION_BOUNDARY');
    expect(refused.body.details).toEqual([{ path: 'role', code: 'edit', message: 'requires the action edit on role' }]);
    expect(mustSucceed(await admin.get(`/api/v1/groups/${group}`)).body.slug).toBe(slug);
    mustSucceed(await caller.patch(`/api/v1/groups/${group}`, { slug, name: 'The same slug' }));
    // Not into a rule, either; a name that no rule looks at is free.
    const second = await groupWith(admin, 'no-access');
    await forbids('groups', { groupSlug: { $glob: 'kept-*' } });
    const into = await caller.patch(`/api/v1/groups/${second}`, { slug: word('kept') });
    expect(into).toBeError(403, 'PERMISSION_BOUNDARY');
    mustSucceed(await caller.patch(`/api/v1/groups/${second}`, { slug: word('any') }));
    mustSucceed(await admin.patch(`/api/v1/groups/${group}`, { slug: word('other') }));
  });

  test('is refused for a user, and nothing is changed', async () => {
    const { admin, caller, forbids } = await scene();
    const username = word('boss');
    const { createUser } = await admin.data(
      'mutation ($input: CreateUserInput!) { createUser(input: $input) { user { id } } }',
      { input: { username } },
    );
    const { id } = createUser.user;
    await forbids('member', { username: { $glob: 'boss-*' } });
    expect(await caller.graphql(UPDATE_USER, { input: { id, username: word('nobody') } })).toBeError(
      403,
      'PERMISSION_BOUNDARY',
    );
    const { user } = await admin.data('query ($id: ID!) { user(id: $id) { username } }', { id });
    expect(user.username).toBe(username);
    await admin.data(UPDATE_USER, { input: { id, username: word('nobody') } });
  });
});

describe('a new name of a place or a tag that a rule of somebody else names', () => {
  const strongroom = useSharedStrongroom();

  const ALL = ['read', 'create', 'edit', 'delete'];
  const secrets = (action: readonly string[], more: object = {}): GivenRule => ({
    subject: 'secrets',
    action,
    ...more,
  });

  /** A secret in a folder, with a tag, and whoever may do everything with them and with roles, but for deleting secrets. */
  async function scene(...others: readonly GivenRule[]) {
    const { admin, project } = await strongroom.seed.project();
    const { id: projectId } = project;
    const at = { projectId, environment: 'dev' };
    const { folder } = mustSucceed(await admin.post('/api/v2/folders', { ...at, path: '/', name: 'shut' })).body;
    const tags = `/api/v1/projects/${projectId}/tags`;
    const { tag } = mustSucceed(await admin.post(tags, { slug: 'shut', color: '#aa0000' })).body;
    const secret = { ...at, secretPath: '/shut', secretValue: 'value', tagIds: [tag.id] };
    mustSucceed(await admin.post('/api/v4/secrets/KEY', secret));
    await callerWithRules(strongroom, admin, projectId, ...others);
    const { caller } = await callerWithRules(
      strongroom,
      admin,
      projectId,
      ...['secret-folders', 'secret-imports', 'tags', 'role'].map((subject) => ({ subject, action: ALL })),
      secrets(['describeSecret', 'readValue', 'create', 'edit']),
    );
    const renames = {
      folder: (name: string) => caller.patch(`/api/v2/folders/${folder.id}`, { ...at, name }),
      tag: (slug: string) => caller.patch(`${tags}/${tag.id}`, { slug }),
    };
    return { caller, renames, deleteTag: () => caller.delete(`${tags}/${tag.id}`) };
  }

  const MISSING = [{ path: 'secrets', code: 'delete', message: 'requires the action delete on secrets' }];

  test('is refused where that rule allows more than the caller may, which may edit roles', async () => {
    const { renames } = await scene(
      secrets(['describeSecret', 'delete'], { conditions: { secretPath: '/open' } }),
      secrets(['delete'], { conditions: { secretTags: { $in: ['open'] } } }),
      secrets(['readValue'], { conditions: { secretPath: '/read' } }),
    );
    for (const rename of Object.values(renames)) {
      const refused = await rename('open');
      expect(refused).toBeError(403, 'PERMISSION_BOUNDARY');
      expect(refused.body.details).toEqual(MISSING);
      mustSucceed(await rename('read'));
    }
  });

  test('is refused where that rule forbids more than the caller may', async () => {
    const { renames, deleteTag } = await scene(
      secrets(['delete']),
      secrets(['delete'], { inverted: true, conditions: { secretPath: { $glob: '/shut/**' } } }),
      secrets(['delete'], { inverted: true, conditions: { secretTags: { $in: ['shut'] } } }),
    );
    for (const change of [...Object.values(renames), deleteTag])
      expect(await change('other')).toBeError(403, 'PERMISSION_BOUNDARY');
  });
});
