import { randomUUID } from 'node:crypto';
import { useStrongroom } from '../../kit/strongroom.js';

/** The fields of a project that every operation answers. Source: specification, Project. */
const FIELDS = [
  'id',
  'name',
  'type',
  'slug',
  'orgId',
  'createdAt',
  'updatedAt',
  'description',
  'defaultProduct',
  'autoCapitalization',
  'version',
  'upgradeStatus',
  'pitVersionLimit',
  'kmsCertificateKeyId',
  'auditLogsRetentionDays',
  'hasDeleteProtection',
  'secretSharing',
  'showSnapshotsLegacy',
  'secretDetectionIgnoreValues',
  'enforceEncryptedSecretManagerSecretMetadata',
];
const WHOLE = [...FIELDS, '_id', 'environments'];
const keysOf = (thing: object): string[] => Object.keys(thing).sort();
const withoutRequestId = (text: string): string => text.replace(/"reqId":"[^"]+"/, '');

const strongroom = useStrongroom();

describe('creating a project', () => {
  test('answers the whole project with its key, and makes three environments and the caller its admin', async () => {
    const { admin } = await strongroom.seed.organization();
    const reply = await admin.post('/api/v2/workspace', { projectName: ' Web shop ', slug: 'web-shop' });
    expect(reply.status).toBe(200);
    const { project } = reply.body;
    expect(keysOf(project)).toEqual([...WHOLE, 'kmsSecretManagerKeyId'].sort());
    expect(project).toMatchObject({
      _id: project.id,
      name: 'Web shop',
      slug: 'web-shop',
      type: 'secret-manager',
      defaultProduct: 'secret-manager',
      description: null,
      version: 1,
      upgradeStatus: null,
      pitVersionLimit: 10,
      autoCapitalization: false,
      hasDeleteProtection: false,
      secretSharing: true,
      showSnapshotsLegacy: false,
      environments: [
        { name: 'Development', slug: 'dev' },
        { name: 'Staging', slug: 'staging' },
        { name: 'Production', slug: 'prod' },
      ],
    });
    expect(keysOf(project.environments[0])).toEqual(['id', 'name', 'slug']);
    const members = await admin.get(`/api/v2/workspace/${project.id}/identity-memberships`);
    expect(members.body.identityMemberships).toMatchObject([
      { identityId: admin.identityId, roles: [{ role: 'admin' }] },
    ]);
    const [keys] = await strongroom.sql<{ count: number }>(
      'select count(*)::integer as count from data_key where project_id = $1 and parent_key_id = $2',
      [project.id, project.kmsSecretManagerKeyId],
    );
    expect(keys?.count).toBe(1);
  });

  test('makes up a slug from the name, leaves out environments when told so, and takes every type', async () => {
    const { admin } = await strongroom.seed.organization();
    for (const type of ['secret-manager', 'cert-manager', 'kms', 'ssh', 'secret-scanning', 'pam', 'ai']) {
      const { body } = await admin.post('/api/v1/projects', {
        projectName: 'Größe',
        type,
        shouldCreateDefaultEnvs: false,
      });
      expect(body.project).toMatchObject({ type, defaultProduct: type, environments: [] });
      expect(body.project.slug).toMatch(/^gro-e-[a-z0-9]{4}$/);
    }
  });

  test('is refused with every fault at once', async () => {
    const { admin } = await strongroom.seed.organization();
    const reply = await admin.post('/api/v2/workspace', {
      projectName: '  ',
      projectDescription: 'd'.repeat(1025),
      slug: 'Bad',
      template: '',
      type: 'other',
      shouldCreateDefaultEnvs: 'true',
      hasDeleteProtection: null,
      kmsKey: 'x',
    });
    expect(reply).toBeError(422, 'VALIDATION_FAILED');
    const places = reply.body.details.map(({ path }: { path: string }) => path);
    const keys = [
      'projectName',
      'projectDescription',
      'slug',
      'template',
      'type',
      'shouldCreateDefaultEnvs',
      'hasDeleteProtection',
      'kmsKey',
    ];
    expect([...new Set(places)].sort()).toEqual(keys.map((key) => `body.${key}`).sort());
  });

  test('is refused without the right, for an unknown template, and for a key of another organization', async () => {
    const { admin } = await strongroom.seed.organization();
    const nobody = await strongroom.seed.caller(admin, { organizationRole: 'no-access' });
    expect(await nobody.post('/api/v2/workspace', { projectName: 'x' })).toBeError(403, 'PERMISSION_DENIED');
    const template = await admin.post('/api/v2/workspace', { projectName: 'x', template: 'other' });
    expect(template).toBeError(404, 'PROJECT_TEMPLATE_NOT_FOUND');
    const { project } = (await strongroom.admin.post('/api/v2/workspace', { projectName: 'theirs' })).body;
    for (const kmsKeyId of [project.kmsSecretManagerKeyId, randomUUID(), 'no-uuid']) {
      expect(await admin.post('/api/v2/workspace', { projectName: 'x', kmsKeyId })).toBeError(404, 'KEY_NOT_FOUND');
    }
  });

  test('gives one slug to one of two callers at the same moment', async () => {
    const { admin } = await strongroom.seed.organization();
    const create = () => admin.post('/api/v2/workspace', { projectName: 'Twin', slug: 'twins' });
    const [first, second] = (await Promise.all([create(), create()])).sort((a, b) => a.status - b.status);
    expect(first.status).toBe(200);
    expect(second).toBeError(409, 'PROJECT_SLUG_TAKEN');
    const { admin: other } = await strongroom.seed.organization();
    expect((await other.post('/api/v2/workspace', { projectName: 'Twin', slug: 'twins' })).status).toBe(200);
  });
});

