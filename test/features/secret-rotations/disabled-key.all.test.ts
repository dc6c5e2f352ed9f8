import { type Caller, mustSucceed } from '../../kit/caller.js';
import { Rotating } from '../../kit/rotating.js';
import { MAKE_DUE } from '../../kit/schedules.js';
import { LENIENT, useSharedStrongroom } from '../../kit/strongroom.js';
import { until } from '../../kit/until.js';

const WAIT_MS = 60_000;
const KEYS = '/api/v1/organization/keys';

describe('while the organization key of a project is disabled', () => {
  const strongroom = useSharedStrongroom(LENIENT);

  async function seed() {
    const rotating = await Rotating.start(strongroom);
    const { admin, project } = rotating;
    const key = mustSucceed(await admin.post(KEYS, { name: 'of-the-project' })).body.organizationKey as { id: string };
    const set = { organizationKeyId: key.id };
    mustSucceed(await admin.patch(`/api/v1/projects/${project.id}/key`, set));
    return { rotating, admin, key };
  }
  const act = async (admin: Caller, { id }: { readonly id: string }, verb: 'disable' | 'enable') =>
    mustSucceed(await admin.post(`${KEYS}/${id}/${verb}`, {}));
  const jobs = (kind: string, subjectId: string) =>
    strongroom.sql<{ state: string; code: string | null; attempts: number }>(
      `select state, error_code as code, attempts from job where kind = $1 and subject_id = $2 and wake_at is not null`,
      [kind, subjectId],
    );
  const untilItWaits = (kind: string, subjectId: string) =>
    until(`${kind} to wait for the key`, WAIT_MS, async () => {
      const [job] = await jobs(kind, subjectId);
      return job?.state === 'waiting' && job.code === 'KEY_DISABLED' && job.attempts === 0;
    });
  const makeDue = async (id: string): Promise<void> => {
    await strongroom.sql('update secret_rotation set next_rotation_at = now() where id = $1', [id]);
    await strongroom.sql(MAKE_DUE, ['secret-rotations:find-due']);
  };

  test('a due rotation waits, says so and notifies once, and runs when the key is enabled', async () => {
    const { rotating, admin, key } = await seed();
    const { id } = await rotating.create();
    await act(admin, key, 'disable');
    await makeDue(id);
    await untilItWaits('secret-rotations:rotate', id);
    const shown = await rotating.get(id);
    expect(shown).toMatchObject({
      rotationStatus: 'success',
      lastRotationMessage: expect.stringMatching(/^KEY_DISABLED: /),
    });
    const { secretRotation } = await admin.data(
      'query ($id: ID!) { secretRotation(id: $id) { waitReason lastMessage } }',
      { id },
    );
    expect(secretRotation).toEqual({ waitReason: 'KEY_DISABLED', lastMessage: shown.lastRotationMessage });

    // It looks again by itself, and says nothing new.
    await strongroom.sql(`update job set wake_at = now() where kind = 'secret-rotations:rotate' and subject_id = $1`, [
      id,
    ]);
    await strongroom.sql(MAKE_DUE, ['secret-rotations:find-due']);
    await until('a second look', WAIT_MS, async () => {
      const [row] = await strongroom.sql<{ count: string }>(
        `select count(*) from job_attempt a join job j on j.id = a.job_id where j.subject_id = $1 and a.error_code = 'KEY_DISABLED'`,
        [id],
      );
      return Number(row?.count) >= 2;
    });
    const notices = await strongroom.sql<{ facts: { fields: { Error: string } } }>(
      `select facts from notice where subject_id = $1 and kind = 'rotation-failure'`,
      [id],
    );
    expect(notices.map(({ facts }) => facts.fields.Error)).toEqual([shown.lastRotationMessage]);
    expect(await strongroom.sql('select from secret_rotation_attempt where rotation_id = $1', [id])).toHaveLength(1);

    await act(admin, key, 'enable');
    await until('the rotation', WAIT_MS, async () => {
      const rows = await strongroom.sql('select from secret_rotation where id = $1 and generation = 2', [id]);
      return rows.length === 1;
    });
    await rotating.settled();
    await rotating.expectWhole(id);
    expect(await rotating.get(id)).toMatchObject({
      rotationStatus: 'success',
      lastRotationMessage: null,
    });
    await rotating.stop();
  });

  test('revocations wait without a failure, and are done when it is enabled', async () => {
    const { rotating, admin, key } = await seed();
    const { id } = await rotating.create();
    rotating.fake.fail({ on: 'revoke', how: 500 });
    for (let times = 0; times < 2; times += 1) expect((await rotating.rotate(id)).status).toBe(200);
    await act(admin, key, 'disable');
    await rotating.hurry();
    await untilItWaits('secret-rotations:pay-debts', rotating.connectionId);
    const { credentialDebts } = await admin.data(
      'query ($id: ID!) { credentialDebts(projectId: $id) { nodes { errorCode } } }',
      { id: rotating.project.id },
    );
    expect(credentialDebts.nodes).toEqual([{ errorCode: 'KEY_DISABLED' }]);
    rotating.fake.recover();
    await act(admin, key, 'enable');
    await until('the revocation', WAIT_MS, async () => {
      const rows = await strongroom.sql('select from credential_debt where rotation_id = $1', [id]);
      return rows.length === 0;
    });
    await rotating.expectWhole(id);
    await rotating.stop();
  });

  test('checks of its connections wait, and say nothing of the credentials', async () => {
    const { rotating, admin, key } = await seed();
    await act(admin, key, 'disable');
    await strongroom.sql('update app_connection set next_check_at = now() where id = $1', [rotating.connectionId]);
    await strongroom.sql(MAKE_DUE, ['app-connections:find-due']);
    await untilItWaits('app-connections:check', rotating.connectionId);
    const path = `/api/v1/app-connections/datatool/${rotating.connectionId}/check`;
    expect(await admin.post(path, {})).toBeError(409, 'KEY_DISABLED');
    await act(admin, key, 'enable');
    await until(
      'the check',
      WAIT_MS,
      async () => (await jobs('app-connections:check', rotating.connectionId)).length === 0,
    );
    expect(mustSucceed(await admin.post(path, {})).body.check).toMatchObject({ state: 'working', code: null });
    await rotating.stop();
  });
});
