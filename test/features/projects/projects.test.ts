import { randomUUID } from 'node:crypto';
import { useSharedStrongroom } from '../../kit/strongroom.js';
import { keysOf, WHOLE } from './fields.js';

const withoutRequestId = (text: string): string => text.replace(/"reqId":"[^"]+"/, '');

const strongroom = useSharedStrongroom();

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
    expect(await member.graphql('{ projects { edges { node { roles { nodes { slug } } } } } }')).toBeError(
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
      ['query.includeRoles', 'query.limit', 'query', 'query.type'].sort(),
    );
    for (const cursor of ['x', Buffer.from('["a","b"]').toString('base64url')]) {
      expect(await admin.get(`/api/v1/projects?cursor=${cursor}`)).toBeError(422, 'VALIDATION_FAILED');
    }
  });

  test('takes as many statements for eleven projects with environments, members and roles as for one', async () => {
    const { admin } = await strongroom.seed.project();
    const document = `{ projects { nodes { id environments { slug } members { nodes { name roleSlugs } } roles { nodes { slug } } secretDetectionIgnoreValues } } }`;
    await admin.graphql(document);
    const one = await strongroom.statements(() => admin.graphql(document));
    for (let count = 0; count < 10; count += 1) {
      const { body } = await admin.post('/api/v2/workspace', { projectName: 'more' });
      await admin.patch(`/api/v1/projects/${body.project.id}`, { secretDetectionIgnoreValues: ['x'] });
    }
    const eleven = await strongroom.statements(() => admin.graphql(document));
    expect(eleven.result.body.data.projects.nodes).toHaveLength(11);
    expect(eleven.count).toBe(one.count);
    expect(eleven.count).toBeLessThanOrEqual(5);
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
