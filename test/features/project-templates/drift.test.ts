import { type Caller, mustSucceed } from '../../kit/caller.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';
import { holderOf, makeGroup, makeIdentity, makeTemplate, makeUser, READER, TEMPLATES } from './kit.js';

const strongroom = useSharedStrongroom();

const DRIFT = `projectTemplate { id version } version isOutdated
  environments { difference slug name templateName }
  roles { difference slug name templateName rules { subject action } templateRules { subject action } }
  members { difference memberKind userId groupId identityId name user { id } group { id } identity { id } roles templateRoles }`;
const SHOW = `query ($projectId: ID!) { projectTemplateDrift(projectId: $projectId) { ${DRIFT} } }`;
const APPLY = `mutation ($input: ApplyProjectTemplateInput!) { applyProjectTemplate(input: $input) {
  isDryRun applied { ${DRIFT} } left { ${DRIFT} } kept { part slug reason } } }`;
const ALL = ['ENVIRONMENTS', 'ROLES', 'MEMBERS'];

const create = async (caller: Caller, template: string) =>
  mustSucceed(await caller.post('/api/v2/workspace', { projectName: 'Shop', template })).body.project;
const drift = async (caller: Caller, projectId: string) =>
  (await caller.data(SHOW, { projectId })).projectTemplateDrift;
const apply = (caller: Caller, projectId: string, more: object = {}) =>
  caller.graphql(APPLY, { input: { projectId, parts: ALL, ...more } });
const applied = async (caller: Caller, projectId: string, more: object = {}) =>
  mustSucceed(await apply(caller, projectId, more)).body.data.applyProjectTemplate;
const differences = (list: { difference: string; slug?: string; name: string | null }[]) =>
  list.map(({ difference, slug, name }) => `${difference} ${slug ?? name}`).sort();
interface Member {
  readonly difference: string;
  readonly memberKind: string;
  readonly user: { id: string } | null;
  readonly group: { id: string } | null;
  readonly identity: { id: string } | null;
  readonly roles: string[] | null;
  readonly templateRoles: string[] | null;
}
const NONE = { environments: [], roles: [], members: [] };

/** A project that is one change of everything behind its template, and has one more of everything. */
async function behind() {
  const { admin } = await strongroom.seed.organization();
  const [user, identity] = [await makeUser(admin), await makeIdentity(admin)];
  const group = await makeGroup(admin, (await makeUser(admin)).id);
  const template = await makeTemplate(admin, {
    roles: [READER],
    environments: [{ name: 'Live', slug: 'live', position: 1 }],
    users: [{ username: user.username, roles: ['viewer'] }],
  });
  const project = await create(admin, template.name);
  expect(await drift(admin, project.id)).toMatchObject({ ...NONE, version: 1, isOutdated: false });
  const environments = `/api/v1/projects/${project.id}/environments`;
  mustSucceed(await admin.post(environments, { name: 'Empty', slug: 'empty' }));
  mustSucceed(await admin.post(environments, { name: 'Full', slug: 'full' }));
  mustSucceed(
    await admin.post('/api/v4/secrets/KEY', { projectId: project.id, environment: 'full', secretValue: 'value' }),
  );
  for (const slug of ['spare', 'held'])
    mustSucceed(
      await admin.post(`/api/v1/projects/${project.id}/roles`, { slug, name: slug, permissions: READER.permissions }),
    );
  const extra = await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['held'] });
  mustSucceed(
    await admin.patch(`${TEMPLATES}/${template.id}`, {
      roles: [
        { ...READER, permissions: [{ subject: 'secrets', action: ['describeSecret'] }] },
        { name: 'Writer', slug: 'writer', permissions: [{ subject: 'secrets', action: ['create'] }] },
      ],
      environments: [
        { name: 'Production', slug: 'live', position: 1 },
        { name: 'Test', slug: 'test', position: 2 },
      ],
      users: [{ username: user.username, roles: ['writer'] }],
      groups: [{ groupSlug: group.slug, roles: ['reader'] }],
      identities: [{ identityId: identity.id, roles: ['reader', 'viewer'] }],
      projectManagedIdentities: [{ name: 'deployer', roles: ['writer'] }],
    }),
  );
  return { admin, project, template, user, identity, group, extra };
}

/** All rows of a project that a template can change. */
const rowsOf = async (projectId: string) =>
  strongroom.sql(
    `select to_jsonb(e) as row from environment e where project_id = $1 union all
     select to_jsonb(r) from project_role r where project_id = $1 union all
     select to_jsonb(m) from project_membership m where project_id = $1 union all
     select to_jsonb(i) from identity i where project_id = $1 union all
     select to_jsonb(p) from project p where id = $1`,
    [projectId],
  );