describe('reading a project', () => {
  test('answers the same project on all four ways, each in its own wrapping', async () => {
    const { admin, project } = await strongroom.seed.project();
    const byId = await admin.get(`/api/v1/projects/${project.id}`);
    expect(keysOf(byId.body.project)).toEqual([...WHOLE].sort());
    expect((await admin.get(`/api/v1/projects/slug/${project.slug}`)).body).toEqual(byId.body.project);
    expect((await admin.get(`/api/v1/workspace/${project.id}`)).body).toEqual({ workspace: byId.body.project });
    expect((await admin.get('/api/v1/projects')).body).toEqual({ projects: [byId.body.project] });
  });

  test('needs membership only, with whatever role', async () => {
    const { admin, project } = await strongroom.seed.project();
    const nobody = await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['no-access'] });
    expect((await nobody.get(`/api/v1/projects/${project.id}`)).status).toBe(200);
  });

  test('tells nothing to those who are no members: the same bytes as for an unknown id', async () => {
    const { admin, project } = await strongroom.seed.project();
    const colleague = await strongroom.seed.caller(admin, { organizationRole: 'admin' });
    const { admin: stranger } = await strongroom.seed.organization();
    for (const caller of [colleague, stranger]) {
      for (const [method, at] of [
        ['GET', '/api/v1/projects/'],
        ['DELETE', '/api/v1/projects/'],
        ['GET', '/api/v1/workspace/'],
      ] as const) {
        const [hidden, unknown, malformed] = await Promise.all(
          [project.id, randomUUID(), 'no-uuid'].map((id) => caller.request({ method, path: `${at}${id}` })),
        );
        expect(hidden).toBeError(404, 'PROJECT_NOT_FOUND');
        expect(withoutRequestId(hidden?.text ?? '')).toBe(withoutRequestId(unknown?.text ?? ''));
        expect(withoutRequestId(malformed?.text ?? '')).toBe(withoutRequestId(unknown?.text ?? ''));
      }
      const [hidden, unknown] = await Promise.all(
        [project.slug, 'unknown-slug'].map((slug) => caller.get(`/api/v1/projects/slug/${slug}`)),
      );
      expect(hidden).toBeError(404, 'PROJECT_NOT_FOUND');
      expect(withoutRequestId(hidden?.text ?? '')).toBe(withoutRequestId(unknown?.text ?? ''));
      expect((await caller.get('/api/v1/projects')).body.projects).toEqual([]);
    }
  });

  test('by slug wants a slug of 1 to 64 characters', async () => {
    const { admin } = await strongroom.seed.organization();
    for (const slug of ['A', 'a_b', '-a', 'a'.repeat(65)]) {
      expect(await admin.get(`/api/v1/projects/slug/${slug}`)).toBeError(422, 'VALIDATION_FAILED');
    }
    expect(await admin.get(`/api/v1/projects/slug/${'a'.repeat(64)}`)).toBeError(404, 'PROJECT_NOT_FOUND');
  });

  test('takes at most 3 statements with authentication and audit', async () => {
    const { admin, project } = await strongroom.seed.project();
    const { result, count } = await strongroom.statements(() => admin.get(`/api/v1/projects/${project.id}`));
    expect(result.status).toBe(200);
    expect(count).toBeLessThanOrEqual(3);
  });
});

