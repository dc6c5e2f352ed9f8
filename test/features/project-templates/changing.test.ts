import { type Caller, mustSucceed, type Reply } from '../../kit/caller.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';
import {
  holderOf,
  makeGroup,
  makeIdentity,
  makeTemplate,
  makeUser,
  READER,
  TEMPLATES,
  violationsOf,
  word,
} from './kit.js';

const strongroom = useSharedStrongroom();

const patched = async (admin: Caller, id: string, body: object) =>
  mustSucceed(await admin.patch(`${TEMPLATES}/${id}`, body)).body.projectTemplate;

describe('changing a project template', () => {
  test('replaces a list that is given, clears one that is null, and keeps the others', async () => {
    const { admin } = await strongroom.seed.organization();
    const [ann, bob, identity] = [await makeUser(admin), await makeUser(admin), await makeIdentity(admin)];
    const before = await makeTemplate(admin, {
      roles: [READER],
      users: [{ username: ann.username, roles: ['viewer'] }],
      identities: [{ identityId: identity.id, roles: ['reader'] }],
      projectManagedIdentities: [{ name: 'deployer', roles: ['viewer'] }],
    });
    const after = await patched(admin, before.id, {
      name: `${before.name}-2`,
      users: [{ username: bob.username, roles: ['member'] }],
      environments: null,
      projectManagedIdentities: null,
    });
    expect(after).toMatchObject({
      name: `${before.name}-2`,
      users: [{ username: bob.username, roles: ['member'] }],
      identities: before.identities,
      environments: null,
      projectManagedIdentities: null,
    });
    const cleared = await patched(admin, before.id, { users: null, identities: null, groups: null, roles: [] });
    expect(cleared).toMatchObject({ users: [], identities: [], groups: [] });
    expect(cleared.roles).toHaveLength(4);
  });

  test('ignores built-in roles that come back as any reply has them, and refuses changed ones', async () => {
    const { admin } = await strongroom.seed.organization();
    const { id } = await makeTemplate(admin, { roles: [READER] });
    const { roles } = mustSucceed(await admin.get(`${TEMPLATES}/${id}`)).body.projectTemplate;
    const once = await patched(admin, id, { roles });
    expect(once.roles.map(({ slug }: { slug: string }) => slug)).toEqual([
      ...['admin', 'member', 'viewer', 'no-access'],
      'reader',
    ]);
    expect((await patched(admin, id, { roles: once.roles })).roles).toEqual(once.roles);
    const changed = [{ ...once.roles[0], permissions: once.roles[0].permissions.slice(1) }];
    const reply = await admin.patch(`${TEMPLATES}/${id}`, { roles: changed });
    expect(reply).toBeError(422, 'VALIDATION_FAILED');
    expect(violationsOf(reply)).toContain('body.roles[0].slug RESERVED');
  });

  test('keeps roles that kept lists name, and judges lists as the request leaves them', async () => {
    const { admin } = await strongroom.seed.organization();
    const user = await makeUser(admin);
    const { id } = await makeTemplate(admin, {
      roles: [READER],
      users: [{ username: user.username, roles: ['reader'] }],
      projectManagedIdentities: [{ name: 'deployer', roles: ['reader'] }],
    });
    const path = `${TEMPLATES}/${id}`;
    const inUse = await admin.patch(path, { roles: [] });
    expect(inUse).toBeError(409, 'ROLE_IN_USE');
    expect(inUse.body.details).toHaveLength(2);
    const half = await admin.patch(path, { roles: [], users: null });
    expect(half).toBeError(409, 'ROLE_IN_USE');
    expect(half.body.details).toEqual([
      {
        path: 'body.roles',
        code: 'ROLE_IN_USE',
        message:
          'must keep the roles used in projectManagedIdentities (1 would lose a role); send projectManagedIdentities as well to change both',
      },
    ]);
    const unknown = await admin.patch(path, { users: [{ username: user.username, roles: ['writer'] }] });
    expect(violationsOf(unknown)).toEqual(['body.users[0].roles[0] ROLE_NOT_FOUND']);
    const renamed = { ...READER, slug: 'writer' };
    await patched(admin, id, {
      roles: [renamed],
      users: [{ username: user.username, roles: ['writer'] }],
      projectManagedIdentities: null,
    });
  });

  test('follows renamed users and groups, and shows nobody who has left', async () => {
    const { admin } = await strongroom.seed.organization();
    const [user, leaver] = [await makeUser(admin), await makeUser(admin)];
    const group = await makeGroup(admin, user.id);
    const { id } = await makeTemplate(admin, {
      roles: [READER],
      users: [
        { username: user.username, roles: ['viewer'] },
        { username: leaver.username, roles: ['reader'] },
      ],
      groups: [{ groupSlug: group.slug, roles: ['viewer'] }],
    });
    const username = word('renamed');
    await admin.data('mutation ($input: UpdateUserInput!) { updateUser(input: $input) { user { id } } }', {
      input: { id: user.id, username },
    });
    mustSucceed(await admin.patch(`/api/v1/groups/${group.id}`, { slug: 'renamed' }));
    await admin.data('mutation ($input: DeleteUserInput!) { deleteUser(input: $input) { user { id } } }', {
      input: { id: leaver.id },
    });
    expect(mustSucceed(await admin.get(`${TEMPLATES}/${id}`)).body.projectTemplate).toMatchObject({
      users: [{ username, roles: ['viewer'] }],
      groups: [{ groupSlug: 'renamed', roles: ['viewer'] }],
    });
    // Whoever is gone does not keep a role.
    expect((await patched(admin, id, { roles: [] })).roles).toHaveLength(4);
  });

  test('is refused for another type, and passes for its own', async () => {
    const { admin } = await strongroom.seed.organization();
    const { id } = await makeTemplate(admin);
    await patched(admin, id, { id, type: 'secret-manager' });
    const reply = await admin.patch(`${TEMPLATES}/${id}`, { type: 'kms' });
    expect(reply).toBeError(422, 'VALIDATION_FAILED');
    expect(violationsOf(reply)).toEqual(['body.type UNCHANGEABLE']);
  });

  test('is refused for a name that another template has', async () => {
    const { admin } = await strongroom.seed.organization();
    const [{ id }, { name }] = [await makeTemplate(admin), await makeTemplate(admin)];
    expect(await admin.patch(`${TEMPLATES}/${id}`, { name })).toBeError(409, 'PROJECT_TEMPLATE_NAME_TAKEN');
    expect(await admin.patch(`${TEMPLATES}/${id}`, { name: 'default' })).toBeError(422, 'VALIDATION_FAILED');
  });

  test('answers actions one by one, and in lists for Terraform, as creating, reading and deleting do', async () => {
    const { admin } = await strongroom.seed.organization();
    const { id } = await makeTemplate(admin, { roles: [READER] });
    const actionsOf = (reply: Reply) =>
      mustSucceed(reply)
        .body.projectTemplate.roles.find(({ slug }: { slug: string }) => slug === READER.slug)
        .permissions.map(({ action }: { action: unknown }) => action);
    const lists = [['describeSecret', 'readValue']];
    for (const [agent, actions] of [
      ...[['terraform', lists] as const, ['Terraform/1.9', lists] as const],
      ['node', ['describeSecret', 'readValue']] as const,
    ]) {
      const headers = { 'user-agent': agent };
      const body = { name: `of-${agent.replace(/\W/g, '-').toLowerCase()}`, type: 'secret-manager', roles: [READER] };
      const created = await admin.post(TEMPLATES, body, headers);
      const replies = [
        created,
        await admin.get(`${TEMPLATES}/${id}`, headers),
        await admin.patch(`${TEMPLATES}/${id}`, { description: agent }, headers),
        await admin.delete(`${TEMPLATES}/${created.body.projectTemplate.id}`, undefined, headers),
      ];
      expect([agent, ...replies.map(actionsOf)]).toEqual([agent, actions, actions, actions, actions]);
    }
  });
});

