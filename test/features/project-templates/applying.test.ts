import { type Caller, mustSucceed } from '../../kit/caller.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';
import { holderOf, makeGroup, makeIdentity, makeTemplate, makeUser, READER, word } from './kit.js';

const strongroom = useSharedStrongroom();

const create = async (caller: Caller, template: string, body: object = {}) =>
  mustSucceed(await caller.post('/api/v2/workspace', { projectName: 'Shop', template, ...body })).body.project;

/** Roles of the users and identities of a project, by their ids. */
async function rolesIn(projectId: string): Promise<Record<string, string[]>> {
  const rows = await strongroom.sql<{ id: string; roles: string[] }>(
    `select coalesce(user_id, identity_id, group_id) as id, roles from project_membership where project_id = $1`,
    [projectId],
  );
  return Object.fromEntries(rows.map(({ id, roles }) => [id, roles]));
}

const auditOf = (projectId: string) =>
  strongroom.sql<{ facts: Record<string, unknown> }>(
    `select facts from audit_record where project_id = $1 and action = 'project:create'`,
    [projectId],
  );

describe('a project made from a template', () => {
  test('has its environments, roles, members and identities of its own', async () => {
    const { admin } = await strongroom.seed.organization();
    const [user, identity, inGroup] = [await makeUser(admin), await makeIdentity(admin), await makeUser(admin)];
    const group = await makeGroup(admin, inGroup.id);
    const template = await makeTemplate(admin, {
      roles: [READER],
      environments: [
        { name: 'Live', slug: 'prod', position: 1 },
        { name: 'Test', slug: 'test', position: 2 },
      ],
      users: [{ username: user.username, roles: ['reader', 'viewer'] }],
      groups: [{ groupSlug: group.slug, roles: ['reader'] }],
      identities: [{ identityId: identity.id, roles: ['member'] }],
      projectManagedIdentities: [{ name: 'deployer', roles: ['reader'] }],
    });
    const project = await create(admin, template.name, { shouldCreateDefaultEnvs: false });
    expect(project.environments.map(({ name, slug }: Record<string, string>) => [name, slug])).toEqual([
      ['Live', 'prod'],
      ['Test', 'test'],
    ]);
    const [own] = await strongroom.sql<{ id: string; name: string; role: string }>(
      `select i.id, i.name, m.role from identity i join organization_membership m on m.identity_id = i.id where i.project_id = $1`,
      [project.id],
    );
    expect(own).toMatchObject({ name: 'deployer', role: 'no-access' });
    expect(await rolesIn(project.id)).toEqual({
      [admin.identityId]: ['admin'],
      [user.id]: ['reader', 'viewer'],
      [group.id]: ['reader'],
      [identity.id]: ['member'],
      [String(own?.id)]: ['reader'],
    });
    const { roles } = mustSucceed(await admin.get(`/api/v1/projects/${project.id}/roles`)).body;
    expect(roles[0]).toMatchObject({ name: 'Reader', slug: 'reader', version: 1 });
    expect(roles[0].permissions).toMatchObject([
      { subject: 'secrets', action: 'describeSecret', conditions: { environment: 'prod' } },
      { subject: 'secrets', action: 'readValue', conditions: { environment: 'prod' } },
    ]);
    // What it made is all there: secrets can be written, and the roles hold.
    const place = { projectId: project.id, environment: 'prod' };
    mustSucceed(await admin.post('/api/v4/secrets/KEY', { ...place, secretValue: 'value' }));
    expect(await auditOf(project.id)).toMatchObject([
      { facts: { templateId: template.id, templateVersion: 1, skipped: [] } },
    ]);
  });

  test('has the default environments when the template leaves them open, unless the request says otherwise', async () => {
    const { admin } = await strongroom.seed.organization();
    const open = await makeTemplate(admin, { environments: null });
    const none = await makeTemplate(admin, { environments: [] });
    expect((await create(admin, open.name)).environments).toHaveLength(3);
    expect((await create(admin, open.name, { shouldCreateDefaultEnvs: false })).environments).toEqual([]);
    expect((await create(admin, none.name)).environments).toEqual([]);
  });

  const CREATOR = 'creator';
  const ANN = 'ann';
  const CASES: [string, Record<string, string[]>, string[], string[] | undefined][] = [
    ['nobody', {}, ['admin'], undefined],
    ['A: member', { [ANN]: ['member'] }, ['admin'], ['member']],
    ['U: viewer, A: member', { [CREATOR]: ['viewer'], [ANN]: ['member'] }, ['admin', 'viewer'], ['member']],
    ['U: viewer, A: admin', { [CREATOR]: ['viewer'], [ANN]: ['admin'] }, ['admin', 'viewer'], ['admin']],
    ['U: admin', { [CREATOR]: ['admin'] }, ['admin'], undefined],
    ['A: admin', { [ANN]: ['admin'] }, ['admin'], ['admin']],
  ];
  test.each(CASES)('has its maker as an admin with users %s', async (_, users, makersRoles, othersRoles) => {
    const { admin } = await strongroom.seed.organization();
    const [maker, ann] = [await strongroom.seed.user(admin), await makeUser(admin)];
    const { user } = await admin.data('query ($id: ID!) { user(id: $id) { username } }', { id: maker.userId });
    const names: Record<string, string> = { [CREATOR]: user.username, [ANN]: ann.username };
    const template = await makeTemplate(admin, {
      users: Object.entries(users).map(([who, roles]) => ({ username: names[who], roles })),
    });
    const project = await create(maker, template.name);
    const { [maker.userId]: makers, [ann.id]: others } = await rolesIn(project.id);
    expect([makers, others]).toEqual([makersRoles, othersRoles]);
  });

  test('has an identity that made it as an admin, also when the template names it', async () => {
    const { admin } = await strongroom.seed.organization();
    const template = await makeTemplate(admin, {
      roles: [READER],
      identities: [{ identityId: admin.identityId, roles: ['reader', 'admin'] }],
    });
    const project = await create(admin, template.name);
    expect(await rolesIn(project.id)).toEqual({ [admin.identityId]: ['admin', 'reader'] });
  });

  test('leaves out who has left the organization, and says so in the audit trail', async () => {
    const { admin } = await strongroom.seed.organization();
    const [user, gone, ended] = [await makeUser(admin), await makeUser(admin), await makeIdentity(admin)];
    const group = await makeGroup(admin, user.id);
    const template = await makeTemplate(admin, {
      users: [user, gone].map(({ username }) => ({ username, roles: ['viewer'] })),
      groups: [{ groupSlug: group.slug, roles: ['viewer'] }],
      identities: [{ identityId: ended.id, roles: ['viewer'] }],
    });
    await admin.data('mutation ($input: DeleteUserInput!) { deleteUser(input: $input) { user { id } } }', {
      input: { id: gone.id },
    });
    mustSucceed(await admin.delete(`/api/v1/groups/${group.id}`));
    await strongroom.sql(`update organization_membership set ends_at = now() where identity_id = $1`, [ended.id]);
    const project = await create(admin, template.name);
    expect(await rolesIn(project.id)).toEqual({ [admin.identityId]: ['admin'], [user.id]: ['viewer'] });
    const [{ facts } = { facts: {} }] = await auditOf(project.id);
    expect(new Set(facts.skipped as string[])).toEqual(new Set([gone.id, group.id, ended.id]));
  });

  test('stays as it is when the template changes, and when it is deleted', async () => {
    const { admin } = await strongroom.seed.organization();
    const template = await makeTemplate(admin, { roles: [READER] });
    const project = await create(admin, template.name);
    const origin = () =>
      admin
        .data(
          'query ($id: ID!) { project(id: $id) { projectTemplateVersion { version projectTemplate { id } } roles { nodes { slug } } } }',
          { id: project.id },
        )
        .then((data) => data.project);
    mustSucceed(await admin.patch(`/api/v1/project-templates/${template.id}`, { roles: [] }));
    const roles = { nodes: ['reader', 'admin', 'member', 'viewer', 'no-access'].map((slug) => ({ slug })) };
    expect(await origin()).toEqual({
      projectTemplateVersion: { version: 1, projectTemplate: { id: template.id } },
      roles,
    });
    mustSucceed(await admin.delete(`/api/v1/project-templates/${template.id}`));
    expect(await origin()).toEqual({ projectTemplateVersion: null, roles });
  });

  test('is refused for an unknown template with 404, for one of another organization too, and for another type with 422', async () => {
    const { admin } = await strongroom.seed.organization();
    const foreign = await makeTemplate((await strongroom.seed.organization()).admin);
    const keys = await makeTemplate(admin, { type: 'kms' });
    const body = { projectName: 'Shop' };
    for (const template of [foreign.name, 'nope'])
      expect(await admin.post('/api/v2/workspace', { ...body, template })).toBeError(404, 'PROJECT_TEMPLATE_NOT_FOUND');
    const other = await admin.post('/api/v2/workspace', { ...body, template: keys.name });
    expect(other).toBeError(422, 'VALIDATION_FAILED');
    expect(other.body.details).toMatchObject([{ path: 'body.template', code: 'WRONG_PROJECT_TYPE' }]);
    await create(admin, keys.name, { type: 'kms' });
  });

  test('needs the right to read templates', async () => {
    const { admin } = await strongroom.seed.organization();
    const template = await makeTemplate(admin);
    const actions = ['workspace:create'];
    const maker = await holderOf(strongroom, admin, actions);
    const asked = { projectName: 'Shop', template: template.name };
    expect(await maker.post('/api/v2/workspace', asked)).toBeError(403, 'PERMISSION_DENIED');
  });

  test('is there as a whole or not at all, and as often as it was asked for at once', async () => {
    const { admin } = await strongroom.seed.organization();
    const template = await makeTemplate(admin, {
      roles: [READER],
      projectManagedIdentities: [{ name: 'deployer', roles: ['reader'] }],
    });
    const slug = word('shop');
    const asked = { projectName: 'Shop', template: template.name, slug };
    const replies = await Promise.all([1, 2, 3].map(() => admin.post('/api/v2/workspace', asked)));
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
    const made = await strongroom.sql(
      `select i.id from identity i join project p on p.id = i.project_id where p.slug = $1`,
      [slug],
    );
    expect(made).toHaveLength(1);
  });

  test('takes as many entries as a template can hold', async () => {
    const { admin } = await strongroom.seed.organization();
    const many = <T>(count: number, make: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at));
    const template = await makeTemplate(admin, {
      roles: many(300, (at) => ({ name: `Role ${at}`, slug: `role-${at}`, permissions: [] })),
      environments: many(500, (at) => ({ name: `E ${at}`, slug: `e-${at}`, position: at + 1 })),
      projectManagedIdentities: many(500, (at) => ({ name: `i ${at}`, roles: ['viewer', `role-${at % 300}`] })),
    });
    const project = await create(admin, template.name);
    expect(project.environments.map(({ slug }: { slug: string }) => slug)).toEqual(many(500, (at) => `e-${at}`));
    expect(Object.keys(await rolesIn(project.id))).toHaveLength(501);
  });
});
