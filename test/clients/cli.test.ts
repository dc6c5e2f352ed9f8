import { makeClient } from '../features/access/scenario.js';
import { Caller, mustSucceed } from '../kit/caller.js';
import { useSharedStrongroom } from '../kit/strongroom.js';

describe('the CLI', () => {
  const strongroom = useSharedStrongroom();

  test('checks its token, lists organizations and projects, and keeps folders and secrets', async () => {
    const { admin, project, organization } = await strongroom.seed.project();
    expect(mustSucceed(await admin.post('/api/v1/auth/checkAuth')).body).toEqual({ message: expect.any(String) });
    expect(await admin.anonymous.post('/api/v1/auth/checkAuth')).toBeError(401, 'TOKEN_MISSING');
    expect(mustSucceed(await admin.get('/api/v1/organization')).body.organizations).toMatchObject([
      { id: organization.id, name: expect.any(String), slug: organization.slug },
    ]);
    const { workspaces } = mustSucceed(await admin.get('/api/v1/workspace')).body;
    expect(workspaces).toMatchObject([{ _id: project.id, name: project.name, orgId: organization.id }]);

    const at = { workspaceId: project.id, environment: 'dev' };
    const made = mustSucceed(await admin.post('/api/v1/folders', { ...at, name: 'web', path: '/' })).body.folder;
    const listed = mustSucceed(await admin.get(`/api/v1/folders?${new URLSearchParams({ ...at, directory: '/' })}`));
    expect(listed.body.folders).toMatchObject([{ id: made.id, name: 'web' }]);
    const secret = { ...at, secretPath: '/web', type: 'shared', secretKey: 'KEY', secretValue: 'one', tagIds: null };
    mustSucceed(await admin.post('/api/v3/secrets/raw/KEY', { ...secret, secretComment: '' }));
    mustSucceed(await admin.patch('/api/v3/secrets/raw/KEY', { ...secret, secretValue: 'two' }));
    const query = new URLSearchParams({ projectId: project.id, environment: 'dev', secretPath: '/web' });
    const read = mustSucceed(
      await admin.get(`/api/v4/secrets?${query}&include_imports=true&expandSecretReferences=true`),
    );
    expect(read.body.secrets).toMatchObject([{ secretKey: 'KEY', secretValue: 'two' }]);
    mustSucceed(
      await admin.delete('/api/v3/secrets/raw/KEY', { ...at, secretPath: '/web', secretName: 'KEY', type: 'shared' }),
    );
    mustSucceed(await admin.delete('/api/v1/folders/web', { ...at, folderName: 'web', directory: '/' }));
  });

  test('logs in with an empty slug of an organization, which is none', async () => {
    const { admin, organization } = await strongroom.seed.organization();
    const { identityId, logIn } = await makeClient(admin);
    const { accessToken } = mustSucceed(await logIn({ organizationSlug: '' })).body;
    const { viewer } = await new Caller(strongroom.url, accessToken).data('{ viewer { identityId organizationId } }');
    expect(viewer).toEqual({ identityId, organizationId: organization.id });
    // Only the empty text: any other is the slug of an organization.
    expect(await logIn({ organizationSlug: ' ' })).toBeError(422, 'VALIDATION_FAILED');
  });
});
