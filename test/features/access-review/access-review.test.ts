import { type Caller, mustSucceed } from '../../kit/caller.js';
import { callerWithRules } from '../../kit/rules.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';

const strongroom = useSharedStrongroom();
const READ = { subject: 'SECRETS', action: 'READ_VALUE' };
const inDev = { environment: 'dev', secretPath: '/', secretName: 'KEY' };

const EXPLAIN = `query ($projectId: ID!, $subject: PermissionSubject!, $action: PermissionAction!, $fields: AccessFieldsInput, $userId: ID, $identityId: ID) {
  explainAccess(projectId: $projectId, subject: $subject, action: $action, fields: $fields, userId: $userId, identityId: $identityId) {
    isAllowed isMember rule { subject inverted } origin { source slug memberships { projectId } }
  }
}`;
const HOLDERS = `query ($projectId: ID!, $fields: AccessFieldsInput, $at: DateTime, $first: Int, $after: String) {
  accessAt(projectId: $projectId, subject: SECRETS, action: READ_VALUE, fields: $fields, at: $at, first: $first, after: $after) {
    nodes { memberKind name origin { slug } identity { id } } pageInfo { endCursor hasNextPage }
  }
}`;
const CAN = 'query ($checks: [AccessCheckInput!]!) { can(checks: $checks) { allowed } }';

async function scene() {
  const { admin, project } = await strongroom.seed.project();
  const explain = async (caller: Caller, more: object) =>
    (await caller.data(EXPLAIN, { projectId: project.id, ...READ, ...more })).explainAccess;
  const readers = async (more: object = {}): Promise<(string | undefined)[]> =>
    (await admin.data(HOLDERS, { projectId: project.id, fields: inDev, ...more })).accessAt.nodes.map(
      (node: { identity: { id: string } | null }) => node.identity?.id,
    );
  return { admin, project, explain, readers };
}

/** A group that gives a role in a project to a machine identity. */
async function groupOf(admin: Caller, projectId: string, identityId: string, role: string): Promise<string> {
  const { id } = mustSucceed(await admin.post('/api/v1/groups', { name: 'Readers' })).body;
  mustSucceed(await admin.post(`/api/v1/groups/${id}/machine-identities/${identityId}`));
  await strongroom.sql(
    `insert into project_membership (id, organization_id, project_id, group_id, roles)
     select gen_random_uuid(), organization_id, $1, id, array[$3] from member_group where id = $2`,
    [projectId, id, role],
  );
  return id;
}

describe('why somebody may do something', () => {
  test('names the role and the membership that decide, a group too', async () => {
    const { admin, project, explain } = await scene();
    const caller = await strongroom.seed.caller(admin);
    const { identityId } = caller;
    expect(await explain(admin, { identityId, fields: inDev })).toEqual({
      isAllowed: false,
      isMember: false,
      rule: null,
      origin: null,
    });
    await groupOf(admin, project.id, identityId, 'viewer');
    expect(await explain(admin, { identityId, fields: inDev })).toEqual({
      isAllowed: true,
      isMember: true,
      rule: { subject: 'SECRETS', inverted: false },
      origin: { source: 'ROLE', slug: 'viewer', memberships: [{ projectId: project.id }] },
    });
  });

  test('names the rule that forbids, and nothing where the permission is missing', async () => {
    const { admin, project, explain } = await scene();
    const { caller, slug } = await callerWithRules(
      strongroom,
      admin,
      project.id,
      { subject: 'secrets', action: ['describeSecret', 'readValue'] },
      { subject: 'secrets', action: 'readValue', inverted: true, conditions: { environment: { $ne: 'dev' } } },
    );
    const { identityId } = caller;
    const inProd = { ...inDev, environment: 'prod' };
    expect(await explain(admin, { identityId, fields: inDev })).toMatchObject({ isAllowed: true });
    expect(await explain(admin, { identityId, fields: inProd })).toMatchObject({
      isAllowed: false,
      rule: { inverted: true },
      origin: { slug },
    });
    const own = EXPLAIN.replace('memberships { projectId }', '');
    const { explainAccess } = await caller.data(own, { projectId: project.id, ...READ, fields: inProd });
    expect(explainAccess).toMatchObject({ isAllowed: false, rule: { inverted: true } });
    expect(await explain(admin, { identityId, action: 'DELETE' })).toMatchObject({ isAllowed: false, rule: null });
  });

  test('is not told of a machine identity to who may read users alone, nor of a user to who may read identities', async () => {
    const { admin, project, explain } = await scene();
    const machine = await strongroom.seed.caller(admin, { project: project.id });
    const person = await strongroom.seed.user(admin, { project: project.id });
    const role = { subject: 'role', action: ['read'] };
    const ofUsers = await callerWithRules(strongroom, admin, project.id, role, { subject: 'member', action: ['read'] });
    const ofMachines = await callerWithRules(strongroom, admin, project.id, role, {
      subject: 'identity',
      action: ['read'],
    });
    for (const [{ caller }, whom] of [
      [ofUsers, { userId: machine.identityId }],
      [ofMachines, { identityId: person.userId }],
    ] as const) {
      expect(await explain(caller, whom)).toMatchObject({ isAllowed: false, isMember: false, rule: null });
      const { can } = await caller.data(CAN, { checks: [{ projectId: project.id, ...READ, ...whom }] });
      expect(can.allowed).toEqual([false]);
      const { effectivePermissions } = await caller.data(
        `query ($projectId: ID!, $userId: ID, $identityId: ID) {
          effectivePermissions(projectId: $projectId, userId: $userId, identityId: $identityId) { isMember permissions { rule { subject } } }
        }`,
        { projectId: project.id, ...whom },
      );
      expect(effectivePermissions).toEqual({ isMember: false, permissions: [] });
    }
    expect(await explain(ofUsers.caller, { userId: person.userId })).toMatchObject({ isAllowed: true });
    expect(await explain(ofMachines.caller, { identityId: machine.identityId })).toMatchObject({
      isAllowed: true,
    });
  });

  test('is told of others to who may read them and roles', async () => {
    const { admin, project } = await scene();
    const other = await strongroom.seed.caller(admin, { project: project.id });
    const rules = { subject: 'identity', action: 'read' };
    const { caller } = await callerWithRules(strongroom, admin, project.id, rules);
    const asked = { projectId: project.id, ...READ, identityId: other.identityId };
    expect(await caller.graphql(EXPLAIN, asked)).toBeError(403, 'PERMISSION_DENIED');
    expect(await caller.graphql(CAN, { checks: [asked] })).toBeError(403, 'PERMISSION_DENIED');
    expect(await caller.graphql(HOLDERS, { projectId: project.id })).toBeError(403, 'PERMISSION_DENIED');
    const wrong = { ...asked, subject: 'TAGS' };
    expect(await caller.graphql(EXPLAIN, wrong)).toBeError(422, 'VALIDATION_FAILED');
    const both = { ...asked, userId: other.identityId };
    expect(await admin.graphql(EXPLAIN, both)).toBeError(422, 'VALIDATION_FAILED');
  });
});

