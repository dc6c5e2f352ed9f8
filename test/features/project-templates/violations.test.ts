import { mustSucceed } from '../../kit/caller.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';
import { READER, TEMPLATES, violationsOf } from './kit.js';

const strongroom = useSharedStrongroom();

describe('a project template with faults in its lists', () => {
  test('is refused for roles with slugs or names that are reserved', async () => {
    const { admin } = await strongroom.seed.organization();
    const slugs = [
      'admin',
      'member',
      'viewer',
      'no-access',
      'custom',
      'ssh-host-bootstrapper',
      'cryptographic-operator',
    ];
    const names = ['Custom', 'ADMIN', 'viewer', 'Member', 'No Access'];
    const roles = [
      ...slugs.map((slug) => ({ name: `Role ${slug}`, slug, permissions: [] })),
      ...names.map((name, at) => ({ name, slug: `role-${at}`, permissions: [] })),
    ];
    const reply = await admin.post(TEMPLATES, { name: 'web', type: 'kms', roles });
    expect(reply).toBeError(422, 'VALIDATION_FAILED');
    const reserved = roles.map((_, at) => `body.roles[${at}].${at < slugs.length ? 'slug' : 'name'} RESERVED`);
    expect(violationsOf(reply)).toEqual(reserved.sort());
  });

  test('is refused for the type ai, whose built-in template stays the only one', async () => {
    const { admin } = await strongroom.seed.organization();
    const reply = await admin.post(TEMPLATES, { name: 'agents', type: 'ai' });
    expect(reply).toBeError(422, 'VALIDATION_FAILED');
    expect(reply.body.details).toEqual([
      {
        path: 'body.type',
        code: 'INVALID_VALUE',
        message: 'must be secret-manager or cert-manager or kms or ssh or secret-scanning or pam',
      },
    ]);
    const inGraphql = await admin.graphql(
      'mutation ($input: CreateProjectTemplateInput!) { createProjectTemplate(input: $input) { __typename } }',
      { input: { name: 'agents', type: 'AI' } },
    );
    expect(inGraphql).toBeError(422, 'VALIDATION_FAILED');
    expect(inGraphql.body.errors[0].extensions.details).toEqual([
      {
        path: 'input.type',
        code: 'INVALID_VALUE',
        message: 'must be SECRET_MANAGER or CERT_MANAGER or KMS or SSH or SECRET_SCANNING or PAM',
      },
    ]);
    const { projectTemplates } = mustSucceed(await admin.get(`${TEMPLATES}?type=ai`)).body;
    expect(projectTemplates).toMatchObject([{ name: 'default', type: 'ai' }]);
  });

  test('is refused with the faults of a whole list beside those of its entries', async () => {
    const { admin } = await strongroom.seed.organization();
    const odd = { name: 'Odd', slug: 'odd', permissions: [{ subject: 'moons', action: 'read' }] };
    const roles = ['no-access', 'viewer', 'no-access', 7];
    const reply = await admin.post(TEMPLATES, {
      name: 'web',
      type: 'kms',
      roles: [
        odd,
        { ...READER, slug: 'admin', permissions: [{ subject: 'secrets', action: ['edit', 'fly', 'edit'] }, null] },
        { ...READER, name: 'ODD' },
        7,
        { name: 'Admin', slug: 'admin', permissions: {} },
        { ...READER, name: 'Long', slug: 'long', permissions: Array(101).fill(READER.permissions[0]) },
      ],
      environments: [
        { name: 'One', slug: 'one', position: '1' },
        { name: 'One', slug: 'one', position: 4 },
        { slug: 'three', position: 2 },
        null,
        { name: 'Five', slug: 'five', position: 6 },
      ],
      users: [{ username: 'ann', roles }, { username: 'ANN' }],
      projectManagedIdentities: [
        { name: 'deployer', roles: 'viewer' },
        { name: 'Deployer', roles: ['viewer'] },
        ...Array.from({ length: 600 }, (_, at) => ({
          name: `identity number ${at} with a long name`,
          roles: ['viewer'],
        })),
      ],
    });
    expect(reply).toBeError(422, 'VALIDATION_FAILED');
    expect(violationsOf(reply)).toEqual([
      'body.environments[0].position INVALID_TYPE',
      'body.environments[1].name DUPLICATE',
      'body.environments[1].slug DUPLICATE',
      'body.environments[2].name MISSING',
      'body.environments[3] INVALID_TYPE',
      'body.environments[4].position INVALID',
      'body.projectManagedIdentities TOO_BIG',
      'body.projectManagedIdentities[0].roles INVALID_TYPE',
      'body.projectManagedIdentities[1].name DUPLICATE',
      'body.roles[0].permissions[0].subject INVALID_VALUE',
      'body.roles[1].permissions[0].action INVALID',
      'body.roles[1].permissions[0].action[1] INVALID_VALUE',
      'body.roles[1].permissions[1] INVALID_TYPE',
      'body.roles[1].slug RESERVED',
      'body.roles[2].name DUPLICATE',
      'body.roles[3] INVALID_TYPE',
      'body.roles[4].name RESERVED',
      'body.roles[4].permissions INVALID_TYPE',
      'body.roles[4].slug DUPLICATE',
      'body.roles[4].slug RESERVED',
      'body.roles[5].permissions TOO_BIG',
      'body.users[0].roles INVALID',
      'body.users[0].roles[3] INVALID_TYPE',
      'body.users[1].roles MISSING',
      'body.users[1].username DUPLICATE',
    ]);
  });

  test('is refused in GraphQL with the faults of a whole list beside those of its entries, too', async () => {
    const { admin } = await strongroom.seed.organization();
    const role = (name: string, slug: string, subject: string, action: string) => ({
      ...{ name, slug },
      permissions: [{ subject, action: [action] }],
    });
    const reply = await admin.graphql(
      'mutation ($input: CreateProjectTemplateInput!) { createProjectTemplate(input: $input) { __typename } }',
      {
        input: {
          ...{ name: 'default', type: 'KMS' },
          roles: [
            role('Admin', 'custom', 'SECRETS', 'LEASE'),
            role('Web', 'web', 'TAGS', 'READ'),
            role('Web', 'web', 'TAGS', 'READ'),
          ],
          environments: [
            { name: '', slug: 'Not a slug', position: 3 },
            { name: 'A', slug: 'a', position: 3 },
          ],
        },
      },
    );
    expect(reply).toBeError(422, 'VALIDATION_FAILED');
    const { details } = reply.body.errors[0].extensions;
    expect(violationsOf({ body: { details } })).toEqual([
      'input.environments[0].name TOO_SMALL',
      'input.environments[0].position INVALID',
      'input.environments[0].slug INVALID_FORMAT',
      'input.environments[1].position INVALID',
      'input.name RESERVED',
      'input.roles[0].name RESERVED',
      'input.roles[0].permissions[0].action[0] INVALID_VALUE',
      'input.roles[0].slug RESERVED',
      'input.roles[2].name DUPLICATE',
      'input.roles[2].slug DUPLICATE',
    ]);
  });
});
