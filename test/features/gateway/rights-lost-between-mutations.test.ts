import { randomUUID } from 'node:crypto';
import { type Caller, useSharedStrongroom } from '../../kit/strongroom.ts';

const name = (): string => `made-${randomUUID().slice(0, 8)}`;

describe('a document of several changes, of which the first takes the rights of its caller', () => {
  const strongroom = useSharedStrongroom();

  const first: Record<string, (caller: Caller, organization: string) => string> = {
    'its role': ({ identityId }, organization) =>
      `setOrganizationMember(input: { organizationId: "${organization}", identityId: "${identityId}", roleSlug: "no-access" }) { __typename }`,
    'its token': ({ token }) => `revokeHeldAccessToken(input: { accessToken: "${token}" }) { __typename }`,
    'its account': ({ identityId }) => `deleteIdentity(input: { id: "${identityId}" }) { __typename }`,
  };

  test.each([
    ['its role', 'PERMISSION_DENIED'],
    ['its token', 'TOKEN_REVOKED'],
    ['its account', 'TOKEN_INVALID'],
  ])('changes nothing more without %s', async (lost, code) => {
    const { organization, admin } = await strongroom.seed.organization();
    const caller = await strongroom.seed.caller(admin, { organizationRole: 'admin' });
    const wanted = name();

    const { body } = await caller.graphql(`mutation {
      a: ${first[lost]?.(caller, organization.id)}
      b: createIdentity(input: { name: "${wanted}", organizationId: "${organization.id}", roleSlug: "admin" }) { identity { id } }
      c: createUser(input: { username: "${wanted}" }) { user { id } }
    }`);

    expect(body.data).toEqual({ a: { __typename: expect.any(String) }, b: null, c: null });
    expect(body.errors.map(({ path, extensions }: never) => [path, (extensions as { code: string }).code])).toEqual([
      [['b'], code],
      [['c'], code],
    ]);
    const { identities, users } = await admin.data('{ identities { nodes { name } } users { nodes { username } } }');
    expect(JSON.stringify([identities, users])).not.toContain(wanted);
  });

  test('goes on to its end with a token that this was the last use of', async () => {
    const { admin, project } = await strongroom.seed.project();
    const caller = await strongroom.seed.caller(admin, {
      project: project.id,
      projectRoles: ['admin'],
      tokenAuth: { accessTokenNumUsesLimit: 1 },
    });
    const tag = (slug: string): string =>
      `createTag(input: { projectId: "${project.id}", slug: "${slug}", color: "red" }) { tag { slug } }`;

    expect(await caller.data(`mutation { a: ${tag('a')} b: ${tag('b')} }`)).toEqual({
      a: { tag: { slug: 'a' } },
      b: { tag: { slug: 'b' } },
    });
    expect(await caller.graphql('{ organization { id } }')).toBeError(401, 'TOKEN_USES_EXHAUSTED');
  });
});
