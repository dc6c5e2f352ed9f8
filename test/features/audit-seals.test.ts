import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mustSucceed } from '../kit/caller.js';
import { embeddedPostgres, embeddedUrl } from '../kit/processes.js';
import { Seed } from '../kit/seed.js';
import { Service } from '../kit/service.js';
import { Caller, useStrongroom } from '../kit/strongroom.js';
import { withClient } from '../kit/tables.js';
import { reachOf, tamper, untilSealed } from '../kit/trail.js';
import { until } from '../kit/until.js';
import { verifyAudit } from '../kit/verify-audit.js';
import { seedWorld } from '../kit/world.js';

const WITHIN_MS = 20_000;

const VERIFICATIONS = '/api/v1/audit-trail-verifications';

/** What a verification that somebody asks for over REST finds. */
async function verifyOverApi(admin: Caller, anchors: readonly string[] = []) {
  const started = mustSucceed(await admin.post(VERIFICATIONS, { anchors }));
  const path = `${VERIFICATIONS}/${started.body.auditTrailVerification.id}`;
  const read = async () => mustSucceed(await admin.get(path)).body.auditTrailVerification;
  await until('the verification to end', WITHIN_MS, async () => /finished|stopped/.test((await read()).state));
  return read();
}

const COLUMNS = `id, organization_id, project_id, occurred_at, action, outcome, actor_kind, actor_id, token_id, request_id,
  address, user_agent, facts, class, subject_id, mac`;

