import { randomUUID } from 'node:crypto';
import { mustSucceed } from '../../kit/caller.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';

const strongroom = useSharedStrongroom();

const ROLES = '/api/v1/organization/roles';
const BUILT_IN = ['admin', 'member', 'no-access'];
const READER = {
  slug: 'reader',
  name: 'Reader',
  description: 'Reads identities',
  permissions: [
    { subject: 'identity', action: ['read', 'create'], inverted: false, conditions: null },
    {
      subject: 'member',
      action: ['assign-role'],
      inverted: true,
      conditions: { username: { $glob: '*@{{identity.metadata.domain}}' } },
    },
  ],
};
const slugsOf = (roles: readonly { slug: string }[]): string[] => roles.map(({ slug }) => slug);

describe('roles of an organization', () => {
  test('are made, read, changed and deleted', async () => {
    const { organization, admin } = await strongroom.seed.organization();
    const { role } = mustSucceed(await admin.post(ROLES, READER)).body;
    expect(role).toEqual({
      ...READER,
      id: expect.any(String),
      organizationId: organization.id,
      version: 1,
      createdAt: expect.any(String),
      updatedAt: role.createdAt,
    });
    for (const path of [`${ROLES}/${role.id}`, `${ROLES}/${role.id.toUpperCase()}`, `${ROLES}/slug/reader`])
      expect((await admin.get(path)).body).toEqual({ role });

    const renamed = mustSucceed(await admin.patch(`${ROLES}/${role.id}`, { slug: 'people', name: 'People' })).body;
    expect(renamed.role).toMatchObject({ ...READER, slug: 'people', name: 'People', version: 2 });
    const emptied = mustSucceed(await admin.patch(`${ROLES}/${role.id}`, { permissions: [], description: null })).body;
    expect(emptied.role).toMatchObject({ name: 'People', description: '', permissions: [], version: 3 });

    expect((await admin.delete(`${ROLES}/${role.id}`)).body).toEqual(emptied);
    for (const path of [`/${role.id}`, '/slug/reader', '/no-uuid', `/${randomUUID()}`])
      expect(await admin.get(ROLES + path)).toBeError(404, 'ROLE_NOT_FOUND');
    expect(await admin.delete(`${ROLES}/${role.id}`)).toBeError(404, 'ROLE_NOT_FOUND');
    expect(await admin.patch(`${ROLES}/${role.id}`, {})).toBeError(404, 'ROLE_NOT_FOUND');
    const trail = await strongroom.auditRows('organization_id = $1', [organization.id]);
    const verbs = trail.map(({ action }) => action).filter((action) => /^organization-role:[cud]/.test(action));
    expect(verbs).toEqual(['create', 'update', 'update', 'delete'].map((verb) => `organization-role:${verb}`));
  });

  test('let their holders make projects by either word for it, and tell the word as it was given', async () => {
    const { admin } = await strongroom.seed.organization();
    for (const subject of ['project', 'workspace']) {
      const permissions = [{ subject, action: ['create'], inverted: false, conditions: null }];
      const { role } = mustSucceed(
        await admin.post(ROLES, { slug: `makes-${subject}`, name: subject, permissions }),
      ).body;
      expect(role.permissions).toEqual(permissions);
      const maker = await strongroom.seed.caller(admin);
      mustSucceed(await admin.patch(`/api/v1/identities/${maker.identityId}`, { role: role.slug }));
      mustSucceed(await maker.post('/api/v2/workspace', { projectName: 'Shop' }));
      const { canInOrganization } = await maker.data(
        '{ canInOrganization(checks: [{ subject: PROJECT, action: CREATE }, { subject: WORKSPACE, action: CREATE }]) { allowed } }',
      );
      expect(canInOrganization.allowed).toEqual([true, true]);
    }
  });

  test('are typed over GraphQL, and found by their ids', async () => {
    const { admin } = await strongroom.seed.organization();
    const shape = 'permissions { subject action inverted conditions { username { is glob } } }';
    const { createOrganizationRole } = await admin.data(
      `mutation ($input: CreateOrganizationRoleInput!) { createOrganizationRole(input: $input) { role { id slug ${shape} organization { id } } } }`,
      {
        input: {
          slug: 'people',
          name: 'People',
          permissions: [{ subject: 'MEMBER', action: 'ASSIGN_ROLE', conditions: { username: { is: 'ada' } } }],
        },
      },
    );
    const { role } = createOrganizationRole;
    expect(role.permissions).toEqual([
      {
        subject: 'MEMBER',
        action: ['ASSIGN_ROLE'],
        inverted: false,
        conditions: { username: { is: 'ada', glob: null } },
      },
    ]);
    const { organizationRoles } = await admin.data('{ organizationRoles { nodes { id slug } } }');
    expect(slugsOf(organizationRoles.nodes)).toEqual(['people', ...BUILT_IN]);
    const ids = organizationRoles.nodes.map(({ id }: { id: string }) => id);
    const { nodes } = await admin.data(
      'query ($ids: [ID!]!) { nodes(ids: $ids) { __typename id ... on OrganizationRole { slug version } } }',
      { ids },
    );
    expect(nodes).toEqual(
      organizationRoles.nodes.map((each: object) => ({ ...each, __typename: 'OrganizationRole', version: 1 })),
    );
    const other = await strongroom.seed.organization();
    const hidden = await other.admin.data('query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', { ids });
    expect(hidden.nodes).toEqual(ids.map(() => null));
  });

  test('are listed by slug, then the built-in ones, whole and in pages', async () => {
    const { admin } = await strongroom.seed.organization();
    for (const slug of ['b', 'c', 'a']) mustSucceed(await admin.post(ROLES, { ...READER, slug }));
    expect(slugsOf(mustSucceed(await admin.get(ROLES)).body.roles)).toEqual(['a', 'b', 'c', ...BUILT_IN]);
    for (const limit of [1, 2, 4]) {
      const paged: string[] = [];
      for (let cursor = ''; ; ) {
        const { body } = mustSucceed(
          await admin.get(`${ROLES}?limit=${limit}${cursor && `&cursor=${encodeURIComponent(cursor)}`}`),
        );
        paged.push(...slugsOf(body.roles));
        if (body.nextCursor === undefined) break;
        cursor = body.nextCursor;
      }
      expect(paged).toEqual(['a', 'b', 'c', ...BUILT_IN]);
    }
    expect(await admin.get(`${ROLES}?limit=1&cursor=x`)).toBeError(422, 'VALIDATION_FAILED');
  });

  test('take a slug once, none of the built-in ones, and say all that is wrong', async () => {
    const { admin } = await strongroom.seed.organization();
    const twice = await Promise.all([admin.post(ROLES, READER), admin.post(ROLES, READER)]);
    expect(twice.map(({ status }) => status).sort()).toEqual([200, 409]);
    expect(await admin.post(ROLES, READER)).toBeError(409, 'ROLE_SLUG_TAKEN');
    for (const slug of [...BUILT_IN, 'custom', 'No Slug'])
      expect(await admin.post(ROLES, { ...READER, slug })).toBeError(422, 'VALIDATION_FAILED');
    const wrong = await admin.post(ROLES, {
      slug: 'admin',
      name: '',
      permissions: [
        { subject: 'secrets', action: 'readValue' },
        { subject: 'identity', action: 'fly' },
        { subject: 'groups', action: 'read', conditions: { slug: 'a', groupSlug: '{{identity.age}}' } },
      ],
    });
    expect(wrong).toBeError(422, 'VALIDATION_FAILED');
    expect(wrong.body.details.map(({ path, code }: Record<string, string>) => `${path} ${code}`).sort()).toEqual([
      'body.name TOO_SMALL',
      'body.permissions[0].subject INVALID_VALUE',
      'body.permissions[1].action INVALID_VALUE',
      'body.permissions[2].conditions UNKNOWN_KEY',
      'body.permissions[2].conditions.groupSlug UNKNOWN_ATTRIBUTE',
      'body.slug RESERVED',
    ]);
  });

  test('that are built in can be read, not changed or deleted', async () => {
    const { admin } = await strongroom.seed.organization();
    for (const slug of BUILT_IN) {
      const { role } = mustSucceed(await admin.get(`${ROLES}/slug/${slug}`)).body;
      expect((await admin.get(`${ROLES}/${role.id}`)).body).toEqual({ role });
      expect(await admin.patch(`${ROLES}/${role.id}`, { name: 'X' })).toBeError(409, 'ROLE_BUILT_IN');
      expect(await admin.delete(`${ROLES}/${role.id}`)).toBeError(409, 'ROLE_BUILT_IN');
    }
  });

  test('are for members who may, and unknown to strangers', async () => {
    const { admin } = await strongroom.seed.organization();
    const { role } = mustSucceed(await admin.post(ROLES, READER)).body;
    const member = await strongroom.seed.caller(admin, { organizationRole: 'member' });
    mustSucceed(await member.get(`${ROLES}/${role.id}`));
    expect(await member.post(ROLES, { ...READER, slug: 'x' })).toBeError(403, 'PERMISSION_DENIED');
    expect(await member.patch(`${ROLES}/${role.id}`, {})).toBeError(403, 'PERMISSION_DENIED');
    expect(await member.delete(`${ROLES}/${role.id}`)).toBeError(403, 'PERMISSION_DENIED');
    const nobody = await strongroom.seed.caller(admin);
    for (const id of [role.id, randomUUID()])
      expect(await nobody.get(`${ROLES}/${id}`)).toBeError(403, 'PERMISSION_DENIED');
    const { admin: stranger } = await strongroom.seed.organization();
    expect(await stranger.get(`${ROLES}/${role.id}`)).toBeError(404, 'ROLE_NOT_FOUND');
    expect(await stranger.patch(`${ROLES}/${role.id}`, {})).toBeError(404, 'ROLE_NOT_FOUND');
    expect(await stranger.delete(`${ROLES}/${role.id}`)).toBeError(404, 'ROLE_NOT_FOUND');
  });
});