describe('listing projects', () => {
  test('goes by name in code points, then id; filters by type; and pages', async () => {
    const { admin } = await strongroom.seed.organization();
    for (const projectName of ['b', 'a', 'Z', 'é', 'a']) await admin.post('/api/v2/workspace', { projectName });
    await admin.post('/api/v2/workspace', { projectName: 'keys', type: 'kms' });
    const { projects } = (await admin.get('/api/v1/projects')).body;
    expect(projects.map(({ name }: { name: string }) => name)).toEqual(['Z', 'a', 'a', 'b', 'keys', 'é']);
    expect(projects[1].id < projects[2].id).toBe(true);
    expect((await admin.get('/api/v1/projects?type=kms')).body.projects).toEqual([projects[4]]);
    const paged = [];
    for (let cursor = ''; ; ) {
      const { body } = await admin.get(`/api/v1/projects?limit=2${cursor}`);
      paged.push(...body.projects);
      if (body.nextCursor === undefined) break;
      cursor = `&cursor=${body.nextCursor}`;
    }
    expect(paged).toEqual(projects);
  });

  test('brings the built-in roles when asked, with the right to add members only', async () => {
    const { admin, project } = await strongroom.seed.project();
    const { projects } = (await admin.get('/api/v1/projects?includeRoles=true')).body;
    expect(projects[0].roles.map(({ slug }: { slug: string }) => slug)).toEqual([
      'admin',
      'member',
      'viewer',
      'no-access',
    ]);
    expect(keysOf(projects[0].roles[0])).toEqual(
      ['id', 'name', 'slug', 'createdAt', 'updatedAt', 'projectId', 'description', 'permissions', 'version'].sort(),
    );
    expect(projects[0].roles[0].permissions[0]).toEqual({
      subject: 'workspace',
      action: 'edit',
      inverted: false,
      conditions: null,
    });
    expect((await admin.get('/api/v1/projects?includeRoles=true')).text).toBe(
      (await admin.get('/api/v1/projects?includeRoles=true')).text,
    );
    const member = await strongroom.seed.caller(admin, {
      organizationRole: 'member',
      project: project.id,
      projectRoles: ['admin'],
    });
    expect(await member.get('/api/v1/projects?includeRoles=true')).toBeError(403, 'PERMISSION_DENIED');
    expect(await member.graphql('{ projects { edges { node { roles { slug } } } } }')).toBeError(
      403,
      'PERMISSION_DENIED',
    );
    expect((await member.get('/api/v1/projects?includeRoles=false')).status).toBe(200);
  });

  test('refuses every wrong parameter at once, and a made-up cursor', async () => {
    const { admin } = await strongroom.seed.organization();
    const reply = await admin.get('/api/v1/projects?includeRoles=yes&type=x&limit=0&other=1');
    expect(reply).toBeError(422, 'VALIDATION_FAILED');
    expect(reply.body.details.map(({ path }: { path: string }) => path).sort()).toEqual(
      ['query.includeRoles', 'query.limit', 'query.other', 'query.type'].sort(),
    );
    for (const cursor of ['x', Buffer.from('["a","b"]').toString('base64url')]) {
      expect(await admin.get(`/api/v1/projects?cursor=${cursor}`)).toBeError(422, 'VALIDATION_FAILED');
    }
  });

  test('takes as many statements for eleven projects with environments, members and roles as for one', async () => {
    const { admin } = await strongroom.seed.project();
    const document = `{ projects { nodes { id environments { slug } members { name roles } roles { slug } secretDetectionIgnoreValues } } }`;
    await admin.graphql(document);
    const one = await strongroom.statements(() => admin.graphql(document));
    for (let count = 0; count < 10; count += 1) {
      const { body } = await admin.post('/api/v2/workspace', { projectName: 'more' });
      await admin.patch(`/api/v1/projects/${body.project.id}`, { secretDetectionIgnoreValues: ['x'] });
    }
    const eleven = await strongroom.statements(() => admin.graphql(document));
    expect(eleven.result.body.data.projects.nodes).toHaveLength(11);
    expect(eleven.count).toBe(one.count);
    expect(eleven.count).toBeLessThanOrEqual(4);
  });
});

