import { type Caller, mustSucceed } from '../../kit/caller.js';
import { callerWithRules } from '../../kit/rules.js';
import { type SharedStrongroom, useSharedStrongroom } from '../../kit/strongroom.js';

const COUNTS = `{ identities(first: 1) { totalCount } users(first: 1) { totalCount } projects(first: 1) { totalCount } }`;

/** The fewest statements of some rounds, without those that store audit records: these go together as they happen to meet. */
async function fewest(strongroom: SharedStrongroom, work: () => Promise<unknown>): Promise<number> {
  const rounds = [];
  for (let round = 0; round < 8; round++) {
    const [before] = await strongroom.sql('select max(sequence)::text as newest from audit_record');
    const { count } = await strongroom.statements(work);
    const stored = 'select count(distinct xmin::text)::int as count from audit_record where sequence > $1';
    const [records] = await strongroom.sql(stored, [before?.newest]);
    rounds.push(count - records?.count);
  }
  return Math.min(...rounds);
}

describe('how many rows a list has in all', () => {
  const strongroom = useSharedStrongroom();

  test('is told whatever the page, of projects only as far as the caller is a member of them', async () => {
    const { admin } = await strongroom.seed.organization();
    const [one] = [await strongroom.seed.projectOf(admin), await strongroom.seed.projectOf(admin)];
    const { id: ownProject } = await strongroom.seed.projectOf(admin);
    await strongroom.seed.user(admin);
    const member = await strongroom.seed.caller(admin, { project: one.id, organizationRole: 'admin' });
    const { identities } = await admin.data('{ identities { nodes { id } } }');
    const { users } = await admin.data('{ users { nodes { id } } }');
    expect(await admin.data(COUNTS)).toEqual({
      identities: { totalCount: identities.nodes.length },
      users: { totalCount: users.nodes.length },
      projects: { totalCount: 3 },
    });
    expect((await member.data(COUNTS)).projects).toEqual({ totalCount: 1 });
    const OTHERS = `query ($projectId: ID!) {
      projects(type: KMS) { totalCount }
      projectIdentities(projectId: $projectId, first: 1) { totalCount nodes { id } }
      organization { projects(first: 1) { totalCount nodes { id } } }
    }`;
    const input = { name: 'of the project', projectId: ownProject };
    await admin.data('mutation ($input: CreateIdentityInput!) { createIdentity(input: $input) { identity { id } } }', {
      input,
    });
    expect(await admin.data(OTHERS, { projectId: ownProject })).toMatchObject({
      projects: { totalCount: 0 },
      projectIdentities: { totalCount: 1, nodes: [{}] },
      organization: { projects: { totalCount: 3, nodes: [{}] } },
    });
  });

  test('is refused with the list to who may not read it', async () => {
    const { admin } = await strongroom.seed.organization();
    const caller = await strongroom.seed.caller(admin);
    for (const field of ['identities', 'users'])
      expect(await caller.graphql(`{ ${field} { totalCount } }`)).toBeError(403, 'PERMISSION_DENIED');
  });

  test('is told of members and groups, as far as the caller may read them', async () => {
    const { admin, project } = await strongroom.seed.project();
    const member = await strongroom.seed.caller(admin, { project: project.id });
    await strongroom.seed.user(admin, { project: project.id });
    await strongroom.seed.group(admin, member);
    await strongroom.seed.group(admin);
    const owned = { name: 'of the project', projectId: project.id };
    await admin.data('mutation ($input: CreateIdentityInput!) { createIdentity(input: $input) { identity { id } } }', {
      input: owned,
    });
    const { caller } = await callerWithRules(strongroom, admin, project.id, {
      subject: 'identity',
      action: 'read',
      conditions: { identityId: { $eq: member.identityId } },
    });
    const MEMBERS = `query ($id: ID!, $after: String) {
      identities: projectMemberships(projectId: $id, memberKind: IDENTITY, first: 1, after: $after) {
        totalCount nodes { id } pageInfo { endCursor }
      }
    }`;
    const ALL = `query ($id: ID!, $identity: ID!) {
      organizationMembers(first: 1) { totalCount } groups(first: 1) { totalCount }
      projectMemberships(projectId: $id, first: 1) { totalCount }
      project(id: $id) { members(first: 1) { totalCount } }
      identity(id: $identity) { groups(first: 1) { totalCount } memberships(first: 1) { totalCount } }
    }`;
    const { organizationMembers } = await admin.data('{ organizationMembers { nodes { memberId } } }');
    expect(await admin.data(ALL, { id: project.id, identity: member.identityId })).toEqual({
      organizationMembers: { totalCount: organizationMembers.nodes.length },
      groups: { totalCount: 2 },
      projectMemberships: { totalCount: 5 },
      project: { members: { totalCount: 5 } },
      identity: { groups: { totalCount: 1 }, memberships: { totalCount: 1 } },
    });
    const inProject = await admin.data(MEMBERS, { id: project.id });
    expect(inProject.identities).toMatchObject({ totalCount: 4, nodes: [{}] });
    const seen = await caller.data(MEMBERS, { id: project.id });
    expect(seen.identities).toMatchObject({ totalCount: 1, nodes: [{}] });
    const { endCursor: after } = seen.identities.pageInfo;
    expect((await caller.data(MEMBERS, { id: project.id, after })).identities).toMatchObject({
      totalCount: 1,
      nodes: [],
    });
    const { caller: none } = await callerWithRules(strongroom, admin, project.id, { subject: 'tags', action: 'read' });
    expect(await none.graphql(MEMBERS, { id: project.id })).toBeError(403, 'PERMISSION_DENIED');
  });

  test('takes one statement for the lists of many rows, of members of groups and of messages of channels', async () => {
    const { admin, project } = await strongroom.seed.project();
    const document = `query ($first: Int!, $id: ID!) { groups(first: $first) { nodes { members(first: 1) { totalCount } } }
      project(id: $id) { notificationChannels { messages(first: 1, state: FAILED) { totalCount } } } }`;
    const ask = (first: number) => admin.data(document, { first, id: project.id });
    const add = async (name: string) => {
      await strongroom.seed.group(admin, admin);
      const config = { slack: { webhookUrl: 'https://hooks.slack.com/services/T0/B0/x' } };
      const made = await admin.post(`/api/v1/projects/${project.id}/notification-channels`, { name, config });
      await strongroom.seed.failedNotice(mustSucceed(made).body.notificationChannel.id);
    };
    await add('one');
    await ask(1);
    const one = await fewest(strongroom, () => ask(1));
    for (const name of ['two', 'three']) await add(name);
    expect(await ask(3)).toEqual({
      groups: { nodes: Array(3).fill({ members: { totalCount: 1 } }) },
      project: { notificationChannels: Array(3).fill({ messages: { totalCount: 1 } }) },
    });
    expect(await fewest(strongroom, () => ask(3))).toBe(one);
  });

  test('takes one statement for all lists of a kind, and none when it is not asked for', async () => {
    const { admin } = await strongroom.seed.organization();
    const ask = (document: string) => fewest(strongroom, () => admin.data(document));
    await ask('{ projects { nodes { id } } }');
    const without = await ask('{ projects { nodes { id } } }');
    const counted = await ask('{ projects { nodes { id } totalCount } }');
    expect(counted).toBe(without + 1);
    const lists = (fields: string) =>
      `{ ${['KMS', 'SSH', 'SECRET_MANAGER']
        .map((type) => `${type}: projects(type: ${type}) { ${fields} }`)
        .join(' ')} all: projects { ${fields} } }`;
    const count = (fields: string) => fewest(strongroom, () => admin.data(lists(fields)));
    expect((await count('nodes { id } totalCount')) - (await count('nodes { id }'))).toBeLessThanOrEqual(2);
  });
});