describe('a change under a condition', () => {
  test('passes with the tag of the present state, and is refused with 412 with another one or a weak one', async () => {
    const { admin } = await strongroom.seed.organization();
    const path = `${TEMPLATES}/${(await makeTemplate(admin)).id}`;
    const { etag = '' } = (await admin.get(path)).headers;
    expect(await admin.patch(path, { description: 'a' }, { 'if-match': `W/${etag}` })).toBeError(
      412,
      'PRECONDITION_FAILED',
    );
    mustSucceed(await admin.patch(path, { description: 'a' }, { 'if-match': `"other", ${etag}` }));
    expect(await admin.patch(path, { description: 'b' }, { 'if-match': etag })).toBeError(412, 'PRECONDITION_FAILED');
    mustSucceed(await admin.patch(path, { description: 'b' }, { 'if-match': '*' }));
    const missing = `${TEMPLATES}/00000000-0000-4000-8000-000000000000`;
    for (const tag of ['*', etag])
      expect(await admin.patch(missing, {}, { 'if-match': tag })).toBeError(404, 'PROJECT_TEMPLATE_NOT_FOUND');
    expect(mustSucceed(await admin.get(path)).body.projectTemplate.description).toBe('b');
  });

  test('lets exactly one of two through that began with the same tag', async () => {
    const { admin } = await strongroom.seed.organization();
    const path = `${TEMPLATES}/${(await makeTemplate(admin)).id}`;
    const { etag = '' } = (await admin.get(path)).headers;
    const replies = await Promise.all(
      ['one', 'two', 'three', 'four'].map((description) => admin.patch(path, { description }, { 'if-match': etag })),
    );
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 412, 412, 412]);
  });

  test('is answered again, not judged again, for the same idempotency key', async () => {
    const { admin } = await strongroom.seed.organization();
    const path = `${TEMPLATES}/${(await makeTemplate(admin)).id}`;
    const { etag = '' } = (await admin.get(path)).headers;
    const headers = { 'if-match': etag, 'idempotency-key': word('key') };
    const first = mustSucceed(await admin.patch(path, { description: 'a' }, headers));
    const again = mustSucceed(await admin.patch(path, { description: 'a' }, headers));
    expect(again.body).toEqual(first.body);
    expect(again.headers['idempotency-replayed']).toBe('true');
    const other = await admin.patch(path, { description: 'a' }, { ...headers, 'if-match': '"other"' });
    expect(other).toBeError(422, 'IDEMPOTENCY_KEY_REUSED');
  });

  test('takes expectedVersion in GraphQL, and names the present version', async () => {
    const { admin } = await strongroom.seed.organization();
    const { id } = await makeTemplate(admin);
    const update = (expectedVersion: number, description: string) =>
      admin.graphql(
        'mutation ($input: UpdateProjectTemplateInput!) { updateProjectTemplate(input: $input) { projectTemplate { version } } }',
        { input: { id, expectedVersion, description } },
      );
    const replies = await Promise.all([update(1, 'a'), update(1, 'b')]);
    const refused = replies.filter(({ body }) => body.errors !== undefined);
    expect(refused).toHaveLength(1);
    expect(refused[0]).toBeError(409, 'CONCURRENT_CHANGE');
    expect(refused[0]?.body.errors[0].message).toContain('version 2');
    expect(mustSucceed(await update(2, 'c')).body.data.updateProjectTemplate.projectTemplate.version).toBe(3);
    // Nothing changes: nothing is a new version.
    expect(mustSucceed(await update(3, 'c')).body.data.updateProjectTemplate.projectTemplate.version).toBe(3);
  });
});

