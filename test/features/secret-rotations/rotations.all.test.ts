import { randomUUID } from 'node:crypto';
import { mustSucceed } from '../../kit/caller.ts';
import { Rotating } from '../../kit/rotating.ts';
import { MAKE_DUE } from '../../kit/schedules.js';
import { useStrongroom } from '../../kit/strongroom.ts';
import { until } from '../../kit/until.ts';

const PATH = '/api/v2/secret-rotations/datatool-service-token';
const NOBODY = '00000000-0000-4000-8000-000000000000';

describe('a rotation of service tokens', () => {
  const strongroom = useStrongroom({ ALLOW_PRIVATE_TARGETS: 'true', LOG_LEVEL: 'info' });
  let rotating: Rotating;
  beforeAll(async () => {
    rotating = await Rotating.start(strongroom);
  });
  afterEach(() => rotating?.fake.recover());
  afterAll(() => rotating?.stop());

  const rowOf = async (id: string) => (await strongroom.sql('select * from secret_rotation where id = $1', [id]))[0];
  /** Has its time come, and waits until it has run by itself. */
  async function runByItself(id: string): Promise<void> {
    const before = (await rowOf(id))?.attempts;
    await strongroom.sql(`update secret_rotation set next_rotation_at = now() - interval '1 second' where id = $1`, [
      id,
    ]);
    await until('the automatic run', 30_000, async () => {
      const row = await rowOf(id);
      if (row?.attempts > before) return row?.status !== 'in_progress';
      // What is due is looked for once a minute, which is too seldom for a test: as if it had been found.
      await strongroom.sql(
        `update job set state = 'waiting', wake_at = now(), attempts = 0, finished_at = null
         where kind = 'secret-rotations:rotate' and subject_id = $1 and state = 'done'`,
        [id],
      );
      return false;
    });
  }

  test('makes a token at once, and replaces it, with the one before it alive until the rotation after', async () => {
    const rotation = await rotating.create();
    expect(rotation).toMatchObject({ rotationStatus: 'success', activeIndex: 0, lastRotationMessage: null });
    await rotating.expectWhole(rotation.id);
    const [first] = await rotating.credentials(rotation.id);
    const rotated = mustSucceed(await rotating.rotate(rotation.id)).body.secretRotation;
    expect(rotated).toMatchObject({ rotationStatus: 'success', activeIndex: 1, isLastRotationManual: true });
    await rotating.settled();
    await rotating.expectWhole(rotation.id);
    expect(rotating.fake.tokens.works(first?.serviceToken ?? '')).toBe(true);
    mustSucceed(await rotating.rotate(rotation.id));
    await rotating.settled();
    await rotating.expectWhole(rotation.id);
    expect(rotating.fake.tokens.works(first?.serviceToken ?? '')).toBe(false);
    expect(await rotating.credentials(rotation.id)).toHaveLength(2);
  });

  test('is shown as the interface has it, and its secret is marked and protected', async () => {
    const body = rotating.body({ description: 'For the reports' });
    const { secretRotation } = mustSucceed(await rotating.post(body)).body;
    const key = (body.secretsMapping as { serviceToken: string }).serviceToken;
    const [dev] = rotating.project.environments;
    expect(secretRotation).toEqual({
      id: expect.any(String),
      name: body.name,
      folderId: expect.any(String),
      connectionId: rotating.connectionId,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
      rotationInterval: 30,
      rotationStatus: 'success',
      lastRotationAttemptedAt: expect.any(String),
      lastRotatedAt: expect.any(String),
      connection: { app: 'datatool', name: expect.any(String), id: rotating.connectionId },
      environment: { slug: 'dev', name: dev.name, id: dev.id },
      projectId: rotating.project.id,
      folder: { id: secretRotation.folderId, path: '/' },
      rotateAtUtc: { hours: 2, minutes: 30 },
      type: 'datatool-service-token',
      parameters: { tokenName: 'reporting', permissionGrants: [{ permissionSet: 'job_viewer', projectId: null }] },
      secretsMapping: { serviceToken: key },
      description: 'For the reports',
      isAutoRotationEnabled: true,
      activeIndex: 0,
      lastRotationJobId: expect.any(String),
      nextRotationAt: expect.stringMatching(/T02:30:00/),
      isLastRotationManual: true,
      lastRotationMessage: null,
    });
    const query = `projectId=${rotating.project.id}&environment=dev&secretPath=/`;
    const { secret } = mustSucceed(await rotating.admin.get(`/api/v4/secrets/${key}?${query}`)).body;
    expect(secret).toMatchObject({ isRotatedSecret: true, rotationId: secretRotation.id });
    const change = { projectId: rotating.project.id, environment: 'dev', secretPath: '/', secretValue: 'mine' };
    expect(await rotating.admin.patch(`/api/v4/secrets/${key}`, change)).toBeError(409, 'ROTATED_SECRET');
    const list = mustSucceed(
      await rotating.admin.get(`/api/v2/secret-rotations?projectId=${rotating.project.id}`),
    ).body;
    expect(list.secretRotations).toContainEqual(secretRotation);
    const byName = `${PATH}/rotation-name/${body.name}?${query}`;
    expect(mustSucceed(await rotating.admin.get(byName)).body).toEqual({ secretRotation });
    expect(await rotating.admin.get(`/api/v2/secret-rotations/datatool-service-token/${NOBODY}`)).toBeError(
      404,
      'SECRET_ROTATION_NOT_FOUND',
    );
  });

  test('nothing changes outside when anything inside does not fit', async () => {
    const { fake, admin } = rotating;
    const taken = rotating.body();
    mustSucceed(await rotating.post(taken));
    const free = () => rotating.body();
    const { writes } = fake;
    const stranger = await strongroom.seed.caller(admin, { project: rotating.project.id });
    const refusals = await Promise.all([
      rotating.post({ ...free(), name: taken.name }),
      rotating.post({ ...free(), secretsMapping: taken.secretsMapping }),
      rotating.post({ ...free(), secretPath: '/nowhere' }),
      rotating.post({ ...free(), environment: 'nowhere' }),
      rotating.post({ ...free(), connectionId: NOBODY }),
      rotating.post({ ...free(), rotationInterval: 0 }),
      rotating.post({ ...free(), parameters: { tokenName: 'x', permissionGrants: [] } }),
      admin.anonymous.post(PATH, free()),
      stranger.post(PATH, free()),
    ]);
    expect(refusals.map(({ status }) => status)).toEqual([409, 409, 404, 404, 404, 422, 422, 401, 403]);
    expect(fake.writes).toBe(writes);
    fake.fail({ on: 'account', how: 401 });
    const refused = await rotating.post();
    expect(refused).toBeError(502, 'UPSTREAM_REJECTED');
    expect(refused.body.details).toMatchObject([{ path: 'body' }]);
    expect(fake.writes).toBe(writes);
  });

  test('runs by itself when its time has come, and not before; a success moves the next time on', async () => {
    const { id } = await rotating.create();
    await runByItself(id);
    await rotating.settled();
    await rotating.expectWhole(id);
    const rotation = mustSucceed(await rotating.admin.get(`${PATH}/${id}`)).body.secretRotation;
    expect(rotation).toMatchObject({ rotationStatus: 'success', activeIndex: 1, isLastRotationManual: false });
    const last = new Date(rotation.lastRotatedAt);
    const next = new Date(rotation.nextRotationAt);
    expect([next.getUTCHours(), next.getUTCMinutes()]).toEqual([2, 30]);
    const days = (next.getTime() - last.getTime()) / 86_400_000;
    expect(days).toBeGreaterThan(29);
    expect(days).toBeLessThanOrEqual(30);
    const rows = await strongroom.auditRows(`facts ->> 'rotationId' = $1 and action like 'secret-rotation:%'`, [id]);
    expect(rows.slice(0, 4).map(({ action, actor_kind }) => `${action} ${actor_kind}`)).toEqual([
      'secret-rotation:create identity',
      'secret-rotation:publish system',
      'secret-rotation:begin system',
      'secret-rotation:publish system',
    ]);
  });

  test('a pause really pauses, and neither a restart nor an edit of the schedule begins anything', async () => {
    const { id } = await rotating.create();
    mustSucceed(await rotating.admin.patch(`${PATH}/${id}`, { isAutoRotationEnabled: false }));
    await strongroom.sql(MAKE_DUE, ['secret-rotations:find-due']);
    expect((await rotating.get(id)).nextRotationAt).toBeNull();
    mustSucceed(await rotating.rotate(id));
    expect((await rotating.get(id)).nextRotationAt).toBeNull();
    const { attempts } = (await rowOf(id)) as { attempts: number };
    for (const change of [
      { isAutoRotationEnabled: true },
      { rotationInterval: 1 },
      { rotateAtUtc: { hours: 0, minutes: 0 } },
    ])
      mustSucceed(await rotating.admin.patch(`${PATH}/${id}`, change));
    expect(new Date((await rotating.get(id)).nextRotationAt ?? 0).getTime()).toBeGreaterThan(Date.now());
    await strongroom.sql(MAKE_DUE, ['secret-rotations:find-due']);
    await until('the schedule to have been looked at', 20_000, async () => {
      const [row] = await strongroom.sql(
        `select wake_at > now() and state = 'done' as is_later from job where kind = 'secret-rotations:find-due' and every_seconds is not null`,
      );
      return row?.is_later === true;
    });
    expect((await rowOf(id))?.attempts).toBe(attempts);
  });

  test('what fails is tried again with pauses, notifies once, and is paused before our retries lock an account', async () => {
    const { id } = await rotating.create();
    mustSucceed(
      await rotating.admin.post(`/api/v1/projects/${rotating.project.id}/notification-channels`, {
        name: `channel-${randomUUID()}`,
        kinds: ['rotation-failure'],
        config: { webhook: { url: 'https://localhost:1/' } },
      }),
    );
    rotating.fake.fail({ on: 'create', how: 401 });
    const failed = await rotating.rotate(id);
    expect(failed).toBeError(502, 'UPSTREAM_REJECTED');
    const first = await rotating.get(id);
    expect(first).toMatchObject({ rotationStatus: 'failed', lastRotationMessage: expect.stringContaining('401') });
    expect(new Date(first.nextRotationAt ?? 0).getTime()).toBeLessThan(Date.now() + 120_000);
    await rotating.expectWhole(id);
    for (let failures = 2; failures <= 10; failures += 1)
      expect(await rotating.rotate(id)).toBeError(502, 'UPSTREAM_REJECTED');
    expect(await rowOf(id)).toMatchObject({
      failures: 10,
      pause_reason: 'CREDENTIALS_REJECTED',
      next_rotation_at: null,
    });
    const notices = await strongroom.sql('select occurrence from notice where subject_id = $1 order by created_at', [
      id,
    ]);
    expect(notices.map(({ occurrence }) => occurrence)).toEqual(['failed 1', 'paused 1']);
    rotating.fake.recover();
    await rotating.expectRotates(id);
    expect(await rowOf(id)).toMatchObject({ failures: 0, pause_reason: null });
  });

  test('fifty callers at once make one new token, and 49 are told which attempt runs', async () => {
    const { id } = await rotating.create();
    const { length } = rotating.fake.tokens.all();
    // However long the others take to come, they come while it runs.
    const { promise: until, resolve: answer } = Promise.withResolvers<void>();
    rotating.fake.fail({ on: 'create', how: 'late', when: 'after', until, times: 1 });
    let refused = 0;
    const rotate = async () => {
      const reply = await rotating.rotate(id, rotating.admin.patient);
      if (reply.status !== 200) refused += 1;
      if (refused === 49) answer();
      return reply;
    };
    const replies = await Promise.all(Array.from({ length: 50 }, rotate));
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
    const others = replies.filter(({ status }) => status !== 200);
    for (const reply of others) expect(reply).toBeError(409, 'ROTATION_RUNNING');
    const attempts = new Set(others.map(({ body }) => body.details[0].message));
    expect(attempts.size).toBe(1);
    expect(rotating.fake.tokens.all()).toHaveLength(length + 1);
    await rotating.settled();
    await rotating.expectWhole(id);
  });

  test('a deletion that cannot revoke says so, stays, and goes on when it can', async () => {
    const { id } = await rotating.create();
    mustSucceed(await rotating.rotate(id));
    await rotating.settled();
    rotating.fake.fail({ on: 'revoke', how: 500 });
    expect(await rotating.delete(id, '?revokeGeneratedCredentials=true&deleteSecrets=true')).toBeError(
      502,
      'UPSTREAM_REJECTED',
    );
    expect(await rotating.get(id)).toMatchObject({ rotationStatus: 'deleting' });
    expect(await rotating.secretOf(id)).toBe((await rotating.credentials(id))[1]?.serviceToken);
    expect(await rotating.rotate(id)).toBeError(409, 'ROTATION_DELETING');
    expect(await rotating.admin.patch(`${PATH}/${id}`, { rotationInterval: 2 })).toBeError(409, 'ROTATION_DELETING');
    rotating.fake.recover();
    mustSucceed(await rotating.delete(id));
    await rotating.settled();
    expect(await rotating.admin.get(`${PATH}/${id}`)).toBeError(404, 'SECRET_ROTATION_NOT_FOUND');
    expect(await strongroom.sql('select id from secret where rotation_id = $1', [id])).toEqual([]);
  });

  test('deleted without its secrets it leaves ordinary ones, and its tokens as they are', async () => {
    const body = rotating.body();
    const { id } = mustSucceed(await rotating.post(body)).body.secretRotation;
    const value = await rotating.secretOf(id);
    mustSucceed(await rotating.delete(id));
    const key = (body.secretsMapping as { serviceToken: string }).serviceToken;
    const query = `projectId=${rotating.project.id}&environment=dev&secretPath=/`;
    const { secret } = mustSucceed(await rotating.admin.get(`/api/v4/secrets/${key}?${query}`)).body;
    expect(secret).toMatchObject({ isRotatedSecret: false, rotationId: null, secretValue: value });
    expect(rotating.fake.tokens.works(value)).toBe(true);
    const change = { projectId: rotating.project.id, environment: 'dev', secretPath: '/', secretValue: 'mine' };
    mustSucceed(await rotating.admin.patch(`/api/v4/secrets/${key}`, change));
  });

  test('its secrets are renamed by another mapping, and moved with it', async () => {
    const { id } = await rotating.create();
    const secretsMapping = { serviceToken: `OTHER_${randomUUID().slice(0, 8).toUpperCase()}` };
    mustSucceed(await rotating.admin.patch(`${PATH}/${id}`, { secretsMapping }));
    await rotating.expectWhole(id);
    const destination = { destinationEnvironment: 'prod', destinationSecretPath: '/' };
    const moved = mustSucceed(await rotating.admin.post(`${PATH}/${id}/move`, destination)).body.secretRotation;
    expect(moved).toMatchObject({ environment: { slug: 'prod' }, secretsMapping });
    mustSucceed(await rotating.rotate(id));
    const back = { destinationEnvironment: 'dev', destinationSecretPath: '/' };
    mustSucceed(await rotating.admin.post(`${PATH}/${id}/move`, back));
    await rotating.settled();
    await rotating.expectWhole(id);
  });

  test('a token that there is, is not taken over: nothing says that an ID and a value are of one token', async () => {
    const { fake, connectionId } = rotating;
    const made = fake.tokens.add('made by hand');
    const calls = fake.calls.length;
    const temporaryParameters = { tokenId: String(made.id), serviceToken: made.token };
    for (const changes of [{ adopt: true }, { adopt: true, temporaryParameters }, { temporaryParameters }])
      expect(await rotating.post(changes)).toBeError(422, 'VALIDATION_FAILED');
    const { body } = await rotating.post({ adopt: true });
    expect(body.details).toMatchObject([{ path: 'body.adopt', message: expect.stringContaining('Omit adopt') }]);
    expect(fake.calls).toHaveLength(calls);
    const { id } = await rotating.create({ connectionId });
    await rotating.expectWhole(id);
    expect(fake.tokens.works(made.token)).toBe(true);
  });

  test('is refused before anything is created if the token of the connection may not see service tokens', async () => {
    const { admin, fake, project } = rotating;
    const body = {
      ...{ name: `tool-${randomUUID().slice(0, 8)}`, method: 'api-token', projectId: project.id },
      credentials: { ...fake.credentials, apiToken: fake.readToken },
    };
    const { appConnection } = mustSucceed(await admin.post('/api/v1/app-connections/datatool', body)).body;
    const creations = () => fake.calls.filter(({ call }) => call === 'create').length;
    const before = creations();
    const refused = await rotating.post({ connectionId: appConnection.id });
    expect(refused).toBeError(502, 'UPSTREAM_REJECTED');
    expect(refused.body.details).toMatchObject([{ code: 'PERMISSION_MISSING' }]);
    expect(creations()).toBe(before);
    mustSucceed(await admin.delete(`/api/v1/app-connections/datatool/${appConnection.id}`));
  });

  test('no connection gets a token that a rotation has published, as it would lose it', async () => {
    const { admin, fake, project } = rotating;
    const { id } = await rotating.create();
    mustSucceed(await rotating.rotate(id));
    await rotating.settled();
    const connection = (apiToken: string) => ({
      ...{ name: `tool-${randomUUID().slice(0, 8)}`, method: 'api-token', projectId: project.id },
      credentials: { ...fake.credentials, apiToken },
    });
    const path = '/api/v1/app-connections/datatool';
    const spare = mustSucceed(await admin.post(path, connection(fake.apiToken))).body.appConnection;
    for (const { serviceToken } of await rotating.credentials(id)) {
      const refused = [
        await admin.post(path, connection(serviceToken)),
        await admin.patch(`${path}/${spare.id}`, { credentials: { apiToken: serviceToken } }),
      ];
      for (const reply of refused) {
        expect(reply).toBeError(409, 'ACCOUNT_ROTATED');
        expect(reply.body.details).toMatchObject([{ path: `rotations.${id}` }]);
      }
    }
    mustSucceed(await admin.post(`${path}/${spare.id}/check`, undefined));
    const other = await Rotating.start(strongroom);
    try {
      const [active] = await rotating.credentials(id);
      const elsewhere = { ...connection(active?.serviceToken ?? ''), projectId: other.project.id };
      mustSucceed(await other.admin.post(path, elsewhere));
    } finally {
      await other.stop();
    }
  });

  test('no connection gets a token that is still to be revoked, also of a deleted rotation, until it is', async () => {
    const own = await Rotating.start(strongroom);
    const { admin, fake, project } = own;
    const path = '/api/v1/app-connections/datatool';
    const post = (apiToken: string) =>
      admin.post(path, {
        ...{ name: `tool-${randomUUID().slice(0, 8)}`, method: 'api-token', projectId: project.id },
        credentials: { ...fake.credentials, apiToken },
      });
    try {
      const { id } = await own.create();
      const [first] = await own.credentials(id);
      const token = first?.serviceToken ?? '';
      mustSucceed(await own.rotate(id));
      fake.fail({ on: 'revoke', how: 500 });
      mustSucceed(await own.rotate(id));
      for (const isDeleted of [false, true]) {
        if (isDeleted) mustSucceed(await own.delete(id));
        const refused = [
          await post(token),
          await admin.patch(`${path}/${own.connectionId}`, { credentials: { apiToken: token } }),
        ];
        for (const reply of refused) {
          expect(reply).toBeError(409, 'ACCOUNT_ROTATED');
          expect(reply.body.details).toMatchObject([{ path: expect.stringMatching(/^credentialDebts\./) }]);
        }
      }
      fake.recover();
      await own.settled();
      expect(await post(token)).toBeError(502, 'UPSTREAM_REJECTED');
      mustSucceed(await post(fake.apiToken));
    } finally {
      await own.stop();
    }
  });

  test('many run one after the other, of a project or a connection; a dry run only names them', async () => {
    const others = await Rotating.start(strongroom);
    try {
      const made = [await others.create(), await others.create({ isAutoRotationEnabled: false })];
      const many = (input: object) =>
        others.admin.data(
          'mutation ($input: RotateManySecretsInput!) { rotateManySecrets(input: $input) { rotations { secretRotation { id } dueAt } } }',
          { input },
        );
      const { length } = others.fake.tokens.all();
      const dry = await many({ connectionId: others.connectionId, dryRun: true });
      expect(dry.rotateManySecrets.rotations.map(({ dueAt }: { dueAt: string | null }) => dueAt)).toEqual([null, null]);
      expect(others.fake.tokens.all()).toHaveLength(length);
      const { rotateManySecrets } = await many({ projectId: others.project.id, staggerSeconds: 1 });
      const times = rotateManySecrets.rotations.map(({ dueAt }: { dueAt: string }) => Date.parse(dueAt));
      expect(Math.abs(times[1] - times[0])).toBe(1_000);
      for (const { id } of made) {
        await until('both to have run', 30_000, async () => (await others.get(id)).activeIndex === 1);
        await others.expectWhole(id);
      }
    } finally {
      await others.stop();
    }
  });

  test('what is to come is listed, and a preview changes nothing', async () => {
    const { id } = await rotating.create({ rotationInterval: 7 });
    const { upcomingSecretRotations } = await rotating.admin.data(
      'query ($projectId: ID!) { upcomingSecretRotations(projectId: $projectId, days: 30) { runs { at secretRotation { id } } } }',
      { projectId: rotating.project.id },
    );
    const runs = upcomingSecretRotations.runs.filter(
      ({ secretRotation }: { secretRotation: { id: string } }) => secretRotation.id === id,
    );
    expect(runs.length).toBeGreaterThanOrEqual(3);
    const { writes } = rotating.fake;
    const { parameters, secretsMapping, ...input } = rotating.body() as Record<string, object>;
    const { previewSecretRotation } = await rotating.admin.data(
      'mutation ($input: PreviewSecretRotationInput!) { previewSecretRotation(input: $input) { secretKeys hasOverlappingCredentials nextRotationAt } }',
      {
        input: {
          ...input,
          content: {
            datatoolServiceToken: {
              parameters: { tokenName: 'reporting', permissionGrants: [{ permissionSet: 'JOB_VIEWER' }] },
              secretsMapping,
            },
          },
        },
      },
    );
    void parameters;
    expect(previewSecretRotation).toEqual({
      secretKeys: Object.values(secretsMapping ?? {}),
      hasOverlappingCredentials: true,
      nextRotationAt: expect.stringMatching(/T02:30/),
    });
    expect(rotating.fake.writes).toBe(writes);
    expect(await strongroom.sql('select id from secret_rotation where name = $1', [input.name])).toEqual([]);
  });

  test('an attempt is cancelled until the external system is asked', async () => {
    const { id } = await rotating.create();
    await strongroom.sql(`update job_kind set is_paused = true where name = 'secret-rotations:rotate'`);
    try {
      const { rotateSecrets } = await rotating.admin.data(
        'mutation ($input: RotateSecretsInput!) { rotateSecrets(input: $input) { attempt { attemptId state } secretRotation { status } } }',
        { input: { id, wait: false } },
      );
      expect(rotateSecrets).toMatchObject({ attempt: { state: 'PLANNED' }, secretRotation: { status: 'IN_PROGRESS' } });
      const cancel = () =>
        rotating.admin.graphql(
          'mutation ($input: CancelSecretRotationAttemptInput!) { cancelSecretRotationAttempt(input: $input) { attempt { state } } }',
          { input: { attemptId: rotateSecrets.attempt.attemptId } },
        );
      expect(mustSucceed(await cancel()).body.data.cancelSecretRotationAttempt.attempt).toEqual({ state: 'CANCELLED' });
      expect(await cancel()).toBeError(409, 'ROTATION_ATTEMPT_BEGUN');
      expect(await rotating.get(id)).toMatchObject({ rotationStatus: 'success' });
    } finally {
      await strongroom.sql(`update job_kind set is_paused = false where name = 'secret-rotations:rotate'`);
    }
    await rotating.expectRotates(id);
  });

  test('no token is in the audit trail, the log or the job tables', async () => {
    const texts = [
      await strongroom.log(),
      JSON.stringify(await strongroom.auditRows()),
      JSON.stringify(await strongroom.sql('select * from job')),
    ];
    const secrets = [rotating.fake.apiToken, ...rotating.fake.tokens.all().map(({ token }) => token)];
    for (const secret of secrets) for (const text of texts) expect(text.includes(secret)).toBe(false);
  });
});
