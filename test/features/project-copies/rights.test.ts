import { randomUUID } from 'node:crypto';
import { type Caller, mustSucceed } from '../../kit/caller.js';
import { callerWithRules, type GivenRule } from '../../kit/rules.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';
import { groupInProject, groupWith } from '../groups/kit.js';
import { ALL, copied, copy, makeSource, NOTHING, readSecrets, storedOf } from './kit.js';

const strongroom = useSharedStrongroom();

interface Skip {
  readonly part: string;
  readonly reason: string;
  readonly count: number | null;
}
const reported = (skipped: Skip[]): string[] =>
  skipped.map(({ part, reason, count }) => `${part} ${reason} ${count}`).sort();

/** Whoever has these rules in the project may make projects in the organization as well. */
async function holderOf(admin: Caller, projectId: string, ...rules: readonly GivenRule[]): Promise<Caller> {
  const { caller } = await callerWithRules(strongroom, admin, projectId, ...rules);
  await strongroom.sql(`update organization_membership set role = 'member' where identity_id = $1`, [
    caller.identityId,
  ]);
  return caller;
}

const ENVIRONMENTS: GivenRule = { subject: 'environments', action: ['read'] };
const FOLDERS: GivenRule = { subject: 'secret-folders', action: ['read'] };
const IMPORTS: GivenRule = { subject: 'secret-imports', action: ['read'] };
const DESCRIBE: GivenRule = { subject: 'secrets', action: ['describeSecret'] };
const VALUES: GivenRule = { subject: 'secrets', action: ['readValue'] };