describe('the versions of a template', () => {
  test('show each change with its actor, newest first, in pages and as nodes', async () => {
    const { admin } = await strongroom.seed.organization();
    const user = await strongroom.seed.user(admin);
    const { id } = await makeTemplate(admin, { description: 'first', roles: [READER] });
    await admin.data('mutation ($input: UpdateUserInput!) { updateUser(input: $input) { user { id } } }', {
      input: { id: user.userId, roleSlug: 'admin' },
    });
    await patched(user, id, { description: 'second', roles: [] });
    const { projectTemplate } = await admin.data(
      `query ($id: ID!) { projectTemplate(id: $id) {
        version
        versions { nodes { id version description roles { slug } user { id } identity { id } projectTemplate { id } } }
        page: versions(first: 1) { nodes { version } pageInfo { hasNextPage endCursor } }
      } }`,
      { id },
    );
    expect(projectTemplate.version).toBe(2);
    expect(projectTemplate.versions.nodes).toMatchObject([
      { version: 2, description: 'second', user: { id: user.userId }, identity: null, projectTemplate: { id } },
      { version: 1, description: 'first', user: null, identity: { id: admin.identityId } },
    ]);
    expect(projectTemplate.versions.nodes[1].roles.at(-1)).toEqual({ slug: 'reader' });
    const { pageInfo, nodes } = projectTemplate.page;
    expect(nodes).toEqual([{ version: 2 }]);
    expect(pageInfo.hasNextPage).toBe(true);
    const next = await admin.data(
      'query ($id: ID!, $after: String) { projectTemplate(id: $id) { versions(first: 1, after: $after) { nodes { version } } } }',
      { id, after: pageInfo.endCursor },
    );
    expect(next.projectTemplate.versions.nodes).toEqual([{ version: 1 }]);
    const { node } = await admin.data(
      'query ($id: ID!) { node(id: $id) { ... on ProjectTemplateVersion { version } } }',
      {
        id: projectTemplate.versions.nodes[1].id,
      },
    );
    expect(node).toEqual({ version: 1 });
    const { admin: stranger } = await strongroom.seed.organization();
    const hidden = await stranger.data('query ($id: ID!) { node(id: $id) { id } }', {
      id: projectTemplate.versions.nodes[1].id,
    });
    expect(hidden.node).toBeNull();
  });
});