describe('updating a project', () => {
  test('changes what is given, keeps what is absent, and clears what is null', async () => {
    const { admin, project } = await strongroom.seed.project();
    const changes = {
      name: 'New name',
      description: 'words',
      slug: 'new-slug',
      autoCapitalization: true,
      hasDeleteProtection: true,
      secretSharing: false,
      showSnapshotsLegacy: true,
      enforceEncryptedSecretManagerSecretMetadata: true,
      pitVersionLimit: 100,
      secretDetectionIgnoreValues: ['hush', 'hush again'],
    };
    const all = await admin.patch(`/api/v1/projects/${project.id}`, changes);
    expect(all.body.project).toMatchObject(changes);
    const some = await admin.patch(`/api/v1/projects/${project.id}`, {
      description: null,
      secretDetectionIgnoreValues: null,
    });
    expect(some.body.project).toMatchObject({ ...changes, description: null, secretDetectionIgnoreValues: null });
    expect((await admin.get(`/api/v1/projects/${project.id}`)).body).toEqual(some.body);
  });

  test('is refused with every fault at once, and for a slug that is taken', async () => {
    const { admin, project } = await strongroom.seed.project();
    const faulty = {
      name: null,
      slug: 'A',
      pitVersionLimit: 101,
      hasDeleteProtection: 'no',
      secretDetectionIgnoreValues: [''],
      version: 2,
    };
    const reply = await admin.patch(`/api/v1/projects/${project.id}`, faulty);
    expect(reply).toBeError(422, 'VALIDATION_FAILED');
    expect(reply.body.details).toHaveLength(6);
    await admin.post('/api/v2/workspace', { projectName: 'x', slug: 'taken' });
    const taken = await admin.patch(`/api/v1/projects/${project.id}`, { slug: 'taken', name: 'y' });
    expect(taken).toBeError(409, 'PROJECT_SLUG_TAKEN');
    expect((await admin.get(`/api/v1/projects/${project.id}`)).body.project.name).toBe(project.name);
  });

  test('needs the right to edit settings, and the values that leak detection passes over need an admin', async () => {
    const { admin, project } = await strongroom.seed.project();
    const path = `/api/v1/projects/${project.id}`;
    await admin.patch(path, { secretDetectionIgnoreValues: ['hush'] });
    const developer = await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['member'] });
    expect((await developer.patch(path, { name: 'Mine' })).body.project.secretDetectionIgnoreValues).toEqual(['hush']);
    expect(await developer.patch(path, { secretDetectionIgnoreValues: null })).toBeError(403, 'PERMISSION_DENIED');
    expect(await developer.patch(path, { secretDetectionIgnoreValues: [] })).toBeError(403, 'PERMISSION_DENIED');
    const viewer = await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['viewer'] });
    expect(await viewer.patch(path, { name: 'Mine' })).toBeError(403, 'PERMISSION_DENIED');
    const nobody = await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['no-access'] });
    expect((await nobody.get(path)).body.project.secretDetectionIgnoreValues).toBeNull();
    const { admin: stranger } = await strongroom.seed.organization();
    expect(await stranger.patch(path, { name: 'Mine' })).toBeError(404, 'PROJECT_NOT_FOUND');
  });

  test('seals the values that leak detection passes over; two swapped ones do not open, and the list goes on', async () => {
    const { admin, project } = await strongroom.seed.project();
    const other = (await admin.post('/api/v2/workspace', { projectName: 'other' })).body.project;
    for (const [id, value] of [
      [project.id, 'hush-one'],
      [other.id, 'hush-two'],
    ]) {
      await admin.patch(`/api/v1/projects/${id}`, { secretDetectionIgnoreValues: [value] });
    }
    await strongroom.sql(
      `update project p set secret_detection_ignore_values_sealed = q.secret_detection_ignore_values_sealed
       from project q where p.id in ($1, $2) and q.id in ($1, $2) and p.id <> q.id`,
      [project.id, other.id],
    );
    expect(await admin.get(`/api/v1/projects/${project.id}`)).toBeError(503, 'SEALED_VALUE_INVALID');
    const list = await admin.get('/api/v1/projects');
    expect(list.status).toBe(200);
    expect(list.body.projects).toHaveLength(2);
    expect(list.text).not.toContain('hush');
    expect((await admin.delete(`/api/v1/projects/${project.id}`)).status).toBe(200);
  });
});

