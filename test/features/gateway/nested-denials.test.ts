import { randomUUID } from 'node:crypto';
import { mustSucceed, type Reply } from '../../kit/caller.js';
import { callerWithRules } from '../../kit/rules.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';

const PAGE = 'nodes { __typename }';
const PROJECTS = `{ projects(first: 10) { nodes {
  slug
  tags { nodes { id } } pageOfTags: tags(first: 5) { ${PAGE} }
  members { nodes { id } } pageOfMembers: members(first: 5) { ${PAGE} }
  environments {
    slug
    secrets { nodes { id } } pageOfSecrets: secrets(first: 5) { ${PAGE} }
    folders { nodes { id } } pageOfFolders: folders(first: 5) { ${PAGE} }
    imports { nodes { id } }
  }
} } }`;
const OF_PROJECTS = ['tags', 'pageOfTags', 'members', 'pageOfMembers'];
const OF_ENVIRONMENTS = ['secrets', 'pageOfSecrets', 'folders', 'pageOfFolders', 'imports'];

/** The denied fields of a response, as paths without positions. */
const deniedIn = ({ body }: Reply): string[] =>
  (body.errors ?? []).map(({ path, extensions }: { path: (string | number)[]; extensions: { code: string } }) => {
    expect(extensions.code).toBe('PERMISSION_DENIED');
    return path.filter((name) => typeof name === 'string').join('.');
  });

describe('a nested field that the caller may not read', () => {
  const strongroom = useSharedStrongroom();

  const world = async (projects: number) => {
    const { admin, project } = await strongroom.seed.project();
    const { caller } = await callerWithRules(strongroom, admin, project.id);
    for (let index = 1; index < projects; index += 1) {
      const { id } = await strongroom.seed.projectOf(admin);
      mustSucceed(
        await admin.post(`/api/v2/workspace/${id}/identity-memberships/${caller.identityId}`, {
          roles: [{ role: 'no-access' }],
        }),
      );
    }
    return { admin, project, caller };
  };

  test('is null with one PERMISSION_DENIED for the field, however many rows there are, and the rest stands', async () => {
    const { caller } = await world(3);
    const reply = await caller.graphql(PROJECTS);
    expect(reply.status).toBe(200);
    const { nodes } = reply.body.data.projects;
    expect(nodes).toHaveLength(3);
    for (const project of nodes) {
      for (const field of OF_PROJECTS) expect([field, project[field]]).toEqual([field, null]);
      expect(project.environments).toHaveLength(3);
      for (const environment of project.environments)
        for (const field of OF_ENVIRONMENTS) expect([field, environment[field]]).toEqual([field, null]);
    }
    expect(deniedIn(reply).toSorted()).toEqual(
      [
        ...OF_PROJECTS.map((field) => `projects.nodes.${field}`),
        ...OF_ENVIRONMENTS.map((field) => `projects.nodes.environments.${field}`),
      ].toSorted(),
    );
  });

  test('takes as many statements for nine projects as for three, and has a record of each right in each project', async () => {
    const few = await world(3);
    const many = await world(9);
    await few.caller.graphql(PROJECTS);
    await many.caller.graphql(PROJECTS);
    const counted = async ({ caller }: typeof few) => {
      const { count, result } = await strongroom.statements(() => caller.graphql(PROJECTS));
      const rows = await strongroom.auditRows('request_id = $1', [result.headers['x-request-id']]);
      const denied = rows.filter(({ outcome }) => outcome === 'denied');
      return { count, errors: deniedIn(result).length, denied: denied.map((row) => `${row.action} ${row.project_id}`) };
    };
    const [of9, of3] = [await counted(many), await counted(few)];
    expect([of9.count, of9.errors]).toEqual([of3.count, of3.errors]);
    const rights = ['tags', 'member', 'secrets', 'secret-folders', 'secret-imports'].length;
    expect([new Set(of9.denied).size, new Set(of3.denied).size]).toEqual([rights * 9, rights * 3]);
    expect([of9.denied.length, of3.denied.length]).toEqual([rights * 9, rights * 3]);
  });

  test('is reported for each type that has it under the same alias, each with its record', async () => {
    const { admin, project, caller } = await world(1);
    const { folder } = mustSucceed(
      await admin.post('/api/v2/folders', { projectId: project.id, environment: 'dev', name: 'closed' }),
    ).body;
    const { caller: reader } = await callerWithRules(strongroom, admin, project.id, {
      subject: 'secret-folders',
      action: 'read',
    });
    const document = `query ($ids: [ID!]!) { nodes(ids: $ids) { ... on Project { x: tags { nodes { id } } } ... on Folder { x: imports { nodes { id } } } } }`;
    const reply = await reader.graphql(document, { ids: [project.id, folder.id] });
    expect(reply.body.data.nodes).toEqual([{ x: null }, { x: null }]);
    expect(deniedIn(reply)).toEqual(['nodes.x', 'nodes.x']);
    const rows = await strongroom.auditRows(`request_id = $1 and outcome = 'denied'`, [reply.headers['x-request-id']]);
    expect(rows.map(({ action }) => action).toSorted()).toEqual(['secret-imports:read', 'tags:read']);
    expect((await caller.graphql(document, { ids: [folder.id] })).body.data.nodes).toEqual([null]);
  });

  test('stands for itself under each alias, and beside what the same field shows elsewhere', async () => {
    const { admin, project, caller } = await world(1);
    const slug = `tag-${randomUUID().slice(0, 8)}`;
    mustSucceed(await admin.post(`/api/v1/projects/${project.id}/tags`, { slug, color: '#aa0000' }));
    const document = `{ one: project(id: "${project.id}") { slug a: tags { nodes { slug } } b: tags { nodes { slug } } roles { nodes { slug } } } viewer { name } }`;
    const reply = await caller.graphql(document);
    expect(reply.body.data).toMatchObject({ one: { slug: project.slug, a: null, b: null, roles: null } });
    expect(reply.body.data.viewer.name).toEqual(expect.any(String));
    expect(deniedIn(reply).toSorted()).toEqual(['one.a', 'one.b', 'one.roles']);
    expect((await admin.data(document)).one).toMatchObject({ a: { nodes: [{ slug }] }, b: { nodes: [{ slug }] } });
  });

  test('says nothing of a project that the caller does not know of', async () => {
    const { caller } = await world(1);
    const { project: hidden } = await strongroom.seed.project();
    const of = (id: string) => `{ project(id: "${id}") { tags { nodes { slug } } } }`;
    const [unknown, foreign] = [await caller.graphql(of(randomUUID())), await caller.graphql(of(hidden.id))];
    for (const reply of [unknown, foreign]) expect(reply).toBeError(404, 'PROJECT_NOT_FOUND');
  });

  test('does not fail the REST request that shows the thing around it', async () => {
    const { admin, project } = await strongroom.seed.project();
    const { caller } = await callerWithRules(strongroom, admin, project.id);
    expect((await caller.get(`/api/v1/projects/${project.id}`)).status).toBe(200);
    expect(mustSucceed(await caller.get('/api/v1/projects')).body.projects).toHaveLength(1);
  });
});