describe('a trail that nobody touches', () => {
  const strongroom = useStrongroom({ TRUSTED_PROXIES: '127.0.0.1', RATE_LIMIT: 'off' });

  test('is sealed within seconds, by two nodes at once, and is found whole', async () => {
    const { admin } = await seedWorld(strongroom.seed);
    const node = await strongroom.startSecondNode();
    await Promise.all(
      Array.from({ length: 200 }, (_, index) =>
        admin.at([strongroom.url, node.url][index % 2] as string).get('/api/v1/projects'),
      ),
    );
    expect(await node.stop()).toBe(0);
    await untilSealed(strongroom.sql);

    const verdict = await strongroom.verifyAudit();

    expect(verdict).toMatchObject({ code: 0, faults: [], unsealed: 0 });
    expect(verdict.rows).toBeGreaterThan(200);
    expect(verdict.rows).toBe((await strongroom.auditRows()).length);
    expect(verdict.head).toMatch(new RegExp(`^${verdict.seals}:[0-9a-f]{64}$`));
  });

  test.each(['2001:DB8::1', '64:ff9b::1.2.3.4', '::1.2.3.4', '1:0:2:3:4:5:6:7', '::ffff:10.0.0.1'])(
    'is whole with a caller at %s who calls itself by strange letters',
    async (address) => {
      const { admin } = await strongroom.seed.organization();
      const headers = { 'x-forwarded-for': address, 'user-agent': `ü \\u0000 "${'é'.repeat(300)}` };
      expect((await admin.get('/api/v1/projects', headers)).status).toBe(200);
      await untilSealed(strongroom.sql);
      expect(await strongroom.verifyAudit()).toMatchObject({ code: 0, faults: [] });
    },
  );

  test('refuses to be changed', async () => {
    for (const table of ['audit_record', 'audit_seal']) {
      await untilSealed(strongroom.sql);
      const [{ count: before } = { count: '' }] = await strongroom.sql(`select count(*) from ${table}`);
      for (const statement of [
        `update ${table} set mac = mac`,
        `delete from ${table}`,
        `truncate ${table}`,
        `select set_config('session_replication_role', 'replica', true); delete from ${table}`,
      ])
        await expect(strongroom.sql(statement)).rejects.toThrow('only ever added to');
      expect(Number((await strongroom.sql(`select count(*) from ${table}`))[0]?.count)).toBeGreaterThanOrEqual(
        Number(before),
      );
    }
  });

  test('is verified when an admin of the installation asks, as the program does it', async () => {
    await untilSealed(strongroom.sql);
    const rows = (await strongroom.auditRows()).length;

    const found = await verifyOverApi(strongroom.admin);

    const program = await strongroom.verifyAudit();
    expect(found).toMatchObject({ state: 'finished', finishedAt: expect.any(String), rowCount: found.checkedCount });
    expect(found.checkedCount).toBeGreaterThanOrEqual(rows);
    expect(found.verdict).toMatchObject({
      isIntact: true,
      faults: [],
      faultCount: 0,
      differences: [],
      expiredCount: 0,
    });
    expect(program.output).toContain(`${found.verdict.equalSecretCount} secrets match the trail`);
    const again = await verifyOverApi(strongroom.admin, [found.verdict.anchor, `1:${'0'.repeat(64)}`]);
    expect(again.verdict).toMatchObject({
      isIntact: false,
      faults: [{ place: 'seal 1', fault: 'replaced: an anchor names another seal with this number' }],
    });
    const records = await strongroom.auditRows(`subject_id = $1`, [again.id]);
    expect(records.map(({ action, facts }) => [action, facts])).toEqual([
      ['audit-trail-verification:start', { verificationId: again.id, isNew: true }],
      [
        'audit-trail-verification:finish',
        { verificationId: again.id, rows: again.checkedCount, faults: 1, differences: 0 },
      ],
    ]);
  });

  test('is verified once at a time, until somebody stops it, and for nobody else', async () => {
    const { admin } = strongroom;
    const kind = `/api/v1/job-kinds/audit-events:verify-trail`;
    const START = `mutation ($input: VerifyAuditTrailInput!) { verifyAuditTrail(input: $input) { auditTrailVerification {
      id jobId state rowCount checkedCount verdict { isIntact } organization { id } } } }`;
    const start = async () => (await admin.data(START, { input: {} })).verifyAuditTrail.auditTrailVerification;
    mustSucceed(await admin.post(`${kind}/pause`));

    const both = [await start(), await start()];

    expect(both[0]).toMatchObject({ state: 'WAITING', rowCount: null, checkedCount: 0, verdict: null });
    expect(both[1]).toEqual(both[0]);
    const { id, jobId } = both[0];
    const { admin: other } = await strongroom.seed.organization();
    const refused = [
      await other.post(VERIFICATIONS, {}),
      await other.get(VERIFICATIONS),
      await other.get(`${VERIFICATIONS}/${id}`),
      await other.get(`${VERIFICATIONS}/${jobId}`),
    ];
    for (const reply of refused) expect(reply).toBeError(403, 'PERMISSION_DENIED');
    const NODE = 'query ($id: ID!) { node(id: $id) { id ... on AuditTrailVerification { state } } }';
    expect((await other.graphql(NODE, { id })).body.data).toEqual({ node: null });
    mustSucceed(await admin.post(`/api/v1/jobs/${jobId}/cancel`));
    expect(await admin.data(NODE, { id })).toEqual({ node: { id, state: 'STOPPED' } });
    mustSucceed(await admin.post(`${kind}/resume`));
    const next = await verifyOverApi(admin);
    expect(next).toMatchObject({ state: 'finished', verdict: { isIntact: true } });
    const listed = mustSucceed(await admin.get(`${VERIFICATIONS}?limit=2`)).body.auditTrailVerifications;
    expect(listed.map((each: { id: string; state: string }) => [each.id, each.state])).toEqual([
      [next.id, 'finished'],
      [id, 'stopped'],
    ]);
  });

  test('tells in the metrics how far it is sealed', async () => {
    await untilSealed(strongroom.sql);
    await until('the figures to be those of the table', WITHIN_MS, async () => {
      const { text } = await strongroom.admin.anonymous.get('/metrics');
      const [seal] = await strongroom.sql('select max(number) as number from audit_seal');
      return (
        text.includes(`strongroom_audit_last_seal ${seal?.number}\n`) &&
        text.includes('strongroom_audit_unsealed_seconds 0\n')
      );
    });
  });

  test('is not sealed past a row that may still be committed', async () => {
    await untilSealed(strongroom.sql);
    await withClient(strongroom.databaseUrl, async (writer) => {
      await writer.query('begin');
      const { rows } = await writer.query(
        `insert into audit_record (id, organization_id, action, outcome, actor_kind, actor_id, request_id, facts, mac)
         select gen_random_uuid(), organization_id, action, outcome, actor_kind, actor_id, request_id, facts, mac
           from audit_record limit 1 returning sequence, id`,
      );
      const late = rows[0] as { sequence: string; id: string };
      await strongroom.seed.organization();
      await until('the rows behind it to wait', WITHIN_MS, async () => {
        const { text } = await strongroom.admin.anonymous.get('/metrics');
        return Number(/^strongroom_audit_unsealed_seconds (\S+)/m.exec(text)?.[1]) > 2;
      });
      const reach = await reachOf(strongroom.sql);
      expect(reach.sealed).toBeLessThan(BigInt(late.sequence));
      expect(reach.newest).toBeGreaterThan(BigInt(late.sequence));
      await writer.query('commit');
      await untilSealed(strongroom.sql);
      // It is no row of ours; but a seal has it.
      const verdict = await strongroom.verifyAudit();
      expect(verdict.faults).toEqual([`row ${late.sequence} (${late.id}): edited, or not written with this root key`]);
      await tamper(strongroom.sql, `delete from audit_record where sequence = ${late.sequence}`);
      expect((await strongroom.verifyAudit()).faults).toEqual([`row ${late.sequence}: deleted`]);
    });
  });
});