describe('whoever copies a project', () => {
  test('needs the right to make projects, and must be a member', async () => {
    const { admin, project } = await strongroom.seed.project();
    const viewer = await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['admin'] });
    expect(await copy(viewer, project.id)).toBeError(403, 'PERMISSION_DENIED');
    const stranger = await strongroom.seed.caller(admin, { organizationRole: 'member' });
    const other = await strongroom.seed.project();
    for (const dryRun of [true, false]) {
      expect(await copy(stranger, project.id, { dryRun })).toBeError(404, 'PROJECT_NOT_FOUND');
      expect(await copy(other.admin, project.id, { dryRun })).toBeError(404, 'PROJECT_NOT_FOUND');
      expect(await copy(admin, randomUUID(), { dryRun })).toBeError(404, 'PROJECT_NOT_FOUND');
    }
  });

  test('must be a member of the organization by itself, also when it only asks what would be copied', async () => {
    const { admin, project } = await strongroom.seed.project();
    const maker = await strongroom.seed.caller(admin);
    const group = await strongroom.seed.group(admin, maker);
    mustSucceed(await admin.patch(`/api/v1/groups/${group.id}`, { role: 'member' }));
    mustSucceed(await admin.post(`/api/v2/workspace/${project.id}/groups/${group.id}`, { role: 'viewer' }));
    const end = (endsAt: string | null) =>
      strongroom.sql(`update organization_membership set ends_at = $2::timestamptz where identity_id = $1`, [
        maker.identityId,
        endsAt,
      ]);
    for (const dryRun of [true, false]) {
      await end('2020-01-01T00:00:00Z');
      expect(await copy(maker, project.id, { dryRun })).toBeError(404, 'MEMBERSHIP_NOT_FOUND');
      await end(null);
      await copied(maker, project.id, { dryRun });
    }
  });

  test('gets nothing of what it may not read, and is not told whether there is any', async () => {
    const { admin, project } = await makeSource(strongroom);
    const empty = await strongroom.seed.projectOf(admin, { shouldCreateDefaultEnvs: false });
    const outcomes = [];
    for (const { id } of [project, empty]) {
      const { counts, skipped } = await copied(await holderOf(admin, id), id, { parts: ALL });
      expect(counts).toEqual(NOTHING);
      outcomes.push(reported(skipped));
    }
    expect(outcomes[0]).toEqual(
      ['ENVIRONMENTS', 'FOLDERS', 'MEMBERS', 'ROLES', 'SECRET_VALUES', 'SETTINGS', 'TAGS'].map(
        (part) => `${part} NOT_READABLE null`,
      ),
    );
    expect(outcomes[1]).toEqual(outcomes[0]);
  });

  test('gets what rules about places and names leave, and no description of folders that it only knows the names of', async () => {
    const { admin, project } = await makeSource(strongroom);
    const caller = await holderOf(
      admin,
      project.id,
      ENVIRONMENTS,
      // Folders right under `/api` of dev: not `/api` itself, which is in `/`.
      { ...FOLDERS, conditions: { environment: 'dev', secretPath: '/api' } },
      IMPORTS,
      DESCRIBE,
      VALUES,
      { ...DESCRIBE, action: ['describeSecret', 'readValue'], inverted: true, conditions: { secretPath: '/hidden' } },
      { ...VALUES, inverted: true, conditions: { secretName: 'ROOT' } },
    );
    const parts = ['ENVIRONMENTS', 'FOLDERS', 'SECRET_VALUES'];
    const rehearsal = await copied(caller, project.id, { parts, dryRun: true });

    const { project: made, counts, skipped } = await copied(caller, project.id, { parts });

    expect({ counts, skipped }).toEqual({ counts: rehearsal.counts, skipped: rehearsal.skipped });
    expect(counts).toEqual({ ...NOTHING, environments: 4, folders: 3, imports: 2, secrets: 5, values: 4 });
    expect(reported(skipped)).toEqual(
      [
        'FOLDERS FOLDER_LEFT_OUT 1',
        'FOLDERS NOT_READABLE null',
        'SECRET_VALUES NOT_READABLE null',
        'SECRET_VALUES VALUE_NOT_READABLE 1',
      ].sort(),
    );
    const { folders, imports } = await storedOf(strongroom, made.id, caller.identityId);
    expect(
      folders.filter(({ path }) => path !== '/').map(({ slug, path, description }) => [slug, path, description]),
    ).toEqual([
      ['dev', '/api', null],
      ['dev', '/api/eu', null],
      ['prod', '/api', null],
    ]);
    expect(imports.map(({ source, source_path: path, position }) => [source, path, position])).toEqual([
      ['prod', '/api', 1],
      ['dev', '/api/eu', 2],
    ]);
    expect(
      (await readSecrets(caller, made.id, 'dev')).map(({ secretKey, secretValue }) => [secretKey, secretValue]),
    ).toEqual([
      ['ROOT', ''],
      ['URL', 'https://${dev.api.eu.HOST}/${prod.api.NAME}'],
      ['HOST', 'eu.example.com'],
    ]);
    const [{ disclosed }] = (await strongroom.auditRows(`project_id = $1 and action = 'project:copy'`, [
      project.id,
    ])) as [{ disclosed: Buffer }];
    const [list] = await strongroom.sql<{ keys: string[] }>(
      `select array(select key from secret where id = any(d.ids) order by key) as keys from audit_disclosure d where digest = $1`,
      [disclosed],
    );
    expect(list?.keys).toEqual(['EMPTY', 'HOST', 'NAME', 'URL']);
  });

  test('gets by a rule about tags only the secrets that have them', async () => {
    const { admin, project } = await makeSource(strongroom);
    const tagged = { conditions: { secretTags: { $in: ['db'] } } };
    const caller = await holderOf(admin, project.id, ENVIRONMENTS, FOLDERS, { ...DESCRIBE, ...tagged }, VALUES);

    const {
      project: made,
      counts,
      skipped,
    } = await copied(caller, project.id, {
      parts: ['ENVIRONMENTS', 'FOLDERS', 'SECRET_KEYS'],
    });

    expect(counts).toEqual({ ...NOTHING, environments: 4, folders: 4, secrets: 1 });
    expect(reported(skipped)).toEqual(['FOLDERS NOT_READABLE null', 'SECRET_KEYS NOT_READABLE null']);
    const { secrets } = await storedOf(strongroom, made.id, caller.identityId);
    expect(secrets.map(({ key, is_empty: isEmpty }) => [key, isEmpty])).toEqual([['ROOT', true]]);
  });

  test('takes along all members if it may read all that decides about them, and none that has ended or that the project owns', async () => {
    const { admin, project } = await makeSource(strongroom);
    const members = ['member', 'identity', 'groups'].map((subject) => ({ subject, action: ['read'] }));
    const ended = await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['viewer'] });
    await strongroom.sql('update organization_membership set ends_at = now() where identity_id = $1', [
      ended.identityId,
    ]);
    await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['viewer'] });
    await makeOwnIdentity(project.id);
    const parts = ['ROLES', 'TAGS', 'MEMBERS'];

    const whole = await copied(admin, project.id, { parts });

    expect(whole.counts).toMatchObject({ roles: 1, members: 4, privileges: 2 });
    expect(reported(whole.skipped)).toEqual(['MEMBERS MEMBERSHIP_ENDED 1', 'MEMBERS OWNED_BY_PROJECT 1']);

    const [roles, tags] = [
      { subject: 'role', action: ['read'] },
      { subject: 'tags', action: ['read'] },
    ];
    for (const [missing, rules] of [
      ['ROLES', [...members, tags]],
      ['TAGS', [...members, roles]],
      [null, [...members.slice(1), roles, tags]],
    ] as const) {
      const caller = await holderOf(admin, project.id, ...rules);
      const part = await copied(caller, project.id, { parts });
      expect(part.counts).toMatchObject({ members: 0, privileges: 0 });
      expect(reported(part.skipped)).toEqual(
        ['MEMBERS', ...(missing === null ? [] : [missing])].map((each) => `${each} NOT_READABLE null`),
      );
    }
  });

  test('gives nobody more than it had: what has ended is not copied, and a condition hides members', async () => {
    const { admin, project, temporary, user } = await makeSource(strongroom);
    await strongroom.sql(
      `update project_membership set role_terms = jsonb_set(role_terms, '{reader,endsAt}', '"2020-01-01T00:00:00.000Z"')
       where project_id = $1 and identity_id = $2`,
      [project.id, temporary.identityId],
    );
    await strongroom.sql(
      `update additional_privilege set starts_at = '2020-01-01', ends_at = '2020-01-08' where project_id = $1 and slug = 'week'`,
      [project.id],
    );
    const parts = ['ROLES', 'TAGS', 'MEMBERS'];
    const { project: made } = await copied(admin, project.id, { parts });
    const { members, privileges } = await storedOf(strongroom, made.id, admin.identityId);
    expect(members.find(({ identity_id: id }) => id === temporary.identityId)).toMatchObject({
      roles: ['viewer'],
      role_terms: null,
    });
    expect(privileges.map(({ slug }) => slug)).toEqual(['release']);

    const [{ username }] = (await strongroom.sql('select username from app_user where id = $1', [user.userId])) as [
      { username: string },
    ];
    const caller = await holderOf(
      admin,
      project.id,
      { subject: 'member', action: ['read'], conditions: { username: { $ne: username } } },
      ...['identity', 'groups', 'role', 'tags'].map((subject) => ({ subject, action: ['read'] })),
    );
    const { counts, skipped } = await copied(caller, project.id, { parts });
    expect(counts).toEqual({ ...NOTHING, roles: 2, tags: 2 });
    expect(reported(skipped)).toEqual(['MEMBERS NOT_READABLE null']);
  });

  test('is an admin of the copy, whatever it is in the project, and nothing else', async () => {
    const { admin, project } = await makeSource(strongroom);
    const caller = await holderOf(admin, project.id, DESCRIBE);
    const { project: made } = await copied(caller, project.id, { parts: ALL });

    const rows = await strongroom.sql('select roles from project_membership where project_id = $1', [made.id]);
    expect(rows).toEqual([{ roles: ['admin'] }]);
    expect(await admin.get(`/api/v1/projects/${made.id}`)).toBeError(404, 'PROJECT_NOT_FOUND');
  });

  test('does not free members from what a role, a rule about tags, or another of their memberships forbids', async () => {
    const { admin, project } = await strongroom.seed.project();
    const { id: projectId } = project;
    const at = `/api/v1/projects/${projectId}`;
    const { tag } = mustSucceed(await admin.post(`${at}/tags`, { slug: 'hot', color: '#aa0000' })).body;
    const secret = { projectId, environment: 'dev', secretValue: 'value', tagIds: [tag.id] };
    mustSucceed(await admin.post('/api/v4/secrets/HOT', secret));
    const rule = { subject: 'secrets', action: 'read', inverted: true, conditions: { secretTags: { $in: ['hot'] } } };
    mustSucceed(await admin.post(`${at}/roles`, { slug: 'cold', name: 'Cold', permissions: [rule] }));
    const byRole = await strongroom.seed.caller(admin, { project: projectId, projectRoles: ['viewer', 'cold'] });
    const byPrivilege = await strongroom.seed.caller(admin, { project: projectId });
    const privilege = { projectId, identityId: byPrivilege.identityId, permissions: [rule] };
    mustSucceed(await admin.post('/api/v2/identity-project-additional-privilege', privilege));
    const byOther = await strongroom.seed.caller(admin, { project: projectId, projectRoles: ['cold'] });
    const group = await groupWith(admin, 'no-access', byOther);
    await groupInProject(admin, group, projectId, 'viewer');
    const reader = await strongroom.seed.caller(admin, { project: projectId });
    const statusOf = async (caller: Caller, id: string): Promise<number> =>
      (await caller.get(`/api/v4/secrets/HOT?projectId=${id}&environment=dev`)).status;
    const statuses = (id: string) =>
      Promise.all([byRole, byPrivilege, byOther, reader].map((caller) => statusOf(caller, id)));
    expect(await statuses(projectId)).toEqual([404, 404, 404, 200]);

    const whole = await copied(admin, projectId, { parts: ALL });
    expect([whole.skipped, await statuses(whole.project.id)]).toEqual([[], [404, 404, 404, 200]]);

    for (const needed of ['ROLES', 'TAGS']) {
      const bare = await copy(admin, projectId, { parts: ALL.filter((part) => part !== needed) });
      expect(bare.body.errors[0].extensions.details).toMatchObject([{ code: 'NEEDS_PART' }]);
    }
  });

  test('does not free a member of a group from what a privilege forbids, nor give what one allows, when its own roles have ended', async () => {
    const { admin, project } = await strongroom.seed.project();
    const { id: projectId } = project;
    mustSucceed(await admin.post('/api/v4/secrets/KEY', { projectId, environment: 'dev', secretValue: 'value' }));
    const inGroup = await strongroom.seed.caller(admin, { project: projectId });
    const alone = await strongroom.seed.caller(admin, { project: projectId });
    await groupInProject(admin, await groupWith(admin, 'no-access', inGroup), projectId, 'viewer');
    for (const [{ identityId }, inverted] of [
      [inGroup, true],
      [alone, false],
    ] as const) {
      const permissions = [{ subject: 'secrets', action: 'read', inverted }];
      const privilege = { projectId, identityId, permissions };
      mustSucceed(await admin.post('/api/v2/identity-project-additional-privilege', privilege));
      await strongroom.sql(
        `update project_membership set role_terms = jsonb_build_object(roles[1], '${ENDED}'::jsonb)
         where project_id = $1 and identity_id = $2`,
        [projectId, identityId],
      );
    }
    const statuses = (id: string) =>
      Promise.all(
        [inGroup, alone].map(
          async (caller) => (await caller.get(`/api/v4/secrets/KEY?projectId=${id}&environment=dev`)).status,
        ),
      );
    expect(await statuses(projectId)).toEqual([403, 404]);

    const { project: made, skipped } = await copied(admin, projectId, { parts: ALL });

    expect([skipped, await statuses(made.id)]).toEqual([[], [403, 404]]);
  });
});

/** The term of a role, which has ended. */
const ENDED = JSON.stringify({
  range: '1h',
  startsAt: '2020-01-01T00:00:00.000Z',
  endsAt: '2020-01-01T01:00:00.000Z',
});

/** An identity that a project owns, a viewer of it. */
const makeOwnIdentity = (projectId: string): Promise<unknown> =>
  strongroom
    .sql(
      `with made as (
       insert into identity (id, organization_id, project_id, name)
       select gen_random_uuid(), organization_id, id, 'deployer' from project where id = $1 returning *),
     joined as (
       insert into organization_membership (id, organization_id, identity_id, role)
       select gen_random_uuid(), organization_id, id, 'no-access' from made)
     select 1`,
      [projectId],
    )
    .then(() =>
      strongroom.sql(
        `insert into project_membership (id, organization_id, project_id, identity_id, roles)
       select gen_random_uuid(), organization_id, project_id, id, '{viewer}' from identity where project_id = $1`,
        [projectId],
      ),
    );
