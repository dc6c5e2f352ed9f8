import { randomUUID } from 'node:crypto';
import { toCidr } from '../../../src/kernel/addresses.js';
import fc from '../../kit/properties.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';

const PATH = '/api/v1/identities';

const strongroom = useSharedStrongroom();

describe('machine identities', () => {
  test('are made, read, listed by name, changed and deleted', async () => {
    const { organization, admin } = await strongroom.seed.organization();
    const made = (await admin.post(PATH, { name: ' bot ', organizationId: organization.id })).body.identity;
    expect(made).toEqual({
      id: expect.any(String),
      name: 'bot',
      organizationId: organization.id,
      projectId: null,
      role: 'no-access',
      metadata: [],
      hasKubernetesAuth: false,
      hasOidcAuth: false,
      hasTokenAuth: false,
      hasUniversalAuth: false,
      authMethods: [],
      isInstallationAdmin: false,
      hasDeleteProtection: false,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    });
    const { id, name, authMethods, hasDeleteProtection, createdAt, updatedAt } = made;
    expect((await admin.get(`${PATH}/${made.id}`)).body.identity).toEqual({
      ...made,
      // As a membership of its organization, which clients of the older interface read.
      orgId: organization.id,
      identity: { id, name, authMethods, hasDeleteProtection, createdAt, updatedAt },
    });
    const changed = (await admin.patch(`${PATH}/${made.id}`, { name: 'aaa', role: 'member' })).body.identity;
    expect(changed).toEqual({ ...made, name: 'aaa', role: 'member', updatedAt: expect.any(String) });
    const { identities } = (await admin.get(`${PATH}?orgId=${organization.id}`)).body;
    expect(identities.map(({ name }: { name: string }) => name)).toEqual(['aaa', 'admin']);
    const first = (await admin.get(`${PATH}?limit=1`)).body;
    const rest = (await admin.get(`${PATH}?limit=1&cursor=${first.nextCursor}`)).body;
    expect([...first.identities, ...rest.identities]).toEqual(identities);
    expect((await admin.delete(`${PATH}/${made.id}`)).status).toBe(200);
    expect(await admin.get(`${PATH}/${made.id}`)).toBeError(404, 'IDENTITY_NOT_FOUND');
  });

  test('with delete protection are deleted only after it is switched off', async () => {
    const { admin } = await strongroom.seed.organization();
    const made = (await admin.post(PATH, { name: 'bot', hasDeleteProtection: true })).body.identity;
    const path = `${PATH}/${made.id}`;
    expect([made.hasDeleteProtection, (await admin.get(path)).body.identity.hasDeleteProtection]).toEqual([true, true]);
    expect(await admin.delete(path)).toBeError(409, 'DELETE_PROTECTED');
    const DELETE = 'mutation ($input: DeleteIdentityInput!) { deleteIdentity(input: $input) { identity { id } } }';
    expect(await admin.graphql(DELETE, { input: { id: made.id } })).toBeError(409, 'DELETE_PROTECTED');
    // Other changes keep it.
    await admin.patch(path, { name: 'robot' });
    expect(await admin.delete(path)).toBeError(409, 'DELETE_PROTECTED');
    const UPDATE =
      'mutation ($input: UpdateIdentityInput!) { updateIdentity(input: $input) { identity { hasDeleteProtection } } }';
    const { updateIdentity } = await admin.data(UPDATE, { input: { id: made.id, hasDeleteProtection: false } });
    expect(updateIdentity.identity).toEqual({ hasDeleteProtection: false });
    expect((await admin.delete(path)).status).toBe(200);
    expect(await admin.get(path)).toBeError(404, 'IDENTITY_NOT_FOUND');
  });

  test('that are protected and deleted at one moment are the one or the other', async () => {
    const { admin } = await strongroom.seed.organization();
    for (let round = 0; round < 5; round += 1) {
      const { id } = (await admin.post(PATH, { name: 'bot' })).body.identity;
      const path = `${PATH}/${id}`;
      const [protection, deletion] = await Promise.all([
        admin.patch(path, { hasDeleteProtection: true }),
        admin.delete(path),
      ]);
      expect([
        [200, 409],
        [404, 200],
      ]).toContainEqual([protection.status, deletion.status]);
      expect((await admin.get(path)).status).toBe(deletion.status === 200 ? 404 : 200);
    }
  });

  test('belong to the organization of the token when none is named', async () => {
    const { organization, admin } = await strongroom.seed.organization();
    const { createIdentity } = await admin.data(
      'mutation { createIdentity(input: { name: "deployer" }) { identity { organizationId roleSlug } } }',
    );
    expect(createIdentity.identity).toEqual({ organizationId: organization.id, roleSlug: 'no-access' });
    expect((await admin.post(PATH, { name: 'bot' })).body.identity.organizationId).toBe(organization.id);
  });

  test('of another organization are not found, as unknown ones, and none is made there', async () => {
    const [one, two] = [await strongroom.seed.organization(), await strongroom.seed.organization()];
    const foreign = (await two.admin.post(PATH, { name: 'bot', organizationId: two.organization.id })).body.identity.id;
    for (const id of [foreign, randomUUID(), 'no-uuid']) {
      expect(await one.admin.get(`${PATH}/${id}`)).toBeError(404, 'IDENTITY_NOT_FOUND');
      expect(await one.admin.patch(`${PATH}/${id}`, { name: 'x' })).toBeError(404, 'IDENTITY_NOT_FOUND');
      expect(await one.admin.delete(`${PATH}/${id}`)).toBeError(404, 'IDENTITY_NOT_FOUND');
    }
    for (const organizationId of [two.organization.id, randomUUID()]) {
      expect(await one.admin.post(PATH, { name: 'bot', organizationId })).toBeError(404, 'ORGANIZATION_NOT_FOUND');
      expect(await one.admin.get(`${PATH}?orgId=${organizationId}`)).toBeError(404, 'ORGANIZATION_NOT_FOUND');
    }
  });

  test('are read by members and changed by admins only', async () => {
    const { organization, admin } = await strongroom.seed.organization();
    const member = await strongroom.seed.caller(admin, { organizationRole: 'member' });
    const nobody = await strongroom.seed.caller(admin, { organizationRole: 'no-access' });
    expect((await member.get(PATH)).status).toBe(200);
    expect(await member.post(PATH, { name: 'x', organizationId: organization.id })).toBeError(403, 'PERMISSION_DENIED');
    expect(await member.delete(`${PATH}/${admin.identityId}`)).toBeError(403, 'PERMISSION_DENIED');
    for (const id of [admin.identityId, randomUUID()]) {
      expect(await nobody.get(`${PATH}/${id}`)).toBeError(403, 'PERMISSION_DENIED');
    }
  });

  test('keep one admin in the organization, also when two admins go at the same moment', async () => {
    const { admin } = await strongroom.seed.organization();
    expect(await admin.delete(`${PATH}/${admin.identityId}`)).toBeError(409, 'LAST_ADMIN');
    expect(await admin.patch(`${PATH}/${admin.identityId}`, { role: 'member' })).toBeError(409, 'LAST_ADMIN');
    const other = await strongroom.seed.caller(admin, { organizationRole: 'admin' });
    const replies = await Promise.all([
      admin.patch(`${PATH}/${admin.identityId}`, { role: 'member' }),
      other.delete(`${PATH}/${other.identityId}`),
    ]);
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409]);
  });

  test('that are admins of the installation can be deleted while another one stays', async () => {
    await strongroom.seed.withInstallationAdmin(async ({ admin }) => {
      const { identity } = (await admin.post(PATH, { name: 'recovered', role: 'admin' })).body;
      await strongroom.sql('update identity set is_installation_admin = true where id = $1', [identity.id]);
      expect((await admin.delete(`${PATH}/${identity.id}`)).body.identity).toMatchObject({ id: identity.id });
    });
  });

  test('that are the only admin of the installation stay', async () => {
    const { viewer } = await strongroom.admin.data('{ viewer { identityId } }');
    const path = `${PATH}/${viewer.identityId}`;
    expect((await strongroom.admin.get(path)).body.identity).toMatchObject({ isInstallationAdmin: true });
    expect(await strongroom.admin.delete(path)).toBeError(409, 'LAST_ADMIN');
    const other = await strongroom.seed.caller(strongroom.admin, { organizationRole: 'admin' });
    expect(await other.delete(path)).toBeError(403, 'PERMISSION_DENIED');
    expect(await other.patch(path, { role: 'no-access' })).toBeError(403, 'PERMISSION_DENIED');
  });
});

