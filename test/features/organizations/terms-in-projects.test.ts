import { mustSucceed } from '../../kit/caller.js';
import { type Caller, useSharedStrongroom } from '../../kit/strongroom.js';

const strongroom = useSharedStrongroom();
const SET = 'mutation ($input: SetOrganizationMemberInput!) { setOrganizationMember(input: $input) { __typename } }';
const inAnHour = (): string => new Date(Date.now() + 3_600_000).toISOString();

const giveEnd = (admin: Caller, { identityId }: Caller, endsAt: string | null = inAnHour()) =>
  admin.graphql(SET, { input: { identityId, roleSlug: 'member', endsAt } });

/** A project whose only members are its admins, none of them the admin of the organization. */
async function adminsOf(count: number) {
  const { admin } = await strongroom.seed.organization();
  const owner = await strongroom.seed.caller(admin, { organizationRole: 'member' });
  const project = await strongroom.seed.projectOf(owner);
  const others: Caller[] = [];
  while (others.length < count - 1) {
    const other = await strongroom.seed.caller(admin, { organizationRole: 'member' });
    const path = `/api/v2/workspace/${project.id}/identity-memberships/${other.identityId}`;
    mustSucceed(await owner.post(path, { roles: [{ role: 'admin' }] }));
    others.push(other);
  }
  const [other = owner] = others;
  const membership = ({ identityId }: Caller) => `/api/v2/workspace/${project.id}/identity-memberships/${identityId}`;
  return { admin, owner, other, project, membership };
}

describe('an end of a membership of the organization', () => {
  test('is not given to the last lasting admin of a project', async () => {
    const { admin, owner } = await adminsOf(1);
    const refused = await giveEnd(admin, owner);
    expect(refused).toBeError(409, 'LAST_ADMIN');
    expect(refused.body.errors[0].extensions.details).toEqual([
      { path: 'project', code: 'LAST_ADMIN', message: 'is the only admin of projects that are not listed: 1' },
    ]);
    mustSucceed(await giveEnd(admin, owner, null));
  });

  test('leaves its holder an admin of the project who does not count as lasting', async () => {
    const { admin, owner, other, membership } = await adminsOf(2);
    mustSucceed(await giveEnd(admin, other));
    mustSucceed(await giveEnd(admin, other, new Date(Date.now() + 7_200_000).toISOString()));
    expect(await giveEnd(admin, owner)).toBeError(409, 'LAST_ADMIN');
    expect(await owner.delete(membership(owner))).toBeError(409, 'LAST_ADMIN');
    expect(await admin.delete(`/api/v1/identities/${owner.identityId}`)).toBeError(409, 'LAST_ADMIN');
    mustSucceed(await giveEnd(admin, other, null));
    mustSucceed(await owner.delete(membership(owner)));
  });

  test('is given to one of two when both get one, or one leaves, at the same moment', async () => {
    for (const leaves of [false, true]) {
      const { admin, owner, other, membership } = await adminsOf(2);
      const replies = await Promise.all([
        giveEnd(admin, owner),
        leaves ? other.delete(membership(other)) : giveEnd(admin, other),
      ]);
      expect(replies.map(({ status, body }) => status === 200 && body.errors === undefined).sort()).toEqual([
        false,
        true,
      ]);
    }
  });

  test('does not keep its holder from changing what it is in its own project', async () => {
    const { admin } = await strongroom.seed.organization();
    const owner = await strongroom.seed.caller(admin, { organizationRole: 'member' });
    mustSucceed(await giveEnd(admin, owner));
    const project = await strongroom.seed.projectOf(owner);
    const own = `/api/v2/workspace/${project.id}/identity-memberships/${owner.identityId}`;
    mustSucceed(await owner.patch(own, { roles: [{ role: 'admin' }, { role: 'viewer' }] }));
    expect(await owner.patch(own, { roles: [{ role: 'viewer' }] })).toBeError(409, 'LAST_ADMIN');
  });

  test('ends privileges in projects, also for who stays in both through a group', async () => {
    const { admin, project } = await strongroom.seed.project();
    const holder = await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['no-access'] });
    await strongroom.seed.secrets(admin, project, 'dev', 1);
    const privilege = { projectId: project.id, identityId: holder.identityId };
    const permissions = [{ subject: 'secrets', action: 'read', conditions: { environment: 'dev' } }];
    mustSucceed(await admin.post('/api/v2/identity-project-additional-privilege', { ...privilege, permissions }));
    const group = await strongroom.seed.group(admin, holder);
    mustSucceed(await admin.post(`/api/v2/workspace/${project.id}/groups/${group.id}`, { role: 'no-access' }));
    const reads = async (): Promise<number> =>
      (await holder.get(`/api/v4/secrets/KEY_00000?projectId=${project.id}&environment=dev`)).status;
    const readers = async (): Promise<number[]> => {
      const asked = 'projectId: $id, subject: SECRETS, action: READ_VALUE, fields: { environment: "dev" }';
      const { now, past } = await admin.data(
        `query ($id: ID!, $at: DateTime) { now: accessAt(${asked}) { nodes { name } } past: accessAt(${asked}, at: $at) { nodes { name } } }`,
        { id: project.id, at: new Date(Date.now() + 1_000).toISOString() },
      );
      return [now, past].map(({ nodes }) => nodes.length);
    };
    expect([await reads(), await readers()]).toEqual([200, [2, 2]]);

    await strongroom.sql('update organization_membership set ends_at = now() where identity_id = $1', [
      holder.identityId,
    ]);

    mustSucceed(await holder.get(`/api/v1/projects/${project.id}`));
    expect([await reads(), await readers()]).toEqual([403, [1, 1]]);
  });
});