describe('many questions at once', () => {
  test('are answered in their order, for oneself, others, and a role that is not saved', async () => {
    const { admin, project } = await scene();
    const other = await strongroom.seed.caller(admin, { project: project.id });
    const check = { projectId: project.id, ...READ, fields: inDev };
    const permissions = [{ subject: 'SECRETS', action: ['READ_VALUE'], conditions: { environment: { is: 'prod' } } }];
    const checks = [
      check,
      { ...check, identityId: other.identityId },
      { ...check, action: 'DELETE', identityId: other.identityId },
      { ...check, permissions },
      { ...check, permissions, fields: { environment: 'prod' } },
    ];
    expect((await admin.data(CAN, { checks })).can.allowed).toEqual([true, true, false, false, true]);
  });

  test.each([
    ['the word for all assignments', 'IDENTITY', 'ASSIGN_ROLE', [['identity', 'grant-privileges']], true],
    [
      'an assignment that was taken back',
      'IDENTITY',
      'ASSIGN_ROLE',
      [
        ['identity', 'assign-role'],
        ['identity', 'grant-privileges', true],
      ],
      false,
    ],
    ['the older word for reading secrets', 'SECRETS', 'READ', [['secrets', 'read']], true],
    [
      'both newer words',
      'SECRETS',
      'READ',
      [
        ['secrets', 'readValue'],
        ['secrets', 'describeSecret'],
      ],
      true,
    ],
    ['one of the newer words', 'SECRETS', 'READ', [['secrets', 'readValue']], false],
    [
      'one of them taken back',
      'SECRETS',
      'READ',
      [
        ['secrets', 'read'],
        ['secrets', 'describeSecret', true],
      ],
      false,
    ],
  ] as const)('are answered as requests are judged: %s', async (_, subject, action, rules, isAllowed) => {
    const { admin, project, explain } = await scene();
    const permissions = rules.map(([of, verb, inverted = false]) => ({ subject: of, action: [verb], inverted }));
    const { caller } = await callerWithRules(strongroom, admin, project.id, ...permissions);
    const asked = { subject, action };

    const { can } = await caller.data(CAN, { checks: [{ projectId: project.id, ...asked }] });
    expect(can.allowed).toEqual([isAllowed]);
    expect((await explain(admin, { ...asked, identityId: caller.identityId })).isAllowed).toBe(isAllowed);
    const holders = HOLDERS.replace('subject: SECRETS, action: READ_VALUE', `subject: ${subject}, action: ${action}`);
    const { accessAt } = await admin.data(holders, { projectId: project.id });
    const ids = accessAt.nodes.map(({ identity }: { identity: { id: string } }) => identity.id);
    expect(ids.toSorted()).toEqual([admin.identityId, ...(isAllowed ? [caller.identityId] : [])].toSorted());
  });

  test('can name what a role that is given allows, as conditions look at it', async () => {
    const { admin, project } = await scene();
    const assign = { subject: 'identity', action: ['assign-role'] };
    const conditions = { subject: 'secrets', action: { $ne: 'describeSecret' } };
    const { caller } = await callerWithRules(strongroom, admin, project.id, assign, {
      ...assign,
      inverted: true,
      conditions,
    });
    const given = [{}, { subject: 'secrets', action: 'readValue' }, { subject: 'tags', action: 'read' }];
    const asked = { projectId: project.id, subject: 'IDENTITY', action: 'ASSIGN_ROLE' };
    const checks = given.map((more) => ({ ...asked, fields: { identityId: admin.identityId, role: 'some', ...more } }));
    expect((await caller.data(CAN, { checks })).can.allowed).toEqual([true, false, true]);
  });

  test('take as many statements for many people in many projects as for one in one', async () => {
    const { admin, project } = await scene();
    const projects = [project, await strongroom.seed.projectOf(admin), await strongroom.seed.projectOf(admin)];
    const members = await Promise.all(projects.map(({ id }) => strongroom.seed.caller(admin, { project: id })));
    await groupOf(admin, project.id, members[2]?.identityId as string, 'viewer');
    const checks = members.flatMap(({ identityId }) =>
      projects.map(({ id }) => ({ projectId: id, ...READ, fields: inDev, identityId })),
    );
    const ask = (asked: readonly object[]) => strongroom.statements(() => admin.data(CAN, { checks: asked }));
    const one = await ask(checks.slice(0, 1));
    const all = await ask(checks);
    expect(one.result.can.allowed).toEqual([true]);
    expect(all.result.can.allowed).toEqual([true, false, false, false, true, false, true, false, true]);
    expect(all.count).toBe(one.count);
  });
});

