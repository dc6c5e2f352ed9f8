import { mustSucceed } from '../../kit/caller.js';
import { FakeDatatool } from '../../kit/datatool.js';
import type { DatatoolFault } from '../../kit/datatool-faults.js';
import { Notifying } from '../../kit/notifying.js';
import type { OutsideServer } from '../../kit/outside/outside-server.js';
import { testInAll } from '../../kit/scope.js';
import { Seed } from '../../kit/seed.js';
import { until } from '../../kit/until.js';

const DATATOOL = '/api/v1/app-connections/datatool';
const WAIT_MS = 30_000;

let notifying: Notifying;
let datatool: FakeDatatool;
beforeAll(async () => {
  notifying = await Notifying.start();
});
afterAll(() => notifying?.stop());
beforeEach(async () => {
  datatool = await FakeDatatool.start();
});
afterEach(async () => {
  await notifying.sql('delete from app_connection');
  await datatool.stop();
});

const newConnection = async (more: object = {}): Promise<string> => {
  const name = `analytics-${Math.random().toString(36).slice(2, 10)}`;
  const body = { name, projectId: notifying.projectId, credentials: datatool.credentials, ...more };
  return mustSucceed(await notifying.admin.post(DATATOOL, body)).body.appConnection.id;
};

interface Checked {
  readonly check_state: string;
  readonly check_code: string | null;
  readonly check_failures: number;
  readonly next: number;
}
const stateOf = async (id: string): Promise<Checked> => {
  const [row] = await notifying.sql<Checked>(
    `select check_state, check_code, check_failures, extract(epoch from next_check_at - now())::double precision as next
     from app_connection where id = $1`,
    [id],
  );
  return row as Checked;
};

/** As if an hour had passed, and the check was made. */
async function hourLater(id: string): Promise<Checked> {
  const [before] = await notifying.sql<{ at: string }>(
    'update app_connection set next_check_at = now() where id = $1 returning checked_at::text as at',
    [id],
  );
  // Of one period there is one job.
  await notifying.sql(
    `delete from job where kind = 'app-connections:find-due' and state = 'done' and every_seconds is null`,
  );
  await notifying.runSchedule('app-connections:find-due');
  await until('the connection to be checked', WAIT_MS, async () => {
    const [now] = await notifying.sql<{ at: string }>(
      'select checked_at::text as at from app_connection where id = $1',
      [id],
    );
    return now?.at !== before?.at;
  });
  return stateOf(id);
}

const noticesOf = (id: string) =>
  notifying.sql<{ project_id: string | null; owner_id: string; facts: { fields: { Error: string } } }>(
    `select project_id, owner_id, facts from notice where kind = 'connection-failure' and subject_id = $1 order by created_at`,
    [id],
  );
const eventsOf = ({ received }: OutsideServer) => received.map(({ body }) => JSON.parse(body));

