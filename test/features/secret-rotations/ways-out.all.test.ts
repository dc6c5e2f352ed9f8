import { mustSucceed, type Reply } from '../../kit/caller.ts';
import { Rotating } from '../../kit/rotating.ts';
import { LENIENT, useSharedStrongroom } from '../../kit/strongroom.ts';
import { withClient } from '../../kit/tables.ts';
import { until } from '../../kit/until.ts';
import { untilWaiting } from '../../kit/waiting.ts';

const PATH = '/api/v2/secret-rotations/datatool-service-token';
/** As many as a node runs at once; the next one waits for its turn. */
const TRANSACTIONS = 12;
/** As if what is sealed had been lost. */
const BROKEN = (column: string): string =>
  `set_byte(${column}, length(${column}) - 1, (get_byte(${column}, length(${column}) - 1) + 1) % 256)`;

describe('a rotation that cannot go on as it should', () => {
  const strongroom = useSharedStrongroom(LENIENT);
  let rotating: Rotating;
  beforeEach(async () => {
    rotating = await Rotating.start(strongroom);
  });
  afterEach(async () => {
    await Promise.all(['rotate', 'pay-debts'].map((job) => pause(false, job)));
    await rotating?.stop();
  });

  const pause = async (isPaused: boolean, job = 'rotate'): Promise<void> => {
    await strongroom.sql('update job_kind set is_paused = $1 where name = $2', [isPaused, `secret-rotations:${job}`]);
  };
  const ended = (id: string) =>
    until('the attempt to have ended', 30_000, async () => {
      await rotating.hurry();
      return (await rotating.get(id)).rotationStatus !== 'in_progress';
    });
  /** Begins an attempt that waits for its job. */
  async function begin(id: string): Promise<void> {
    await pause(true);
    await rotating.admin.data(
      'mutation ($input: RotateSecretsInput!) { rotateSecrets(input: $input) { attempt { state } } }',
      { input: { id, wait: false } },
    );
  }

  test.each(['planned', 'calling'])(
    'fails when what it had stored cannot be decrypted any more (%s)',
    async (state) => {
      const { id } = await rotating.create();
      await begin(id);
      await strongroom.sql(
        `update secret_rotation_attempt set candidate_sealed = ${BROKEN('candidate_sealed')}, state = $2, called_at = now()
       where rotation_id = $1 and ended_at is null`,
        [id, state],
      );
      await pause(false);
      await ended(id);
      expect(await rotating.get(id)).toMatchObject({
        rotationStatus: 'failed',
        lastRotationMessage: expect.stringContaining('SEALED_VALUE_INVALID'),
      });
      await rotating.settled();
      await rotating.expectRotates(id);
      await rotating.expectLeavesNothing(id);
    },
  );

  test('fails when its job is cancelled in the middle of a call, and what the call creates is revoked', async () => {
    const { fake, admin } = rotating;
    const { id } = await rotating.create();
    const { promise, resolve: answer } = Promise.withResolvers<void>();
    fake.fail({ on: 'create', how: 'late', until: promise, times: 1 });
    const before = fake.tokens.live().length;
    const pending = rotating.rotate(id);
    await until('the call', 30_000, () => fake.tokens.live().length > before);
    const [job] = await strongroom.sql<{ id: string }>(
      `select id from job where kind = 'secret-rotations:rotate' and subject_id = $1 and state = 'running'`,
      [id],
    );
    mustSucceed(await admin.post(`/api/v1/jobs/${job?.id}/cancel`));
    expect(await pending).toBeError(502, 'UPSTREAM_UNREACHABLE');
    expect((await rotating.get(id)).rotationStatus).toBe('failed');
    answer();
    await until('the job to have stopped', 60_000, async () => {
      const rows = await strongroom.sql(`select id from job where id = $1 and state <> 'running'`, [job?.id]);
      return rows.length > 0;
    });
    await rotating.settled();
    await rotating.expectWhole(id);
    await rotating.expectRotates(id);
    await rotating.expectLeavesNothing(id);
  });

  test('is read, changed and rotated although the message of its failure cannot be decrypted', async () => {
    const { id } = await rotating.create();
    await begin(id);
    const inAttempt = 'update secret_rotation_attempt set';
    await strongroom.sql(
      `${inAttempt} candidate_sealed = ${BROKEN('candidate_sealed')} where rotation_id = $1 and ended_at is null`,
      [id],
    );
    await pause(false);
    await ended(id);
    await strongroom.sql(
      `${inAttempt} message_sealed = ${BROKEN('message_sealed')} where rotation_id = $1 and message_sealed is not null`,
      [id],
    );
    expect(await rotating.get(id)).toMatchObject({
      rotationStatus: 'failed',
      lastRotationMessage: 'SEALED_VALUE_INVALID: the message of this failure cannot be decrypted',
    });
    mustSucceed(await rotating.admin.patch(`${PATH}/${id}`, { name: 'mended' }));
    await rotating.expectRotates(id);
  });

  test('fails when its connection cannot be decrypted any more, and rotates once that is given anew', async () => {
    const { id } = await rotating.create();
    await begin(id);
    await strongroom.sql(
      `update app_connection set credentials_sealed = ${BROKEN('credentials_sealed')} where id = $1`,
      [rotating.connectionId],
    );
    await pause(false);
    await ended(id);
    expect(await rotating.get(id)).toMatchObject({ rotationStatus: 'failed' });
    const { credentials } = rotating.fake;
    mustSucceed(
      await rotating.admin.patch(`/api/v1/app-connections/datatool/${rotating.connectionId}`, { credentials }),
    );
    await rotating.expectRotates(id);
  });

  test('holds its connection while it owes something there, and no longer', async () => {
    const { id } = await rotating.create();
    for (let times = 0; times < 2; times += 1) mustSucceed(await rotating.rotate(id));
    await rotating.settled();
    rotating.fake.fail({ on: 'revoke', how: 503 });
    mustSucceed(await rotating.rotate(id));
    mustSucceed(await rotating.delete(id));
    const connection = `/api/v1/app-connections/datatool/${rotating.connectionId}`;
    expect(await rotating.admin.delete(connection)).toBeError(409, 'CONNECTION_IN_USE');
    rotating.fake.recover();
    await rotating.settled();
    mustSucceed(await rotating.admin.delete(connection));
  });

  test('asks an external system that is away once for all that it owes there', async () => {
    const made = await Promise.all(Array.from({ length: 4 }, () => rotating.create()));
    for (const { id } of made) mustSucceed(await rotating.rotate(id));
    await pause(true, 'pay-debts');
    for (const { id } of made) mustSucceed(await rotating.rotate(id));
    rotating.fake.fail({ on: 'token', how: 'drop' });
    rotating.fake.fail({ on: 'revoke', how: 'drop' });
    const before = rotating.fake.calls.length;
    await pause(false, 'pay-debts');
    await until('all of it to wait', 30_000, async () => {
      const waiting = await strongroom.sql(
        `select from job where kind = 'secret-rotations:pay-debts' and subject_id = $1 and state = 'waiting'
           and error_code = 'TARGET_UNRESPONSIVE'`,
        [rotating.connectionId],
      );
      return waiting.length === 1;
    });
    expect(rotating.fake.calls.length - before).toBe(1);
    const owed = await strongroom.sql<{ tries: number }>(
      'select tries from credential_debt where project_id = $1 order by tries',
      [rotating.project.id],
    );
    expect(owed.map(({ tries }) => tries)).toEqual([...made.slice(1).map(() => 0), 1]);
    rotating.fake.recover();
    await rotating.settled();
    for (const { id } of made) await rotating.expectWhole(id);
  });

  test('is not made by somebody who loses the right to while the external system is asked', async () => {
    const { admin, fake, project } = rotating;
    const maker = await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['admin'] });
    const { promise, resolve: answer } = Promise.withResolvers<void>();
    fake.fail({ on: 'account', how: 'late', until: promise, times: 1 });
    const before = fake.calls.length;
    const made = maker.post(PATH, rotating.body());
    await until('the account to be asked', 30_000, () => fake.calls.length > before);
    mustSucceed(await admin.delete(`/api/v2/workspace/${project.id}/identity-memberships/${maker.identityId}`));
    answer();
    expect([403, 404]).toContain((await made).status);
    expect(fake.tokens.live()).toEqual([]);
  });

  test('is not changed by somebody who loses the right to while the change waits for its row', async () => {
    const { admin, project } = rotating;
    const { id } = await rotating.create();
    const before = await rotating.get(id);
    const maker = await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['admin'] });
    const reply = await withClient(strongroom.databaseUrl, async (client) => {
      await client.query('begin');
      await client.query('select from secret_rotation where id = $1 for update', [id]);
      const pending = maker.patch(`${PATH}/${id}`, { name: 'renamed' });
      await untilWaiting(strongroom, 1, pending);
      await strongroom.sql('delete from project_membership where identity_id = $1', [maker.identityId]);
      await client.query('commit');
      return pending;
    });
    expect(reply).toBeError(404, 'SECRET_ROTATION_NOT_FOUND');
    expect(await rotating.get(id)).toEqual(before);
  });

  test.each(['rotate', 'update', 'delete', 'cancel'])(
    'is not changed by somebody who loses the right to while the change waits for its turn (%s)',
    async (change) => {
      const { admin, project } = rotating;
      const { id } = await rotating.create();
      if (change === 'cancel') await begin(id);
      const before = await rotating.get(id);
      const maker = await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['admin'] });
      const [attempt] = await strongroom.sql<{ id: string }>(
        'select id from secret_rotation_attempt where rotation_id = $1 order by number desc',
        [id],
      );
      const changes: Readonly<Record<string, () => Promise<Reply>>> = {
        rotate: () => rotating.rotate(id, maker),
        update: () => maker.patch(`${PATH}/${id}`, { name: 'renamed' }),
        delete: () => maker.delete(`${PATH}/${id}`),
        cancel: () =>
          maker.graphql(
            'mutation ($input: CancelSecretRotationAttemptInput!) { cancelSecretRotationAttempt(input: $input) { attempt { state } } }',
            { input: { attemptId: attempt?.id } },
          ),
      };

      const reply = await withClient(strongroom.databaseUrl, async (client) => {
        await client.query('begin; lock table tag in share mode');
        const waiting = Array.from({ length: TRANSACTIONS }, (_, at) =>
          admin.patient.post(`/api/v1/projects/${project.id}/tags`, { slug: `tag-${at}`, color: '#000000' }),
        );
        await untilWaiting(strongroom, TRANSACTIONS);
        const pending = changes[change]?.();
        mustSucceed(await maker.get(`${PATH}/${id}`));
        await strongroom.sql('delete from project_membership where identity_id = $1', [maker.identityId]);
        await client.query('commit');
        for (const made of await Promise.all(waiting)) mustSucceed(made);
        return pending;
      });

      expect(reply).toBeError(
        404,
        change === 'cancel' ? 'SECRET_ROTATION_ATTEMPT_NOT_FOUND' : 'SECRET_ROTATION_NOT_FOUND',
      );
      expect(await rotating.get(id)).toEqual(before);
    },
  );
});
