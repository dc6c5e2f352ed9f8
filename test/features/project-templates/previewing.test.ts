import { mustSucceed } from '../../kit/caller.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';
import { makeGroup, makeIdentity, makeTemplate, makeUser, READER, TEMPLATES } from './kit.js';

const strongroom = useSharedStrongroom();

const PREVIEW = `query ($id: ID!) { previewProjectTemplate(id: $id) {
  projectTemplate { id } environments { slug position } roles { slug isBuiltIn }
  members { memberKind name isCaller roles } skipped { memberKind memberId roles reason }
} }`;

describe('the preview of a project template', () => {
  test('shows what a project would get, and who would be left out and why', async () => {
    const { admin } = await strongroom.seed.organization();
    const [user, gone, ended] = [await makeUser(admin), await makeUser(admin), await makeIdentity(admin)];
    const group = await makeGroup(admin, user.id);
    const { id } = await makeTemplate(admin, {
      roles: [READER],
      environments: [{ name: 'Live', slug: 'live', position: 1 }],
      users: [user, gone].map(({ username }) => ({ username, roles: ['viewer'] })),
      groups: [{ groupSlug: group.slug, roles: ['reader'] }],
      identities: [
        { identityId: ended.id, roles: ['viewer'] },
        { identityId: admin.identityId, roles: ['reader'] },
      ],
      projectManagedIdentities: [{ name: 'deployer', roles: ['reader'] }],
    });
    await admin.data('mutation ($input: DeleteUserInput!) { deleteUser(input: $input) { user { id } } }', {
      input: { id: gone.id },
    });
    await strongroom.sql(`update organization_membership set ends_at = now() where identity_id = $1`, [ended.id]);
    const { previewProjectTemplate: preview } = await admin.data(PREVIEW, { id });
    expect(preview).toMatchObject({
      projectTemplate: { id },
      environments: [{ slug: 'live', position: 1 }],
      members: [
        { memberKind: 'IDENTITY', isCaller: true, roles: ['admin', 'reader'] },
        { memberKind: 'USER', name: user.username, isCaller: false, roles: ['viewer'] },
        { memberKind: 'GROUP', name: group.slug, isCaller: false, roles: ['reader'] },
        { memberKind: 'PROJECT_IDENTITY', name: 'deployer', isCaller: false, roles: ['reader'] },
      ],
      skipped: [
        { memberKind: 'USER', memberId: gone.id, roles: ['viewer'], reason: 'GONE' },
        { memberKind: 'IDENTITY', memberId: ended.id, roles: ['viewer'], reason: 'ENDED' },
      ],
    });
    expect(preview.roles.at(-1)).toEqual({ slug: 'reader', isBuiltIn: false });
  });

  test('shows the default environments for a built-in template, and finds no unknown one', async () => {
    const { admin } = await strongroom.seed.organization();
    const builtIn = mustSucceed(await admin.get(`${TEMPLATES}?type=kms`)).body.projectTemplates[0];
    const { previewProjectTemplate: preview } = await admin.data(PREVIEW, { id: builtIn.id });
    expect(preview.environments.map(({ slug }: { slug: string }) => slug)).toEqual(['dev', 'staging', 'prod']);
    expect(preview.members).toHaveLength(1);
    expect(await admin.graphql(PREVIEW, { id: 'nope' })).toBeError(404, 'PROJECT_TEMPLATE_NOT_FOUND');
    const nobody = await strongroom.seed.caller(admin);
    expect(await nobody.graphql(PREVIEW, { id: builtIn.id })).toBeError(403, 'PERMISSION_DENIED');
  });

  test('names nobody whom the caller may not read', async () => {
    const { admin } = await strongroom.seed.organization();
    const [user, identity, gone] = [await makeUser(admin), await makeIdentity(admin), await makeIdentity(admin)];
    const group = await makeGroup(admin, user.id);
    const { id } = await makeTemplate(admin, {
      users: [{ username: user.username, roles: ['viewer'] }],
      groups: [{ groupSlug: group.slug, roles: ['viewer'] }],
      identities: [identity, gone].map((each) => ({ identityId: each.id, roles: ['viewer'] })),
      projectManagedIdentities: [{ name: 'deployer', roles: ['viewer'] }],
    });
    mustSucceed(await admin.delete(`/api/v1/identities/${gone.id}`));
    const permissions = [
      { subject: 'project-templates', action: ['read'] },
      { subject: 'workspace', action: ['create'] },
    ];
    const role = { slug: 'maker', name: 'maker', permissions };
    const made = mustSucceed(await admin.post('/api/v1/organization/roles', role)).body;
    const maker = await strongroom.seed.caller(admin);
    mustSucceed(await admin.patch(`/api/v1/identities/${maker.identityId}`, { role: 'maker' }));
    const named = async () => {
      const { previewProjectTemplate: preview } = await maker.data(PREVIEW, { id });
      const names = preview.members.slice(1).map(({ name }: { name: string | null }) => name);
      return [...names, ...preview.skipped.map(({ memberId }: { memberId: string | null }) => memberId)];
    };
    expect(await named()).toEqual([null, null, null, 'deployer', null]);
    const reads = ['member', 'groups', 'identity'].map((subject) => ({ subject, action: ['read'] }));
    mustSucceed(
      await admin.patch(`/api/v1/organization/roles/${made.role.id}`, { permissions: [...permissions, ...reads] }),
    );
    expect(await named()).toEqual([user.username, group.slug, expect.any(String), 'deployer', gone.id]);
  });
});
