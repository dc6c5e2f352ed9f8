import { type GraphQLInputObjectType, getNamedType } from 'graphql';
import { type Caller, mustSucceed, type Reply } from '../../kit/caller.js';
import { GRAPHQL, graphqlDocument, rootTypes } from '../../kit/operations/graphql.js';
import { fill, type GraphQLOperation, type Ids, type Values } from '../../kit/operations/operation.js';
import { callerWithRules } from '../../kit/rules.js';
import { LENIENT, useSharedStrongroom } from '../../kit/strongroom.js';
import { seedWorld, type World } from '../../kit/world.js';
import { organizationCaller } from '../groups/kit.js';

const AT_ONCE = 100;

/** Creations that cannot be repeated. */
const NEVER_AGAIN = new Set([
  // They return a credential that is shown once.
  ...['createAccessToken', 'createPersonalAccessToken', 'createClientSecret', 'createOrganization'],
  ...['createAuditSink', 'createChangeWebhook'],
  // Each checkpoint is of its own moment.
  'createAuditCheckpoint',
  // Its description leads to `importSecrets`, whose mode says what happens to secrets that exist.
  'createSecrets',
]);

/** Creations of several at once: their payload has what existed in `existing`. */
const BATCHES: readonly string[] = ['addGroupMembers', 'addProjectUsers'];

function inputOf(field: string): GraphQLInputObjectType {
  const [input] = rootTypes().Mutation.getFields()[field]?.args ?? [];
  if (input === undefined) throw new Error(`${field} has no input`);
  return getNamedType(input.type) as GraphQLInputObjectType;
}
const takesConflicts = (field: string) =>
  field in rootTypes().Mutation.getFields() && 'onConflict' in inputOf(field).getFields();

const CREATIONS = GRAPHQL.filter(({ field }) => takesConflicts(field) && !BATCHES.includes(field));

/** Another value of a field, for what exists to differ in. */
const OTHERWISE: Readonly<Record<string, Values>> = {
  createTag: { color: '#0a0a0a' },
  createEnvironment: { name: 'Another name' },
  createProject: { name: 'Another name', slug: 'again-and-again' },
  createProjectRole: { permissions: [{ subject: 'TAGS', action: ['READ'] }] },
  createOrganizationRole: { permissions: [] },
  createProjectTemplate: { environments: [{ name: 'One', slug: 'one', position: 1 }] },
  createIdentity: { hasDeleteProtection: true },
  createGroup: { name: 'Another name', slug: 'again' },
  createUser: { roleSlug: 'admin' },
  createAdditionalPrivilege: { slug: 'again', permissions: [{ subject: 'TAGS', action: ['READ'] }] },
  createSecret: { secretValue: 'another value' },
  createFolder: { description: 'another description' },
  createSubOrganization: { name: 'Another name', slug: 'again' },
  createAppConnection: { description: 'another description' },
  createSecretRotation: { rotationInterval: 11 },
  createCertificateAlert: { alertBefore: '11d' },
  createIdentityAlert: { alertBefore: '11d' },
  createNotificationChannel: { isEnabled: false },
  createPasswordRule: { description: 'another description' },
  createOrganizationKey: { description: 'another description' },
  createCertificateAuthority: { keyAlgorithm: 'EC_P384' },
  createCertificateAuthoritySuccessor: { keyAlgorithm: 'EC_P384' },
  createCertificateProfile: { description: 'another description' },
  createAllProjectsMembership: { roleSlug: 'member' },
  addProjectMember: { roles: ['no-access'] },
  attachUniversalAuth: { accessTokenTTL: 77 },
  attachTokenAuth: { accessTokenTTL: 77 },
  attachOidcAuth: { accessTokenTTL: 77 },
  attachKubernetesAuth: { accessTokenTTL: 77 },
};

