import { useSharedStrongroom } from '../../kit/strongroom.ts';

const PROJECTS = 20;

describe('the projects of the organization of each entry of a list', () => {
  const strongroom = useSharedStrongroom();

  const asked = (first: number, inner: string): string =>
    `{ projects(first: ${first}) { nodes { id organization { projects(first: 5) { nodes { ${inner} } } } } } }`;

  test('are read once, whatever the number of entries', async () => {
    const { admin } = await strongroom.seed.project();
    for (let made = 1; made < PROJECTS; made += 1) await strongroom.seed.projectOf(admin);
    await admin.data(asked(1, 'id'));

    const one = await strongroom.statements(() => admin.data(asked(1, 'id')));
    const many = await strongroom.statements(() => admin.data(asked(PROJECTS, 'id')));

    expect(many.count).toBe(one.count);
    const { nodes } = many.result.projects;
    expect(nodes).toHaveLength(PROJECTS);
    const first = nodes.slice(0, 5).map(({ id }: { id: string }) => ({ id }));
    for (const { organization } of nodes) expect(organization.projects.nodes).toEqual(first);
  });

  test('are refused to each of them by itself, and the refusal is recorded once', async () => {
    const { admin, project } = await strongroom.seed.project();
    const second = await strongroom.seed.projectOf(admin);
    const caller = await strongroom.seed.caller(admin, { organizationRole: 'member', project: project.id });
    await admin.post(`/api/v2/workspace/${second.id}/identity-memberships/${caller.identityId}`, { role: 'viewer' });

    const { body, headers } = await caller.graphql(`{ projects { nodes { organization {
      roles: projects { nodes { roles { nodes { id } } } } lost: projects(after: "x") { nodes { id } } projects { nodes { id } }
    } } } }`);

    const rows = await strongroom.auditRows('request_id = $1', [headers['x-request-id']]);
    const ids = [{ id: project.id }, { id: second.id }].sort((a, b) => (a.id < b.id ? -1 : 1));
    for (const { organization } of body.data.projects.nodes) {
      expect(organization).toMatchObject({ roles: null, lost: null });
      expect(organization.projects.nodes).toHaveLength(2);
      expect(organization.projects.nodes).toEqual(expect.arrayContaining(ids));
    }
    expect(body.errors.map(({ extensions }: { extensions: { code: string } }) => extensions.code).sort()).toEqual([
      'PERMISSION_DENIED',
      'VALIDATION_FAILED',
      'VALIDATION_FAILED',
    ]);
    expect(rows.map(({ action, outcome }) => `${action} ${outcome}`).sort()).toEqual([
      'member:create denied',
      'project:list allowed',
      'project:list allowed',
    ]);
  });
});