describe('deleting a project', () => {
  test('answers it without _id and environments, and everything in it is gone', async () => {
    const { admin, project } = await strongroom.seed.project();
    const reply = await admin.delete(`/api/v1/projects/${project.id}`);
    expect(reply.status).toBe(200);
    expect(keysOf(reply.body.project)).toEqual([...FIELDS].sort());
    expect(await admin.get(`/api/v1/projects/${project.id}`)).toBeError(404, 'PROJECT_NOT_FOUND');
    for (const table of ['environment', 'folder', 'project_membership', 'data_key']) {
      expect(await strongroom.sql(`select 1 from ${table} where project_id = $1`, [project.id])).toEqual([]);
    }
  });

  test('needs the right, and is refused while the project is protected', async () => {
    const { admin, project } = await strongroom.seed.project();
    const path = `/api/v1/projects/${project.id}`;
    const developer = await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['member'] });
    expect(await developer.delete(path)).toBeError(403, 'PERMISSION_DENIED');
    await admin.patch(path, { hasDeleteProtection: true });
    expect(await admin.delete(path)).toBeError(409, 'DELETE_PROTECTED');
    expect((await admin.get(path)).status).toBe(200);
  });

  test('happens once when two ask at the same moment', async () => {
    const { admin, project } = await strongroom.seed.project();
    const replies = await Promise.all([1, 2].map(() => admin.delete(`/api/v1/projects/${project.id}`)));
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 404]);
  });

  test('never passes a protection that was switched on at the same moment', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { admin, project } = await strongroom.seed.project();
      const path = `/api/v1/projects/${project.id}`;
      const [protection, deletion] = await Promise.all([
        admin.patch(path, { hasDeleteProtection: true }),
        admin.delete(path),
      ]);
      expect([protection.status, deletion.status]).toEqual(
        deletion.status === 200 ? [expect.any(Number), 200] : [200, 409],
      );
      expect((await admin.get(path)).status).toBe(deletion.status === 200 ? 404 : 200);
    }
  });
});

test('every operation on a project leaves one audit record, a refused one too', async () => {
  const { admin, project } = await strongroom.seed.project();
  const viewer = await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['viewer'] });
  const path = `/api/v1/projects/${project.id}`;
  await admin.get(path);
  await viewer.patch(path, { name: 'x' });
  await admin.patch(path, { name: 'x' });
  await viewer.delete(path);
  await admin.delete(path);
  const rows = await strongroom.sql<{ action: string; outcome: string; actor_id: string }>(
    `select action, outcome, actor_id from audit_record where project_id = $1 and action !~ 'membership' order by sequence`,
    [project.id],
  );
  expect(rows.map(({ action, outcome, actor_id }) => [action, outcome, actor_id])).toEqual([
    ['project:create', 'allowed', admin.identityId],
    ['project:get', 'allowed', admin.identityId],
    ['settings:edit', 'denied', viewer.identityId],
    ['project:update', 'allowed', admin.identityId],
    ['workspace:delete', 'denied', viewer.identityId],
    ['project:delete', 'allowed', admin.identityId],
  ]);
});
