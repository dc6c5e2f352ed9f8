import {
  reencryptionStatementsOf,
  scanStatementOf,
} from '../../../src/features/operations/project-reencryptions/project-reencryption.sql.js';
import { SEALED_TABLES } from '../../../src/start/tables.js';
import { type Caller, mustSucceed } from '../../kit/caller.js';
import { Rotating } from '../../kit/rotating.js';
import { otherNodeInAll, testInAll } from '../../kit/scope.js';
import { LENIENT, type OtherNode, useSharedStrongroom } from '../../kit/strongroom.js';
import { withClient } from '../../kit/tables.js';
import { until } from '../../kit/until.js';
import { CANARY, seedWorld, type World } from '../../kit/world.js';

const KIND = 'project-reencryptions:reencrypt';
const WITHIN_MS = 60_000;
/** Longer than a re-encryption settles. */
const SETTLING_SECONDS = 400;

describe('re-encryptions of projects', () => {
  const strongroom = useSharedStrongroom(LENIENT);
  let node: OtherNode;
  beforeAll(async () => {
    node = await otherNodeInAll(strongroom);
  });

  const atNode = ({ token }: Caller): Caller => node.caller(token ?? '');
  const start = async (admin: Caller, projectId: string) =>
    mustSucceed(await admin.post(`/api/v1/projects/${projectId}/re-encryptions`, {})).body.reencryption;
  const get = async (admin: Caller, id: string) =>
    mustSucceed(await admin.get(`/api/v1/re-encryptions/${id}`)).body.reencryption;
  const act = (admin: Caller, id: string, verb: string) => admin.post(`/api/v1/re-encryptions/${id}/${verb}`, {});
  const inState = (admin: Caller, id: string, state: string) =>
    until(`the state ${state}`, WITHIN_MS, async () => {
      const found = await get(admin, id);
      return found.state === state && found;
    });
  /** Time passes for a re-encryption that settles, and for the keys that it has retired. */
  async function settled(admin: Caller, id: string) {
    const EARLIER = `- interval '${SETTLING_SECONDS} seconds'`;
    for (const change of [
      `update data_key set retired_at = retired_at ${EARLIER} where project_id = (select project_id from project_reencryption where id = $1)`,
      `update project_reencryption set settling_since = settling_since ${EARLIER} where id = $1`,
    ])
      await strongroom.sql(change, [id]);
    return until('the state done', WITHIN_MS, async () => {
      // Again and again: the run that has begun to settle may plan the next one only now.
      await strongroom.sql(
        `update job set wake_at = now() where subject_id = $1 and state = 'waiting' and wake_at > now()`,
        [id],
      );
      const found = await get(admin, id);
      return found.state === 'done' && found;
    });
  }

  /** Waits until it has destroyed the former keys: time passes. */
  async function finished(admin: Caller, id: string) {
    await inState(admin, id, 'settling');
    return settled(admin, id);
  }

  /** No job re-encrypts anything while `work` runs. */
  async function whileNoneRuns<T>(work: () => Promise<T>): Promise<T> {
    const kind = `/api/v1/job-kinds/${KIND}`;
    mustSucceed(await strongroom.admin.post(`${kind}/pause`, {}));
    try {
      return await work();
    } finally {
      mustSucceed(await strongroom.admin.post(`${kind}/resume`, {}));
    }
  }

  const SEALS = SEALED_TABLES.flatMap(({ table, columns }) =>
    Object.keys(columns).map(
      (column) =>
        `select '${table}.${column}' as place, encode(substring(${column}_sealed from 2 for 16), 'hex')::uuid as key, count(*)::integer as count
         from ${table} where project_id = $1 and ${column}_sealed is not null group by 2`,
    ),
  ).join(' union all ');
  /** How many values of a project each key seals, by place. */
  const sealsOf = (projectId: string) =>
    strongroom.sql<{ place: string; key: string; count: number }>(`select * from (${SEALS}) s order by place, key`, [
      projectId,
    ]);
  const keysOf = (projectId: string) =>
    strongroom.sql<{ id: string; isRetired: boolean; isDestroyed: boolean }>(
      `select id, retired_at is not null as "isRetired", destroyed_at is not null as "isDestroyed" from data_key
       where project_id = $1 order by created_at, id`,
      [projectId],
    );

  /** All that callers read of the values of a world. */
  async function valuesOf(caller: Caller, world: World) {
    const at = `projectId=${world.project}&environment=dev`;
    const { secret } = mustSucceed(await caller.get(`/api/v4/secrets/${world.secretKey}?${at}`)).body;
    const versions = mustSucceed(await caller.get(`/api/v1/secrets/${world.secret}/versions`)).body;
    const key = await caller.get(`/api/v1/cert-manager/certificates/${world.certificate}/private-key`);
    const channels = await caller.get(`/api/v1/projects/${world.certificateProject}/notification-channels`);
    const alert = await caller.get(`/api/v1/cert-manager/alerts/${world.certificateAlert}`);
    const values = {
      secret: [secret.secretValue, secret.secretComment, secret.secretMetadata],
      versions,
      key: mustSucceed(key).body,
      channels: mustSucceed(channels).body,
      alert: mustSucceed(alert).body,
    };
    // Time passes in between.
    return JSON.parse(JSON.stringify(values).replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'then'));
  }

  test('know every sealed column of tables with rows of projects', async () => {
    const columns = await strongroom.sql<{ name: string }>(
      `select c.table_name || '.' || c.column_name as name from information_schema.columns c
       join information_schema.columns p on p.table_schema = c.table_schema and p.table_name = c.table_name and p.column_name = 'project_id'
       where c.table_schema = current_schema() and c.column_name like '%\\_sealed' order by 1`,
    );
    const known = SEALED_TABLES.flatMap(({ table, columns: own }) =>
      Object.keys(own).map((column) => `${table}.${column}_sealed`),
    );
    // Keys are wrapped anew, and not sealed anew.
    expect(columns.map(({ name }) => name).filter((name) => !known.includes(name))).toEqual([
      'data_key.wrapped_key_sealed',
    ]);
    expect(known.filter((name) => !columns.some((column) => column.name === name))).toEqual([]);
  });

  test('leave nothing on the former key, of history, certificates and channels neither, destroy it, and keep digests', async () => {
    const { world, admin } = await seedWorld(strongroom.seed, [
      'project',
      'secret',
      'certificate',
      'certificateProject',
      'certificateAlert',
      'certificateAuthority',
      'notificationChannel',
    ]);
    const at = { projectId: world.project, environment: 'dev' };
    mustSucceed(await admin.patch(`/api/v4/secrets/${world.secretKey}`, { ...at, secretValue: 'second' }));
    const projects = [world.project, world.certificateProject];
    const before = await valuesOf(admin, world);
    const sealed = await Promise.all(projects.map(sealsOf));

    for (const [index, projectId] of projects.entries()) {
      const { id, state } = await start(admin, projectId);
      expect(state).toBe('running');
      const total = (sealed[index] ?? []).reduce((sum, { count }) => sum + count, 0);
      expect(total).toBeGreaterThan(2);
      const done = { totalValues: total, doneValues: total, unreadableValues: 0, destroyedKeys: 1 };
      expect(await finished(admin, id)).toMatchObject({ projectId, ...done, finishedAt: expect.any(String) });
      const [former, current, ...others] = await keysOf(projectId);
      expect([former, current, others]).toEqual([
        expect.objectContaining({ isRetired: true, isDestroyed: true }),
        expect.objectContaining({ isRetired: false, isDestroyed: false }),
        [],
      ]);
      expect(await sealsOf(projectId)).toEqual(sealed[index]?.map((row) => ({ ...row, key: current?.id })));
    }
    // The second node opens the new keys for the first time.
    for (const caller of [admin, atNode(admin)]) expect(await valuesOf(caller, world)).toEqual(before);
    expect(before.secret[1]).toContain(CANARY);
    mustSucceed(await atNode(admin).post('/api/v4/secrets/SAME_VALUE', { ...at, secretValue: 'second' }));
    const { duplicateValues } = await atNode(admin).data('{ duplicateValues { nodes { count } } }');
    expect(duplicateValues.nodes).toEqual([{ count: 2 }]);
    const search = { value: 'second', includeFormerVersions: true };
    const found = mustSucceed(await atNode(admin).post('/api/v1/secrets/with-value', search)).body;
    expect([found.isComplete, found.secrets.length]).toEqual([true, 2]);
    const secrets = await strongroom.sql<{ id: string }>('select id from secret where project_id = any($1)', [
      projects,
    ]);
    expect(secrets.map(({ id }) => id)).toContain(world.secret);
    const { faults, differences } = await strongroom.verifyAudit();
    expect({ faults, differing: secrets.filter(({ id }) => differences.some((line) => line.includes(id))) }).toEqual({
      faults: [],
      differing: [],
    });
  });

  test('leave credentials, attempts, messages and pending revocations of rotations and targets of webhooks as they were', async () => {
    const sql = (text: string, params?: unknown[]) => strongroom.sql(text, params);
    const rotating = await Rotating.start({ seed: strongroom.seed, sql });
    const { admin, project, fake } = rotating;
    // By hand alone: at two in the morning they would begin by themselves.
    const byHand = { isAutoRotationEnabled: false };
    const rotations = [await rotating.create(byHand), await rotating.create(byHand)];
    const [whole, failed] = rotations.map(({ id }) => id) as [string, string];
    mustSucceed(await rotating.rotate(whole));
    fake.fail({ on: 'revoke', how: 500 });
    mustSucceed(await rotating.rotate(whole));
    fake.fail({ on: 'create', how: 401 });
    expect(await rotating.rotate(failed)).toBeError(502, 'UPSTREAM_REJECTED');
    const webhooks = `/api/v1/projects/${project.id}/change-webhooks`;
    const hook = { name: 'hook', url: 'https://localhost:1/hook', enabled: false };
    const { changeWebhook } = mustSucceed(await admin.post(webhooks, hook)).body;
    const values = async (caller: Caller) => {
      const { status, body } = await caller.post(`${webhooks}/${changeWebhook.id}/test`, {});
      return {
        credentials: [await rotating.credentials(whole), await rotating.credentials(failed)],
        secret: await rotating.secretOf(whole),
        message: (await rotating.get(failed)).lastRotationMessage,
        test: [status, body.code],
      };
    };
    const before = await values(admin);
    expect(before.message).toContain('401');
    const sealed = await sealsOf(project.id);
    expect(sealed.map(({ place }) => place)).toEqual(
      expect.arrayContaining([
        ...['app_connection.credentials', 'change_webhook.config', 'credential_debt.credential', 'secret.value'],
        ...[
          'secret_rotation_attempt.message',
          'secret_rotation_attempt.result',
          'secret_rotation_credential.credential',
        ],
      ]),
    );

    const { id } = await start(admin, project.id);
    expect(await finished(admin, id)).toMatchObject({ unreadableValues: 0, destroyedKeys: 1 });
    const [, current] = await keysOf(project.id);
    expect(new Set((await sealsOf(project.id)).map(({ key }) => key))).toEqual(new Set([current?.id]));
    for (const caller of [admin, atNode(admin)]) expect(await values(caller)).toEqual(before);
    // What it owes is paid, and what failed goes on, with what is sealed anew.
    fake.recover();
    for (const rotation of [whole, failed]) await rotating.expectRotates(rotation);
  });

  test('seal new values with the new key on every node from their start, can be paused, resumed and cancelled', async () => {
    const { admin, project } = await strongroom.seed.project();
    await strongroom.seed.secrets(admin, project, 'dev', 30);
    const at = `projectId=${project.id}&environment=dev`;
    for (const caller of [admin, atNode(admin)]) mustSucceed(await caller.get(`/api/v4/secrets?${at}`));
    const values = async () => (await sealsOf(project.id)).filter(({ place }) => place === 'secret.value');
    const counts = async () => new Map((await values()).map(({ key, count }) => [key, count]));
    const { id, former, current } = await whileNoneRuns(async () => {
      const started = await start(admin, project.id);
      expect(await admin.post(`/api/v1/projects/${project.id}/re-encryptions`, {})).toBeError(
        409,
        'REENCRYPTION_RUNNING',
      );
      const body = { projectId: project.id, environment: 'dev', secretValue: 'new' };
      mustSucceed(await admin.patch('/api/v4/secrets/KEY_00000', body));
      mustSucceed(await atNode(admin).patch('/api/v4/secrets/KEY_00001', body));
      const [before, now] = await keysOf(project.id);
      expect(await counts()).toEqual(
        new Map([
          [before?.id, 28],
          [now?.id, 2],
        ]),
      );
      expect(mustSucceed(await act(admin, started.id, 'pause')).body.reencryption.state).toBe('paused');
      return { id: started.id, former: before, current: now };
    });
    await until('the job to look', WITHIN_MS, async () => {
      const [job] = await strongroom.sql('select from job where subject_id = $1 and state = $2', [id, 'done']);
      return job;
    });
    expect(await get(admin, id)).toMatchObject({ state: 'paused', doneValues: 0 });

    expect(mustSucceed(await act(admin, id, 'cancel')).body.reencryption).toMatchObject({ state: 'cancelled' });
    for (const verb of ['pause', 'resume', 'cancel'])
      expect(await act(admin, id, verb)).toBeError(409, 'REENCRYPTION_ENDED');
    expect(await counts()).toEqual(
      new Map([
        [former?.id, 28],
        [current?.id, 2],
      ]),
    );

    const next = await start(admin, project.id);
    mustSucceed(await act(admin, next.id, 'pause'));
    expect(mustSucceed(await act(admin, next.id, 'resume')).body.reencryption.state).toBe('running');
    expect(await finished(admin, next.id)).toMatchObject({ totalValues: 62, doneValues: 62, destroyedKeys: 2 });
    const { secrets } = mustSucceed(await atNode(admin).get(`/api/v4/secrets?${at}`)).body;
    expect(secrets.map(({ secretValue }: { secretValue: string }) => secretValue)).toEqual([
      ...['new', 'new'],
      ...Array.from({ length: 28 }, (_, index) => `value-${index + 2}`),
    ]);
    const { reencryptions } = mustSucceed(await admin.get(`/api/v1/projects/${project.id}/re-encryptions`)).body;
    expect(reencryptions.map((row: { id: string }) => row.id)).toEqual([next.id, id]);
  });

  test('never overwrite what is written meanwhile, and keep the former key for what does not open', async () => {
    const { admin, project } = await strongroom.seed.project();
    const keys = await strongroom.seed.secrets(admin, project, 'dev', 450);
    const { id } = await start(admin, project.id);
    const secrets = keys.map((secretKey) => ({ secretKey, secretValue: `newer ${secretKey}` }));
    const body = { projectId: project.id, environment: 'dev' };
    for (let at = 0; at < keys.length; at += 50)
      mustSucceed(await atNode(admin).patch('/api/v4/secrets/batch', { ...body, secrets: secrets.slice(at, at + 50) }));
    // What others wrote anew needs no key any more, and is not counted.
    const { totalValues, doneValues } = await inState(admin, id, 'settling');
    expect(totalValues).toBe(doneValues);
    const list = mustSucceed(await admin.get(`/api/v4/secrets?projectId=${project.id}&environment=dev`)).body.secrets;
    expect(list.map(({ secretValue }: { secretValue: string }) => secretValue)).toEqual(
      keys.map((key) => `newer ${key}`),
    );
    // Somebody puts a value of before back: it was sealed for another version.
    await strongroom.sql(
      `update secret s set value_sealed = set_byte(value_sealed, 40, 255 - get_byte(value_sealed, 40)) where project_id = $1 and key = $2`,
      [project.id, keys[0]],
    );
    const former = (await keysOf(project.id))[0]?.id;
    await strongroom.sql(
      `update secret set value_sealed = overlay(value_sealed placing uuid_send($3::uuid) from 2) where project_id = $1 and key = $2`,
      [project.id, keys[0], former],
    );
    expect(await settled(admin, id)).toMatchObject({ unreadableValues: 1, destroyedKeys: 0 });
  });

  /** Versions of a secret beyond those that it has. What they seal is of another version, and opens for none of them. */
  const addVersions = (secretId: string, count: number) =>
    strongroom.sql(
      `insert into secret_version select (jsonb_populate_record(v, jsonb_build_object('version', v.version + n))).*
       from secret_version v, generate_series(1, $2::integer) n where v.secret_id = $1 and v.version = 1`,
      [secretId, count],
    );

  testInAll('walk through projects of any size in statements of a bounded number of rows', async () => {
    const MOST = 100;
    const { admin, project } = await strongroom.seed.project();
    await strongroom.seed.secrets(admin, project, 'dev', 1);
    const [secret] = await strongroom.sql<{ id: string }>('select id from secret where project_id = $1', [project.id]);
    await addVersions(secret?.id ?? '', 6_000);
    await strongroom.sql('analyze secret_version');
    const [key] = await keysOf(project.id);
    await withClient(strongroom.databaseUrl, async (client) => {
      const run = async (name: string, text: string, values: string) => {
        await client.query(`prepare ${name} as ${text}`);
        const { rows } = await client.query(`explain (analyze, format json) execute ${name}(${values})`);
        const counts = JSON.stringify(rows[0]?.['QUERY PLAN']).matchAll(
          /"(?:Actual Rows|Rows Removed by Filter)":(\d+)/g,
        );
        return Math.max(...Array.from(counts, ([, count]) => Number(count)));
      };
      await client.query('set plan_cache_mode = force_generic_plan');
      const versions = SEALED_TABLES.find(({ table }) => table === 'secret_version');
      if (versions === undefined) throw new Error('there is no such table');
      const from = `array[uuid_send('${key?.id}'::uuid)], '${secret?.id}', 2000`;
      expect(await run('looked', scanStatementOf(versions).text, `'${project.id}', ${from}, ${MOST}`)).toBe(MOST);
      // None waits: it does not go on to find one.
      const none = from.replace(key?.id ?? '', secret?.id ?? '');
      expect(await run('passed', scanStatementOf(versions).text, `'${project.id}', ${none}, ${MOST}`)).toBe(MOST);
      for (const [name, keys] of [
        ['took', from],
        ['missed', none],
      ] as const) {
        const values = `'${project.id}', ${keys}, '${secret?.id}', ${2_000 + MOST}, 50`;
        expect(await run(name, reencryptionStatementsOf(versions, 'value').next.text, values)).toBeLessThanOrEqual(
          MOST,
        );
      }
    });

    // Larger than what one statement looks at.
    const { id } = await start(admin, project.id);
    expect(await inState(admin, id, 'settling')).toMatchObject({ totalValues: 6_002 });
    const ended = await settled(admin, id);
    expect(ended).toMatchObject({ doneValues: 2, unreadableValues: 6_000, totalValues: 6_002, destroyedKeys: 0 });
  });
});
