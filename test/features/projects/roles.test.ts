import { randomUUID } from 'node:crypto';
import { type Caller, mustSucceed } from '../../kit/caller.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';
import { forGood } from './member-roles.js';

const strongroom = useSharedStrongroom();

const BUILT_IN = ['admin', 'member', 'viewer', 'no-access'];
const READER = {
  slug: 'reader',
  name: 'Reader',
  description: 'Reads staging',
  permissions: [
    { subject: 'secrets', action: ['describeSecret', 'readValue'], conditions: { environment: 'staging' } },
    { subject: 'secrets', action: 'readValue', inverted: true, conditions: { secretTags: { $in: ['hot'] } } },
  ],
};

const slugsOf = (roles: readonly { slug: string }[]): string[] => roles.map(({ slug }) => slug);

async function seeded() {
  const { admin, project } = await strongroom.seed.project();
  return { admin, project, roles: `/api/v1/projects/${project.id}/roles` };
}

/** A member with these roles, and the path of its membership. */
async function memberWith(admin: Caller, projectId: string, ...projectRoles: string[]) {
  const caller = await strongroom.seed.caller(admin, { project: projectId, projectRoles });
  return { caller, membership: `/api/v2/workspace/${projectId}/identity-memberships/${caller.identityId}` };
}

describe('roles of a project', () => {
  test('are made, read, changed and deleted', async () => {
    const { admin, project, roles } = await seeded();
    const { role } = mustSucceed(await admin.post(roles, READER)).body;
    const at = expect.stringMatching(/^\d{4}-.*Z$/);
    expect(role).toEqual({
      ...{ id: expect.any(String), slug: 'reader', name: 'Reader', description: 'Reads staging' },
      ...{ projectId: project.id, version: 1, createdAt: at, updatedAt: at },
      permissions: [
        ...['describeSecret', 'readValue'].map((action) => ({
          subject: 'secrets',
          action,
          inverted: false,
          conditions: { environment: 'staging' },
        })),
        { subject: 'secrets', action: 'readValue', inverted: true, conditions: { secretTags: { $in: ['hot'] } } },
      ],
    });
    expect((await admin.get(`${roles}/${role.id}`)).body).toEqual({ role });
    expect((await admin.get(`${roles}/slug/reader`)).body).toEqual({ role });

    const renamed = mustSucceed(await admin.patch(`${roles}/${role.id}`, { name: 'Staging' })).body.role;
    expect(renamed).toEqual({ ...role, name: 'Staging', version: 2, updatedAt: at });
    const emptied = mustSucceed(await admin.patch(`${roles}/${role.id}`, { permissions: [], description: null })).body;
    expect(emptied.role).toMatchObject({ name: 'Staging', description: '', permissions: [], version: 3 });

    expect((await admin.delete(`${roles}/${role.id}`)).body).toEqual(emptied);
    for (const path of [
      `${roles}/${role.id}`,
      `${roles}/slug/reader`,
      `${roles}/no-uuid`,
      `${roles}/${randomUUID()}`,
    ]) {
      expect(await admin.get(path)).toBeError(404, 'ROLE_NOT_FOUND');
    }
    expect(await admin.delete(`${roles}/${role.id}`)).toBeError(404, 'ROLE_NOT_FOUND');
    expect(await admin.patch(`${roles}/${role.id}`, {})).toBeError(404, 'ROLE_NOT_FOUND');
  });

  test('are typed over GraphQL, which takes one action for a list too', async () => {
    const { admin, project, roles } = await seeded();
    const conditions = `conditions { environment { is eq ne in glob } secretTags { in } secretPath { glob } }`;
    const nothing = { eq: null, ne: null, in: null, glob: null };
    const permissions = [
      {
        subject: 'SECRETS',
        action: ['DESCRIBE_SECRET', 'READ_VALUE'],
        conditions: { environment: { is: 'staging' }, secretPath: null },
      },
      { subject: 'SECRETS', action: 'READ_VALUE', inverted: true, conditions: { secretTags: { in: ['hot'] } } },
    ];
    const { createProjectRole } = await admin.data(
      `mutation ($input: CreateProjectRoleInput!) { createProjectRole(input: $input) { role {
         id rules { subject action inverted ${conditions} } permissions { action }
       } } }`,
      { input: { ...READER, permissions, projectId: project.id } },
    );
    expect(createProjectRole.role).toEqual({
      id: expect.any(String),
      rules: [
        {
          ...{ subject: 'SECRETS', action: ['DESCRIBE_SECRET', 'READ_VALUE'], inverted: false },
          conditions: { environment: { is: 'staging', ...nothing }, secretTags: null, secretPath: null },
        },
        {
          ...{ subject: 'SECRETS', action: ['READ_VALUE'], inverted: true },
          conditions: { environment: null, secretTags: { in: ['hot'] }, secretPath: null },
        },
      ],
      permissions: [{ action: 'DESCRIBE_SECRET' }, { action: 'READ_VALUE' }, { action: 'READ_VALUE' }],
    });
    const { role } = mustSucceed(await admin.get(`${roles}/${createProjectRole.role.id}`)).body;
    expect(role.permissions.map((permission: { conditions: unknown }) => permission.conditions)).toEqual([
      { environment: 'staging' },
      { environment: 'staging' },
      { secretTags: { $in: ['hot'] } },
    ]);
  });

  test.each([
    ['a text beside operators', { environment: { is: 'dev', ne: 'prod' } }, 'environment'],
    ['no operator at all', { secretPath: {} }, 'secretPath'],
    ['a pattern that is none', { secretName: { glob: '{a' } }, 'secretName'],
    ['a field that folders do not have', { secretName: { is: 'A' } }, 'conditions', 'SECRET_FOLDERS', 'READ'],
  ])('are refused over GraphQL with %s', async (_, conditions, path, subject = 'SECRETS', action = 'READ_VALUE') => {
    const { admin, project } = await seeded();
    const reply = await admin.graphql(
      'mutation ($input: CreateProjectRoleInput!) { createProjectRole(input: $input) { role { id } } }',
      { input: { ...READER, permissions: [{ subject, action, conditions }], projectId: project.id } },
    );
    expect(reply).toBeError(422, 'VALIDATION_FAILED');
    expect(JSON.stringify(reply.body.errors[0].extensions.details)).toContain(path);
  });

  test('are listed by slug, then the built-in ones, whole and in pages', async () => {
    const { admin, project, roles } = await seeded();
    for (const slug of ['b', 'c', 'a']) mustSucceed(await admin.post(roles, { ...READER, slug }));
    const whole = mustSucceed(await admin.get(roles)).body.roles;
    expect(slugsOf(whole)).toEqual(['a', 'b', 'c', ...BUILT_IN]);
    for (const limit of [1, 2, 3, 5]) {
      const paged: unknown[] = [];
      for (let cursor = ''; ; ) {
        const { body } = mustSucceed(await admin.get(`${roles}?limit=${limit}${cursor && `&cursor=${cursor}`}`));
        expect(body.roles.length).toBeLessThanOrEqual(limit);
        paged.push(...body.roles);
        if (body.nextCursor === undefined) break;
        cursor = body.nextCursor;
      }
      expect(paged).toEqual(whole);
    }
    const foreign = Buffer.from('["built-in","a"]').toString('base64url');
    for (const cursor of ['x', foreign]) {
      expect(await admin.get(`${roles}?cursor=${cursor}`)).toBeError(422, 'VALIDATION_FAILED');
    }
    const { projects } = (await admin.get('/api/v1/projects?includeRoles=true')).body;
    expect(projects[0].roles).toEqual(whole);
    const builtIn = whole.at(-1);
    expect((await admin.get(`${roles}/${builtIn.id}`)).body).toEqual({ role: builtIn });
    expect((await admin.get(`${roles}/slug/no-access`)).body).toEqual({ role: builtIn });
    expect(builtIn).toMatchObject({ projectId: project.id, permissions: [] });
  });

  test('take a slug once, and none of the built-in ones', async () => {
    const { admin, roles } = await seeded();
    mustSucceed(await admin.post(roles, READER));
    const other = mustSucceed(await admin.post(roles, { ...READER, slug: 'other' })).body.role;
    expect(await admin.post(roles, READER)).toBeError(409, 'ROLE_SLUG_TAKEN');
    expect(await admin.patch(`${roles}/${other.id}`, { slug: 'reader' })).toBeError(409, 'ROLE_SLUG_TAKEN');
    for (const slug of [...BUILT_IN, 'custom', 'ssh-host-bootstrapper', 'cryptographic-operator']) {
      const reply = await admin.post(roles, { ...READER, slug });
      expect(reply).toBeError(422, 'VALIDATION_FAILED');
      expect(reply.body.details).toEqual([expect.objectContaining({ path: 'body.slug', code: 'RESERVED' })]);
    }
    const { admin: stranger, roles: elsewhere } = await seeded();
    expect((await stranger.post(elsewhere, READER)).status).toBe(200);
  });

  test('that are built in cannot be changed or deleted', async () => {
    const { admin, roles } = await seeded();
    for (const { id } of (await admin.get(roles)).body.roles) {
      expect(await admin.patch(`${roles}/${id}`, { name: 'Mine' })).toBeError(409, 'ROLE_BUILT_IN');
      expect(await admin.delete(`${roles}/${id}`)).toBeError(409, 'ROLE_BUILT_IN');
    }
  });

  test('are for members who may: a viewer reads, a caller without rights gets 403, a stranger 404', async () => {
    const { admin, project, roles } = await seeded();
    const { role } = mustSucceed(await admin.post(roles, READER)).body;
    const { caller: viewer } = await memberWith(admin, project.id, 'viewer');
    const { caller: nobody } = await memberWith(admin, project.id, 'no-access');
    expect((await viewer.get(`${roles}/${role.id}`)).status).toBe(200);
    for (const reply of [
      await viewer.post(roles, READER),
      await viewer.patch(`${roles}/${role.id}`, {}),
      await viewer.delete(`${roles}/${role.id}`),
      await nobody.get(roles),
    ]) {
      expect(reply).toBeError(403, 'PERMISSION_DENIED');
    }
    const document = `{ project(id: "${project.id}") { roles { nodes { slug } } } }`;
    expect(slugsOf((await viewer.data(document)).project.roles.nodes)).toEqual(['reader', ...BUILT_IN]);
    const { admin: stranger, roles: elsewhere } = await seeded();
    expect(await stranger.get(roles)).toBeError(404, 'PROJECT_NOT_FOUND');
    expect(await stranger.get(`${elsewhere}/${role.id}`)).toBeError(404, 'ROLE_NOT_FOUND');
    expect(await stranger.delete(`${elsewhere}/${role.id}`)).toBeError(404, 'ROLE_NOT_FOUND');
  });
});

