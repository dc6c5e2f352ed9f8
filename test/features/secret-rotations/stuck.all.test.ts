import { ROTATION_STATUSES } from '../../../src/features/rotations/secret-rotations/store/rotation.entity.js';
import { ATTEMPT_STATES, isFinal } from '../../../src/features/rotations/secret-rotations/store/states.js';
import { type Caller, mustSucceed, type Reply } from '../../kit/caller.ts';
import { CuttingProxy } from '../../kit/outside/cutting-proxy.ts';
import { describeWithSamba, Samba } from '../../kit/outside/samba.ts';
import { Rotating } from '../../kit/rotating.ts';
import { RotatingAccounts } from '../../kit/rotating-accounts.ts';
import { MAKE_DUE } from '../../kit/schedules.ts';
import { LENIENT, useSharedStrongroom } from '../../kit/strongroom.ts';
import { until } from '../../kit/until.ts';

const ROTATIONS = '/api/v2/secret-rotations';
const WITHIN_MS = 60_000;

/** What an operator does about what is stuck, over either interface. */
interface Operator {
  cancelAttempt(id: string): Promise<Reply>;
  cancelJob(id: string): Promise<Reply>;
  delete(rotation: string, revokes: boolean): Promise<Reply>;
  revocationsOf(connectionId: string): Promise<Revocation[]>;
  giveUp(ids: string[]): Promise<Reply>;
  deleteConnection(id: string): Promise<Reply>;
}

interface Revocation {
  readonly debtId: string;
  readonly target: string;
  readonly externalName: string | null;
  readonly externalId: string | null;
  readonly errorCode: string | null;
}

const DEBT = 'debtId target externalName externalId rotationName reason tries errorCode createdAt';

/** Sends a mutation with an input; the reply has what the payload selects. */
const mutate = (caller: Caller, field: string, input: object, select: string): Promise<Reply> => {
  const type = `${field.charAt(0).toUpperCase()}${field.slice(1)}Input`;
  return caller.graphql(`mutation ($input: ${type}!) { ${field}(input: $input) { ${select} } }`, { input });
};

const INTERFACES: Readonly<Record<'GraphQL' | 'REST', (caller: Caller, app: string, type: string) => Operator>> = {
  GraphQL: (caller) => ({
    cancelAttempt: (attemptId) =>
      mutate(caller, 'cancelSecretRotationAttempt', { attemptId }, `attempt { state } credentialDebts { ${DEBT} }`),
    cancelJob: (id) => mutate(caller, 'cancelJob', { id }, 'job { state }'),
    delete: (id, revokes) =>
      mutate(
        caller,
        'deleteSecretRotation',
        { id, revokeGeneratedCredentials: revokes },
        `secretRotation { id } credentialDebts { ${DEBT} }`,
      ),
    revocationsOf: async (connectionId) => {
      const text = `query ($connectionId: ID) { credentialDebts(connectionId: $connectionId) { nodes { ${DEBT} } } }`;
      return (await caller.data(text, { connectionId })).credentialDebts.nodes;
    },
    giveUp: (ids) => mutate(caller, 'giveUpCredentialDebts', { ids }, `credentialDebts { ${DEBT} }`),
    deleteConnection: (id) => mutate(caller, 'deleteAppConnection', { id }, 'appConnection { id }'),
  }),
  REST: (caller, app, type) => ({
    cancelAttempt: (id) => caller.post(`${ROTATIONS}/attempts/${id}/cancel`),
    cancelJob: (id) => caller.post(`/api/v1/jobs/${id}/cancel`),
    delete: (id, revokes) => caller.delete(`${ROTATIONS}/${type}/${id}?revokeGeneratedCredentials=${revokes}`),
    revocationsOf: async (connectionId) =>
      mustSucceed(await caller.get(`${ROTATIONS}/credential-debts?connectionId=${connectionId}`)).body.credentialDebts,
    giveUp: (ids) => caller.post(`${ROTATIONS}/credential-debts/give-up`, { ids }),
    deleteConnection: (id) => caller.delete(`/api/v1/app-connections/${app}/${id}`),
  }),
};