describe('a connection', () => {
  test('is checked about once an hour, and not before', async () => {
    const id = await newConnection();
    const other = await newConnection();
    const calls = datatool.calls.length;
    const { next } = await stateOf(id);
    expect(next).toBeGreaterThan(3_000);
    expect(next).toBeLessThan(4_000);

    expect(await hourLater(id)).toMatchObject({ check_state: 'working', check_code: null });

    expect((await stateOf(id)).next).toBeGreaterThan(3_000);
    expect(datatool.calls).toHaveLength(calls + 1);
    expect((await stateOf(other)).check_state).toBe('working');
  });

  test('that is rejected fails at once, and notifies the channels of its project once until it works again', async () => {
    const id = await newConnection();
    const server = await notifying.server();
    mustSucceed(
      await notifying.admin.post(`/api/v1/projects/${notifying.projectId}/notification-channels`, {
        name: server.url('/'),
        kinds: ['connection-failure'],
        config: { webhook: { url: server.url('/') } },
      }),
    );
    datatool.replaceApiToken();

    for (let hour = 0; hour < 2; hour += 1)
      expect(await hourLater(id)).toMatchObject({ check_state: 'failing', check_code: 'CREDENTIALS_REJECTED' });
    await until('the notification', WAIT_MS, () => eventsOf(server).length > 0);
    datatool.accept(datatool.apiToken);
    expect(await hourLater(id)).toMatchObject({ check_state: 'working', check_code: null, check_failures: 0 });
    datatool.replaceApiToken();
    await hourLater(id);

    await until('the second notification', WAIT_MS, () => eventsOf(server).length > 1);
    const [event] = eventsOf(server);
    expect(event.type).toMatch(/connection-failure$/);
    expect(JSON.stringify(event)).toContain('CREDENTIALS_REJECTED');
    for (const secret of [datatool.apiToken, 'Invalid token'])
      expect(JSON.stringify(eventsOf(server))).not.toContain(secret);
    expect((await noticesOf(id)).map(({ project_id }) => project_id)).toEqual([
      notifying.projectId,
      notifying.projectId,
    ]);
    const trail = await notifying.sql<{ facts: { checkCode: string | null } }>(
      `select facts from audit_record where action = 'app-connection:check' and facts ->> 'connectionId' = $1 order by sequence`,
      [id],
    );
    expect(trail.map(({ facts }) => facts.checkCode)).toEqual(['CREDENTIALS_REJECTED', null, 'CREDENTIALS_REJECTED']);
  });

  test('that is out of reach fails after three checks in a row', async () => {
    const id = await newConnection();
    datatool.fail({ on: 'account', how: 503, times: 2 });
    datatool.fail({ on: 'account', how: 'drop', times: 1 });

    for (const failures of [1, 2])
      expect(await hourLater(id)).toMatchObject({
        check_state: 'working',
        check_code: 'TARGET_REJECTED',
        check_failures: failures,
      });
    expect(await noticesOf(id)).toEqual([]);

    expect(await hourLater(id)).toMatchObject({ check_state: 'failing', check_code: 'TARGET_UNREACHABLE' });
    expect(await noticesOf(id)).toHaveLength(1);
  });

  test('of the organization that no rotation uses notifies the admins of the organization', async () => {
    const id = await newConnection({ projectId: null });
    datatool.replaceApiToken();

    await hourLater(id);

    expect(await noticesOf(id)).toMatchObject([
      { project_id: null, owner_id: expect.any(String), facts: { fields: { Error: 'CREDENTIALS_REJECTED' } } },
    ]);
  });

  test('is checked when somebody asks who may use it, and other credentials make it work again', async () => {
    const id = await newConnection();
    const viewer = await new Seed(notifying.admin).caller(notifying.admin, {
      project: notifying.projectId,
      projectRoles: ['viewer'],
    });
    const fresh = datatool.replaceApiToken();

    expect(await viewer.post(`${DATATOOL}/${id}/check`)).toBeError(403, 'PERMISSION_DENIED');
    const { check } = mustSucceed(await notifying.admin.post(`${DATATOOL}/${id}/check`)).body;
    mustSucceed(await notifying.admin.patch(`${DATATOOL}/${id}`, { credentials: { apiToken: fresh } }));

    expect(check).toEqual({
      state: 'failing',
      code: 'CREDENTIALS_REJECTED',
      checkedAt: expect.any(String),
      failingSince: expect.any(String),
      unresponsive: null,
    });
    expect(await stateOf(id)).toMatchObject({ check_state: 'working', check_code: null });
  });

  test('to a host that rejected a password is not checked by itself again, since that could lock the account', async () => {
    const seed = new Seed(notifying.admin, (text, params) => notifying.sql(text, params));
    const [rejected, locked] = [
      await seed.smbConnection(notifying.projectId, 'rejected'),
      await seed.smbConnection(notifying.projectId, 'locked'),
    ];
    await notifying.sql(
      `update app_connection set check_state = 'failing', failing_since = now(),
         check_code = case when id = $1 then 'CREDENTIALS_REJECTED' else 'ACCOUNT_LOCKED' end where id = any($2)`,
      [rejected, [rejected, locked]],
    );
    await notifying.sql('update app_connection set next_check_at = now() where id = $1', [rejected]);

    // What is stored of them cannot be decrypted, as a check would say.
    expect(await hourLater(locked)).toMatchObject({ check_code: 'SEALED_VALUE_INVALID' });
    await until('the job of the other one', WAIT_MS, async () => {
      const done = await notifying.sql(
        `select from job where kind = 'app-connections:check' and subject_id = $1 and state = 'done'`,
        [rejected],
      );
      return done.length === 1;
    });
    expect(await stateOf(rejected)).toMatchObject({ check_state: 'failing', check_code: 'CREDENTIALS_REJECTED' });
    mustSucceed(await notifying.admin.post(`/api/v1/app-connections/smb/${rejected}/check`));
    expect(await stateOf(rejected)).toMatchObject({ check_code: 'SEALED_VALUE_INVALID' });
  });

  test('whose credentials changed during a check is not marked by what came of the old ones', async () => {
    const id = await newConnection();
    const fresh = datatool.replaceApiToken();
    const { promise, resolve: answer } = Promise.withResolvers<void>();
    datatool.fail({ on: 'account', how: 'late', until: promise, times: 1 });
    const calls = datatool.calls.length;

    const slow = notifying.admin.post(`${DATATOOL}/${id}/check`);
    await until('the check to be under way', WAIT_MS, () => datatool.calls.length > calls);
    mustSucceed(await notifying.admin.patch(`${DATATOOL}/${id}`, { credentials: { apiToken: fresh } }));
    answer();

    expect(mustSucceed(await slow).body.check).toMatchObject({ state: 'working', code: null });
    expect(await noticesOf(id)).toEqual([]);
  });
});

