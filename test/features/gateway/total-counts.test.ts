import { callerWithRules } from '../../kit/rules.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';

const COUNTS = `{ identities(first: 1) { totalCount } users(first: 1) { totalCount } projects(first: 1) { totalCount } }`;

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
      organization { projectConnection(first: 1) { totalCount nodes { id } } }
    }`;
    const input = { name: 'of the project', projectId: ownProject };
    await admin.data('mutation ($input: CreateIdentityInput!) { createIdentity(input: $input) { identity { id } } }', {
      input,
    });
    expect(await admin.data(OTHERS, { projectId: ownProject })).toMatchObject({
      projects: { totalCount: 0 },
      projectIdentities: { totalCount: 1, nodes: [{}] },
      organization: { projectConnection: { totalCount: 3, nodes: [{}] } },
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
      project(id: $id) { memberConnection(first: 1) { totalCount } }
      identity(id: $identity) { groupConnection(first: 1) { totalCount } membershipConnection(first: 1) { totalCount } }
    }`;
    const { organizationMembers } = await admin.data('{ organizationMembers { nodes { memberId } } }');
    expect(await admin.data(ALL, { id: project.id, identity: member.identityId })).toEqual({
      organizationMembers: { totalCount: organizationMembers.nodes.length },
      groups: { totalCount: 2 },
      projectMemberships: { totalCount: 5 },
      project: { memberConnection: { totalCount: 5 } },
      identity: { groupConnection: { totalCount: 1 }, membershipConnection: { totalCount: 1 } },
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

  test('takes one statement for all lists of a kind, and none when it is not asked for', async () => {
    const { admin } = await strongroom.seed.organization();
    const ask = (document: string) => strongroom.statements(() => admin.data(document));
    await ask('{ projects { nodes { id } } }');
    const without = await ask('{ projects { nodes { id } } }');
    const counted = await ask('{ projects { nodes { id } totalCount } }');
    expect(counted.count).toBe(without.count + 1);
    const lists = (fields: string) =>
      `{ ${['KMS', 'SSH', 'SECRET_MANAGER']
        .map((type) => `${type}: projects(type: ${type}) { ${fields} }`)
        .join(' ')} all: projects { ${fields} } }`;
    // Their four records are stored by one to four statements, as they happen to meet: the fewest of some rounds count.
    const fewest = async (fields: string) => {
      const rounds = [];
      for (let round = 0; round < 8; round++) rounds.push((await ask(lists(fields))).count);
      return Math.min(...rounds);
    };
    expect((await fewest('nodes { id } totalCount')) - (await fewest('nodes { id }'))).toBeLessThanOrEqual(2);
  });
});

describe('the environments of a project', () => {
  const strongroom = useSharedStrongroom();

  test('are those of the slugs that are asked for, by position; unknown ones are left out', async () => {
    const { admin, project } = await strongroom.seed.project();
    const ENVIRONMENTS = `query ($id: ID!, $slugs: [String!]) {
      project(id: $id) { environments(slugs: $slugs) { slug } environmentConnection(slugs: $slugs) { nodes { slug } } }
    }`;
    const ask = async (slugs?: readonly string[] | null) => {
      const found = (await admin.data(ENVIRONMENTS, { id: project.id, slugs })).project;
      expect(found.environmentConnection.nodes).toEqual(found.environments);
      return found.environments.map(({ slug }: { slug: string }) => slug);
    };
    expect(await ask()).toEqual(['dev', 'staging', 'prod']);
    expect(await ask(null)).toEqual(['dev', 'staging', 'prod']);
    expect(await ask(['prod', 'No Slug', 'dev'])).toEqual(['dev', 'prod']);
    expect(await ask([])).toEqual([]);
    const PAGE = `query ($id: ID!, $after: String) {
      project(id: $id) { environmentConnection(slugs: ["prod", "dev"], first: 1, after: $after) { nodes { slug } pageInfo { endCursor } } }
    }`;
    const first = (await admin.data(PAGE, { id: project.id })).project.environmentConnection;
    const { endCursor: after } = first.pageInfo;
    const second = (await admin.data(PAGE, { id: project.id, after })).project.environmentConnection;
    expect([...first.nodes, ...second.nodes]).toEqual([{ slug: 'dev' }, { slug: 'prod' }]);
    const many = { id: project.id, slugs: Array.from({ length: 101 }, () => 'dev') };
    expect(await admin.graphql(ENVIRONMENTS, many)).toBeError(422, 'VALIDATION_FAILED');
  });
});
