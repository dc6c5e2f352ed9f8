import { randomBytes } from 'node:crypto';
import { mintToken } from '../../../src/kernel/crypto/token.js';
import { Caller, mustSucceed } from '../../kit/caller.js';
import { migratedDatabase } from '../../kit/databases.js';
import { runProgram } from '../../kit/programs.js';
import { Seed } from '../../kit/seed.js';
import { Service } from '../../kit/service.js';
import { tableContents, withClient } from '../../kit/tables.js';
import { verifyAudit } from '../../kit/verify-audit.js';

const newKey = (): string => randomBytes(32).toString('base64');

describe('npm run rotate-root-key', () => {
  const [oldKey, nextKey] = [newKey(), newKey()];
  const token = mintToken();
  let databaseUrl: string;
  const settings = (keys: Record<string, string>) => ({
    ...{ DATABASE_URL: databaseUrl, BOOTSTRAP_TOKEN: token, AUDIT_RETENTION_DAYS: '40' },
    ...keys,
  });
  const both = () => settings({ ROOT_KEY: oldKey, NEXT_ROOT_KEY: nextKey });

  beforeAll(async () => {
    databaseUrl = await migratedDatabase();
  });

  async function secretOf(service: Service) {
    const { admin, project } = await new Seed(new Caller(service.url, token)).project();
    await new Seed(admin).secrets(admin, project, 'dev', 1);
    return { token: admin.token, projectId: project.id };
  }

  async function readValue(service: Service, secret: { token: string | null; projectId: string }): Promise<string> {
    const at = new URLSearchParams({ projectId: secret.projectId, environment: 'dev' });
    const caller = new Caller(service.url, secret.token);
    return mustSucceed(await caller.get(`/api/v4/secrets/KEY_00000?${at}`)).body.secret.secretValue;
  }

  /** How many secrets have the value of that one. */
  async function countWithValue(service: Service, secret: { token: string | null }): Promise<number> {
    const reply = await new Caller(service.url, secret.token).post('/api/v1/secrets/with-value', { value: 'value-0' });
    return mustSucceed(reply).body.secrets.length;
  }

  test('changes the root key while a node with both keys runs; afterwards the new one is that of the database', async () => {
    const node = await Service.start({ env: both() });
    const before = await secretOf(node);

    expect(await runProgram('rotate-root-key', both())).toMatchObject({
      code: 0,
      output: expect.stringContaining('Keys of organizations encrypted with it: 2\n'),
    });
    expect(await readValue(node, before)).toBe('value-0');
    expect(await countWithValue(node, before)).toBe(1);
    // What the running node wraps from now on, it wraps with the new key.
    const after = await secretOf(node);
    expect(await node.stop()).toBe(0);

    expect(await verifyAudit(settings({ ROOT_KEY: nextKey }))).toMatchObject({ code: 0, faults: [] });

    const alone = await Service.start({ env: settings({ ROOT_KEY: nextKey }) });
    expect(await Promise.all([readValue(alone, before), readValue(alone, after)])).toEqual(['value-0', 'value-0']);
    expect(await Promise.all([countWithValue(alone, before), countWithValue(alone, after)])).toEqual([1, 1]);
    expect(await alone.stop()).toBe(0);
    const rows = await withClient(databaseUrl, (client) =>
      client.query(
        `select facts, isfinite(expires_on) as ends from audit_record where action = 'installation:rotate-root-key'`,
      ),
    );
    expect(rows.rows).toEqual([{ facts: { rewrapped: 2, unreadable: 0 }, ends: false }]);
  });

  test.each([
    ['without NEXT_ROOT_KEY', () => ({ ROOT_KEY: nextKey }), /NEXT_ROOT_KEY is not set/],
    [
      'with the same key twice',
      () => ({ ROOT_KEY: nextKey, NEXT_ROOT_KEY: nextKey }),
      /NEXT_ROOT_KEY is the same key as ROOT_KEY/,
    ],
  ])('%s changes nothing', async (_case, keys, line) => {
    const tables = await tableContents(databaseUrl);
    expect(await runProgram('rotate-root-key', settings(keys()))).toMatchObject({
      code: 78,
      output: expect.stringMatching(line),
    });
    expect(await tableContents(databaseUrl)).toEqual(tables);
  });
});
