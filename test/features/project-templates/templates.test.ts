import { randomUUID } from 'node:crypto';
import { mustSucceed } from '../../kit/caller.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';
import { makeIdentity, makeTemplate, makeUser, READER, TEMPLATES, violationsOf, word } from './kit.js';

const strongroom = useSharedStrongroom();

const KINDS = ['secret-manager', 'cert-manager', 'kms', 'ssh', 'secret-scanning', 'pam', 'ai'];
const FIELDS = [
  ...['createdAt', 'description', 'environments', 'groups', 'id', 'identities', 'name', 'orgId'],
  ...['projectManagedIdentities', 'roles', 'type', 'updatedAt', 'users'],
];

describe('the list of project templates', () => {
  test('begins with a built-in template for each type, each with an id of its own, and goes on by name', async () => {
    const { admin, organization } = await strongroom.seed.organization();
    for (const name of ['zebra', 'apple']) await makeTemplate(admin, { name });
    const { projectTemplates } = mustSucceed(await admin.get(TEMPLATES)).body;
    expect(projectTemplates.map(({ name }: { name: string }) => name)).toEqual([
      ...KINDS.map(() => 'default'),
      'apple',
      'zebra',
    ]);
    const builtIn = projectTemplates.slice(0, KINDS.length);
    expect(builtIn.map(({ type }: { type: string }) => type)).toEqual(KINDS);
    expect(new Set(builtIn.map(({ id }: { id: string }) => id)).size).toBe(KINDS.length);
    for (const template of projectTemplates) {
      expect(Object.keys(template).sort()).toEqual(FIELDS);
      expect(template.orgId).toBe(organization.id);
    }
    expect(builtIn[0]).toMatchObject({
      environments: [
        { name: 'Development', slug: 'dev', position: 1 },
        { name: 'Staging', slug: 'staging', position: 2 },
        { name: 'Production', slug: 'prod', position: 3 },
      ],
      users: null,
      groups: null,
      identities: null,
      projectManagedIdentities: null,
    });
    expect(builtIn[1].environments).toBeNull();
  });

  test('has one type only where one is asked for, and refuses others', async () => {
    const { admin } = await strongroom.seed.organization();
    await makeTemplate(admin, { name: 'secrets' });
    await makeTemplate(admin, { name: 'keys', type: 'kms' });
    const { projectTemplates } = mustSucceed(await admin.get(`${TEMPLATES}?type=kms`)).body;
    expect(projectTemplates.map(({ name, type }: Record<string, string>) => [name, type])).toEqual([
      ['default', 'kms'],
      ['keys', 'kms'],
    ]);
    expect(await admin.get(`${TEMPLATES}?type=other`)).toBeError(422, 'VALIDATION_FAILED');
  });

  test('goes on behind a cursor, whether that is a built-in template or one of the organization', async () => {
    const { admin } = await strongroom.seed.organization();
    for (const name of ['a', 'b', 'c']) await makeTemplate(admin, { name });
    const whole = mustSucceed(await admin.get(TEMPLATES)).body.projectTemplates;
    for (const limit of [1, 3, 4, 7, 8, 10]) {
      const found = [];
      let cursor = '';
      do {
        const page = mustSucceed(await admin.get(`${TEMPLATES}?limit=${limit}${cursor && `&cursor=${cursor}`}`)).body;
        found.push(...page.projectTemplates);
        cursor = page.nextCursor ?? '';
      } while (cursor !== '');
      expect(found).toEqual(whole);
    }
  });

  test('shows nothing of another organization', async () => {
    const [{ admin }, other] = [await strongroom.seed.organization(), await strongroom.seed.organization()];
    const template = await makeTemplate(other.admin);
    const { projectTemplates } = mustSucceed(await admin.get(TEMPLATES)).body;
    expect(projectTemplates).toHaveLength(KINDS.length);
    expect(await admin.get(`${TEMPLATES}/${template.id}`)).toBeError(404, 'PROJECT_TEMPLATE_NOT_FOUND');
    const [foreign] = mustSucceed(await other.admin.get(TEMPLATES)).body.projectTemplates;
    expect(await admin.get(`${TEMPLATES}/${foreign.id}`)).toBeError(404, 'PROJECT_TEMPLATE_NOT_FOUND');
  });
});