describe('lists of which a caller may see some rows', () => {
  const strongroom = useSharedStrongroom();

  const LISTS = `query ($id: ID!, $secret: ID!, $first: Int) {
    secrets(projectId: $id, environment: "dev", first: $first) { totalCount nodes { id } }
    below: secrets(projectId: $id, environment: "dev", recursive: true, first: $first, orderBy: { field: UPDATED_AT }) { totalCount nodes { id } }
    tagged: secrets(projectId: $id, environment: "dev", recursive: true, tagSlugs: ["red"], first: $first) { totalCount nodes { id } }
    folders(projectId: $id, environment: "dev", first: $first) { totalCount nodes { id } }
    allFolders: folders(projectId: $id, environment: "dev", recursive: true, first: $first) { totalCount nodes { id } }
    written: folders(projectId: $id, environment: "dev", recursive: true, lastSecretModified: "2000-01-01T00:00:00Z", first: $first) { totalCount nodes { id } }
    deletedSecrets(projectId: $id, environment: "dev", recursive: true, first: $first) { totalCount nodes { secretId } }
    secretVersions(secretId: $secret, viewSecretValue: false, first: $first) { totalCount nodes { version } }
    secret(id: $secret, viewSecretValue: false) { versions(first: $first) { totalCount nodes { version } } }
    project(id: $id) {
      environments(slugs: ["dev"]) {
        secrets(first: $first, viewSecretValue: false) { totalCount nodes { id } }
        below: secrets(recursive: true, first: $first, viewSecretValue: false) { totalCount nodes { id } }
        folders(first: $first) { totalCount nodes { secrets(first: $first, viewSecretValue: false) { totalCount nodes { id } } folders(first: $first) { totalCount nodes { id } } } }
      }
    }
  }`;

  /** Each list of an answer with how many rows it shows and says that it has. */
  function countsIn(answer: unknown, path = ''): [path: string, shown: number, total: number][] {
    if (Array.isArray(answer)) return answer.flatMap((item, n) => countsIn(item, `${path}[${n}]`));
    if (typeof answer !== 'object' || answer === null) return [];
    const { nodes, totalCount } = answer as { nodes?: unknown[]; totalCount?: number };
    const below = Object.entries(answer).flatMap(([name, value]) => countsIn(value, `${path}.${name}`));
    return nodes === undefined ? below : [[path, nodes.length, totalCount as number], ...below];
  }

  /** What the caller sees: below a folder of rules that deny it, null. */
  async function visible(caller: Caller, variables: object): Promise<unknown> {
    const { data, errors = [] } = (await caller.graphql(LISTS, { ...variables })).body;
    for (const { path, extensions } of errors)
      expect([path.at(-1), extensions.code]).toEqual(['folders', 'PERMISSION_DENIED']);
    return data;
  }

  async function seedTree() {
    const { admin, project } = await strongroom.seed.project();
    const place = { projectId: project.id, environment: 'dev' };
    mustSucceed(await admin.post(`/api/v1/projects/${project.id}/tags`, { slug: 'red', color: '#f00' }));
    for (const path of ['/a', '/a/deep', '/b', '/c'])
      mustSucceed(
        await admin.post('/api/v2/folders', {
          ...place,
          path: path.slice(0, path.lastIndexOf('/')) || '/',
          name: path.split('/').pop(),
        }),
      );
    const write = async (secretPath: string, secretKey: string, more = {}) =>
      mustSucceed(await admin.post(`/api/v4/secrets/${secretKey}`, { ...place, secretPath, secretValue: 'v', ...more }))
        .body.secret;
    const secret = await write('/a', 'KEPT');
    for (const key of ['ONE', 'TWO', 'GONE']) for (const path of ['/', '/a', '/b']) await write(path, key);
    for (const path of ['/', '/a', '/b'])
      mustSucceed(await admin.delete('/api/v4/secrets/GONE', { ...place, secretPath: path }));
    for (const secretValue of ['w', 'x'])
      mustSucceed(await admin.patch('/api/v4/secrets/KEPT', { ...place, secretPath: '/a', secretValue }));
    return { admin, project, secret };
  }

  test('tell how many, whatever the page, to who sees all and to who sees some', async () => {
    const { admin, project, secret } = await seedTree();
    const READ = ['secrets', 'secret-folders', 'secret-imports'].map((subject) => ({
      subject,
      action: subject === 'secrets' ? ['describeSecret', 'readValue'] : ['read'],
    }));
    const limited = (conditions: object) =>
      READ.map((rule) => ({ ...rule, conditions: conditions as Record<string, unknown> }));
    const [whole, some] = await Promise.all([
      callerWithRules(strongroom, admin, project.id, ...READ),
      callerWithRules(
        strongroom,
        admin,
        project.id,
        ...READ,
        ...limited({ secretPath: { $eq: '/b' } }).map((rule) => ({ ...rule, inverted: true })),
      ),
    ]);
    const user = await strongroom.seed.user(admin, { project: project.id });
    mustSucceed(
      await user.post('/api/v4/secrets/ONE', {
        projectId: project.id,
        environment: 'dev',
        type: 'personal',
        secretValue: 'mine',
      }),
    );
    const totals: number[][] = [];
    for (const caller of [admin, whole.caller, some.caller, user]) {
      const variables = { id: project.id, secret: secret.id };
      const all = countsIn(await visible(caller, variables));
      expect(all.length).toBeGreaterThan(14);
      for (const [path, shown, total] of all) expect([path, total]).toEqual([path, shown]);
      const first = countsIn(await visible(caller, { ...variables, first: 1 }));
      const known = new Map(all.map(([path, , total]) => [path, total]));
      for (const [path, shown, total] of first) {
        expect([path, total]).toEqual([path, known.get(path)]);
        expect([path, shown]).toEqual([path, Math.min(1, total)]);
      }
      totals.push(all.map(([, , total]) => total));
    }
    const [ofAdmin, ofWhole, ofSome, ofUser] = totals as [number[], number[], number[], number[]];
    expect(ofWhole).toEqual(ofAdmin);
    const sum = (counts: number[]) => counts.reduce((one, other) => one + other, 0);
    expect(sum(ofSome)).toBeLessThan(sum(ofAdmin));
    // The personal value is an entry of four lists of secrets.
    expect(sum(ofUser)).toBe(sum(ofAdmin) + 4);
  });

  test('are counted without another statement where rules decide on each secret, and the first page has read all of them', async () => {
    const { admin, project } = await seedTree();
    const { caller } = await callerWithRules(strongroom, admin, project.id, {
      subject: 'secrets',
      action: ['describeSecret', 'readValue'],
      conditions: { secretName: { $ne: 'TWO' } },
    });
    const ask = (fields: string) => () =>
      caller.data(
        `query ($id: ID!) { secrets(projectId: $id, environment: "dev", recursive: true, first: 1) { ${fields} }
          project(id: $id) { environments { secrets(recursive: true, first: 1) { ${fields} } } } }`,
        { id: project.id },
      );
    expect((await ask('totalCount')()).secrets).toEqual({ totalCount: 4 });
    const without = await fewest(strongroom, ask('nodes { id }'));
    expect(await fewest(strongroom, ask('nodes { id } totalCount'))).toBe(without);
  });

  test('are counted by as many statements, however many lists there are', async () => {
    const { admin, project } = await seedTree();
    const lists = 'secrets(first: 1, viewSecretValue: false) { totalCount } folders(first: 1) { totalCount }';
    const document = `query ($id: ID!, $slugs: [String!], $first: Int) { project(id: $id) { environments(slugs: $slugs) {
      ${lists} inside: folders(first: $first) { nodes { ${lists} secret: secrets(first: 1, viewSecretValue: false) { nodes { versions { totalCount } } } } } } } }`;
    const ask = (slugs: string[], first: number) => () => admin.data(document, { id: project.id, slugs, first });
    const few = await fewest(strongroom, ask(['dev', 'staging'], 1));
    const many = await fewest(strongroom, ask(['dev', 'staging', 'prod'], 3));
    // Of ten more counts each would be one more. Lists that are empty answer earlier, and may count alone.
    expect(many - few).toBeLessThan(3);
  });
});

describe('the environments of a project', () => {
  const strongroom = useSharedStrongroom();

  test('are those of the slugs that are asked for, by position; unknown ones are left out', async () => {
    const { admin, project } = await strongroom.seed.project();
    const ENVIRONMENTS = `query ($id: ID!, $slugs: [String!]) {
      project(id: $id) { environments(slugs: $slugs) { slug } }
    }`;
    const ask = async (slugs?: readonly string[] | null) => {
      const found = (await admin.data(ENVIRONMENTS, { id: project.id, slugs })).project;
      return found.environments.map(({ slug }: { slug: string }) => slug);
    };
    expect(await ask()).toEqual(['dev', 'staging', 'prod']);
    expect(await ask(null)).toEqual(['dev', 'staging', 'prod']);
    expect(await ask(['prod', 'No Slug', 'dev'])).toEqual(['dev', 'prod']);
    expect(await ask([])).toEqual([]);
    const many = { id: project.id, slugs: Array.from({ length: 101 }, () => 'dev') };
    expect(await admin.graphql(ENVIRONMENTS, many)).toBeError(422, 'VALIDATION_FAILED');
  });
});
