import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openRootKeys, recordInstallation } from '../../../src/kernel/crypto/installation.js';
import { changeRootKey } from '../../../src/kernel/crypto/root-key-change.js';
import type { RootKeys } from '../../../src/kernel/crypto/root-keys.js';
import { SealedText } from '../../../src/kernel/crypto/sealed-text.js';
import { mintToken } from '../../../src/kernel/crypto/token.js';
import type { Query } from '../../../src/kernel/database/database.js';
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
  /** Work on the database as a start or a program does it, in a transaction. */
  const onDatabase = <T>(work: (query: Query) => Promise<T>): Promise<T> =>
    withClient(databaseUrl, async (client) => {
      const query = (async (text: string, params?: unknown[]) => (await client.query(text, params)).rows) as Query;
      await query('begin');
      const result = await work(query);
      await query('commit');
      return result;
    });
  const sealed = (text = ''): SealedText | null => (text === '' ? null : new SealedText(text));
  /** What a start with these settings begins with. */
  const opened = (env: Record<string, string>): Promise<RootKeys> =>
    onDatabase((query) => {
      const all = { ...base, ...env };
      const settings = { token: sealed(all.TRANSIT_TOKEN), caFile: all.TRANSIT_CA_FILE ?? null, waitSeconds: 0 };
      const keys = { rootKey: sealed(all.ROOT_KEY), nextRootKey: sealed(all.NEXT_ROOT_KEY), dataDir: home };
      return openRootKeys(query, { ...keys, transit: settings });
    });
  /** How a start with these settings ends that does not come up. */
  const refusal = async (env: Record<string, string>): Promise<[number, string]> => {
    const { exitCode, report } = await opened(env).then(
      () => ({ exitCode: 0, report: '' }),
      (error) => error,
    );
    expect(report).not.toMatch(/hvs\.|vault:v/);
    return [exitCode, report];
  };
  const record = async (env: Record<string, string>) => {
    const keys = await opened(env);
    await onDatabase((query) => recordInstallation(query, keys));
  };
  const rotate = (env: Record<string, string>, ...args: string[]) =>
    runProgram('rotate-root-key', { ...base, ...env }, ...args);

  test('is made for an empty database, decrypted once at each start, and waited for; requests do not need transit', async () => {
    const service = await Service.start({ env: base });
    expect(transit.operations).toEqual(['encrypt']);
    expect(await stored()).toEqual({ key: expect.stringMatching(/^vault:v1:/), next: null });
    transit.isSealed = true;
    await addSecret(service);
    expect(await valuesAt(service)).toEqual(['value-0']);
    expect(await service.stop()).toBe(0);
    await service.dispose();
    expect(await refusal({})).toEqual([75, expect.stringContaining('ROOT_KEY: transit is not available now (503)')]);
    const waiting = await Service.spawn({ env: base });
    await until('the wait', 20_000, () => waiting.output.includes('"msg":"waiting for transit"'));
    transit.isSealed = false;
    await waiting.ready(50_000);
    expect(await valuesAt(waiting)).toEqual(['value-0']);
    expect(await waiting.stop()).toBe(0);
    await waiting.dispose();
    expect(transit.operations).toEqual(['encrypt', 'decrypt']);
  });

  test('is not taken from whoever refuses, and nothing is changed', async () => {
    const before = await stored();
    const other = await Authority.create();
    await writeFile(join(home, 'other.pem'), other.pem);
    const cases: [Record<string, string>, RegExp][] = [
      [{ TRANSIT_TOKEN: 'hvs.wrong' }, /ROOT_KEY: transit refused to decrypt \(403\): the token is not valid[^\n]*\n$/],
      [{ NEXT_ROOT_KEY: transit.setting('unknown') }, /NEXT_ROOT_KEY: transit refused to encrypt \(403\)/],
      [{ TRANSIT_TOKEN: '' }, /ROOT_KEY: transit needs TRANSIT_TOKEN/],
      [{ TRANSIT_CA_FILE: join(home, 'other.pem') }, /ROOT_KEY: the certificate of transit is not valid/],
      [{ ROOT_KEY: transit.setting('unknown') }, /ROOT_KEY: transit refused to decrypt \(400\)/],
      [{ ROOT_KEY: newKey() }, /ROOT_KEY is not the key that encrypted this database: transit encrypts that one/],
      [{ NEXT_ROOT_KEY: transit.setting() }, /NEXT_ROOT_KEY is the same key of transit as ROOT_KEY/],
    ];
    for (const [env, line] of cases) expect(await refusal(env)).toEqual([78, expect.stringMatching(line)]);
    expect(await stored()).toEqual(before);
  });

  test('is encrypted anew after the key of transit was rotated, and needs its former version no longer', async () => {
    transit.rotate('strongroom');
    expect(await rotate({}, '--rewrap')).toMatchObject({ code: 0, stderr: '' });
    expect((await stored()).key).toMatch(/^vault:v2:/);
    transit.minDecryptionVersion = 2;
    await opened({});
    transit.minDecryptionVersion = 1;
  });

  test('is changed to another key of transit, whichever of the settings a node or a program is started with meanwhile', async () => {
    for (const name of ['second', 'third']) transit.rotate(name);
    const [second, third] = [transit.setting('second'), transit.setting('third')];
    const both = { NEXT_ROOT_KEY: second };
    const OTHER_CHANGE = [78, expect.stringMatching(/a change to another root key in transit was begun.*--cancel/)];
    const OTHER_KEY = [
      78,
      expect.stringMatching(/encrypted by a key of transit that is not configured.*make the new one ROOT_KEY/),
    ];

    const node = await Service.start({ env: { ...base, ...both } });
    await addSecret(node);
    const begun = await stored();
    expect(begun.next).toMatch(/^vault:v1:/);
    await opened({});
    await record(both);
    expect(await refusal({ NEXT_ROOT_KEY: third })).toEqual(OTHER_CHANGE);
    expect(await refusal({ ROOT_KEY: second })).toEqual(OTHER_KEY);
    expect(await stored()).toEqual(begun);

    expect(await rotate(both)).toMatchObject({ code: 0, stderr: '' });
    expect(await stored()).toEqual({ key: begun.next, next: null });
    await addSecret(node);
    expect(await valuesAt(node)).toEqual(secrets.map(() => 'value-0'));
    expect(await node.stop()).toBe(0);
    await node.dispose();

    // Whoever starts with the settings of before the change has the new key, or is told what to do.
    const now = (await opened({ ROOT_KEY: second })).inUse.checkValue();
    expect((await opened(both)).inUse.checkValue()).toEqual(now);
    const wrong: Record<string, string>[] = [
      {},
      { NEXT_ROOT_KEY: third },
      { ROOT_KEY: third, NEXT_ROOT_KEY: transit.setting() },
    ];
    for (const env of wrong) expect(await refusal(env)).toEqual(OTHER_KEY);
    expect(await rotate(both)).toMatchObject({
      code: 0,
      output: expect.stringContaining('has the new root key already'),
    });
    transit.rotate('second');
    expect(await rotate(both, '--rewrap')).toMatchObject({ code: 0, stderr: '' });
    expect(await stored()).toEqual({ key: expect.stringMatching(/^vault:v2:/), next: null });
    await opened({ ROOT_KEY: second });
  });

  test('keeps no key of a change that was given up', async () => {
    const alone = { ROOT_KEY: transit.setting('second') };
    const before = await stored();
    await record({ ...alone, NEXT_ROOT_KEY: transit.setting('third') });
    expect((await stored()).next).not.toBeNull();
    expect(await rotate(alone, '--cancel')).toMatchObject({ code: 0, stderr: '' });
    expect(await stored()).toEqual(before);
    expect(await verifyAudit({ ...base, ...alone })).toMatchObject({ code: 0, faults: [] });
  });

  test('is changed to one in the configuration and back, and starts have the right one in between', async () => {
    const [outside, own] = [transit.setting('second'), newKey()];
    for (const [from, to] of [
      [outside, own],
      [own, outside],
    ] as const) {
      const both = { ROOT_KEY: from, NEXT_ROOT_KEY: to };
      await record(both);
      const { rootKey, next } = await opened(both);
      if (next === null) throw new Error('there is no next root key');
      expect(await onDatabase((query) => changeRootKey(query, rootKey, next))).toMatchObject({ unreadable: 0 });
      const now = (await opened({ ROOT_KEY: to })).inUse.checkValue();
      expect((await opened(both)).inUse.checkValue()).toEqual(now);
      expect((await refusal({ ROOT_KEY: from }))[0]).toBe(78);
      expect(await stored()).toEqual({ key: to === own ? null : expect.stringMatching(/^vault:v2:/), next: null });
    }
  });
});
