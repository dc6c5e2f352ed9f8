import { randomUUID } from 'node:crypto';
import { type Caller, mustSucceed } from '../../kit/caller.js';
import { FakeDatatool } from '../../kit/datatool.js';
import { LENIENT, useSharedStrongroom } from '../../kit/strongroom.js';
import { until } from '../../kit/until.js';
import { DATATOOL, detailsOf, makeConnection } from './kit.js';

const strongroom = useSharedStrongroom(LENIENT);

let datatool: FakeDatatool;
beforeEach(async () => {
  datatool = await FakeDatatool.start();
});
afterEach(() => datatool.stop());

const make = (admin: Caller, more: object = {}) => makeConnection(admin, datatool, more);

describe('a changed connection', () => {
  const change = (admin: Caller, id: string, body: object, headers?: Record<string, string>) =>
    admin.patch(`${DATATOOL}/${id}`, body, headers);

  test('keeps what is absent, and asks nobody outside unless credentials change', async () => {
    const { admin, project } = await strongroom.seed.project();
    const made = await make(admin, { name: 'before', description: 'Old', projectId: project.id });
    const calls = datatool.calls.length;

    const renamed = mustSucceed(
      await change(admin, made.id, { name: 'after', method: 'api-token', projectId: project.id, gatewayId: null }),
    ).body.appConnection;
    const cleared = mustSucceed(await change(admin, made.id, { description: null, credentials: datatool.credentials }))
      .body.appConnection;

    expect(renamed).toMatchObject({
      name: 'after',
      description: 'Old',
      version: 2,
      credentialsHash: made.credentialsHash,
    });
    expect(cleared).toMatchObject({
      name: 'after',
      description: null,
      version: 3,
      credentialsHash: made.credentialsHash,
    });
    expect(datatool.calls).toHaveLength(calls);
    const rows = await strongroom.auditRows(`facts ->> 'connectionId' = $1 and action = 'app-connection:update'`, [
      made.id,
    ]);
    expect(rows.map(({ facts }) => facts.credentialsChanged)).toEqual([false, false]);
  });

  test('has a new digest only with other credentials, of which those that are absent stay', async () => {
    const { admin, organization } = await strongroom.seed.organization();
    const { id, credentialsHash } = await make(admin);
    const second = datatool.replaceApiToken();

    const changed = mustSucceed(await change(admin, id, { credentials: { apiToken: second } })).body.appConnection;
    const again = mustSucceed(await change(admin, id, { credentials: { instanceUrl: `${datatool.url}/` } })).body
      .appConnection;

    expect(changed.credentialsHash).not.toBe(credentialsHash);
    expect(changed.credentials).toEqual({ instanceUrl: datatool.url, accountId: datatool.accountId });
    expect(again.credentials.instanceUrl).toBe(`${datatool.url}/`);
    expect(datatool.received.at(-1)?.headers.authorization).toBe(`Bearer ${second}`);
    const [row] = await strongroom.auditRows(`organization_id = $1 and action = 'app-connection:update'`, [
      organization.id,
    ]);
    expect(row?.facts).toMatchObject({ connectionId: id, app: 'datatool', credentialsChanged: true });
  });

  test('stays as it was when the live system refuses the new credentials', async () => {
    const { admin } = await strongroom.seed.organization();
    const { id } = await make(admin);
    const before = mustSucceed(await admin.get(`${DATATOOL}/${id}`)).body;

    const reply = await change(admin, id, { name: 'other', credentials: { apiToken: 'wrong' } });

    expect(reply).toBeError(502, 'UPSTREAM_REJECTED');
    expect(mustSucceed(await admin.get(`${DATATOOL}/${id}`)).body).toEqual(before);
    mustSucceed(await admin.get(`${DATATOOL}/${id}/projects`));
  });

  test('does not send the stored token to another address than it was given for', async () => {
    const { admin } = await strongroom.seed.organization();
    const { id } = await make(admin);
    const thief = await FakeDatatool.start({ apiToken: datatool.apiToken });

    const reply = await change(admin, id, { credentials: { instanceUrl: thief.url } });
    const whole = await change(admin, id, { credentials: { instanceUrl: thief.url, apiToken: datatool.apiToken } });

    expect(reply).toBeError(422, 'VALIDATION_FAILED');
    expect(detailsOf(reply)).toEqual(['body.credentials.apiToken MISSING']);
    mustSucceed(whole);
    expect(thief.received).toHaveLength(1);
    await thief.stop();
  });

  test('refuses another method or project, managed credentials and gateways', async () => {
    const { admin, project } = await strongroom.seed.project();
    const own = await make(admin, { projectId: project.id });
    const { id } = await make(admin);

    for (const [named, body, detail] of [
      [id, { projectId: project.id }, 'body.projectId UNCHANGEABLE'],
      [own.id, { projectId: null }, 'body.projectId UNCHANGEABLE'],
      [own.id, { projectId: randomUUID() }, 'body.projectId UNCHANGEABLE'],
      [id, { method: 'oauth' }, 'body.method INVALID_VALUE'],
      [id, { isPlatformManagedCredentials: true }, 'body.isPlatformManagedCredentials INVALID_VALUE'],
      [id, { gatewayId: randomUUID() }, 'body.gatewayId INVALID_VALUE'],
      [id, { credentials: { apiToken: '' } }, 'body.credentials.apiToken TOO_SMALL'],
      [id, { name: 'Not A Slug' }, 'body.name INVALID_FORMAT'],
    ] as const) {
      const reply = await change(admin, named, body);
      expect(reply).toBeError(422, 'VALIDATION_FAILED');
      expect(detailsOf(reply)).toEqual([detail]);
    }
    mustSucceed(await change(admin, id, { projectId: null, isPlatformManagedCredentials: false }));
  });

  test('is fenced by its version: of two at once one is refused, and If-Match holds', async () => {
    const { admin } = await strongroom.seed.organization();
    const { id } = await make(admin);
    const { etag } = (await admin.get(`${DATATOOL}/${id}`)).headers;
    const other = datatool.replaceApiToken();
    datatool.accept(datatool.apiToken);
    const { promise, resolve: answer } = Promise.withResolvers<void>();
    datatool.fail({ on: 'account', how: 'late', until: promise, times: 1 });

    const slow = change(admin, id, { credentials: { apiToken: other } });
    await until('the check to be under way', 20_000, () => datatool.calls.length > 1);
    mustSucceed(await change(admin, id, { name: 'faster' }));
    answer();

    expect(await slow).toBeError(409, 'CONCURRENT_CHANGE');
    expect(await change(admin, id, { name: 'late' }, { 'if-match': String(etag) })).toBeError(
      412,
      'PRECONDITION_FAILED',
    );
    expect(mustSucceed(await admin.get(`${DATATOOL}/${id}`)).body.appConnection).toMatchObject({
      name: 'faster',
      version: 2,
    });
  });

  test('with credentials that were put there from another row does not use them, and is repaired with whole ones', async () => {
    const { admin } = await strongroom.seed.organization();
    const { id } = await make(admin);
    const { id: other } = await make(admin);
    await strongroom.sql(
      'update app_connection set credentials_sealed = (select credentials_sealed from app_connection where id = $2) where id = $1',
      [id, other],
    );
    const calls = datatool.calls.length;

    expect(await admin.get(`${DATATOOL}/${id}/projects`)).toBeError(503, 'SEALED_VALUE_INVALID');
    expect(await change(admin, id, { credentials: { accountId: '1' } })).toBeError(503, 'SEALED_VALUE_INVALID');
    expect(mustSucceed(await admin.post(`${DATATOOL}/${id}/check`)).body.check).toMatchObject({
      state: 'failing',
      code: 'SEALED_VALUE_INVALID',
    });
    expect(datatool.calls).toHaveLength(calls);
    mustSucceed(await change(admin, id, { credentials: datatool.credentials }));
    mustSucceed(await admin.get(`${DATATOOL}/${id}/projects`));
  });
});