describe('token authentication', () => {
  test('is attached once, read, changed and removed', async () => {
    const { organization, admin } = await strongroom.seed.organization();
    const { id } = (await admin.post(PATH, { name: 'bot', organizationId: organization.id })).body.identity;
    const path = `/api/v1/auth/token-auth/identities/${id}`;
    expect(await admin.get(path)).toBeError(404, 'TOKEN_AUTH_NOT_FOUND');
    const attached = (await admin.post(path, { accessTokenTrustedIps: [{ ipAddress: '10.1.2.3/8' }] })).body;
    expect(attached.identityTokenAuth).toEqual({
      identityId: id,
      accessTokenTrustedIps: [{ ipAddress: '10.0.0.0/8' }],
      accessTokenTTL: 2_592_000,
      accessTokenMaxTTL: 2_592_000,
      accessTokenNumUsesLimit: 0,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    });
    expect(await admin.post(path, {})).toBeError(409, 'TOKEN_AUTH_EXISTS');
    expect(await admin.patch(path, { accessTokenMaxTTL: 60 })).toBeError(422, 'VALIDATION_FAILED');
    expect((await admin.get(path)).body).toEqual(attached);
    const changed = (await admin.patch(path, { accessTokenTTL: 30, accessTokenMaxTTL: 60 })).body.identityTokenAuth;
    expect([changed.accessTokenTTL, changed.accessTokenMaxTTL]).toEqual([30, 60]);
    expect((await admin.delete(path)).status).toBe(200);
    expect(await admin.delete(path)).toBeError(404, 'TOKEN_AUTH_NOT_FOUND');
  });

  test('has its networks in the form in which they are stored', async () => {
    const part = fc.oneof(fc.constant(0), fc.constantFrom(0xffff, 0x102), fc.integer({ min: 0, max: 0xffff }));
    const address = fc
      .array(part, { minLength: 8, maxLength: 8 })
      .map((parts) => parts.map((n) => n.toString(16)).join(':'));
    const network = fc
      .tuple(address, fc.integer({ min: 0, max: 128 }))
      .map(([text, bits]) => toCidr(`${text}/${bits}`));
    const networks = [
      ...fc.sample(network, 1_000),
      ...['::102:304', '::ffff:0:0/96', '0:0:0:0:0:ffff:102:304'].map(toCidr),
    ];
    const changed = await strongroom.sql(
      'select given, given::cidr::text as stored from unnest($1::text[]) given where given <> given::cidr::text',
      [networks],
    );
    expect(changed).toEqual([]);
  });
});
