import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Caller } from '../kit/caller.js';
import { embeddedPostgres, embeddedUrl } from '../kit/processes.js';
import { Seed } from '../kit/seed.js';
import { Service } from '../kit/service.js';
import { withClient } from '../kit/tables.js';
import { tamper, untilSealed } from '../kit/trail.js';
import { verifyAudit } from '../kit/verify-audit.js';

describe('a service with a database of its own', () => {
  let dataDir: string;
  let service: Service;
  const start = async (): Promise<void> => {
    service = await Service.start({ dataDir, env: { LOG_LEVEL: 'info' } });
  };
  /** Attackers start where operators do. */
  const sql = async (text: string) =>
    withClient(await embeddedUrl(dataDir), async (client) => (await client.query(text)).rows);

  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'strongroom-trail-'));
    await start();
  });
  afterAll(async () => {
    await service.kill();
    await rm(dataDir, { recursive: true, force: true });
  });

  /** The first anchor that it has logged, and the last one. */
  const anchors = (): [string, string] => {
    const logged = [...service.output.matchAll(/"anchor":"(\d+:[0-9a-f]{64})"/g)].map((match) => match[1] as string);
    return [logged[0] as string, logged.at(-1) as string];
  };

  test('has a trail that can be verified while it runs and while it is stopped, and seals all before it stops', async () => {
    const token = (await readFile(join(dataDir, 'bootstrap-token'), 'utf8')).trim();
    const admin = new Caller(service.url, token);
    await new Seed(admin).project();
    await untilSealed(sql);
    expect(await verifyAudit({ DATA_DIR: dataDir })).toMatchObject({ code: 0, faults: [] });
    const replies = await Promise.all(Array.from({ length: 20 }, () => admin.get('/api/v1/projects')));
    expect(replies.map(({ status }) => status)).toEqual(Array(20).fill(200));

    expect(await service.stop()).toBe(0);

    const [first, last] = anchors();
    expect(first).not.toBe(last);
    expect(await verifyAudit({ DATA_DIR: dataDir }, '--anchor', first, '--anchor', last)).toMatchObject({
      ...{ code: 0, faults: [], unsealed: 0 },
      head: last,
    });
    expect(await embeddedPostgres(dataDir)).toEqual([]);
  });

  test('logs anchors, by which an end that was cut off is noticed', async () => {
    const flags = anchors().flatMap((anchor) => ['--anchor', anchor]);
    const [, last] = anchors();
    await start();
    await tamper(
      sql,
      'delete from audit_record where sequence > (select max(after_sequence) from audit_seal)',
      'delete from audit_seal where number = (select max(number) from audit_seal)',
    );

    expect(await verifyAudit({ DATA_DIR: dataDir })).toMatchObject({ code: 0 });
    const number = last.split(':')[0];
    expect(await verifyAudit({ DATA_DIR: dataDir }, ...flags)).toMatchObject({
      code: 1,
      faults: [`seal ${number}: cut off, with everything after it: an anchor names it`],
    });
  });

  test('seals a trail without seals from its beginning, in pieces', async () => {
    await tamper(sql, 'delete from audit_seal');
    await sql(`insert into audit_record (id, organization_id, action, outcome, actor_kind, actor_id, request_id, facts, mac)
      select gen_random_uuid(), organization_id, action, outcome, actor_kind, actor_id, request_id, facts, mac
        from audit_record, generate_series(1, 5000) where sequence = 1`);
    await untilSealed(sql);

    // They are not ours, and so the verdict is long; but each of them is sealed.
    const verdict = await verifyAudit({ DATA_DIR: dataDir });

    expect(verdict).toMatchObject({ code: 1, unsealed: 0 });
    expect(verdict.seals).toBeGreaterThanOrEqual(3);
    expect(verdict.output).toContain('The audit trail is not intact: 5000 violations.');
    expect(verdict.faults).toHaveLength(200);
  });

  test('tells how it is used, whatever the settings are', async () => {
    const { code, output } = await verifyAudit({ PORT: 'none' }, '--help');
    expect([code, output]).toEqual([0, expect.stringMatching(/^npm run verify-audit .*--anchor NUMBER:HASH/)]);
  });

  test.each([
    ['no database', {}, [], 'DATA_DIR has no database'],
    [
      'another root key',
      { ROOT_KEY: randomBytes(32).toString('base64') },
      [],
      'is not the key that encrypted this database',
    ],
    ['an anchor of another form', {}, ['--anchor', '1:x'], '--anchor takes NUMBER:HASH'],
    ['an argument that it does not know', {}, ['all'], 'no other arguments'],
  ])('ends with 78 and a line for %s', async (name, env, args, line) => {
    const place = name === 'no database' ? await mkdtemp(join(tmpdir(), 'strongroom-none-')) : dataDir;
    const { code, output } = await verifyAudit({ DATA_DIR: place, ...env }, ...args);
    expect({ code, lines: output.trim().split('\n') }).toEqual({ code: 78, lines: [expect.stringContaining(line)] });
    if (place === dataDir) return;
    expect(await readdir(place)).toEqual([]);
    await rm(place, { recursive: true });
  });
});