describe('a live system that misbehaves', () => {
  const VIOLATIONS: readonly (readonly [DatatoolFault, string])[] = [
    ['drop', 'TARGET_UNREACHABLE'],
    ['garbage', 'TARGET_RESPONSE_INVALID'],
    ['cut', 'TARGET_RESPONSE_INVALID'],
    ['huge', 'TARGET_RESPONSE_INVALID'],
    ['bomb', 'TARGET_RESPONSE_INVALID'],
    ['headers', 'TARGET_RESPONSE_INVALID'],
    ['redirect', 'TARGET_REJECTED'],
    [500, 'TARGET_REJECTED'],
    [429, 'TARGET_REJECTED'],
    [401, 'CREDENTIALS_REJECTED'],
    [403, 'PERMISSION_MISSING'],
  ];

  test.each(VIOLATIONS)('by %s is 502, and nothing of what it said is told', async (how, code) => {
    const other = await FakeDatatool.start();
    datatool.fail({ how, to: `${other.url}/api/v2/accounts/${datatool.accountId}/` });
    const { output } = notifying.service;

    const reply = await notifying.admin.post(DATATOOL, { name: 'analytics', credentials: datatool.credentials });

    expect(reply.status).toBe(502);
    expect(reply.body.details).toMatchObject([{ path: 'body.credentials', code }]);
    const reported = reply.text + notifying.service.output.slice(output.length);
    for (const text of [datatool.apiToken, 'Something went', 'Welcome', 'xxxx', datatool.url, other.url])
      expect(reported).not.toContain(text);
    expect(datatool.calls).toHaveLength(1);
    expect(other.received).toEqual([]);
    await other.stop();
  });

  test('by a certificate that nobody trusts is 502, and receives nothing', async () => {
    const distrusted = await notifying.distrusted();

    const reply = await notifying.admin.post(DATATOOL, {
      name: 'analytics',
      credentials: { ...datatool.credentials, instanceUrl: distrusted.url('') },
    });

    expect(reply).toBeError(502, 'UPSTREAM_UNREACHABLE');
    expect(reply.body.details).toMatchObject([{ code: 'TARGET_CERTIFICATE' }]);
    expect(distrusted.received).toEqual([]);
  });

  testInAll('by silence, or a byte each second, is 502 before the request is over', async () => {
    const slow = await FakeDatatool.start();
    datatool.fail({ how: 'silent' });
    slow.fail({ how: 'slow' });

    const replies = await Promise.all(
      [datatool, slow].map(({ credentials }, at) =>
        notifying.admin.post(DATATOOL, { name: `analytics-${at}`, credentials }),
      ),
    );

    for (const reply of replies) {
      expect(reply).toBeError(502, 'UPSTREAM_UNREACHABLE');
      expect(reply.body.details).toMatchObject([{ code: 'TARGET_TIMED_OUT' }]);
    }
    await slow.stop();
  });
});
