import { randomUUID } from 'node:crypto';
import { mustSucceed } from '../../kit/caller.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';
import { keysOf, WHOLE } from './fields.js';

const strongroom = useSharedStrongroom();

describe('creating a project', () => {
  test('answers the whole project with its key, and makes three environments and the caller its admin', async () => {
    const { admin } = await strongroom.seed.organization();
    const reply = await admin.post('/api/v2/workspace', { projectName: ' Web shop ', slug: 'web-shop' });
    expect(reply.status).toBe(200);
    const { project } = reply.body;
    expect(keysOf(project)).toEqual([...WHOLE, 'kmsSecretManagerKeyId'].sort());
    expect(project).toMatchObject({
      _id: project.id,
      name: 'Web shop',
      slug: 'web-shop',
      type: 'secret-manager',
      defaultProduct: 'secret-manager',
      description: null,
      version: 1,
      upgradeStatus: null,
      pitVersionLimit: 10,
      autoCapitalization: false,
      hasDeleteProtection: false,
      secretSharing: true,
      showSnapshotsLegacy: false,
      environments: [
        { name: 'Development', slug: 'dev' },
        { name: 'Staging', slug: 'staging' },
        { name: 'Production', slug: 'prod' },
      ],
    });
    expect(keysOf(project.environments[0])).toEqual(['id', 'name', 'slug']);
    const members = await admin.get(`/api/v2/workspace/${project.id}/identity-memberships`);
    expect(members.body.identityMemberships).toMatchObject([
      { identityId: admin.identityId, roles: [{ role: 'admin' }] },
    ]);
    const [keys] = await strongroom.sql<{ count: number }>(
      'select count(*)::integer as count from data_key where project_id = $1 and parent_key_id = $2',
      [project.id, project.kmsSecretManagerKeyId],
    );
    expect(keys?.count).toBe(1);
  });

  test('makes up a slug from the name, leaves out environments when told so, and takes every type', async () => {
    const { admin } = await strongroom.seed.organization();
    for (const type of ['secret-manager', 'cert-manager', 'kms', 'ssh', 'secret-scanning', 'pam', 'ai']) {
      const { body } = await admin.post('/api/v1/projects', {
        projectName: 'Größe',
        type,
        shouldCreateDefaultEnvs: false,
      });
      expect(body.project).toMatchObject({ type, defaultProduct: type, environments: [] });
      expect(body.project.slug).toMatch(/^gro-e-[a-z0-9]{4}$/);
    }
  });

  test('is refused with every fault at once', async () => {
    const { admin } = await strongroom.seed.organization();
    const reply = await admin.post('/api/v2/workspace', {
      projectName: '  ',
      projectDescription: 'd'.repeat(1025),
      slug: 'Bad',
      template: '',
      type: 'other',
      shouldCreateDefaultEnvs: 'true',
      hasDeleteProtection: null,
      kmsKey: 'x',
    });
    expect(reply).toBeError(422, 'VALIDATION_FAILED');
    const places = reply.body.details.map(({ path }: { path: string }) => path);
    const keys = [
      'projectName',
      'projectDescription',
      'slug',
      'template',
      'type',
      'shouldCreateDefaultEnvs',
      'hasDeleteProtection',
    ];
    expect([...new Set(places)].sort()).toEqual(['body', ...keys.map((key) => `body.${key}`)].sort());
  });

  test('is refused without the right, for an unknown template, and for a key of another organization', async () => {
    const { admin } = await strongroom.seed.organization();
    const nobody = await strongroom.seed.caller(admin, { organizationRole: 'no-access' });
    expect(await nobody.post('/api/v2/workspace', { projectName: 'x' })).toBeError(403, 'PERMISSION_DENIED');
    const template = await admin.post('/api/v2/workspace', { projectName: 'x', template: 'other' });
    expect(template).toBeError(404, 'PROJECT_TEMPLATE_NOT_FOUND');
    const { admin: stranger } = await strongroom.seed.organization();
    const { project } = (await stranger.post('/api/v2/workspace', { projectName: 'theirs' })).body;
    for (const kmsKeyId of [project.kmsSecretManagerKeyId, randomUUID(), 'no-uuid']) {
      expect(await admin.post('/api/v2/workspace', { projectName: 'x', kmsKeyId })).toBeError(404, 'KEY_NOT_FOUND');
    }
  });

  test('is refused to whom a group alone keeps in the organization, and leaves nothing', async () => {
    const { admin, organization } = await strongroom.seed.organization();
    const maker = await strongroom.seed.caller(admin);
    const group = await strongroom.seed.group(admin, maker);
    mustSucceed(await admin.patch(`/api/v1/groups/${group.id}`, { role: 'member' }));
    await strongroom.sql('update organization_membership set ends_at = now() where identity_id = $1', [
      maker.identityId,
    ]);
    expect(await maker.post('/api/v2/workspace', { projectName: 'x' })).toBeError(404, 'MEMBERSHIP_NOT_FOUND');
    expect(await strongroom.sql('select 1 from project where organization_id = $1', [organization.id])).toEqual([]);
  });

  test('gives one slug to one of two callers at the same moment', async () => {
    const { admin } = await strongroom.seed.organization();
    const create = () => admin.post('/api/v2/workspace', { projectName: 'Twin', slug: 'twins' });
    const [first, second] = (await Promise.all([create(), create()])).sort((a, b) => a.status - b.status);
    expect(first.status).toBe(200);
    expect(second).toBeError(409, 'PROJECT_SLUG_TAKEN');
    const { admin: other } = await strongroom.seed.organization();
    expect((await other.post('/api/v2/workspace', { projectName: 'Twin', slug: 'twins' })).status).toBe(200);
  });
});