describe('roles of members', () => {
  test('name roles of the project, which then cannot be deleted, and follow when their slug changes', async () => {
    const { admin, project, roles } = await seeded();
    const { role } = mustSucceed(await admin.post(roles, READER)).body;
    const { membership } = await memberWith(admin, project.id, 'no-access', 'reader');
    const refused = await admin.delete(`${roles}/${role.id}`);
    expect(refused).toBeError(409, 'ROLE_IN_USE');
    expect(refused.body.details[0].message).toBe('is a role of members of the project: 1');
    mustSucceed(await admin.patch(`${roles}/${role.id}`, { slug: 'staging-reader' }));
    expect((await admin.get(membership)).body.identityMembership.roles).toEqual(forGood('no-access', 'staging-reader'));
    mustSucceed(await admin.patch(membership, { role: 'viewer' }));
    expect((await admin.delete(`${roles}/${role.id}`)).status).toBe(200);
  });

  test('are roles that there are in this project', async () => {
    const { admin, project, roles } = await seeded();
    mustSucceed(await admin.post(roles, READER));
    const { membership } = await memberWith(admin, project.id, 'viewer');
    const { admin: stranger, project: elsewhere } = await seeded();
    const reply = await admin.patch(membership, { roles: [{ role: 'reader' }, { role: 'writer' }] });
    expect(reply).toBeError(404, 'ROLE_NOT_FOUND');
    expect(reply.body.details).toEqual([
      { path: 'body.roles[1].role', code: 'ROLE_NOT_FOUND', message: 'is not a role of the project' },
    ]);
    const { membership: foreign } = await memberWith(stranger, elsewhere.id, 'viewer');
    expect(await stranger.patch(foreign, { role: 'reader' })).toBeError(404, 'ROLE_NOT_FOUND');
  });

  test('exist, whoever deletes or renames them at the moment at which they are given', async () => {
    const { admin, project, roles } = await seeded();
    const { caller, membership } = await memberWith(admin, project.id, 'viewer');
    const dangling = `select m.roles from project_membership m, unnest(m.roles) as slug
      where m.project_id = $1 and slug not in ('admin', 'member', 'viewer', 'no-access')
        and not exists (select from project_role r where r.project_id = m.project_id and r.slug = slug)`;
    for (let round = 0; round < 10; round += 1) {
      const slug = `role-${round}`;
      const { role } = mustSucceed(await admin.post(roles, { ...READER, slug })).body;
      const path = `${roles}/${role.id}`;
      if (round % 2 === 0) mustSucceed(await admin.delete(membership));
      const give = round % 2 === 0 ? admin.post(membership, { role: slug }) : admin.patch(membership, { role: slug });
      const change = round % 4 < 2 ? admin.delete(path) : admin.patch(path, { slug: `renamed-${round}` });
      const [given, changed] = await Promise.all([give, change]);
      expect([200, 404]).toContain(given.status);
      expect([200, 409]).toContain(changed.status);
      expect(await strongroom.sql(dangling, [project.id])).toEqual([]);
      mustSucceed(
        given.status === 200 || round % 2 === 1
          ? await admin.patch(membership, { role: 'viewer' })
          : await admin.post(membership, { role: 'viewer' }),
      );
    }
    expect((await caller.get(`/api/v1/projects/${project.id}`)).status).toBe(200);
  });
});
