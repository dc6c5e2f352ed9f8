import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mintToken } from '../../../src/kernel/crypto/token.js';
import { Caller, mustSucceed } from '../../kit/caller.js';
import { Authority } from '../../kit/outside/authority.js';
import { TransitServer } from '../../kit/outside/transit.js';
import { runProgram } from '../../kit/programs.js';
import { Seed } from '../../kit/seed.js';
import { Service } from '../../kit/service.js';
import { freshDatabase } from '../../kit/strongroom.js';
import { withClient } from '../../kit/tables.js';
import { until } from '../../kit/until.js';
import { verifyAudit } from '../../kit/verify-audit.js';

const newKey = (): string => randomBytes(32).toString('base64');

describe('a root key that transit encrypts', () => {
  const token = mintToken();
  let home: string;
  let transit: TransitServer;
  let databaseUrl: string;
  let base: Record<string, string>;

  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'strongroom-transit-'));
    transit = await TransitServer.start();
    await writeFile(join(home, 'ca.pem'), transit.authority.pem);
    await writeFile(join(home, 'token'), `${transit.token}\n`);
    databaseUrl = await freshDatabase();
    base = {
      ...{ DATABASE_URL: databaseUrl, BOOTSTRAP_TOKEN: token, ROOT_KEY: transit.setting() },
      ...{ TRANSIT_TOKEN: `file:${join(home, 'token')}`, TRANSIT_CA_FILE: join(home, 'ca.pem') },
    };
  });
  afterAll(async () => {
    await transit?.server.stop();
    await rm(home, { recursive: true });
  });

  const secrets: { token: string | null; projectId: string }[] = [];
  async function addSecret(service: Service): Promise<void> {
    const { admin, project } = await new Seed(new Caller(service.url, token)).project();
    await new Seed(admin).secrets(admin, project, 'dev', 1);
    secrets.push({ token: admin.token, projectId: project.id });
  }
  const valuesAt = (service: Service): Promise<string[]> =>
    Promise.all(
      secrets.map(async ({ token: own, projectId }) => {
        const at = new URLSearchParams({ projectId, environment: 'dev' });
        const reply = await new Caller(service.url, own).get(`/api/v4/secrets/KEY_00000?${at}`);
        return mustSucceed(reply).body.secret.secretValue;
      }),
    );
  const stored = () =>
    withClient(databaseUrl, async (client) => {
      const { rows } = await client.query(
        'select wrapped_root_key as key, next_wrapped_root_key as next from installation',
      );
      return rows[0] as { key: string | null; next: string | null };
    });
  /** Starts a node, reads every value, adds one, and stops it. */
  async function works(env: Record<string, string>): Promise<void> {
    const service = await Service.start({ env });
    expect(await valuesAt(service)).toEqual(secrets.map(() => 'value-0'));
    await addSecret(service);
    expect(await service.stop()).toBe(0);
    await service.dispose();
  }
  /** How a start ends that does not come up. */
  async function refused(env: Record<string, string>): Promise<{ code: number | null; output: string }> {
    const service = await Service.spawn({ env });
    const code = await service.exit();
    await service.dispose();
    return { code, output: service.output };
  }

  test('is made for an empty database, and decrypted once at each start; requests do not need transit', async () => {
    const service = await Service.start({ env: base });
    expect(transit.operations).toEqual(['encrypt']);
    expect(await stored()).toEqual({ key: expect.stringMatching(/^vault:v1:/), next: null });
    transit.isSealed = true;
    await addSecret(service);
    expect(await valuesAt(service)).toEqual(['value-0']);
    expect(await service.stop()).toBe(0);
    await service.dispose();
    transit.isSealed = false;
    await works(base);
    expect(transit.operations).toEqual(['encrypt', 'decrypt']);
  }, 120_000);

  test('is waited for; away all the time a start ends with 75, refused with 78, and changes nothing', async () => {
    const before = await stored();
    transit.isSealed = true;
    const short = { ...base, DATABASE_WAIT_SECONDS: '0' };
    const away = await refused(short);
    expect([away.code, away.output]).toEqual([
      75,
      expect.stringContaining('ROOT_KEY: transit is not available now (503)'),
    ]);
    const waiting = await Service.spawn({ env: base });
    await until('the wait', 20_000, () => waiting.output.includes('"msg":"waiting for transit"'));
    transit.isSealed = false;
    await waiting.ready(50_000);
    expect(await waiting.stop()).toBe(0);
    await waiting.dispose();
    const other = await Authority.create();
    await writeFile(join(home, 'other.pem'), other.pem);
    const cases: [Record<string, string>, RegExp][] = [
      [{ TRANSIT_TOKEN: 'hvs.wrong' }, /ROOT_KEY: transit refused to decrypt \(403\): the token is not valid/],
      [{ TRANSIT_TOKEN: '' }, /ROOT_KEY: transit needs TRANSIT_TOKEN/],
      [{ TRANSIT_CA_FILE: join(home, 'other.pem') }, /ROOT_KEY: the certificate of transit is not valid/],
      [{ ROOT_KEY: transit.setting('unknown') }, /ROOT_KEY: transit refused to decrypt \(400\)/],
      [{ ROOT_KEY: newKey() }, /ROOT_KEY is not the key that encrypted this database/],
    ];
    for (const [env, line] of cases) {
      const { code, output } = await refused({ ...base, ...env });
      expect([code, output]).toEqual([78, expect.stringMatching(line)]);
      expect(output).not.toContain('hvs.');
    }
    expect(await stored()).toEqual(before);
  }, 120_000);

  test('is encrypted anew after the key of transit was rotated, and needs its former version no longer', async () => {
    transit.rotate('strongroom');
    expect(await runProgram('rotate-root-key', base, '--rewrap')).toMatchObject({ code: 0, stderr: '' });
    expect((await stored()).key).toMatch(/^vault:v2:/);
    transit.minDecryptionVersion = 2;
    await works(base);
  }, 60_000);

  test('is changed to one in the configuration and back, while nodes with both keys run', async () => {
    const own = newKey();
    const toOwn = { ...base, NEXT_ROOT_KEY: own };
    const toTransit = { ...base, ROOT_KEY: own, NEXT_ROOT_KEY: transit.setting() };
    for (const [both, alone] of [
      [toOwn, { ...base, ROOT_KEY: own }],
      [toTransit, base],
    ] as const) {
      const node = await Service.start({ env: both });
      await addSecret(node);
      expect(await runProgram('rotate-root-key', both)).toMatchObject({ code: 0, stderr: '' });
      await addSecret(node);
      expect(await valuesAt(node)).toEqual(secrets.map(() => 'value-0'));
      expect(await node.stop()).toBe(0);
      await node.dispose();
      // Whoever starts with both keys later has the new one.
      await works(both);
      await works(alone);
      expect(await stored()).toEqual({ key: alone === base ? expect.stringMatching(/^vault:v2:/) : null, next: null });
    }
    expect(await verifyAudit(base)).toMatchObject({ code: 0, faults: [] });
  }, 180_000);
});
