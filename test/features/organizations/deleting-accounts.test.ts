import { mustSucceed } from '../../kit/caller.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';
import { groupWith, organizationCaller, projectRole, word } from '../groups/kit.js';

const strongroom = useSharedStrongroom();

/** An admin of a project, and a caller who may delete identities, in no project. */
async function scene() {
  const { admin, project } = await strongroom.seed.project();
  const keeper = await organizationCaller(strongroom, admin, { subject: 'identity', action: ['read', 'delete'] });
  const owner = await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['admin'] });
  return { admin, keeper, owner, project };
}

describe('an account that may do more than the caller in a project', () => {
  const DELETE_USER = 'mutation ($input: DeleteUserInput!) { deleteUser(input: $input) { user { id } } }';

  test('is deleted by whoever may do that too', async () => {
    const { admin, keeper, owner, project } = await scene();
    const identity = `/api/v1/identities/${owner.identityId}`;
    const refused = await keeper.delete(identity);
    expect(refused).toBeError(403, 'PERMISSION_BOUNDARY');
    expect(refused.text).not.toContain(project.id);
    mustSucceed(await admin.delete(identity));
    const plain = await strongroom.seed.caller(admin);
    mustSucceed(await keeper.delete(`/api/v1/identities/${plain.identityId}`));
  });

  test('is compared with what begins later, and with its groups', async () => {
    const { admin, keeper, project } = await scene();
    const reader = await projectRole(admin, project.id, { subject: 'secrets', action: ['readValue'] });
    const [later, grouped] = [await strongroom.seed.caller(admin), await strongroom.seed.caller(admin)];
    const role = {
      role: reader,
      isTemporary: true,
      temporaryMode: 'relative',
      temporaryRange: '1h',
      temporaryAccessStartTime: new Date(Date.now() + 3_600_000).toISOString(),
    };
    const memberships = `/api/v2/workspace/${project.id}/identity-memberships`;
    mustSucceed(await admin.post(`${memberships}/${later.identityId}`, { roles: [role] }));
    const group = await strongroom.seed.group(admin, grouped);
    mustSucceed(await admin.post(`/api/v2/workspace/${project.id}/groups/${group.id}`, { role: reader }));
    for (const { identityId } of [later, grouped])
      expect(await keeper.delete(`/api/v1/identities/${identityId}`)).toBeError(403, 'PERMISSION_BOUNDARY');
  });

  test('is a user, too', async () => {
    const { admin, project } = await scene();
    const people = await organizationCaller(strongroom, admin, { subject: 'member', action: ['read', 'delete'] });
    const { createUser } = await admin.data(
      'mutation ($input: CreateUserInput!) { createUser(input: $input) { user { id } } }',
      { input: { username: word('user'), roleSlug: 'no-access' } },
    );
    const input = { id: createUser.user.id };
    mustSucceed(await admin.post(`/api/v1/projects/${project.id}/memberships`, { userId: input.id, role: 'viewer' }));
    expect(await people.graphql(DELETE_USER, { input })).toBeError(403, 'PERMISSION_BOUNDARY');
    mustSucceed(await admin.graphql(DELETE_USER, { input }));
  });
});

test('an account that may do more than the caller through a group is deleted by whoever may do that too', async () => {
  const { admin, keeper } = await scene();
  const grouped = await strongroom.seed.caller(admin);
  const identity = `/api/v1/identities/${grouped.identityId}`;
  await groupWith(admin, 'admin', grouped);
  expect(await keeper.delete(identity)).toBeError(403, 'PERMISSION_BOUNDARY');
  mustSucceed(await admin.delete(identity));
});
