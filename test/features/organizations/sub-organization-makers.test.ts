import { Caller, mustSucceed } from '../../kit/caller.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';

const strongroom = useSharedStrongroom();

const LINK = 'mutation ($input: LinkGroupInput!) { linkGroup(input: $input) { membership { id } } }';
const TAKE_IN =
  'mutation ($input: SetOrganizationMemberInput!) { setOrganizationMember(input: $input) { member { roleSlug } } }';
const MINT = 'mutation ($input: CreateAccessTokenInput!) { createAccessToken(input: $input) { accessToken } }';

/** Somebody who may make sub-organizations and nothing else, with one, and a token for it. */
async function scene() {
  const { admin, project } = await strongroom.seed.project();
  const maker = await strongroom.seed.caller(admin);
  const permissions = [{ subject: 'sub-organization', action: ['create'] }];
  mustSucceed(await admin.post('/api/v1/organization/roles', { slug: 'maker', name: 'Maker', permissions }));
  mustSucceed(await admin.patch(`/api/v1/identities/${maker.identityId}`, { role: 'maker' }));
  const { createSubOrganization } = await maker.data(
    'mutation { createSubOrganization(input: { name: "Team" }) { organization { id slug } } }',
  );
  const sub = createSubOrganization.organization as { id: string; slug: string };
  const tokens = `/api/v1/auth/token-auth/identities/${maker.identityId}/tokens`;
  const { accessToken } = mustSucceed(await admin.post(tokens, { organizationSlug: sub.slug })).body;
  const below = new Caller(admin.url, accessToken, maker.identityId);
  return { admin, project, maker, sub, below };
}

describe('whoever may make sub-organizations and nothing else', () => {
  test('is an admin of the new one, and has there nothing of the root', async () => {
    const { admin, project, maker, below } = await scene();
    const user = await strongroom.seed.user(admin);
    const group = await strongroom.seed.group(admin, admin);
    const LISTS = `{ viewer { organizationPermissions { subject } }
      identities { nodes { id } } users { nodes { id } } groups { nodes { id } } projects { nodes { id } }
      organizationMembers { nodes { memberId roleSlug } } }`;
    const found = await below.data(LISTS);
    expect(found.viewer.organizationPermissions.length).toBeGreaterThan(5);
    expect(found.organizationMembers.nodes).toEqual([{ memberId: maker.identityId, roleSlug: 'admin' }]);
    for (const list of ['identities', 'users', 'groups', 'projects']) expect(found[list].nodes).toEqual([]);

    for (const [field, id] of [
      ['project', project.id],
      ['identity', admin.identityId],
      ['user', user.userId],
      ['group', group.id],
    ])
      expect((await below.graphql(`query ($id: ID!) { ${field}(id: $id) { id } }`, { id })).status).toBe(404);
  });

  test('gets nothing linked into it, and no credentials of whom it takes in', async () => {
    const { admin, maker, sub, below } = await scene();
    const group = await strongroom.seed.group(admin, admin);
    const link = { groupId: group.id, organizationId: sub.id, roleSlug: 'admin' };
    expect(await maker.graphql(LINK, { input: link })).toBeError(403, 'PERMISSION_DENIED');
    expect(await below.graphql(LINK, { input: link })).toBeError(404, 'GROUP_NOT_FOUND');
    expect(await below.graphql(MINT, { input: { identityId: admin.identityId } })).toBeError(404, 'IDENTITY_NOT_FOUND');

    mustSucceed(await below.graphql(TAKE_IN, { input: { identityId: admin.identityId, roleSlug: 'admin' } }));
    expect(await below.graphql(MINT, { input: { identityId: admin.identityId } })).toBeError(404, 'IDENTITY_NOT_FOUND');
    expect(await below.delete(`/api/v1/identities/${admin.identityId}`)).toBeError(404, 'IDENTITY_NOT_FOUND');
  });

  test('may no more than before in the root, not even change what it made', async () => {
    const { maker, sub } = await scene();
    const change =
      'mutation ($input: UpdateOrganizationInput!) { updateOrganization(input: $input) { organization { id } } }';
    for (const [document, variables] of [
      [change, { input: { id: sub.id, name: 'Mine' } }],
      [TAKE_IN, { input: { organizationId: sub.id, identityId: maker.identityId, roleSlug: 'member' } }],
      ['{ identities { nodes { id } } }', {}],
      ['{ groups { nodes { id } } }', {}],
    ] as const)
      expect(await maker.graphql(document, variables)).toBeError(403, 'PERMISSION_DENIED');
    const { viewer } = await maker.data('{ viewer { organizationPermissions { subject action } } }');
    expect(viewer.organizationPermissions).toEqual([{ subject: 'SUB_ORGANIZATION', action: ['CREATE'] }]);
  });
});
