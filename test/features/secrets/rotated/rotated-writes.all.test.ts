import { randomUUID } from 'node:crypto';
import { assemble } from '../../../../src/app.js';
import { abilityOf } from '../../../../src/features/identity/permissions/public.js';
import type { ProjectAccess } from '../../../../src/features/projects/public.js';
import {
  keepRotatedKeys,
  loadFolder,
  releaseRotated,
  relocateRotated,
  writeRotated,
} from '../../../../src/features/secrets/public.js';
import { listMapped } from '../../../../src/features/secrets/rotated/rotated.queries.js';
import { AuditTrail } from '../../../../src/kernel/audit/audit-trail.js';
import { NO_EXPIRATION } from '../../../../src/kernel/audit/retention.js';
import type { Kernel, Transaction } from '../../../../src/kernel/context.js';
import { openInstallationKeys } from '../../../../src/kernel/crypto/installation.js';
import { Keyring } from '../../../../src/kernel/crypto/keyring.js';
import { parseRootKey } from '../../../../src/kernel/crypto/root-key.js';
import { RootKeys } from '../../../../src/kernel/crypto/root-keys.js';
import { SealedText } from '../../../../src/kernel/crypto/sealed-text.js';
import { Database } from '../../../../src/kernel/database/database.js';
import { inTransaction } from '../../../../src/kernel/database/in-transaction.js';
import { createLog } from '../../../../src/kernel/log.js';
import { systemContext } from '../../../../src/start/system-context.js';
import { mustSucceed } from '../../../kit/caller.js';
import { NOTHING_DISABLED } from '../../../kit/nothing-disabled.js';
import { useSharedStrongroom } from '../../../kit/strongroom.js';
import { differencesIn } from '../../../kit/trail.js';

const SECRETS = '/api/v4/secrets';
const MAPPING = { username: 'DB_USER', password: 'DB_PASSWORD' };