describe('whoever writes a template', () => {
  const RIGHTS = ['read', 'create', 'edit', 'delete'].map((verb) => `project-templates:${verb}`);

  test('adds nobody whom conditions keep from the caller, and does not tell whether there is such a group', async () => {
    const { admin } = await strongroom.seed.organization();
    const user = await makeUser(admin);
    const [own, other] = [await makeGroup(admin, user.id), await makeGroup(admin, user.id)];
    const conditions = { groupSlug: own.slug };
    const rights = [...RIGHTS, 'workspace:rescue', { subject: 'groups', action: ['read', 'edit'], conditions }];
    const author = await holderOf(strongroom, admin, rights);
    const entry = (groupSlug: string) => ({ groups: [{ groupSlug, roles: ['admin'] }] });
    const { id } = await makeTemplate(author, entry(own.slug));
    const refused = await Promise.all(
      [other.slug, word('none')].map((slug) => author.patch(`${TEMPLATES}/${id}`, entry(slug))),
    );
    for (const reply of refused) expect(reply).toBeError(404, 'GROUP_NOT_FOUND');
    expect(refused[0]?.body.details).toEqual(refused[1]?.body.details);
    // Whom an admin has put into it stays, and is not named in a preview.
    await patched(admin, id, entry(other.slug));
    await patched(author, id, { ...entry(other.slug), description: 'with a group that the author cannot see' });
    const { previewProjectTemplate } = await author.data(
      'query ($id: ID!) { previewProjectTemplate(id: $id) { members { memberKind name } } }',
      { id },
    );
    expect(previewProjectTemplate.members).toContainEqual({ memberKind: 'GROUP', name: null });
  });

  test('needs more than to read what it adds', async () => {
    const { admin } = await strongroom.seed.organization();
    const user = await makeUser(admin);
    const [own, other] = [await makeGroup(admin, user.id), await makeGroup(admin, user.id)];
    const conditions = { groupSlug: own.slug };
    const rights = [...RIGHTS, 'workspace:rescue', 'groups:read', { subject: 'groups', action: ['edit'], conditions }];
    const author = await holderOf(strongroom, admin, rights);
    const entry = ({ slug }: { slug: string }) => ({ groups: [{ groupSlug: slug, roles: ['viewer'] }] });
    const { id } = await makeTemplate(author, entry(own));
    expect(await author.patch(`${TEMPLATES}/${id}`, entry(other))).toBeError(403, 'PERMISSION_DENIED');
  });

  test('needs the right to edit members, groups and identities for what it adds of them', async () => {
    const { admin } = await strongroom.seed.organization();
    const [user, identity] = [await makeUser(admin), await makeIdentity(admin)];
    const group = await makeGroup(admin, user.id);
    const lists = {
      users: [{ username: user.username, roles: ['admin'] }],
      groups: [{ groupSlug: group.slug, roles: ['admin'] }],
      identities: [{ identityId: identity.id, roles: ['admin'] }],
    };
    const needed = { users: 'member', groups: 'groups', identities: 'identity' } as const;
    const author = await holderOf(strongroom, admin, RIGHTS);
    const { id } = await makeTemplate(author, { users: [], groups: null, identities: [] });
    for (const [list, subject] of Object.entries(needed)) {
      const part = { [list]: lists[list as keyof typeof lists] };
      const refused = await author.patch(`${TEMPLATES}/${id}`, part);
      expect(refused).toBeError(403, 'PERMISSION_DENIED');
      expect(refused.body.details).toEqual([
        { path: subject, code: 'edit', message: `requires the action edit on ${subject}` },
      ]);
      expect(await author.post(TEMPLATES, { name: word('t'), type: 'kms', ...part })).toBeError(
        403,
        'PERMISSION_DENIED',
      );
      const actions = [...RIGHTS, `${subject}:edit`, 'workspace:rescue'];
      const able = await holderOf(strongroom, admin, actions);
      await patched(able, id, part);
      // Entries that stay need no right; other roles do.
      await patched(author, id, part);
      const more = lists[list as keyof typeof lists].map((entry) => ({ ...entry, roles: ['admin', 'viewer'] }));
      expect(await author.patch(`${TEMPLATES}/${id}`, { [list]: more })).toBeError(403, 'PERMISSION_DENIED');
    }
    await patched(author, id, { users: null, groups: [], identities: null });
  });

  test('does not hear who is known to the organization without those rights', async () => {
    const { admin } = await strongroom.seed.organization();
    const author = await holderOf(strongroom, admin, RIGHTS);
    const { id } = await makeTemplate(author);
    const reply = await author.patch(`${TEMPLATES}/${id}`, { users: [{ username: 'nobody', roles: ['viewer'] }] });
    expect(reply).toBeError(403, 'PERMISSION_DENIED');
  });
});