describe('the drift of a project from its template', () => {
  test('names what is missing, what is different and what is additional, and is gone when it is applied', async () => {
    const { admin, project, template, user, identity, group, extra } = await behind();
    const before = await drift(admin, project.id);
    expect(before).toMatchObject({ projectTemplate: { id: template.id, version: 2 }, version: 1, isOutdated: true });
    expect(before.environments).toEqual([
      { difference: 'RENAMED', slug: 'live', name: 'Live', templateName: 'Production' },
      { difference: 'MISSING', slug: 'test', name: null, templateName: 'Test' },
      { difference: 'ADDITIONAL', slug: 'empty', name: 'Empty', templateName: null },
      { difference: 'ADDITIONAL', slug: 'full', name: 'Full', templateName: null },
    ]);
    expect(differences(before.roles)).toEqual([
      'ADDITIONAL held',
      'ADDITIONAL spare',
      'MISSING writer',
      'OTHER_RULES reader',
    ]);
    const members = before.members.map(
      ({ difference, memberKind, user, group, identity, roles, templateRoles }: Member) => {
        return [difference, memberKind, (user ?? group ?? identity)?.id ?? null, roles, templateRoles];
      },
    );
    expect(members).toEqual([
      ['OTHER_ROLES', 'USER', user.id, ['viewer'], ['writer']],
      ['MISSING', 'GROUP', group.id, null, ['reader']],
      ['MISSING', 'IDENTITY', identity.id, null, ['reader', 'viewer']],
      ['MISSING', 'PROJECT_IDENTITY', null, null, ['writer']],
      ['ADDITIONAL', 'IDENTITY', extra.identityId, ['held'], null],
    ]);

    const rows = await rowsOf(project.id);
    const dry = await applied(admin, project.id, { dryRun: true });
    expect(dry).toMatchObject({ isDryRun: true, kept: [], left: { version: 1 } });
    expect(differences(dry.applied.environments)).toEqual(['MISSING test', 'RENAMED live']);
    expect(await rowsOf(project.id)).toEqual(rows);

    const { left, ...done } = await applied(admin, project.id);
    expect(done.applied).toMatchObject({ environments: dry.applied.environments, roles: dry.applied.roles });
    expect(differences(left.members)).toEqual([`ADDITIONAL ${left.members[0].name}`]);
    expect(left).toMatchObject({ version: 2, isOutdated: false });
    const after = await drift(admin, project.id);
    expect(after).toEqual(left);
    expect(differences(after.environments)).toEqual(['ADDITIONAL empty', 'ADDITIONAL full']);
    // What it made works: secrets can be written in the new environment.
    const place = { projectId: project.id, environment: 'test' };
    mustSucceed(await admin.post('/api/v4/secrets/KEY', { ...place, secretValue: 'value' }));
    const [record] = await strongroom.sql<{ facts: object }>(
      `select facts from audit_record where action = 'project-template:apply' and project_id = $1 and facts ->> 'dryRun' = 'false'`,
      [project.id],
    );
    expect(record?.facts).toMatchObject({ environments: 2, roles: 2, members: 4, kept: 0, templateVersion: 2 });
  });

  test('is removed too where that is asked for, but for environments that hold secrets and roles in use', async () => {
    const { admin, project } = await behind();
    const first = await applied(admin, project.id, { parts: ['ENVIRONMENTS', 'ROLES'], removes: true });
    expect(first.kept).toEqual([
      { part: 'ENVIRONMENTS', slug: 'full', reason: 'HOLDS_CONTENT' },
      { part: 'ROLES', slug: 'held', reason: 'IN_USE' },
    ]);
    expect(first.left).toMatchObject({ version: 1, isOutdated: true });
    const all = await applied(admin, project.id, { removes: true });
    expect(all.kept).toEqual([{ part: 'ENVIRONMENTS', slug: 'full', reason: 'HOLDS_CONTENT' }]);
    const after = await drift(admin, project.id);
    expect(after).toMatchObject({ roles: [], members: [], version: 2 });
    expect(differences(after.environments)).toEqual(['ADDITIONAL full']);
    // Whoever made the project is an admin of it still, and positions have no gaps.
    const positions = await strongroom.sql(
      'select slug, position from environment where project_id = $1 order by position',
      [project.id],
    );
    expect(positions).toEqual(['live', 'full', 'test'].map((slug, at) => ({ slug, position: at + 1 })));
  });

  test('is gone with the last part that differs, whichever parts are chosen', async () => {
    const { admin } = await strongroom.seed.organization();
    const template = await makeTemplate(admin, { roles: [READER] });
    const project = await create(admin, template.name);
    const writer = { name: 'Writer', slug: 'writer', permissions: READER.permissions };
    mustSucceed(
      await admin.patch(`${TEMPLATES}/${template.id}`, {
        roles: [READER, writer],
        environments: [{ name: 'Live', slug: 'live', position: 1 }],
      }),
    );
    const first = await applied(admin, project.id, { parts: ['ROLES'] });
    expect(first.left).toMatchObject({ version: 1, isOutdated: true });
    const second = await applied(admin, project.id, { parts: ['ENVIRONMENTS'], removes: true });
    expect(second.left).toMatchObject({ ...NONE, version: 2, isOutdated: false });
    expect(await drift(admin, project.id)).toEqual(second.left);
  });

  test('is null for a project without a template, where nothing is to be done', async () => {
    const { admin, project } = await strongroom.seed.project();
    expect(await drift(admin, project.id)).toBeNull();
    expect(await applied(admin, project.id)).toEqual({ isDryRun: false, applied: null, left: null, kept: [] });
  });

  test('is for who may read all of it, and no unknown project', async () => {
    const { admin, project } = await behind();
    const outsider = await holderOf(strongroom, admin, ['project-templates:read']);
    for (const projectId of [project.id, 'nope']) {
      expect(await outsider.graphql(SHOW, { projectId })).toBeError(404, 'PROJECT_NOT_FOUND');
      expect(await apply(outsider, projectId)).toBeError(404, 'PROJECT_NOT_FOUND');
    }
    const join = async (caller: Caller, role: string) =>
      mustSucceed(
        await admin.post(`/api/v2/workspace/${project.id}/identity-memberships/${caller.identityId}`, { role }),
      );
    const blind = await holderOf(strongroom, admin, []);
    await join(blind, 'admin');
    expect(await blind.graphql(SHOW, { projectId: project.id })).toBeError(403, 'PERMISSION_DENIED');
    await join(outsider, 'no-access');
    expect(await outsider.graphql(SHOW, { projectId: project.id })).toBeError(403, 'PERMISSION_DENIED');
    expect(await apply(outsider, project.id)).toBeError(403, 'PERMISSION_DENIED');
  });
});