/** The payload of a mutation, in either interface. */
const payloadOf = (reply: Reply) => {
  const { body } = mustSucceed(reply);
  return body.data === undefined ? body : Object.values(body.data as Record<string, Record<string, unknown>>)[0];
};

describe('what is stuck because its external system is gone for good', () => {
  const strongroom = useSharedStrongroom(LENIENT);
  const walked = new Set<string>();
  let samba: Samba | undefined;
  afterEach(() => pause(false));
  afterAll(() => samba?.stop());

  const pause = async (isPaused: boolean, ...jobs: string[]): Promise<void> => {
    await strongroom.sql('update job_kind set is_paused = $1 where name = any($2)', [
      isPaused,
      (isPaused ? jobs : ['rotate', 'pay-debts']).map((job) => `secret-rotations:${job}`),
    ]);
  };
  const attemptOf = async (rotation: string) => {
    const [row] = await strongroom.sql<{ id: string; state: string; tries: number }>(
      'select id, state, tries from secret_rotation_attempt where rotation_id = $1 and ended_at is null',
      [rotation],
    );
    return row;
  };
  const jobOf = async (kind: string, subject: string): Promise<string> => {
    const [row] = await strongroom.sql<{ id: string }>('select id from job where kind = $1 and subject_id = $2', [
      `secret-rotations:${kind}`,
      subject,
    ]);
    return row?.id ?? '';
  };
  const statusOf = async (rotation: string) => {
    const [row] = await strongroom.sql<{ status: string }>('select status from secret_rotation where id = $1', [
      rotation,
    ]);
    return row?.status ?? 'gone';
  };
  const begin = (admin: Caller, id: string) =>
    admin.data('mutation ($input: RotateSecretsInput!) { rotateSecrets(input: $input) { attempt { state } } }', {
      input: { id, wait: false },
    });
  const noticesOf = (project: string) =>
    strongroom.sql<{ occurrence: string; facts: { fields: Record<string, string> } }>(
      'select occurrence, facts from notice where project_id = $1 order by created_at, id',
      [project],
    );

  /** That nothing keeps the rotation and the connection, and that each credential which may live on is named. */
  async function expectLeads(
    out: Operator,
    { rotation, connectionId, target }: { rotation: string; connectionId: string; target: string },
  ): Promise<void> {
    expect(await statusOf(rotation)).not.toMatch(/in_progress|deleting/);
    if ((await statusOf(rotation)) !== 'gone') mustSucceed(await out.delete(rotation, false));
    const revocations = await out.revocationsOf(connectionId);
    for (const revocation of revocations) {
      expect(revocation.target).toContain(target);
      expect(revocation.externalName ?? revocation.externalId).not.toBeNull();
    }
    if (revocations.length > 0) {
      const { credentialDebts } = payloadOf(await out.giveUp(revocations.map(({ debtId }) => debtId))) as {
        credentialDebts: Revocation[];
      };
      expect(credentialDebts.map(({ debtId }) => debtId).toSorted()).toEqual(
        revocations.map(({ debtId }) => debtId).toSorted(),
      );
      expect(await out.giveUp(revocations.map(({ debtId }) => debtId))).toBeError(404, 'CREDENTIAL_DEBT_NOT_FOUND');
    }
    expect(await out.revocationsOf(connectionId)).toEqual([]);
    mustSucceed(await out.deleteConnection(connectionId));
  }

  describe.each(Object.entries(INTERFACES))('over %s', (_, over) => {
    /** A rotation of tokens with two live ones, brought into a state; then its external system is gone. */
    async function tokens(bring: (rotating: Rotating, id: string) => Promise<void>) {
      const rotating = await Rotating.start(strongroom);
      const { id } = await rotating.create();
      await rotating.expectRotates(id);
      await bring(rotating, id);
      await rotating.stop();
      const out = over(rotating.admin, 'datatool', 'datatool-service-token');
      const { connectionId, admin, project, fake } = rotating;
      return {
        rotating,
        id,
        out,
        connectionId,
        admin,
        project,
        live: fake.tokens.live().length,
        target: fake.accountId,
      };
    }
    const end = async ({ id, ...rest }: Awaited<ReturnType<typeof tokens>>) =>
      expectLeads(rest.out, { ...rest, rotation: id });

    const waiting =
      (state: string) =>
      async ({ admin }: Rotating, id: string): Promise<void> => {
        await pause(true, 'rotate');
        await begin(admin, id);
        if (state === 'planned') return;
        await strongroom.sql(
          `update secret_rotation_attempt set state = $2, calls = 1, called_at = now() - interval '1 hour'
           where rotation_id = $1 and ended_at is null`,
          [id, state],
        );
      };

    test.each(['planned', 'calling'])('a %s attempt ends when it is cancelled', async (state) => {
      walked.add(state).add('in_progress');
      const scene = await tokens(waiting(state));
      const attempt = await attemptOf(scene.id);
      expect(attempt?.state).toBe(state);

      const { credentialDebts, attempt: ended } = payloadOf(await scene.out.cancelAttempt(attempt?.id ?? '')) as {
        credentialDebts: Revocation[];
        attempt: { state: string };
      };

      expect(ended.state.toLowerCase()).toBe(state === 'planned' ? 'cancelled' : 'failed');
      if (state === 'calling') {
        expect(credentialDebts).toEqual([
          expect.objectContaining({ externalName: expect.stringContaining(scene.id.slice(0, 8)) }),
        ]);
        const { externalName } = credentialDebts[0] as Revocation;
        const [record] = await strongroom.auditRows(`action = 'secret-rotation:fail' and facts ->> 'attemptId' = $1`, [
          attempt?.id,
        ]);
        expect(record?.facts.credentials).toEqual([expect.stringContaining(externalName ?? '?')]);
        const notices = await noticesOf(scene.project.id);
        expect(notices.map(({ facts }) => facts.fields['May be valid'] ?? '')).toContainEqual(
          expect.stringContaining(externalName ?? '?'),
        );
      } else expect(credentialDebts).toEqual([]);
      expect(await scene.out.cancelAttempt(attempt?.id ?? '')).toBeError(409, 'ROTATION_ATTEMPT_BEGUN');
      await end(scene);
    });

    test.each(['planned', 'calling'])('a %s attempt ends when its job is cancelled', async (state) => {
      const scene = await tokens(waiting(state));
      mustSucceed(await scene.out.cancelJob(await jobOf('rotate', scene.id)));
      expect(await attemptOf(scene.id)).toBeUndefined();
      expect(await statusOf(scene.id)).toBe(state === 'planned' ? 'success' : 'failed');
      await end(scene);
    });

    test.each(['changed', 'verified'])('a %s attempt ends by itself', async (state) => {
      walked.add(state);
      const scene = await tokens(async ({ fake, admin }, id) => {
        fake.fail({ on: 'token', how: 'drop' });
        await begin(admin, id);
        await until('the token to be looked up', WITHIN_MS, async () => ((await attemptOf(id))?.tries ?? 0) > 0);
        await pause(true, 'rotate');
        await strongroom.sql(
          'update secret_rotation_attempt set state = $2 where rotation_id = $1 and ended_at is null',
          [...[id, state]],
        );
      });
      // It has a result that would be lost.
      expect(await scene.out.cancelJob(await jobOf('rotate', scene.id))).toBeError(409, 'JOB_IS_NEEDED');
      await pause(false);
      await until('the attempt to have ended', WITHIN_MS, async () => {
        await scene.rotating.hurry();
        return (await attemptOf(scene.id)) === undefined;
      });
      expect(await statusOf(scene.id)).toBe(state === 'changed' ? 'failed' : 'success');
      await end(scene);
    });

    test('an attempt whose job was cancelled before is continued', async () => {
      const scene = await tokens(waiting('planned'));
      await strongroom.sql(
        `update job set state = 'cancelled', wake_at = null, finished_at = now() where kind = 'secret-rotations:rotate' and subject_id = $1`,
        [scene.id],
      );
      await strongroom.sql(
        `update secret_rotation_attempt set created_at = now() - interval '1 hour' where rotation_id = $1 and ended_at is null`,
        [scene.id],
      );
      await pause(false);
      await strongroom.sql(MAKE_DUE, ['secret-rotations:find-due']);
      await until('the attempt to have ended', WITHIN_MS, async () => (await attemptOf(scene.id)) === undefined);
      await end(scene);
    });

    /** A deletion that cannot revoke. */
    const deleting = async () => {
      const scene = await tokens(async () => undefined);
      expect(await scene.out.delete(scene.id, true)).toBeError(502, 'UPSTREAM_UNREACHABLE');
      walked.add('deleting');
      expect(await statusOf(scene.id)).toBe('deleting');
      expect(await scene.out.revocationsOf(scene.connectionId)).toHaveLength(scene.live);
      return scene;
    };

    test('a deletion ends without revoking when it is asked for so, and says what may live on', async () => {
      const scene = await deleting();
      const known = (await scene.out.revocationsOf(scene.connectionId)).map(({ externalId }) => externalId).toSorted();

      const { credentialDebts } = payloadOf(await scene.out.delete(scene.id, false)) as {
        credentialDebts: Revocation[];
      };

      expect(credentialDebts.map(({ externalId }) => externalId).toSorted()).toEqual(known);
      expect(await statusOf(scene.id)).toBe('gone');
      const records = await strongroom.auditRows(`action = 'secret-rotation:give-up-debt' and project_id = $1`, [
        scene.project.id,
      ]);
      for (const id of known)
        expect(records.map(({ facts }) => facts.credential)).toContainEqual(expect.stringContaining(`(ID ${id})`));
      const [notice] = (await noticesOf(scene.project.id)).filter(({ occurrence }) => occurrence === 'given-up');
      for (const id of known) expect(notice?.facts.fields['May be valid']).toContain(String(id));
      await end(scene);
    });

    test('a deletion ends when the last of its credentials is given up', async () => {
      const scene = await deleting();
      const revocations = await scene.out.revocationsOf(scene.connectionId);
      for (const { debtId } of revocations) {
        expect(await statusOf(scene.id)).toBe('deleting');
        mustSucceed(await scene.out.giveUp([debtId]));
      }
      expect(await statusOf(scene.id)).toBe('gone');
      await end(scene);
    });

    test('the job that revokes cannot be cancelled before, and names what helps', async () => {
      const scene = await deleting();
      const refusal = await scene.out.cancelJob(await jobOf('pay-debts', scene.connectionId));
      expect(refusal).toBeError(409, 'JOB_IS_NEEDED');
      expect(refusal.text).toContain('giveUpCredentialDebts');
      mustSucceed(await scene.out.delete(scene.id, false));
      await end(scene);
    });

    test('what cannot be revoked for a day is notified once', async () => {
      const scene = await deleting();
      await strongroom.sql(
        `update credential_debt set created_at = now() - interval '25 hours' where rotation_id = $1`,
        [scene.id],
      );
      const notified = async () =>
        (await noticesOf(scene.project.id)).filter(({ occurrence }) => occurrence === 'not-revoked').length;
      const tries = async () => {
        const [row] = await strongroom.sql<{ least: number }>(
          'select min(tries) as least from credential_debt where rotation_id = $1',
          [scene.id],
        );
        return row?.least ?? 0;
      };
      await until('three tries', WITHIN_MS, async () => {
        await scene.rotating.hurry();
        return (await tries()) >= 3;
      });
      expect(await notified()).toBe(scene.live);
      mustSucceed(await scene.out.delete(scene.id, false));
      await end(scene);
    });

    test.each(['success', 'failed', 'needs_reconciliation'] as const)(
      'a rotation that is %s is deleted',
      async (status) => {
        walked.add(status);
        const scene = await tokens(async (rotating, id) => {
          rotating.fake.fail({ on: 'revoke', how: 503 });
          mustSucceed(await rotating.rotate(id));
          await strongroom.sql('update secret_rotation set status = $2 where id = $1', [id, status]);
        });
        // One that was replaced is still to be revoked.
        expect(await scene.out.revocationsOf(scene.connectionId)).toHaveLength(1);
        await end(scene);
      },
    );

    describeWithSamba('with a real server', () => {
      beforeAll(async () => {
        samba ??= await Samba.start();
      });

      /** A call whose result cannot be looked up, because the server is gone. */
      async function unknown() {
        const server = samba as Samba;
        const proxy = await CuttingProxy.start(server.port);
        const accounts = await RotatingAccounts.start(strongroom, server, proxy.port);
        const account = await server.account();
        const { id } = await accounts.create('login-as-target', account);
        await pause(true, 'rotate');
        await begin(accounts.admin, id);
        await strongroom.sql(
          `update secret_rotation_attempt set state = 'calling', calls = 1, called_at = now() - interval '10 minutes'
           where rotation_id = $1 and ended_at is null`,
          [id],
        );
        await proxy.stop();
        await pause(false);
        await until('the result to be looked up in vain', 120_000, async () => {
          await accounts.hurry();
          return ((await attemptOf(id))?.tries ?? 0) > 0;
        });
        const { connectionId } = accounts;
        const out = over(accounts.admin, 'smb', 'hostos-local-account');
        return { accounts, id, out, connectionId, target: `${server.host}:${proxy.port}` };
      }

      test.each(['its attempt', 'its job'])('a change without a result ends when %s is cancelled', async (what) => {
        const { id, out, ...scene } = await unknown();
        const attempt = await attemptOf(id);
        const reply = await (what === 'its job'
          ? out.cancelJob(await jobOf('rotate', id))
          : out.cancelAttempt(attempt?.id ?? ''));
        mustSucceed(reply);
        expect(await statusOf(id)).toBe('needs_reconciliation');
        expect(await out.delete(id, true)).toBeError(502, 'UPSTREAM_UNREACHABLE');
        expect(payloadOf(await out.delete(id, false))).toMatchObject({
          credentialDebts: [{ target: scene.target, externalName: expect.any(String) }],
        });
        await expectLeads(out, { ...scene, rotation: id });
      });

      test('a change without a result ends by itself after a day', async () => {
        const { id, out, ...scene } = await unknown();
        await strongroom.sql(
          `update secret_rotation_attempt set called_at = now() - interval '25 hours' where rotation_id = $1 and ended_at is null`,
          [id],
        );
        await until('the attempt to have ended', 120_000, async () => {
          await scene.accounts.hurry();
          return (await attemptOf(id)) === undefined;
        });
        expect(await statusOf(id)).toBe('needs_reconciliation');
        const notices = await noticesOf(scene.accounts.project.id);
        expect(notices.map(({ occurrence }) => occurrence)).toEqual(['undecided 1']);
        await expectLeads(out, { ...scene, rotation: id });
      });
    });
  });

  test('is revoked after all when the job that should was cancelled before', async () => {
    const rotating = await Rotating.start(strongroom);
    const { id } = await rotating.create();
    await rotating.expectRotates(id);
    rotating.fake.fail({ on: 'revoke', how: 503, times: 1 });
    mustSucceed(await rotating.rotate(id));
    const job = await jobOf('pay-debts', rotating.connectionId);
    await until('the revocation to have failed', WITHIN_MS, async () => {
      const rows = await strongroom.sql(`select id from job where id = $1 and state = 'waiting'`, [job]);
      return (
        rows.length > 0 &&
        (await strongroom.sql('select id from credential_debt where tries > 0 and rotation_id = $1', [id])).length > 0
      );
    });
    await strongroom.sql(`update job set state = 'cancelled', wake_at = null, finished_at = now() where id = $1`, [
      job,
    ]);
    await strongroom.sql(`update credential_debt set next_at = now() - interval '1 hour' where rotation_id = $1`, [id]);
    await strongroom.sql(MAKE_DUE, ['secret-rotations:find-due']);
    await until('it to be revoked', WITHIN_MS, async () => {
      const rows = await strongroom.sql('select id from credential_debt where rotation_id = $1', [id]);
      return rows.length === 0;
    });
    await rotating.expectWhole(id);
    await rotating.expectLeavesNothing(id);
    await rotating.stop();
  });

  test('is walked from every state that an attempt or a rotation can wait in', () => {
    const open = ATTEMPT_STATES.filter((state) => !isFinal(state));
    expect([...walked].toSorted()).toEqual([...new Set([...open, ...ROTATION_STATUSES])].toSorted());
  });
});