describe('who may do something', () => {
  test('is told with the role, in pages', async () => {
    const { admin, project, readers } = await scene();
    const caller = await strongroom.seed.caller(admin, { project: project.id });
    const { caller: none } = await callerWithRules(strongroom, admin, project.id, { subject: 'tags', action: 'read' });
    const found = await readers();
    expect(found.toSorted()).toEqual([admin.identityId, caller.identityId].toSorted());
    expect(found).not.toContain(none.identityId);
    const { accessAt } = await admin.data(HOLDERS, { projectId: project.id, fields: inDev, first: 1 });
    const { endCursor } = accessAt.pageInfo;
    expect([accessAt.nodes[0].identity.id, ...(await readers({ after: endCursor }))]).toEqual(found);
  });

  test('is told of the past, whatever memberships, groups and roles became', async () => {
    const { admin, project, readers } = await scene();
    const direct = await strongroom.seed.caller(admin, { project: project.id });
    const byGroup = await strongroom.seed.caller(admin);
    const group = await groupOf(admin, project.id, byGroup.identityId, 'viewer');
    const { caller: byRole, change } = await callerWithRules(strongroom, admin, project.id, {
      subject: 'secrets',
      action: 'readValue',
    });
    const [{ now: at } = { now: null }] = await strongroom.sql<{ now: Date }>('select clock_timestamp() as now');
    const then = [admin, direct, byGroup, byRole].map(({ identityId }) => identityId).toSorted();
    expect((await readers()).toSorted()).toEqual(then);
    const path = `/api/v2/workspace/${project.id}/identity-memberships/${direct.identityId}`;
    mustSucceed(await admin.delete(path));
    mustSucceed(await admin.delete(`/api/v1/groups/${group}`));
    await change({ subject: 'secrets', action: 'readValue', inverted: true });
    expect(await readers()).toEqual([admin.identityId]);
    expect((await readers({ at })).toSorted()).toEqual(then);
  });

  test('stands at secrets, in as many statements for one as for twenty', async () => {
    const { admin, project } = await scene();
    const caller = await strongroom.seed.caller(admin, { project: project.id });
    const list = `query ($id: ID!, $first: Int) { project(id: $id) { environments { secrets(first: $first) {
      nodes { secretKey readers { nodes { name origin { slug } } } } } } } }`;
    await strongroom.seed.secrets(admin, project, 'dev', 20);
    const statements = async (first: number) =>
      (await strongroom.statements(() => admin.data(list, { id: project.id, first }))).count;
    expect(await statements(20)).toBe(await statements(1));
    const { project: shown } = await admin.data(list, { id: project.id, first: 1 });
    const [secret] = shown.environments[0].secrets.nodes;
    expect(secret.readers.nodes).toHaveLength(2);
    const denied = await callerWithRules(strongroom, admin, project.id, { subject: 'secrets', action: 'readValue' });
    const reply = await denied.caller.graphql(list, { id: project.id, first: 1 });
    expect(JSON.stringify(reply.body.errors)).toContain('PERMISSION_DENIED');
    expect(caller.identityId).not.toBe('');
  });
});