describe('a trail that was tampered with', () => {
  const strongroom = useStrongroom({ LOG_LEVEL: 'info' });

  /** A row with others before and after it, and its neighbour. */
  async function someRow(): Promise<{ sequence: bigint; id: string; next: { sequence: bigint; id: string } }> {
    await strongroom.seed.project();
    await untilSealed(strongroom.sql);
    const [row, next] = await strongroom.sql<{ sequence: string; id: string }>(
      'select sequence, id from audit_record order by sequence offset 1 limit 2',
    );
    return {
      sequence: BigInt(row?.sequence ?? 0),
      id: String(row?.id),
      next: { sequence: BigInt(next?.sequence ?? 0), id: String(next?.id) },
    };
  }

  test.each([
    ['facts', `facts = facts || '{"more": 1}'`, `facts = facts - 'more'`],
    [
      'actor_id',
      `actor_id = organization_id, organization_id = actor_id`,
      `actor_id = organization_id, organization_id = actor_id`,
    ],
    ['outcome', `outcome = 'denied'`, `outcome = 'allowed'`],
    ['class', `class = 'denial'`, `class = 'change'`],
    [
      'subject_id',
      `subject_id = null, disclosed = uuid_send(subject_id)`,
      `subject_id = encode(disclosed, 'hex')::uuid, disclosed = null`,
    ],
    ['occurred_at', `occurred_at = occurred_at + interval '1 hour'`, `occurred_at = occurred_at - interval '1 hour'`],
  ])('names a row whose %s was edited, and shows nothing of it', async (_, edit, undo) => {
    const { sequence, id } = await someRow();
    await tamper(strongroom.sql, `update audit_record set ${edit} where sequence = ${sequence}`);

    const { code, faults, output } = await strongroom.verifyAudit();

    await tamper(strongroom.sql, `update audit_record set ${undo} where sequence = ${sequence}`);
    expect({ code, faults }).toEqual({
      code: 1,
      faults: [expect.stringMatching(`^row ${sequence} \\(${id}\\): .*edited`)],
    });
    expect(output).not.toMatch(/allowed|denied|identity/);
    expect(await strongroom.verifyAudit()).toMatchObject({ code: 0 });
  });

  test('names both of two swapped rows', async () => {
    const { sequence, id, next } = await someRow();
    const swap = `update audit_record a set (${COLUMNS}) = (select ${COLUMNS} from audit_record b
      where b.sequence = ${sequence} + ${next.sequence} - a.sequence) where a.sequence in (${sequence}, ${next.sequence})`;
    await tamper(strongroom.sql, swap);

    const { code, faults } = await strongroom.verifyAudit();
    const { verdict } = await verifyOverApi(strongroom.admin);

    await tamper(strongroom.sql, swap);
    expect(verdict).toMatchObject({ isIntact: false, faultCount: 2 });
    expect(verdict.faults.map((each: Record<string, string>) => `${each.place}: ${each.fault}`)).toEqual(faults);
    expect({ code, faults }).toEqual({
      code: 1,
      faults: [
        `row ${sequence} (${next.id}): moved here from ${next.sequence}`,
        `row ${next.sequence} (${id}): moved here from ${sequence}`,
      ],
    });
    expect(await strongroom.verifyAudit()).toMatchObject({ code: 0 });
  });

  test('names a row that was recorded once and stands there twice', async () => {
    const { sequence, id } = await someRow();
    await strongroom.sql(`insert into audit_record (${COLUMNS}) select ${COLUMNS} from audit_record where id = $1`, [
      id,
    ]);
    await untilSealed(strongroom.sql);

    const { code, faults } = await strongroom.verifyAudit();

    const [copy] = await strongroom.sql('select max(sequence) as sequence from audit_record where id = $1', [id]);
    expect({ code, faults }).toEqual({ code: 1, faults: [`row ${copy?.sequence} (${id}): a copy of row ${sequence}`] });
  });
});

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

  test('has a trail that can be verified while it runs and while it is stopped, and seals all before it stops', async () => {
    const token = (await readFile(join(dataDir, 'bootstrap-token'), 'utf8')).trim();
    const admin = new Caller(service.url, token);
    await new Seed(admin).project();
    expect(await verifyAudit({ DATA_DIR: dataDir })).toMatchObject({ code: 0, faults: [] });
    const replies = await Promise.all(Array.from({ length: 20 }, () => admin.get('/api/v1/projects')));
    expect(replies.map(({ status }) => status)).toEqual(Array(20).fill(200));

    expect(await service.stop()).toBe(0);

    expect(await verifyAudit({ DATA_DIR: dataDir })).toMatchObject({ code: 0, faults: [], unsealed: 0 });
    expect(await embeddedPostgres(dataDir)).toEqual([]);
  });

  test('logs anchors, by which an end that was cut off is noticed', async () => {
    const anchors = [...service.output.matchAll(/"anchor":"(\d+:[0-9a-f]{64})"/g)].map((match) => match[1] as string);
    const [first, last] = [anchors[0] as string, anchors.at(-1) as string];
    const flags = [first, last].flatMap((anchor) => ['--anchor', anchor]);
    expect(first).not.toBe(last);
    expect(await verifyAudit({ DATA_DIR: dataDir }, ...flags)).toMatchObject({ code: 0, head: last });
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
