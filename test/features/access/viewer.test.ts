import { mustSucceed } from '../../kit/caller.js';
import { callerWithRules } from '../../kit/rules.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';

const strongroom = useSharedStrongroom();

const VIEWER = `{ viewer {
  kind name identityId userId organizationId usesLeft
  token { useLimit }
  identity { id } user { id } organization { id }
} }`;

describe('viewer', () => {
  test('shows a machine identity without any right itself, its organization, and its token with the uses left', async () => {
    const { admin, organization } = await strongroom.seed.organization();
    const caller = await strongroom.seed.caller(admin, { tokenAuth: { accessTokenNumUsesLimit: 5 } });

    expect((await caller.data(VIEWER)).viewer).toEqual({
      kind: 'IDENTITY',
      name: expect.stringMatching(/^identity-/),
      identityId: caller.identityId,
      userId: null,
      organizationId: organization.id,
      usesLeft: 4,
      token: { useLimit: 5 },
      identity: { id: caller.identityId },
      user: null,
      organization: { id: organization.id },
    });
    expect((await caller.data('{ viewer { usesLeft } }')).viewer.usesLeft).toBe(3);
  });

  test('shows a user, and a token without a limit of uses', async () => {
    const { admin, organization } = await strongroom.seed.organization();
    const user = await strongroom.seed.user(admin);

    expect((await user.data(VIEWER)).viewer).toMatchObject({
      kind: 'USER',
      userId: user.userId,
      identityId: null,
      usesLeft: null,
      user: { id: user.userId },
      organization: { id: organization.id },
    });
  });

  test('needs a token', async () => {
    const { admin } = await strongroom.seed.organization();
    expect(await admin.anonymous.graphql(VIEWER)).toBeError(401, 'TOKEN_MISSING');
  });
});

describe('own rights', () => {
  const RULES = 'subject action inverted';

  test('in the organization are the rules of all roles, also without the right to read roles', async () => {
    const { admin } = await strongroom.seed.organization();
    const permissions = [
      { subject: 'identity', action: ['read', 'edit'] },
      { subject: 'groups', action: 'read', inverted: true, conditions: { groupSlug: { $glob: 'ops-*' } } },
    ];
    const made = await admin.post('/api/v1/organization/roles', { slug: 'own', name: 'Own', permissions });
    mustSucceed(made);
    const caller = await strongroom.seed.caller(admin);
    const update = 'mutation ($input: UpdateIdentityInput!) { updateIdentity(input: $input) { identity { id } } }';
    await admin.data(update, { input: { id: caller.identityId, roleSlug: 'own' } });
    const document = `{ viewer { organizationPermissions { ${RULES} conditions { groupSlug { glob } } } } }`;

    expect((await caller.data(document)).viewer.organizationPermissions).toEqual([
      { subject: 'IDENTITY', action: ['READ', 'EDIT'], inverted: false, conditions: null },
      { subject: 'GROUPS', action: ['READ'], inverted: true, conditions: { groupSlug: { glob: 'ops-*' } } },
    ]);
    await admin.data(update, { input: { id: caller.identityId, roleSlug: 'no-access' } });
    expect((await caller.data(document)).viewer.organizationPermissions).toEqual([]);
  });

  test('in projects have own attributes filled in, and take no further statement, however many projects', async () => {
    const { admin, project } = await strongroom.seed.project();
    const byId = { environment: '{{identity.id}}' };
    const { caller } = await callerWithRules(
      strongroom,
      admin,
      project.id,
      { subject: 'secrets', action: 'read' },
      { subject: 'secret-folders', action: 'edit', conditions: byId },
    );
    const rules = `viewerPermissions { ${RULES} conditions { environment { is } } }`;
    const ask = async (fields: string) =>
      strongroom.statements(() => caller.data(`{ projects { nodes { name ${fields} } } }`));
    const one = await ask(rules);
    expect(one.result.projects.nodes[0].viewerPermissions).toEqual([
      { subject: 'SECRETS', action: ['DESCRIBE_SECRET', 'READ_VALUE'], inverted: false, conditions: null },
      {
        subject: 'SECRET_FOLDERS',
        action: ['EDIT'],
        inverted: false,
        conditions: { environment: { is: caller.identityId } },
      },
    ]);
    for (let more = 0; more < 4; more += 1) {
      const { id } = await strongroom.seed.projectOf(admin);
      const joined = `/api/v2/workspace/${id}/identity-memberships/${caller.identityId}`;
      mustSucceed(await admin.post(joined, { roles: [{ role: 'viewer' }] }));
    }
    const five = await ask(rules);
    expect(
      five.result.projects.nodes.map((node: { viewerPermissions: unknown[] }) => node.viewerPermissions.length > 0),
    ).toEqual(Array(5).fill(true));
    expect([one.count, five.count]).toEqual([(await ask('')).count, one.count]);
  });
});

test('a root field that fails leaves the others of its document as they are', async () => {
  const { admin } = await strongroom.seed.organization();
  const document = '{ viewer { kind } project(id: "none") { id } projects { nodes { id } } }';
  const { status, body } = await admin.graphql(document);
  expect(status).toBe(200);
  expect(body.data).toEqual({ viewer: { kind: 'IDENTITY' }, project: null, projects: { nodes: [] } });
  expect(body.errors).toEqual([
    expect.objectContaining({ path: ['project'], extensions: expect.objectContaining({ code: 'PROJECT_NOT_FOUND' }) }),
  ]);
});
