import { useSharedStrongroom } from '../../kit/strongroom.js';

const strongroom = useSharedStrongroom();

const VIEWER = `{ viewer {
  kind name identityId userId organizationId usesLeft
  token { accessTokenNumUsesLimit }
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
      token: { accessTokenNumUsesLimit: 5 },
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