describe('applying a template to a project', () => {
  /** Somebody who may change all that a template says of a project, and has no other right. */
  async function manager(admin: Caller, projectId: string, more: object[] = []): Promise<Caller> {
    const caller = await holderOf(strongroom, admin, ['project-templates:read']);
    const LIFE = ['read', 'create', 'edit', 'delete'];
    const permissions = [
      ...['environments', 'role', 'member', 'identity', 'groups'].map((subject) => ({ subject, action: LIFE })),
      ...more,
    ];
    const body = { slug: 'manager', name: 'Manager', permissions };
    mustSucceed(await admin.post(`/api/v1/projects/${projectId}/roles`, body));
    const path = `/api/v2/workspace/${projectId}/identity-memberships/${caller.identityId}`;
    mustSucceed(await admin.post(path, { role: 'manager' }));
    return caller;
  }

  test('gives no rights that the caller does not have, nor takes them', async () => {
    const { admin, project } = await behind();
    const caller = await manager(admin, project.id);
    expect(await apply(caller, project.id, { parts: ['ROLES'] })).toBeError(403, 'PERMISSION_BOUNDARY');
    expect(await apply(caller, project.id, { parts: ['ROLES'], dryRun: true })).toBeError(403, 'PERMISSION_BOUNDARY');
    expect(await apply(caller, project.id, { parts: ['ENVIRONMENTS'] })).toMatchObject({ status: 200 });
    mustSucceed(await apply(admin, project.id, { parts: ['ROLES'] }));
    expect(await apply(caller, project.id, { parts: ['MEMBERS'] })).toBeError(403, 'PERMISSION_BOUNDARY');
  });

  test('refuses members whose roles the project does not have', async () => {
    const { admin, project } = await behind();
    const withoutRole = await apply(admin, project.id, { parts: ['MEMBERS'] });
    expect(withoutRole).toBeError(404, 'ROLE_NOT_FOUND');
    expect(withoutRole.body.errors[0].extensions.details).toEqual([
      {
        path: 'input.parts',
        code: 'ROLE_NOT_FOUND',
        message: 'must include ROLES, because members get a role that the project does not have yet',
      },
    ]);
    expect(await apply(admin, project.id, { parts: [] })).toBeError(422, 'VALIDATION_FAILED');
    expect(await apply(admin, project.id, { parts: ['ROLES', 'ROLES'] })).toBeError(422, 'VALIDATION_FAILED');
  });

  test('does all of it once when two do it at once', async () => {
    const { admin, project } = await behind();
    const both = await Promise.all([1, 2].map(() => applied(admin.patient, project.id)));
    const counts = both.map((one) => one.applied.environments.length + one.applied.members.length).sort();
    expect(counts).toEqual([0, 6]);
    const after = await drift(admin, project.id);
    expect(differences(after.members).filter((text) => !text.startsWith('ADDITIONAL'))).toEqual([]);
    const own = await strongroom.sql('select name from identity where project_id = $1', [project.id]);
    expect(own).toEqual([{ name: 'deployer' }]);
  });
});