/** What makes a natural key of creations that need none. */
const KEYS: Readonly<Record<string, Values>> = {
  createProject: { slug: 'again-and-again' },
  createGroup: { slug: 'again' },
  createSubOrganization: { slug: 'again' },
  createAdditionalPrivilege: { slug: 'again' },
};

describe('a creation that may be there already', () => {
  const strongroom = useSharedStrongroom(LENIENT);
  let admin: Caller;
  let world: World;
  beforeAll(async () => {
    ({ world, admin } = await seedWorld(strongroom.seed));
  });

  async function send(operation: GraphQLOperation, changes: Values, caller = admin) {
    const args = { ...operation.args, ...KEYS[operation.field], onConflict: 'RETURN_EXISTING', ...changes };
    const { document } = graphqlDocument({ ...operation, args });
    const short = document.replace(/\{ __typename .*$/s, '{ created __typename } }');
    return caller.graphql(short, { input: fill(args, world as unknown as Ids) });
  }
  /** How often anything was changed. */
  const changes = async () => {
    const rows = await strongroom.auditRows('organization_id = $1', [world.organization]);
    return rows.filter(({ action }) => !/:(get|list|read|get-by-\w+)$/.test(action)).map(({ action }) => action);
  };

  test('is each one that has a natural key', () => {
    const creations = Object.keys(rootTypes().Mutation.getFields()).filter((name) =>
      /^(create|attach|add)[A-Z]/.test(name),
    );
    const without = creations.filter((field) => !takesConflicts(field) && !NEVER_AGAIN.has(field));
    expect(without).toEqual([]);
    expect([...NEVER_AGAIN].filter((field) => !creations.includes(field) || takesConflicts(field))).toEqual([]);
  });

  test.each(CREATIONS.map((operation) => [operation.field, operation] as const))(
    '%s is created once, and says where it differs',
    async (field, operation) => {
      const first = mustSucceed(await send(operation, {})).body.data[field];
      expect(first.created).toBe(true);
      const before = await changes();
      const again = mustSucceed(await send(operation, {})).body.data[field];
      expect(again.created).toBe(false);
      expect(await changes()).toEqual(before);

      const otherwise = OTHERWISE[field];
      if (otherwise === undefined) return;
      const differs = await send(operation, otherwise);
      expect(differs).toBeError(409, 'EXISTS_DIFFERENTLY');
      const [changed] = Object.keys(otherwise).filter((name) => KEYS[field]?.[name] === undefined);
      expect(differs.body.errors[0].extensions.details).toEqual([
        { path: `input.${changed}`, code: 'DIFFERS', message: expect.any(String) },
      ]);
      expect(await changes()).toEqual(before);
    },
  );

  describe('by many at once', () => {
    const CREATE_IDENTITY =
      'mutation ($input: CreateIdentityInput!) { createIdentity(input: $input) { created identity { id } } }';
    const CREATE_FOLDER =
      'mutation ($input: CreateFolderInput!) { createFolder(input: $input) { created folder { id } } }';
    const ADD_MEMBER =
      'mutation ($input: AddGroupMemberInput!) { addGroupMember(input: $input) { created member { id } } }';
    const CREATE_TAG = 'mutation ($input: CreateTagInput!) { createTag(input: $input) { created tag { id } } }';

    test.each([
      [
        'what a constraint keeps from being there twice',
        CREATE_TAG,
        'createTag',
        'tag',
        () => ({ projectId: world.project, slug: 'at-once', color: '#123456' }),
      ],
      ['what may be there twice', CREATE_IDENTITY, 'createIdentity', 'identity', () => ({ name: 'At once' })],
      [
        'a folder with its parents',
        CREATE_FOLDER,
        'createFolder',
        'folder',
        () => ({ projectId: world.project, environment: 'dev', path: '/at/once', name: 'app', description: 'One' }),
      ],
      [
        'a member of a group',
        ADD_MEMBER,
        'addGroupMember',
        'member',
        () => ({ groupId: world.group, userId: world.otherUser }),
      ],
    ])('%s is created once', async (_, document, field, thing, fields) => {
      const input = { ...fields(), onConflict: 'RETURN_EXISTING' };
      const replies = await Promise.all(Array.from({ length: AT_ONCE }, () => admin.graphql(document, { input })));
      const payloads = replies.map((reply) => mustSucceed(reply).body.data[field]);
      expect(payloads.filter(({ created }) => created)).toHaveLength(1);
      expect(new Set(payloads.map((payload) => payload[thing].id)).size).toBe(1);
    });

    test('a name that several have is told, and none of them is returned', async () => {
      for (let times = 0; times < 2; times += 1)
        mustSucceed(await admin.graphql(CREATE_IDENTITY, { input: { name: 'Twins' } }));
      const reply = await admin.graphql(CREATE_IDENTITY, { input: { name: 'Twins', onConflict: 'RETURN_EXISTING' } });
      expect(reply).toBeError(409, 'NAME_AMBIGUOUS');
    });
  });

  test('a folder without a choice is returned as it is, and may be refused', async () => {
    const { admin: owner, project } = await strongroom.seed.project();
    const document =
      'mutation ($input: CreateFolderInput!) { createFolder(input: $input) { created folder { description } } }';
    const create = (given: object) =>
      owner.graphql(document, { input: { projectId: project.id, environment: 'dev', name: 'app', ...given } });
    const created = async (given: object) => mustSucceed(await create(given)).body.data.createFolder;
    const [folder, existing] = [true, false].map((isNew) => ({ created: isNew, folder: { description: 'One' } }));
    expect(await created({ description: 'One', onConflict: 'FAIL' })).toEqual(folder);
    expect(await created({ description: 'Two' })).toEqual(existing);
    expect(await created({ description: 'Two', onConflict: null })).toEqual(existing);
    expect(await create({ onConflict: 'FAIL' })).toBeError(409, 'FOLDER_NAME_TAKEN');
    expect(await create({ description: 'Two', onConflict: 'RETURN_EXISTING' })).toBeError(409, 'EXISTS_DIFFERENTLY');
    expect(await created({ onConflict: 'RETURN_EXISTING' })).toEqual(existing);
  });

  describe('of several at once', () => {
    const ADD_MEMBERS =
      'mutation ($input: AddGroupMembersInput!) { addGroupMembers(input: $input) { members { memberId } existing { memberId } } }';
    const ADD_USERS =
      'mutation ($input: AddProjectUsersInput!) { addProjectUsers(input: $input) { memberships { name } existing { name } } }';
    const again = { onConflict: 'RETURN_EXISTING' };

    async function seedUsers(...usernames: readonly string[]) {
      const { admin: owner, project } = await strongroom.seed.project();
      const users = new Map<string, string>();
      const createUser = 'mutation ($input: CreateUserInput!) { createUser(input: $input) { user { id } } }';
      for (const username of usernames)
        users.set(username, (await owner.data(createUser, { input: { username } })).createUser.user.id);
      const { id: groupId } = mustSucceed(
        await owner.post('/api/v1/groups', { name: 'Again', role: 'no-access' }),
      ).body;
      return { owner, project, groupId, users };
    }

    test('members of a group are added once, and those who were there are returned apart', async () => {
      const { owner, groupId, users } = await seedUsers('ann', 'ben');
      const [ann, ben] = ['ann', 'ben'].map((name) => ({ memberId: users.get(name) }));
      const add = (usernames: readonly string[], caller = owner, given: object = again) =>
        caller.graphql(ADD_MEMBERS, { input: { groupId, usernames, ...given } });
      const added = async (...usernames: readonly string[]) =>
        mustSucceed(await add(usernames)).body.data.addGroupMembers;
      expect(await added('ann')).toEqual({ members: [ann], existing: [] });
      expect(await added('ben', 'ann')).toEqual({ members: [ben], existing: [ann] });
      const before = await strongroom.auditRows('action = $1', ['group-member:add']);
      expect(await added('ben', 'ann')).toEqual({ members: [], existing: [ann, ben] });
      expect(await strongroom.auditRows('action = $1', ['group-member:add'])).toEqual(before);
      expect(await add(['ann'], owner, {})).toBeError(409, 'ALREADY_A_MEMBER');

      const rule = (...actions: readonly string[]) => ({ subject: 'groups', action: actions });
      const [nobody, adder] = await Promise.all(
        [rule('read'), rule('read', 'add-members')].map((rules) => organizationCaller(strongroom, owner, rules)),
      );
      for (const username of ['ann', 'nobody-has-this'])
        expect(await add([username], nobody)).toBeError(403, 'PERMISSION_DENIED');
      // Who may not read members gets none.
      expect(await add(['ann'], adder)).toBeError(409, 'ALREADY_A_MEMBER');
    });

    test('users of a project are added once, by many at once, and other roles are told', async () => {
      const { owner, project, users } = await seedUsers('ann', 'ben');
      const add = (usernames: readonly string[], given: object = {}, caller = owner) =>
        caller.graphql(ADD_USERS, {
          input: { projectId: project.id, usernames, roles: ['viewer'], ...again, ...given },
        });
      const replies = await Promise.all(Array.from({ length: AT_ONCE }, () => add(['ben', 'ann'])));
      const payloads = replies.map((reply) => mustSucceed(reply).body.data.addProjectUsers);
      const both = ['ann', 'ben'].map((name) => ({ name }));
      expect(payloads.filter(({ memberships }) => memberships.length > 0)).toEqual([
        { memberships: both, existing: [] },
      ]);
      expect(payloads.filter(({ existing }) => existing.length === users.size)).toHaveLength(AT_ONCE - 1);

      const assigned = (range?: string) => ({ roles: null, roleAssignments: [{ roleSlug: 'viewer', range }] });
      mustSucceed(await add(['ann'], assigned()));
      for (const other of [{ roles: ['member'] }, { roles: ['viewer', 'member'] }, assigned('2h')]) {
        const differs = await add(['ben', 'ann'], other);
        expect(differs).toBeError(409, 'EXISTS_DIFFERENTLY');
        expect(differs.body.errors[0].extensions.details).toEqual(
          [1, 0].map((at) => ({ path: `input.usernames[${at}]`, code: 'DIFFERS', message: expect.any(String) })),
        );
      }
      expect(await add(['ann'], { onConflict: 'FAIL' })).toBeError(409, 'ALREADY_A_MEMBER');

      const { caller: reader } = await callerWithRules(strongroom, owner, project.id, {
        subject: 'member',
        action: 'read',
      });
      for (const username of ['ann', 'nobody-has-this'])
        expect(await add([username], {}, reader)).toBeError(403, 'PERMISSION_DENIED');
    });
  });

  describe('of access that has ended', () => {
    const again = { onConflict: 'RETURN_EXISTING' };
    const hours = (count: number) => new Date(Date.now() + count * 3_600_000).toISOString();
    const ended = { range: '1h', startsAt: hours(-2) };
    const later = { range: '1h', startsAt: hours(2) };
    const running = { range: '3h', startsAt: hours(-1) };
    const differsIn = (reply: Reply, ...paths: readonly string[]) => {
      expect(reply).toBeError(409, 'EXISTS_DIFFERENTLY');
      expect(reply.body.errors[0].extensions.details).toEqual(
        paths.map((path) => ({ path, code: 'DIFFERS', message: expect.any(String) })),
      );
    };

    test('roles of a member of a project differ, unless the input says when they start', async () => {
      const { admin: owner, project } = await strongroom.seed.project();
      const { identityId } = await strongroom.seed.caller(owner);
      const key = { projectId: project.id, memberKind: 'IDENTITY', memberId: identityId };
      const [add, update] = ['add', 'update'].map(
        (verb) => (given: object) =>
          owner.graphql(
            `mutation ($input: ${verb === 'add' ? 'Add' : 'Update'}ProjectMemberInput!) {
              ${verb}ProjectMember(input: $input) { ${verb === 'add' ? 'created' : '__typename'} } }`,
            { input: { ...key, ...given } },
          ),
      ) as [(given: object) => Promise<Reply>, (given: object) => Promise<Reply>];
      const created = async (given: object) =>
        mustSucceed(await add({ ...given, ...again })).body.data.addProjectMember.created;
      const [viewer, admins] = [{ roleSlug: 'viewer' }, { roleSlug: 'admin' }];
      const roles = ['viewer', 'admin'];

      expect(await created({ roleAssignments: [viewer, { ...admins, ...ended }] })).toBe(true);
      for (const term of [ended, later]) {
        mustSucceed(await update({ roleAssignments: [viewer, { ...admins, ...term }] }));
        differsIn(await add({ roles, ...again }), 'input.roles');
        // Nor is it as if the member did not have the role.
        differsIn(await add({ roles: ['viewer'], ...again }), 'input.roles');
        for (const assigned of [admins, { ...admins, range: '1h' }])
          differsIn(await add({ roleAssignments: [viewer, assigned], ...again }), 'input.roleAssignments');
        expect(await created({ roleAssignments: [viewer, { ...admins, ...term }] })).toBe(false);
      }
      mustSucceed(await update({ roleAssignments: [viewer, { ...admins, ...running }] }));
      expect(await created({ roles })).toBe(false);
      expect(await created({ roleAssignments: [viewer, { ...admins, range: '3h' }] })).toBe(false);
    });

    test('roles of users of a project differ, unless the input says when they start', async () => {
      const { admin: owner, project } = await strongroom.seed.project();
      const [ann, ben, cem] = ['ann', 'ben', 'cem'] as const;
      const createUser = 'mutation ($input: CreateUserInput!) { createUser(input: $input) { __typename } }';
      for (const username of [ann, ben, cem]) await owner.data(createUser, { input: { username } });
      const add = (usernames: readonly string[], given: object) =>
        owner.graphql(
          'mutation ($input: AddProjectUsersInput!) { addProjectUsers(input: $input) { existing { name } } }',
          { input: { projectId: project.id, usernames, ...given, ...again } },
        );
      const assigned = (term: object) => ({ roleAssignments: [{ roleSlug: 'viewer', ...term }] });
      const existing = async (usernames: readonly string[], given: object) =>
        mustSucceed(await add(usernames, given)).body.data.addProjectUsers.existing.length;
      for (const [name, term] of [
        [ann, ended],
        [ben, later],
        [cem, running],
      ] as const)
        expect(await existing([name], assigned(term))).toBe(0);
      for (const name of [ann, ben]) {
        for (const given of [{ roles: ['viewer'] }, assigned({})])
          differsIn(await add([cem, name], given), 'input.usernames[1]');
        differsIn(await add([name], assigned({ range: '1h' })), 'input.usernames[0]');
      }
      expect(await existing([cem], { roles: ['viewer'] })).toBe(1);
      expect(await existing([ann], assigned(ended))).toBe(1);
    });

    test('the end of a membership of all projects differs, also from none', async () => {
      const { admin: owner } = await strongroom.seed.organization();
      const { identityId: memberId } = await strongroom.seed.caller(owner);
      const add = (given: object) =>
        owner.graphql(
          `mutation ($input: CreateAllProjectsMembershipInput!) {
            createAllProjectsMembership(input: $input) { created membership { isActive } } }`,
          { input: { memberKind: 'IDENTITY', memberId, roleSlug: 'viewer', ...given, ...again } },
        );
      const added = async (given: object) => mustSucceed(await add(given)).body.data.createAllProjectsMembership;
      const membership = { isActive: true };
      expect(await added({ endsAt: hours(1) })).toEqual({ created: true, membership });
      for (const given of [{}, { endsAt: null }]) expect(await added(given)).toEqual({ created: false, membership });
      await strongroom.sql(`update all_projects_membership set ends_at = now() where identity_id = $1`, [memberId]);
      for (const given of [{}, { endsAt: null }, { endsAt: hours(1) }]) differsIn(await add(given), 'input.endsAt');
      differsIn(await add({ roleSlug: 'member' }), 'input.roleSlug', 'input.endsAt');
    });

    test.each(['user', 'identity'] as const)(
      'of the membership of one %s in its organization, the role differs',
      async (kind) => {
        const { admin: owner } = await strongroom.seed.organization();
        const [field, type, name] =
          kind === 'user'
            ? (['createUser', 'CreateUserInput', 'username'] as const)
            : (['createIdentity', 'CreateIdentityInput', 'name'] as const);
        const create = (given: object = {}) =>
          owner.graphql(`mutation ($input: ${type}!) { ${field}(input: $input) { created ${kind} { id } } }`, {
            input: { [name]: 'ann', ...given, ...again },
          });
        const created = async (given: object = {}) => mustSucceed(await create(given)).body.data[field];
        const {
          [kind]: { id },
        } = await created();
        const end = (interval: string) =>
          strongroom.sql(`update organization_membership set ends_at = now() + $2::interval where ${kind}_id = $1`, [
            id,
            interval,
          ]);
        await end('1 hour');
        expect(await created()).toEqual({ created: false, [kind]: { id } });
        await end('0 seconds');
        for (const given of [{}, { roleSlug: kind === 'user' ? 'member' : 'no-access' }, { roleSlug: 'admin' }])
          differsIn(await create(given), 'input.roleSlug');
      },
    );

    test('the term of a privilege differs, also from none, unless the input says when it starts', async () => {
      const { admin: owner, project } = await strongroom.seed.project();
      const { identityId } = await strongroom.seed.caller(owner, { project: project.id });
      const add = (slug: string, given: object) =>
        owner.graphql(
          `mutation ($input: CreateAdditionalPrivilegeInput!) {
            createAdditionalPrivilege(input: $input) { created } }`,
          {
            input: {
              ...{ projectId: project.id, memberKind: 'IDENTITY', memberId: identityId, slug },
              ...{ permissions: [{ subject: 'TAGS', action: ['READ'] }], ...given, ...again },
            },
          },
        );
      const created = async (slug: string, given: object) =>
        mustSucceed(await add(slug, given)).body.data.createAdditionalPrivilege.created;
      for (const [slug, term] of Object.entries({ ended, later })) {
        expect(await created(slug, { term })).toBe(true);
        for (const given of [{}, { term: null }, { term: { range: '1h' } }])
          differsIn(await add(slug, given), 'input.term');
        expect(await created(slug, { term })).toBe(false);
      }
      expect(await created('running', { term: running })).toBe(true);
      for (const given of [{}, { term: { range: '3h' } }]) expect(await created('running', given)).toBe(false);
      // The term of a privilege is its own: that of the roles of its member is nothing that this creation gives.
      mustSucceed(
        await owner.graphql(
          'mutation ($input: UpdateProjectMemberInput!) { updateProjectMember(input: $input) { __typename } }',
          {
            input: {
              ...{ projectId: project.id, memberKind: 'IDENTITY', memberId: identityId },
              roleAssignments: [{ roleSlug: 'viewer', ...ended }],
            },
          },
        ),
      );
      expect(await created('running', {})).toBe(false);
    });
  });

  describe('by callers who may not see what is there', () => {
    test('of several with the same name, the one that the caller may read is found', async () => {
      const { admin: owner, project } = await strongroom.seed.project();
      const document =
        'mutation ($input: CreateIdentityInput!) { createIdentity(input: $input) { created identity { id } } }';
      const create = async (caller: Caller, given: object = {}) =>
        caller.graphql(document, { input: { projectId: project.id, name: 'Namesake', ...given } });
      const ids: string[] = [];
      for (let times = 0; times < 3; times += 1)
        ids.push(mustSucceed(await create(owner)).body.data.createIdentity.identity.id);
      const { caller, change } = await callerWithRules(strongroom, owner, project.id);
      for (const id of ids) {
        await change(
          { subject: 'identity', action: 'create' },
          { subject: 'identity', action: 'read', conditions: { identityId: id } },
        );
        const found = mustSucceed(await create(caller, { onConflict: 'RETURN_EXISTING' })).body.data.createIdentity;
        expect(found).toEqual({ created: false, identity: { id } });
      }
      await change(
        { subject: 'identity', action: 'create' },
        { subject: 'identity', action: 'read', conditions: { identityId: { $in: ids.slice(1) } } },
      );
      expect(await create(caller, { onConflict: 'RETURN_EXISTING' })).toBeError(409, 'NAME_AMBIGUOUS');
    });

    test('a folder that may not be read is taken, and whether it is there is told to nobody without rights', async () => {
      const { admin: owner, project } = await strongroom.seed.project();
      const document = 'mutation ($input: CreateFolderInput!) { createFolder(input: $input) { created } }';
      const create = (caller: Caller, name: string) =>
        caller.graphql(document, {
          input: { projectId: project.id, environment: 'dev', name, onConflict: 'RETURN_EXISTING' },
        });
      mustSucceed(await create(owner, 'app'));
      const { caller, change } = await callerWithRules(strongroom, owner, project.id, {
        subject: 'secret-folders',
        action: 'create',
      });
      expect(await create(caller, 'app')).toBeError(409, 'FOLDER_NAME_TAKEN');
      await change({ subject: 'secrets', action: 'describeSecret' });
      for (const name of ['app', 'none']) expect(await create(caller, name)).toBeError(403, 'PERMISSION_DENIED');
    });

    const CREATE_PROJECT =
      'mutation ($input: CreateProjectInput!) { createProject(input: $input) { created project { id } } }';
    const CREATE_SECRET = 'mutation ($input: CreateSecretInput!) { createSecret(input: $input) { created } }';

    test('nobody without rights learns from it what is there', async () => {
      const caller = await strongroom.seed.caller(admin);
      const { username } = world;
      for (const [mutation, names] of [
        ['createUser', [{ username }, { username: 'nobody-has-this' }]],
        ['createIdentity', [{ name: 'At once' }, { name: 'Nobody has this' }]],
        ['createProjectTemplate', [{ name: world.projectTemplateName }, { name: 'nobody-has-this' }]],
      ] as const) {
        const type = `${mutation.charAt(0).toUpperCase()}${mutation.slice(1)}Input`;
        const replies = await Promise.all(
          names.map((name) =>
            caller.graphql(`mutation ($input: ${type}!) { ${mutation}(input: $input) { created } }`, {
              input: {
                ...name,
                ...(mutation === 'createProjectTemplate' && { type: 'SECRET_MANAGER' }),
                onConflict: 'RETURN_EXISTING',
              },
            }),
          ),
        );
        const [there, absent] = replies.map(({ status, body }) => {
          const { reqId: _, ...extensions } = body.errors[0].extensions;
          return { status, extensions, message: body.errors[0].message };
        });
        expect(there?.status).toBe(403);
        expect(there).toEqual(absent);
      }
    });

    test('a project of others is taken, and not returned', async () => {
      const input = { name: 'Others', slug: 'of-the-others', onConflict: 'RETURN_EXISTING' };
      mustSucceed(await admin.graphql(CREATE_PROJECT, { input }));
      const caller = await strongroom.seed.caller(admin, { organizationRole: 'member' });
      expect(await caller.graphql(CREATE_PROJECT, { input })).toBeError(409, 'PROJECT_SLUG_TAKEN');
      const elsewhere = await strongroom.seed.organization();
      expect(
        mustSucceed(await elsewhere.admin.graphql(CREATE_PROJECT, { input })).body.data.createProject.created,
      ).toBe(true);
    });

    test('a value is compared only for those who may read it', async () => {
      const { admin: owner, project } = await strongroom.seed.project();
      const input = {
        projectId: project.id,
        environment: 'dev',
        secretKey: 'HIDDEN',
        secretValue: 'one',
        onConflict: 'RETURN_EXISTING',
      };
      mustSucceed(await owner.graphql(CREATE_SECRET, { input }));
      const { caller: writer } = await callerWithRules(strongroom, owner, project.id, {
        subject: 'secrets',
        action: ['create', 'describeSecret'],
      });
      for (const secretValue of ['one', 'two'])
        expect(await writer.graphql(CREATE_SECRET, { input: { ...input, secretValue } })).toBeError(
          403,
          'PERMISSION_DENIED',
        );
    });
  });

  test('an ID that is none finds nothing, and equal inputs in other forms are equal', async () => {
    const profile =
      'mutation ($input: CreateCertificateProfileInput!) { createCertificateProfile(input: $input) { created } }';
    const input = { projectId: 'no-id', authorityId: 'no-id', slug: 'one', onConflict: 'RETURN_EXISTING' };
    expect(await admin.graphql(profile, { input })).toBeError(404, 'PROJECT_NOT_FOUND');

    const { admin: owner, project } = await strongroom.seed.project();
    const tags = await Promise.all(
      ['web', 'db'].map(async (slug) => {
        const reply = await owner.post(`/api/v1/projects/${project.id}/tags`, { slug, color: '#000000' });
        return mustSucceed(reply).body.tag.id as string;
      }),
    );
    const secret = {
      ...{ projectId: project.id.toUpperCase(), environment: 'dev', secretKey: 'TAGGED', secretValue: 'x' },
      ...{ tagIds: tags, onConflict: 'RETURN_EXISTING' },
    };
    const create = 'mutation ($input: CreateSecretInput!) { createSecret(input: $input) { created } }';
    const made = async (changes: object = {}) =>
      mustSucceed(await owner.graphql(create, { input: { ...secret, ...changes } })).body.data.createSecret.created;
    expect([await made(), await made(), await made({ tagIds: tags.toReversed() })]).toEqual([true, false, false]);

    const { identity } = mustSucceed(await owner.post('/api/v1/identities', { name: 'networks' })).body;
    const attach = 'mutation ($input: AttachTokenAuthInput!) { attachTokenAuth(input: $input) { created } }';
    const settings = {
      identityId: identity.id,
      accessTokenTrustedIps: [{ ipAddress: '10.0.0.1' }, { ipAddress: '10.1.2.3/8' }],
      onConflict: 'RETURN_EXISTING',
    };
    const attached = async () =>
      mustSucceed(await owner.graphql(attach, { input: settings })).body.data.attachTokenAuth.created;
    expect([await attached(), await attached()]).toEqual([true, false]);
  });

  test('says all that is wrong with its input, as one that fails on conflicts', async () => {
    const document = 'mutation ($input: CreateTagInput!) { createTag(input: $input) { created } }';
    const input = { projectId: world.project, slug: 'Not A Slug', color: '' };
    const [plain, again] = await Promise.all(
      [input, { ...input, onConflict: 'RETURN_EXISTING' }].map((given) => admin.graphql(document, { input: given })),
    );
    expect(again).toBeError(422, 'VALIDATION_FAILED');
    expect(again?.body.errors[0].extensions.details).toEqual(plain?.body.errors[0].extensions.details);
    expect(again?.body.errors[0].extensions.details).toHaveLength(2);
  });
});
