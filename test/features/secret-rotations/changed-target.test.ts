import { mustSucceed, type Reply } from '../../kit/caller.ts';
import { FakeDatatool } from '../../kit/datatool.ts';
import { Rotating } from '../../kit/rotating.ts';
import { rounds } from '../../kit/scope.ts';
import { LENIENT, useSharedStrongroom } from '../../kit/strongroom.ts';
import { until } from '../../kit/until.ts';

const messagesOf = ({ body }: Reply): string[] => body.details.map(({ message }: { message: string }) => message);

describe('a connection with which credentials were created', () => {
  const strongroom = useSharedStrongroom(LENIENT);
  let rotating: Rotating;
  let other: FakeDatatool;
  beforeEach(async () => {
    rotating = await Rotating.start(strongroom);
    other = (await FakeDatatool.start({ accountId: 4_711 })).unref();
  });
  afterEach(async () => {
    await Promise.all([rotating.stop(), other.stop()]);
  });

  const change = (credentials: object, caller = rotating.admin): Promise<Reply> =>
    caller.patch(`/api/v1/app-connections/datatool/${rotating.connectionId}`, { credentials });
  const systemOfConnection = async (): Promise<string> => {
    const path = `/api/v1/app-connections/datatool/${rotating.connectionId}`;
    return mustSucceed(await rotating.admin.get(path)).body.appConnection.credentials.instanceUrl;
  };

  test('stays at its system and account, and names the rotations and credentials that hold it there', async () => {
    const { fake, admin } = rotating;
    const kept = await rotating.create();
    const deleted = await rotating.create();
    for (let times = 0; times < 2; times += 1) mustSucceed(await rotating.rotate(deleted.id));
    await rotating.settled();
    fake.fail({ on: 'revoke', how: 503 });
    mustSucceed(await rotating.rotate(deleted.id));
    mustSucceed(await rotating.delete(deleted.id));
    const before = await systemOfConnection();

    const reply = await change(other.credentials);

    expect(reply).toBeError(409, 'CONNECTION_IN_USE');
    expect(messagesOf(reply)).toEqual([
      `used by the rotation ${kept.name}`,
      'needed to revoke a credential of a deleted rotation',
    ]);
    expect(await systemOfConnection()).toBe(before);
    expect(other.received).toEqual([]);
    // What holds it is settled where it was made; then it may lead elsewhere.
    fake.recover();
    await rotating.settled();
    expect(rotating.liveTokens(deleted.id)).toHaveLength(2);
    await rotating.expectWhole(kept.id);
    await rotating.expectLeavesNothing(kept.id);
    mustSucceed(await change(other.credentials));
    const { id } = await rotating.create();
    expect(other.tokens.live().map(({ name }) => name)).toEqual([expect.stringContaining(id.slice(0, 8))]);
    mustSucceed(await admin.get('/api/v1/app-connections'));
  });

  test('stays at its server if it is one of accounts', async () => {
    const { admin, project } = rotating;
    const connectionId = await strongroom.seed.smbConnection(project.id, 'server');
    const id = await strongroom.seed.accountRotation(connectionId, 'account');
    const password = 'Another-1';
    const reply = await admin.patch(`/api/v1/app-connections/smb/${connectionId}`, {
      credentials: { host: 'other.example.com', port: 445, username: 'svc', password },
    });
    expect(reply).toBeError(409, 'CONNECTION_IN_USE');
    expect(messagesOf(reply)).toEqual(['used by the rotation account']);
    mustSucceed(await admin.delete(`/api/v2/secret-rotations/hostos-local-account/${id}`));
    mustSucceed(await admin.delete(`/api/v1/app-connections/smb/${connectionId}`));
  });

  test('counts those that the caller cannot read, and does not name them', async () => {
    const { admin, project } = rotating;
    const { name } = await rotating.create();
    const caller = await strongroom.seed.caller(admin, { project: project.id });
    const slug = `connections-${name}`;
    mustSucceed(
      await admin.post(`/api/v1/projects/${project.id}/roles`, {
        ...{ slug, name: slug },
        permissions: [{ subject: 'app-connections', action: ['edit-app-connections', 'read-app-connections'] }],
      }),
    );
    mustSucceed(
      await admin.patch(`/api/v2/workspace/${project.id}/identity-memberships/${caller.identityId}`, {
        roles: [{ role: slug }],
      }),
    );

    const reply = await change(other.credentials, caller);

    expect(reply).toBeError(409, 'CONNECTION_IN_USE');
    expect(messagesOf(reply)).toEqual(['used by rotations that you cannot read: 1']);
    expect(reply.text).not.toContain(name);
  });

  test('takes another token and another way to write its address', async () => {
    const { fake } = rotating;
    const { id } = await rotating.create();
    const apiToken = fake.replaceApiToken();
    const instanceUrl = `${fake.url.toUpperCase().replace('HTTP', 'http')}/settings`;
    mustSucceed(await change({ instanceUrl, apiToken }));
    mustSucceed(await change({ instanceUrl: fake.url, apiToken }));
    await rotating.expectRotates(id);
    await rotating.expectLeavesNothing(id);
  });

  test('revokes nothing and says so with a token that may not see service tokens', async () => {
    const { fake } = rotating;
    const { id } = await rotating.create();
    mustSucceed(await rotating.rotate(id));
    mustSucceed(await change({ apiToken: fake.readToken }));

    const reply = await rotating.delete(id, '?revokeGeneratedCredentials=true');

    expect(reply).toBeError(502, 'UPSTREAM_REJECTED');
    expect(reply.body.details).toEqual([expect.objectContaining({ code: 'PERMISSION_MISSING' })]);
    expect(rotating.liveTokens(id)).toHaveLength(2);
    expect((await rotating.get(id)).rotationStatus).toBe('deleting');
    mustSucceed(await change({ apiToken: fake.apiToken }));
    await rotating.expectLeavesNothing(id);
  });

  test('never leads away from what is created at the same time', async () => {
    const { fake, project } = rotating;
    const systems = [fake, other];
    const created: Promise<Reply>[] = [];
    for (let round = 0; round < rounds(50); round += 1) {
      created.push(rotating.admin.patient.post('/api/v2/secret-rotations/datatool-service-token', rotating.body()));
      const replies = await Promise.all(
        systems.map(({ credentials }) =>
          rotating.admin.patient.patch(`/api/v1/app-connections/datatool/${rotating.connectionId}`, { credentials }),
        ),
      );
      for (const { status } of replies) expect([200, 409]).toContain(status);
    }
    await Promise.all(created);
    await rotating.settled();
    const instanceUrl = await systemOfConnection();
    const rotations = await strongroom.sql<{ id: string }>('select id from secret_rotation where project_id = $1', [
      project.id,
    ]);
    expect(rotations.length).toBeGreaterThan(0);
    const here = systems.find(({ url }) => url === instanceUrl) as FakeDatatool;
    const away = systems.find(({ url }) => url !== instanceUrl) as FakeDatatool;
    expect(away.tokens.live()).toEqual([]);
    expect(here.tokens.live()).toHaveLength(rotations.length);
    for (const { id } of rotations)
      mustSucceed(await rotating.delete(id, '?revokeGeneratedCredentials=true&deleteSecrets=true'));
    await until('all of it to be revoked', 60_000, () => here.tokens.live().length === 0);
  });
});
