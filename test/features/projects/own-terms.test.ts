import { type Caller, mustSucceed } from '../../kit/caller.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';
import { organizationCaller, projectRole } from '../groups/kit.js';

const strongroom = useSharedStrongroom();
const GIVE =
  'mutation ($input: CreateAdditionalPrivilegeInput!) { createAdditionalPrivilege(input: $input) { privilege { id } } }';
const SET = 'mutation ($input: SetOrganizationMemberInput!) { setOrganizationMember(input: $input) { member { id } } }';

const forTime = (role: string, temporaryRange: string) => ({
  role,
  isTemporary: true,
  temporaryMode: 'relative',
  temporaryRange,
});
const pathOf = (project: { readonly id: string }, { identityId }: Caller): string =>
  `/api/v2/workspace/${project.id}/identity-memberships/${identityId}`;

describe('whoever holds a role for a time', () => {
  /** An admin of a project for two hours, who reads it for good. */
  async function scene() {
    const { admin, project } = await strongroom.seed.project();
    const caller = await strongroom.seed.caller(admin);
    const roles = [forTime('admin', '2h'), { role: 'viewer' }];
    const path = pathOf(project, caller);
    mustSucceed(await admin.post(path, { roles }));
    return { admin, project, caller, path };
  }

  test('gives it to itself neither for good nor for longer, and may shorten it', async () => {
    const { caller, path } = await scene();
    for (const roles of [
      [{ role: 'admin' }, { role: 'viewer' }],
      [{ role: 'admin' }],
      [forTime('admin', '3h'), { role: 'viewer' }],
      [forTime('admin', '2h'), { role: 'member' }],
    ])
      expect(await caller.patch(path, { roles })).toBeError(403, 'PERMISSION_BOUNDARY');
    mustSucceed(await caller.patch(path, { roles: [forTime('admin', '1h'), { role: 'viewer' }] }));
    mustSucceed(await caller.patch(path, { role: 'viewer' }));
  });

  test('gives itself no privilege for longer, but what it has for good', async () => {
    const { caller, project } = await scene();
    const give = (action: string, term: object | null) =>
      caller.graphql(GIVE, {
        input: {
          projectId: project.id,
          memberKind: 'IDENTITY',
          memberId: caller.identityId,
          permissions: [{ subject: 'TAGS', action: [action] }],
          ...(term === null ? {} : { term }),
        },
      });
    for (const term of [null, { range: '3h' }]) expect(await give('EDIT', term)).toBeError(403, 'PERMISSION_BOUNDARY');
    mustSucceed(await give('EDIT', { range: '1h' }));
    mustSucceed(await give('READ', null));
  });

  test('in an organization does not lengthen its own membership', async () => {
    const { admin } = await strongroom.seed.organization();
    const caller = await organizationCaller(
      strongroom,
      admin,
      { subject: 'identity', action: ['read', 'edit'] },
      { subject: 'member', action: ['read', 'edit'] },
    );
    const { organizationMembers } = await admin.data('{ organizationMembers { nodes { memberId roleSlug } } }');
    const { roleSlug } = organizationMembers.nodes.find(
      ({ memberId }: { memberId: string }) => memberId === caller.identityId,
    );
    const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();
    const set = (by: Caller, endsAt: string | null) =>
      by.graphql(SET, { input: { identityId: caller.identityId, roleSlug, endsAt } });
    mustSucceed(await set(admin, inHours(2)));
    for (const endsAt of [null, inHours(3)]) expect(await set(caller, endsAt)).toBeError(403, 'PERMISSION_BOUNDARY');
    mustSucceed(await set(caller, inHours(1)));
    mustSucceed(await set(admin, null));
  });
});

describe('a role that forbids', () => {
  test('bounds what is given beside it for as long as it is held', async () => {
    const { admin, project } = await strongroom.seed.project();
    const blind = await projectRole(admin, project.id, {
      subject: 'secrets',
      action: ['readValue'],
      inverted: true,
    });
    const caller = await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['admin', blind] });
    const other = pathOf(project, await strongroom.seed.caller(admin));
    for (const roles of [
      [{ role: 'admin' }, forTime(blind, '1h')],
      [forTime('admin', '2h'), forTime(blind, '1h')],
    ])
      expect(await caller.post(other, { roles })).toBeError(403, 'PERMISSION_BOUNDARY');
    mustSucceed(await caller.post(other, { roles: [forTime('admin', '1h'), forTime(blind, '1h')] }));
  });
});