describe('a built-in template', () => {
  test('is found by its id, also as a node, and can be neither changed nor deleted', async () => {
    const { admin } = await strongroom.seed.organization();
    const [builtIn] = mustSucceed(await admin.get(TEMPLATES)).body.projectTemplates;
    const got = mustSucceed(await admin.get(`${TEMPLATES}/${builtIn.id}`)).body.projectTemplate;
    expect({ ...got, roles: [] }).toEqual({ ...builtIn, roles: [] });
    const { node } = await admin.data(
      'query ($id: ID!) { node(id: $id) { id ... on ProjectTemplate { isBuiltIn name versions { nodes { version } } } } }',
      { id: builtIn.id },
    );
    expect(node).toEqual({ id: builtIn.id, isBuiltIn: true, name: 'default', versions: { nodes: [] } });
    const path = `${TEMPLATES}/${builtIn.id}`;
    expect(await admin.patch(path, { description: 'mine' })).toBeError(409, 'PROJECT_TEMPLATE_BUILT_IN');
    expect(await admin.delete(path)).toBeError(409, 'PROJECT_TEMPLATE_BUILT_IN');
  });
});

describe('making a project template', () => {
  test('keeps what it was given, and shows the built-in roles before its own', async () => {
    const { admin } = await strongroom.seed.organization();
    const [user, identity] = [await makeUser(admin), await makeIdentity(admin)];
    const body = {
      name: word('template'),
      description: ' For services ',
      type: 'secret-manager',
      roles: [READER],
      environments: [
        { name: 'Second', slug: 'second', position: 2 },
        { name: 'First', slug: 'first', position: 1 },
      ],
      users: [{ username: user.username.toUpperCase(), roles: ['reader', 'viewer'] }],
      groups: [],
      identities: [{ identityId: identity.id, roles: ['admin'] }],
      projectManagedIdentities: [{ name: 'deployer', roles: ['reader'] }],
    };
    const made = mustSucceed(await admin.post(TEMPLATES, body)).body.projectTemplate;
    expect(made).toMatchObject({
      name: body.name,
      description: 'For services',
      type: 'secret-manager',
      environments: [body.environments[1], body.environments[0]],
      users: [{ username: user.username, roles: ['reader', 'viewer'] }],
      groups: [],
      identities: body.identities,
      projectManagedIdentities: body.projectManagedIdentities,
    });
    expect(made.roles.map(({ slug }: { slug: string }) => slug)).toEqual([
      ...['admin', 'member', 'viewer', 'no-access'],
      'reader',
    ]);
    const listed = mustSucceed(await admin.get(TEMPLATES)).body.projectTemplates.at(-1);
    expect(listed).toEqual(made);
    // Each action of a role stands by itself.
    expect(listed.roles[4].permissions).toEqual(
      ['describeSecret', 'readValue'].map((action) => ({
        subject: 'secrets',
        action,
        inverted: false,
        conditions: { environment: 'prod' },
      })),
    );
    expect(mustSucceed(await admin.get(`${TEMPLATES}/${made.id}`)).body.projectTemplate).toEqual(made);
  });

  test('gives a secret-manager template the default environments where none are named, and others none', async () => {
    const { admin } = await strongroom.seed.organization();
    expect((await makeTemplate(admin)).environments.map(({ slug }: { slug: string }) => slug)).toEqual([
      'dev',
      'staging',
      'prod',
    ]);
    expect((await makeTemplate(admin, { environments: null })).environments).toBeNull();
    expect((await makeTemplate(admin, { environments: [] })).environments).toEqual([]);
    expect(await makeTemplate(admin, { type: 'pam' })).toMatchObject({
      environments: null,
      users: [],
      groups: [],
      identities: [],
      projectManagedIdentities: null,
    });
  });

  test('is refused with every fault at its place', async () => {
    const { admin } = await strongroom.seed.organization();
    const reply = await admin.post(TEMPLATES, {
      name: 'default',
      description: 'x'.repeat(257),
      roles: [
        READER,
        { ...READER, name: 'Other' },
        { ...READER, name: 'reader', slug: 'third' },
        { name: 'No access', slug: 'admin', permissions: [] },
        { name: '', slug: 'Not_a_slug', permissions: [{ subject: 'secrets', action: 'fly' }] },
        { name: 'Odd', slug: 'odd', permissions: [{ subject: 'moons', action: 'read' }] },
        { name: 'Old', slug: 'old', permissions: [{ subject: 'tags', action: 'read', conditions: { age: '1' } }] },
      ],
      environments: [
        { name: 'One', slug: 'one', position: 1 },
        { name: 'One', slug: 'one', position: 1 },
        { name: 'Three', slug: 'three', position: 4 },
      ],
      users: [
        { username: 'ann', roles: ['viewer'] },
        { username: ' ANN', roles: [] },
      ],
      projectManagedIdentities: [
        { name: 'deployer', roles: ['viewer'] },
        { name: 'Deployer', roles: ['viewer', 'viewer'] },
      ],
    });
    expect(reply).toBeError(422, 'VALIDATION_FAILED');
    expect(violationsOf(reply)).toEqual(
      expect.arrayContaining([
        'body.description TOO_BIG',
        'body.environments[1].name DUPLICATE',
        'body.environments[1].position INVALID',
        'body.environments[1].slug DUPLICATE',
        'body.environments[2].position INVALID',
        'body.name RESERVED',
        'body.projectManagedIdentities[1].name DUPLICATE',
        'body.roles[4].name TOO_SMALL',
        'body.roles[4].permissions[0].action INVALID_VALUE',
        'body.roles[5].permissions[0].subject INVALID_VALUE',
        'body.roles[6].permissions[0].conditions UNKNOWN_KEY',
        'body.type MISSING',
        'body.users[1].roles TOO_SMALL',
        'body.users[1].username DUPLICATE',
      ]),
    );
    const named = await admin.post(TEMPLATES, {
      name: 'named',
      type: 'kms',
      roles: [
        READER,
        { ...READER, name: 'Other' },
        { ...READER, name: 'reader', slug: 'third' },
        { name: 'No access', slug: 'admin', permissions: [] },
        { name: 'Developer', slug: 'custom', permissions: [] },
      ],
    });
    expect(violationsOf(named)).toEqual([
      'body.roles[1].slug DUPLICATE',
      'body.roles[2].name DUPLICATE',
      'body.roles[3].name RESERVED',
      'body.roles[3].slug RESERVED',
      'body.roles[4].name RESERVED',
      'body.roles[4].slug RESERVED',
    ]);
  });

  test('is refused for a list of more than 32,768 bytes', async () => {
    const { admin } = await strongroom.seed.organization();
    const projectManagedIdentities = Array.from({ length: 500 }, (_, at) => ({
      name: `identity number ${at} with a longer name`,
      roles: ['viewer', 'no-access'],
    }));
    const reply = await admin.post(TEMPLATES, { name: 'long', type: 'kms', projectManagedIdentities });
    expect(reply).toBeError(422, 'VALIDATION_FAILED');
    expect(violationsOf(reply)).toEqual(['body.projectManagedIdentities TOO_BIG']);
    const fits = { name: 'long', type: 'kms', projectManagedIdentities: projectManagedIdentities.slice(0, 350) };
    mustSucceed(await admin.post(TEMPLATES, fits));
  });

  test('tells of all unknown users, groups, identities and roles at once', async () => {
    const { admin } = await strongroom.seed.organization();
    const foreign = await makeUser((await strongroom.seed.organization()).admin);
    const reply = await admin.post(TEMPLATES, {
      name: 'web',
      type: 'kms',
      roles: [READER],
      users: [
        { username: foreign.username, roles: ['viewer'] },
        { username: 'nobody', roles: ['viewer', 'writer'] },
      ],
      groups: [{ groupSlug: 'none', roles: ['reader'] }],
      identities: [
        { identityId: randomUUID(), roles: ['viewer'] },
        { identityId: 'no-uuid', roles: ['viewer'] },
        { identityId: admin.identityId, roles: ['viewer'] },
      ],
      projectManagedIdentities: [{ name: 'deployer', roles: ['writer'] }],
    });
    expect(reply).toBeError(404, 'USER_NOT_FOUND');
    expect(violationsOf(reply)).toEqual([
      'body.groups[0].groupSlug GROUP_NOT_FOUND',
      'body.identities[0].identityId IDENTITY_NOT_FOUND',
      'body.identities[1].identityId IDENTITY_NOT_FOUND',
      'body.projectManagedIdentities[0].roles[0] ROLE_NOT_FOUND',
      'body.users[0].username USER_NOT_FOUND',
      'body.users[1].roles[1] ROLE_NOT_FOUND',
      'body.users[1].username USER_NOT_FOUND',
    ]);
  });

  test('is refused with PROJECT_TEMPLATE_NAME_TAKEN for a name of the organization, not of another one', async () => {
    const [one, other] = [await strongroom.seed.organization(), await strongroom.seed.organization()];
    const body = { name: 'web', type: 'kms' };
    const replies = await Promise.all([one.admin.post(TEMPLATES, body), one.admin.post(TEMPLATES, body)]);
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409]);
    expect(replies.find(({ status }) => status === 409)).toBeError(409, 'PROJECT_TEMPLATE_NAME_TAKEN');
    mustSucceed(await other.admin.post(TEMPLATES, body));
  });
});

describe('deleting a project template', () => {
  test('answers it as it was; then it is not found', async () => {
    const { admin } = await strongroom.seed.organization();
    const template = await makeTemplate(admin, { roles: [READER] });
    const path = `${TEMPLATES}/${template.id}`;
    expect(mustSucceed(await admin.delete(path)).body.projectTemplate).toEqual(template);
    for (const reply of [await admin.get(path), await admin.delete(path), await admin.patch(path, {})])
      expect(reply).toBeError(404, 'PROJECT_TEMPLATE_NOT_FOUND');
    expect(await admin.delete(`${TEMPLATES}/nope`)).toBeError(404, 'PROJECT_TEMPLATE_NOT_FOUND');
  });
});