describe('what a rotation does with its secrets', () => {
  const strongroom = useSharedStrongroom();
  let kernel: Kernel;
  beforeAll(async () => {
    const { entities } = assemble();
    const database = await Database.connect(strongroom.databaseUrl, { entities }, createLog('silent'));
    const keys = await openInstallationKeys(database.query, new RootKeys(parseRootKey(strongroom.rootKey)));
    const keyring = new Keyring(keys, database.query, NOTHING_DISABLED);
    kernel = {
      database,
      keyring,
      auditTrail: new AuditTrail(database.query, keys.macKey('audit'), NO_EXPIRATION),
    } as Kernel;
  });
  afterAll(() => kernel.database.close());
  const projects: string[] = [];

  async function seeded({
    rules = [{ subject: 'secrets', action: ['describeSecret', 'readValue', 'edit', 'delete'] }],
  } = {}) {
    const { admin, project } = await strongroom.seed.project();
    projects.push(project.id);
    const at = { projectId: project.id as string, environment: 'dev' };
    for (const name of ['app', 'to']) mustSucceed(await admin.post('/api/v2/folders', { ...at, name }));
    const [{ organizationId } = { organizationId: '' }] = await strongroom.sql<{ organizationId: string }>(
      'select organization_id as "organizationId" from project where id = $1',
      [project.id],
    );
    const access = { organizationId, projectId: project.id, ability: abilityOf(rules) } as unknown as ProjectAccess;
    const rotationId = randomUUID();
    const run = <T>(work: (tx: Transaction) => Promise<T>) =>
      inTransaction(systemContext(kernel, organizationId), work);
    const placed = async (tx: Transaction, secretPath: string) => {
      const place = { ...at, secretPath };
      return { ...(await loadFolder(tx, place)), place };
    };
    // Nothing of secrets is changed by it, so that there is no record.
    const keep = (mapping: Record<string, string> = MAPPING, id = rotationId) =>
      run(async (tx) => keepRotatedKeys(tx, access, { rotationId: id, mapping, at: await placed(tx, '/app') }));
    const write = (username: string, password: string) => {
      const values = { username: new SealedText(username), password: new SealedText(password) };
      return run((tx) => writeRotated(tx, access, { rotationId, values }));
    };
    const listed = async (path = '/app') => {
      const url = `${SECRETS}?projectId=${project.id}&environment=dev&secretPath=${path}&expandSecretReferences=true`;
      return mustSucceed(await admin.get(url)).body.secrets as Record<string, unknown>[];
    };
    const actions = async () => {
      const rows = await strongroom.auditRows('project_id = $1 and facts->>$2 = $3', [
        project.id,
        'rotationId',
        rotationId,
      ]);
      return rows.map(({ action, actor_kind, facts }) => [action, actor_kind, facts.count]);
    };
    return { admin, project, at, access, rotationId, run, placed, keep, write, listed, actions };
  }

  test('it makes them, and writes their values again and again, in a constant number of statements', async () => {
    const { admin, project, at, rotationId, keep, write, listed, actions } = await seeded();
    await keep();
    const made = await write('app', 'one');
    expect(made).toEqual([
      { field: 'password', secretId: expect.any(String), key: 'DB_PASSWORD', version: 1 },
      { field: 'username', secretId: expect.any(String), key: 'DB_USER', version: 1 },
    ]);
    mustSucceed(await admin.patch(`${SECRETS}/DB_PASSWORD`, { ...at, secretPath: '/app', secretComment: 'kept' }));
    const before = kernel.database.statements.request;
    expect(await write('app', '${DB_USER}')).toMatchObject([{ version: 3 }, { version: 2 }]);
    expect(kernel.database.statements.request - before).toBeLessThanOrEqual(10);
    const mark = { isRotatedSecret: true, rotationId, actor: { actorType: 'platform', actorId: null } };
    expect(await listed()).toMatchObject([
      { secretKey: 'DB_PASSWORD', secretValue: '${DB_USER}', secretComment: 'kept', version: 3, ...mark },
      { secretKey: 'DB_USER', secretValue: 'app', version: 2, ...mark },
    ]);
    expect(await strongroom.sql('select 1 from secret_reference where project_id = $1', [project.id])).toEqual([]);
    expect(await actions()).toEqual(Array(2).fill(['secret:rotate', 'system', 2]));
    const versions = await admin.get(`/api/v1/secrets/${made[0]?.secretId}/versions?viewSecretValue=true`);
    expect(versions.body.secretVersions.map((it: { secretValue: string }) => it.secretValue)).toEqual([
      '${DB_USER}',
      'one',
      'one',
    ]);
  });

  test('it keeps as many versions as the project keeps, and those by people beside', async () => {
    const { admin, project, at, keep, write } = await seeded();
    mustSucceed(await admin.patch(`/api/v1/projects/${project.id}`, { pitVersionLimit: 3 }));
    await keep();
    const [made] = await write('app', '1');
    mustSucceed(await admin.patch(`${SECRETS}/DB_PASSWORD`, { ...at, secretPath: '/app', secretComment: 'mine' }));
    for (let round = 2; round < 12; round += 1) await write('app', String(round));
    const rows = await strongroom.sql<{ actor_kind: string }>(
      'select version, actor_kind from secret_version where secret_id = $1',
      [made?.secretId],
    );
    expect(rows.filter(({ actor_kind }) => actor_kind === 'system').length).toBeLessThanOrEqual(4);
    expect(rows.filter(({ actor_kind }) => actor_kind !== 'system')).toHaveLength(1);
  });

  test('it gets no key that is taken, and of two rotations one', async () => {
    const { admin, at, keep, listed } = await seeded();
    mustSucceed(await admin.post(`${SECRETS}/DB_PASSWORD`, { ...at, secretPath: '/app', secretValue: 'mine' }));
    await expect(keep()).rejects.toMatchObject({
      code: 'SECRET_KEY_TAKEN',
      details: [{ path: 'secretsMapping.password' }],
    });
    const attempts = await Promise.allSettled([keep({ a: 'FREE' }, randomUUID()), keep({ a: 'FREE' }, randomUUID())]);
    expect(attempts.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const race = await Promise.allSettled([
      keep({ a: 'RACE' }, randomUUID()),
      admin.post(`${SECRETS}/RACE`, { ...at, secretPath: '/app', secretValue: 'x' }).then(mustSucceed),
    ]);
    expect(race.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect((await listed()).map(({ secretKey }) => secretKey)).not.toContain('FREE');
  });

  test('it lets go of them, which are ordinary ones then, or deletes them', async () => {
    const { admin, at, access, rotationId, run, keep, write, listed, actions } = await seeded();
    await keep();
    const made = await write('app', 'one');
    const ids = made.map(({ secretId }) => secretId).sort();
    const released = await run((tx) => releaseRotated(tx, access, { rotationId, isDeleting: false }));
    expect([...released].sort()).toEqual(ids);
    expect(await listed()).toMatchObject([
      { secretKey: 'DB_PASSWORD', secretValue: 'one', version: 2, isRotatedSecret: false, rotationId: null },
      { secretKey: 'DB_USER', isRotatedSecret: false },
    ]);
    mustSucceed(await admin.patch(`${SECRETS}/DB_USER`, { ...at, secretPath: '/app', secretValue: 'mine' }));
    expect(await run((tx) => releaseRotated(tx, access, { rotationId, isDeleting: true }))).toEqual([]);
    mustSucceed(
      await admin.delete(`${SECRETS}/batch`, {
        ...at,
        secretPath: '/app',
        secrets: Object.values(MAPPING).map((secretKey) => ({ secretKey })),
      }),
    );
    await keep();
    await write('app', 'two');
    await run((tx) => releaseRotated(tx, access, { rotationId, isDeleting: true }));
    expect(await listed()).toEqual([]);
    expect(await actions()).toEqual(
      ['rotate', 'release', 'rotate', 'delete'].map((verb) => [`secret:${verb}`, 'system', 2]),
    );
  });

  test('it renames and moves them, with references following, and over others where it may', async () => {
    const { admin, at, access, rotationId, run, placed, keep, write, listed } = await seeded();
    await keep();
    await write('app', 'one');
    mustSucceed(
      await admin.post(`${SECRETS}/URL`, { ...at, secretPath: '/app', secretValue: '${DB_USER}:${DB_PASSWORD}' }),
    );
    const swapped = { username: 'DB_PASSWORD', password: 'DB_USER' };
    await run((tx) => relocateRotated(tx, access, { rotationId, mapping: swapped }));
    expect(await listed()).toMatchObject([{ secretValue: 'app' }, { secretValue: 'one' }, { secretValue: 'app:one' }]);
    await run((tx) => relocateRotated(tx, access, { rotationId, mapping: { password: 'PASS' } }));
    mustSucceed(await admin.post(`${SECRETS}/PASS`, { ...at, secretPath: '/to', secretValue: 'in the way' }));
    const move = (shouldOverwrite: boolean) =>
      run(async (tx) =>
        relocateRotated(tx, access, { rotationId, destination: await placed(tx, '/to'), shouldOverwrite }),
      );
    await expect(move(false)).rejects.toMatchObject({
      code: 'SECRET_KEY_TAKEN',
      details: [{ path: 'secretsMapping.password' }],
    });
    expect(await move(true)).toHaveLength(2);
    expect(await move(true)).toEqual([]);
    expect(await listed()).toMatchObject([{ secretKey: 'URL', secretValue: 'app:one' }]);
    expect(await listed('/to')).toMatchObject([
      { secretKey: 'DB_PASSWORD', secretValue: 'app', rotationId },
      { secretKey: 'PASS', secretValue: 'one', rotationId },
    ]);
    const mapped = await run((tx) => listMapped(tx, { rotationIds: [rotationId] }));
    expect(mapped).toMatchObject([
      { field: 'password', key: 'PASS', path: '/to', environment: 'dev', secretId: expect.any(String) },
      { field: 'username', key: 'DB_PASSWORD', path: '/to' },
    ]);
  });

  test('it shows nobody a value by a new key', async () => {
    const conditions = { secretName: 'PUBLIC' };
    const { access, rotationId, run, keep, write } = await seeded({
      rules: [
        { subject: 'secrets', action: ['describeSecret', 'edit'] },
        { subject: 'secrets', action: ['readValue'], conditions },
      ] as never,
    });
    await keep();
    await write('app', 'one');
    const rename = run((tx) => relocateRotated(tx, access, { rotationId, mapping: { password: 'PUBLIC' } }));
    await expect(rename).rejects.toMatchObject({ code: 'PERMISSION_DENIED' });
  });

  test('leaves a trail that agrees with what is stored', async () => {
    expect(await differencesIn(strongroom, projects)).toEqual([]);
  });
});
