import { mustSucceed } from '../../kit/caller.js';
import { FakeDatatool } from '../../kit/datatool.js';
import { Rotating } from '../../kit/rotating.js';
import { MAKE_DUE } from '../../kit/schedules.js';
import { LENIENT, useSharedStrongroom } from '../../kit/strongroom.js';
import { until } from '../../kit/until.js';

const WAIT_MS = 60_000;
const OF_PROJECT = 'organization_id = (select organization_id from project where id = $1)';
const PATH = '/api/v1/app-connections/datatool';
const QUERY = `query ($id: ID!, $rotationId: ID!) {
  appConnection(id: $id) { unresponsive { since failures code nextTryAt } }
  secretRotation(id: $rotationId) { status waitReason lastMessage } }`;

describe('an external system that does not respond', () => {
  const strongroom = useSharedStrongroom(LENIENT);

  const makeDue = async ({ project }: Rotating): Promise<void> => {
    await strongroom.sql('update secret_rotation set next_rotation_at = now() where project_id = $1', [project.id]);
    await strongroom.sql(MAKE_DUE, ['secret-rotations:find-due']);
  };
  const waiting = async (ids: readonly string[]): Promise<number> => {
    const rows = await strongroom.sql(
      `select from job where kind = 'secret-rotations:rotate' and state = 'waiting' and error_code = 'TARGET_UNRESPONSIVE'
         and subject_id = any($1)`,
      [ids],
    );
    return rows.length;
  };
  const checkOf = ({ admin, connectionId }: Rotating) => admin.post(`${PATH}/${connectionId}/check`, {});
  const known = async ({ admin, connectionId }: Rotating, rotationId: string, id = connectionId) => {
    const { appConnection, secretRotation } = await admin.data(QUERY, { id, rotationId });
    return { unresponsive: appConnection.unresponsive, rotation: secretRotation };
  };

  test('is left alone by all rotations that are due, which wait and say so; one tries it, and all go on when it responds', async () => {
    const rotating = await Rotating.start(strongroom);
    const { fake, project } = rotating;
    const made = await Promise.all([rotating.create(), rotating.create(), rotating.create()]);
    const ids = made.map(({ id }) => id);
    const [first = ''] = ids;
    fake.fail({ how: 'drop' });
    const checked = mustSucceed(await checkOf(rotating)).body;
    expect(checked.check.unresponsive).toMatchObject({ failures: 1, code: 'TARGET_UNREACHABLE' });

    const calls = fake.calls.length;
    await makeDue(rotating);
    await until('all to wait', WAIT_MS, async () => (await waiting(ids)) === ids.length);
    expect(fake.calls).toHaveLength(calls);
    expect(await strongroom.sql(`select from secret_rotation_attempt where rotation_id = any($1)`, [ids])).toHaveLength(
      3,
    );
    expect(await known(rotating, first)).toEqual({
      unresponsive: {
        since: expect.any(String),
        failures: 1,
        code: 'TARGET_UNREACHABLE',
        nextTryAt: expect.any(String),
      },
      rotation: {
        status: 'SUCCESS',
        waitReason: 'TARGET_UNRESPONSIVE',
        lastMessage: expect.stringContaining('does not respond'),
      },
    });
    expect(await rotating.get(first)).toMatchObject({
      rotationStatus: 'success',
      lastRotationMessage: expect.stringMatching(/^TARGET_UNRESPONSIVE: /),
    });

    // Its pause is over: of all that wait one tries, and the next pause is longer.
    await strongroom.sql(`update unresponsive_target set next_try_at = now() where ${OF_PROJECT}`, [project.id]);
    await strongroom.sql(
      `update job set wake_at = now() where error_code = 'TARGET_UNRESPONSIVE' and state = 'waiting' and subject_id = any($1)`,
      [ids],
    );
    await until('the trial to have failed', WAIT_MS, async () => {
      const [row] = await strongroom.sql<{ failures: number }>(
        `select failures from unresponsive_target where ${OF_PROJECT}`,
        [project.id],
      );
      return row?.failures === 2;
    });
    const [row] = await strongroom.sql<{ seconds: number }>(
      `select extract(epoch from next_try_at - failed_at)::integer as seconds from unresponsive_target where ${OF_PROJECT}`,
      [project.id],
    );
    expect(row?.seconds).toBeGreaterThan(50);
    const begun = await strongroom.sql(
      `select from secret_rotation_attempt where rotation_id = any($1) and number = 2`,
      [ids],
    );
    expect(begun).toHaveLength(1);

    fake.recover();
    expect(mustSucceed(await checkOf(rotating)).body.check.unresponsive).toBeNull();
    await until('all to be rotated', WAIT_MS, async () => {
      const rows = await strongroom.sql('select from secret_rotation where id = any($1) and generation = 2', [ids]);
      return rows.length === ids.length;
    });
    await rotating.settled();
    for (const id of ids) await rotating.expectWhole(id);
    expect((await known(rotating, first)).rotation.waitReason).toBeNull();
    await rotating.stop();
  });

  test('is known by all connections of the organization that call it, and is tried at once by hand', async () => {
    const rotating = await Rotating.start(strongroom);
    const { admin, fake, project } = rotating;
    const { id } = await rotating.create();
    const credentials = { ...fake.credentials, instanceUrl: fake.url.replace('localhost', 'LOCALHOST') };
    const body = { name: 'the-same', method: 'api-token', projectId: project.id, credentials };
    const other = mustSucceed(await admin.post(PATH, body)).body.appConnection;
    fake.fail({ how: 'drop', times: 1 });
    mustSucceed(await checkOf(rotating));
    const read = async () => (await known(rotating, id, other.id)).unresponsive;
    expect(await read()).toMatchObject({ failures: 1 });

    const reply = await rotating.rotate(id);
    expect(reply.body.secretRotation?.rotationStatus).toBe('success');
    expect(await read()).toBeNull();
    await rotating.settled();
    await rotating.expectWhole(id);
    await rotating.stop();
  });

  test('is the one that was called, although its connection leads to another one by now', async () => {
    const rotating = await Rotating.start(strongroom);
    const { admin, connectionId, fake } = rotating;
    const other = (await FakeDatatool.start()).unref();
    const targetsOf = () =>
      strongroom.sql<{ target: string }>(
        'select target from unresponsive_target where organization_id = (select organization_id from project where id = $1)',
        [rotating.project.id],
      );
    // Until the time of a check within a request is over.
    fake.fail({ how: 'silent', times: 1 });
    const calls = fake.calls.length;
    const checking = checkOf(rotating);
    await until('the check to hang', WAIT_MS, async () => fake.calls.length > calls);
    mustSucceed(await admin.patch(`${PATH}/${connectionId}`, { credentials: other.credentials }));
    mustSucceed(await checking);
    const [{ target } = { target: '' }] = await targetsOf();
    expect(target).toContain(new URL(fake.url).port);
    expect(await targetsOf()).toHaveLength(1);

    // A check that was queued for the system of before neither waits for it nor says anything of it.
    await strongroom.sql(
      `insert into job (id, kind, organization_id, dedupe_key, subject_id, target, state, wake_at)
       select gen_random_uuid(), 'app-connections:check', organization_id, id::text, id, $2, 'waiting', now() from app_connection where id = $1
       on conflict (kind, dedupe_key) do update set target = $2, state = 'waiting', wake_at = now()`,
      [connectionId, target],
    );
    const answered = other.calls.length;
    await until('the check', WAIT_MS, async () => other.calls.length > answered);
    expect(await targetsOf()).toHaveLength(1);
    await Promise.all([rotating.stop(), other.stop()]);
  });

  test('holds up revocations, of which only the one that was tried has failed', async () => {
    const rotating = await Rotating.start(strongroom);
    const { fake } = rotating;
    const { id } = await rotating.create();
    // The third publishes, and owes the first two of them.
    for (let times = 0; times < 2; times += 1) expect((await rotating.rotate(id)).status).toBe(200);
    await rotating.settled();
    fake.fail({ on: 'revoke', how: 'drop' });
    fake.fail({ on: 'token', how: 'drop' });
    expect((await rotating.delete(id, '?revokeGeneratedCredentials=true')).status).toBe(502);
    const revocations = await strongroom.sql<{ tries: number }>(
      'select tries from credential_debt where rotation_id = $1 order by tries',
      [id],
    );
    expect(revocations.map(({ tries }) => tries)).toEqual([0, 1]);
    fake.recover();
    await rotating.expectLeavesNothing(id);
    await rotating.stop();
  });
});
