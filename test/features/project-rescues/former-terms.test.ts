import { type Caller, mustSucceed, type Reply } from '../../kit/caller.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';

const strongroom = useSharedStrongroom();

const RESCUE =
  'mutation ($input: RescueProjectInput!) { rescueProject(input: $input) { rescue { id createdAt endsAt } } }';
const END = 'mutation ($input: RevokeProjectRescueInput!) { revokeProjectRescue(input: $input) { __typename } }';
const HOUR = 3_600_000;

/** A project whose only admin for good cannot log in, and somebody who has the role for this time. */
async function scene(temporaryRange: string, startsInMs = 0) {
  const { admin, organization } = await strongroom.seed.organization();
  const owner = await strongroom.seed.caller(admin, { organizationRole: 'admin' });
  const { id: projectId } = await strongroom.seed.projectOf(owner);
  const path = `/api/v2/workspace/${projectId}/identity-memberships/${admin.identityId}`;
  const role = {
    role: 'admin',
    isTemporary: true,
    temporaryMode: 'relative',
    temporaryRange,
    temporaryAccessStartTime: new Date(Date.now() + startsInMs).toISOString(),
  };
  mustSucceed(await owner.post(path, { roles: [{ role: 'viewer' }, role] }));
  await strongroom.sql(
    `with removed as (delete from identity_token_auth where identity_id = $1)
     delete from access_token where identity_id = $1 and auth_method = 'token-auth'`,
    [owner.identityId],
  );
  const [{ terms: given } = { terms: null }] = await termsOf(projectId, admin);
  const rescue = (who: Caller, range: string): Promise<Reply> =>
    who.graphql(RESCUE, { input: { projectId, reason: 'The only admin has left.', range } });
  const terms = async () => (await termsOf(projectId, admin))[0]?.terms;
  return { admin, organization, projectId, given, rescue, terms };
}

const termsOf = (projectId: string, { identityId }: Caller) =>
  strongroom.sql<{ terms: { admin: { startsAt: string; endsAt: string } } | null }>(
    'select role_terms as terms from project_membership where project_id = $1 and identity_id = $2',
    [projectId, identityId],
  );

describe('a rescue by somebody who is an admin of the project for a time', () => {
  test.each([
    ['ends later', '2h', 0, '1h'],
    ['begins and ends later', '7d', 48 * HOUR, '1h'],
    ['begins during the rescue and ends later', '2h', HOUR / 2, '1h'],
  ])('is refused, and leaves that time, which %s', async (_, range, startsInMs, asked) => {
    const { admin, given, rescue, terms } = await scene(range, startsInMs);
    expect(await rescue(admin, asked)).toBeError(409, 'PROJECT_HAS_ADMIN');
    expect(await terms()).toEqual(given);
    const colleague = await strongroom.seed.caller(admin, { organizationRole: 'admin' });
    mustSucceed(await rescue(colleague, asked));
    expect(await terms()).toEqual(given);
  });

  test('lengthens a time that ends sooner, says so in the audit trail, and ends it with the rescue', async () => {
    const { admin, organization, projectId, given, rescue, terms } = await scene('1h');
    const { rescue: made } = mustSucceed(await rescue(admin, '3h')).body.data.rescueProject;
    expect(await terms()).toMatchObject({ admin: { endsAt: made.endsAt } });
    const [row] = await strongroom.auditRows(`organization_id = $1 and action = 'project:rescue'`, [organization.id]);
    expect(row?.facts).toMatchObject({ rescueId: made.id, endsAt: made.endsAt, formerEndsAt: given?.admin.endsAt });
    mustSucceed(await admin.graphql(END, { input: { id: made.id } }));
    expect(mustSucceed(await admin.get(`/api/v1/projects/${projectId}`)).status).toBe(200);
    expect((await admin.patch(`/api/v1/projects/${projectId}`, { name: 'other' })).status).toBe(403);
  });

  test('is no lengthening of a time that is over', async () => {
    const { admin, organization, projectId, rescue } = await scene('1h');
    await strongroom.sql(
      `update project_membership set role_terms = jsonb_set(role_terms, '{admin,endsAt}', to_jsonb(now()))
       where project_id = $1 and identity_id = $2`,
      [projectId, admin.identityId],
    );
    mustSucceed(await rescue(admin, '1h'));
    const [row] = await strongroom.auditRows(`organization_id = $1 and action = 'project:rescue'`, [organization.id]);
    expect(Object.keys(row?.facts ?? {}).sort()).toEqual(['endsAt', 'reason', 'rescueId']);
  });
});
