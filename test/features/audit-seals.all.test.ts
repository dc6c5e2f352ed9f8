import { mustSucceed } from '../kit/caller.js';
import { testInAll } from '../kit/scope.js';
import { type Caller, useStrongroom } from '../kit/strongroom.js';
import { withClient } from '../kit/tables.js';
import { reachOf, tamper, untilSealed } from '../kit/trail.js';
import { until } from '../kit/until.js';
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

// The order of these tests matters: what the first ones find whole, the last ones leave broken.
const strongroom = useStrongroom({ TRUSTED_PROXIES: '127.0.0.1' });
const sql = (text: string, params?: unknown[]) => strongroom.sql(text, params);

describe('a trail that nobody touches', () => {
  const rowCount = async (): Promise<number> =>
    (await strongroom.sql<{ count: number }>('select count(*)::integer as count from audit_record'))[0]?.count ?? 0;

  testInAll('is sealed within seconds, by two nodes at once, and is found whole', async () => {
    const { admin } = await seedWorld(strongroom.seed);
    const node = await strongroom.startSecondNode();
    await Promise.all(
      Array.from({ length: 200 }, (_, index) =>
        admin.at([strongroom.url, node.url][index % 2] as string).get('/api/v1/projects'),
      ),
    );
    expect(await node.stop()).toBe(0);
    await untilSealed(sql);

    const before = await rowCount();
    const verdict = await strongroom.verifyAudit();

    expect(verdict).toMatchObject({ code: 0, faults: [] });
    // A job may add some meanwhile.
    expect(verdict.rows - verdict.unsealed).toBeGreaterThanOrEqual(before);
    expect(verdict.rows).toBeLessThanOrEqual(await rowCount());
    expect(before).toBeGreaterThan(200);
    expect(verdict.head).toMatch(new RegExp(`^${verdict.seals}:[0-9a-f]{64}$`));
  });

  test('is found whole by the program and for an admin of the installation who asks, whatever callers call themselves', async () => {
    const { admin } = await seedWorld(strongroom.seed);
    for (const address of ['2001:DB8::1', '64:ff9b::1.2.3.4', '::1.2.3.4', '1:0:2:3:4:5:6:7', '::ffff:10.0.0.1']) {
      const headers = { 'x-forwarded-for': address, 'user-agent': `ü \\u0000 "${'é'.repeat(300)}` };
      mustSucceed(await admin.get('/api/v1/projects', headers));
    }
    await untilSealed(sql);
    const rows = await rowCount();

    const found = await verifyOverApi(strongroom.admin);
    const program = await strongroom.verifyAudit();

    expect(program).toMatchObject({ code: 0, faults: [] });
    expect(program.rows - program.unsealed).toBeGreaterThanOrEqual(rows);
    expect(program.rows).toBeLessThanOrEqual(await rowCount());
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

  test('refuses to be changed', async () => {
    for (const table of ['audit_record', 'audit_seal']) {
      await untilSealed(sql);
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
    await untilSealed(sql);
    await until('the figures to be those of the table', WITHIN_MS, async () => {
      const { text } = await strongroom.admin.anonymous.get('/metrics');
      const [seal] = await strongroom.sql('select max(number) as number from audit_seal');
      return (
        text.includes(`strongroom_audit_last_seal ${seal?.number}\n`) &&
        text.includes('strongroom_audit_unsealed_seconds 0\n')
      );
    });
  });
});

const COLUMNS = `id, organization_id, project_id, occurred_at, action, outcome, actor_kind, actor_id, token_id, request_id,
  address, user_agent, facts, class, subject_id, disclosed, mac`;
const MINIMUM = '-9223372036854775808';
/** As many as the verifier reads at once, or more. */
const MANY = 5_000;

const EDITED = 'edited, or not written with this root key';
/** Which row somebody edits, how, and what is said of it. */
const EDITS: readonly (readonly [where: string, edit: string, fault?: string])[] = [
  // A fact spelled otherwise.
  [`facts @? '$.count ? (@ >= 0)'`, `facts = jsonb_set(facts, '{count}', ((facts->>'count') || '.0')::jsonb)`],
  // Facts that are none, a number, or null.
  [`facts = '{}'`, `facts = '[]'`],
  [`facts = '{}'`, `facts = '5'`],
  [`facts = '{}'`, `facts = 'null'`],
  // An address spelled otherwise.
  ['family(address) = 4', `address = ('::ffff:' || host(address))::inet`],
  [`jsonb_typeof(facts) = 'object'`, `facts = facts || '{"more": 1}'`],
  ['actor_id <> organization_id', 'actor_id = organization_id, organization_id = actor_id'],
  [`outcome = 'allowed'`, `outcome = 'denied'`],
  [`class = 'change'`, `class = 'denial'`],
  ['subject_id is not null and disclosed is null', 'subject_id = null, disclosed = uuid_send(subject_id)'],
  ['true', `occurred_at = occurred_at + interval '1 hour'`, 'its time or end was edited, or it replaces another row'],
];

interface Row {
  readonly sequence: string;
  readonly id: string;
}

describe('a trail that was tampered with', () => {
  /** Rows that are sealed, one for each condition, beside others. */
  async function rowsWhere(...conditions: readonly string[]): Promise<Row[]> {
    const { admin, project } = await strongroom.seed.project();
    mustSucceed(await admin.get(`/api/v4/secrets?projectId=${project.id}&environment=dev`));
    for (let time = 0; time < conditions.length; time += 1)
      await admin.data('query ($id: ID!) { project(id: $id) { id } }', { id: project.id });
    await untilSealed(sql);
    const rows: Row[] = [];
    for (const condition of conditions) {
      const [row] = await strongroom.sql<{ sequence: string; id: string }>(
        `select sequence, id from audit_record where ${condition} and sequence <> all($1) order by sequence limit 1`,
        [rows.map(({ sequence }) => sequence)],
      );
      if (row === undefined) throw new Error(`no row where ${condition}`);
      rows.push(row);
    }
    return rows;
  }

  /** Made-up rows with this sequence, while `work` runs. */
  async function withForged<T>(sequence: string, from: string, work: () => Promise<T>, rows = 1): Promise<T> {
    await tamper(
      sql,
      `insert into audit_record (sequence, ${COLUMNS}) overriding system value
       select ${sequence}, ${COLUMNS.replace(/^id/, 'gen_random_uuid()').replace(' action', ` 'forged'`)}
         from audit_record cross join generate_series(1, ${rows}) where sequence = ${from}`,
    );
    try {
      return await work();
    } finally {
      await tamper(sql, `delete from audit_record where action = 'forged'`);
    }
  }

  test('names each row that was edited, both of two that were swapped, and one below all others, and shows nothing of them', async () => {
    const rows = await rowsWhere(...EDITS.map(([where]) => where), 'true', 'true', 'true');
    const [one, two, other] = rows.slice(EDITS.length) as [Row, Row, Row];
    const all = rows.map(({ sequence }) => sequence).join(', ');
    await sql(`create table kept as select * from audit_record where sequence in (${all})`);
    await tamper(
      sql,
      ...EDITS.map(([, edit], at) => `update audit_record set ${edit} where sequence = ${rows[at]?.sequence}`),
      `update audit_record a set (${COLUMNS}) = (select ${COLUMNS} from kept
         where sequence = ${one.sequence} + ${two.sequence} - a.sequence) where sequence in (${one.sequence}, ${two.sequence})`,
    );
    const { program, verdict } = await withForged(MINIMUM, other.sequence, async () => ({
      program: await strongroom.verifyAudit(),
      verdict: (await verifyOverApi(strongroom.admin)).verdict,
    }));
    await tamper(
      sql,
      `update audit_record a set (${COLUMNS}) = (select ${COLUMNS} from kept where sequence = a.sequence) where sequence in (${all})`,
    );
    await sql('drop table kept');

    const [below, rest] = [true, false].map((isBelow) =>
      program.faults.filter((fault) => fault.startsWith(`row ${MINIMUM} `) === isBelow),
    );
    expect(below).toEqual([expect.stringMatching(/^row -\d+ \(.*\): inserted/)]);
    expect(rest?.toSorted()).toEqual(
      [
        ...EDITS.map(([, , fault = EDITED], at) => `row ${rows[at]?.sequence} (${rows[at]?.id}): ${fault}`),
        `row ${one.sequence} (${two.id}): moved here from ${two.sequence}`,
        `row ${two.sequence} (${one.id}): moved here from ${one.sequence}`,
      ].toSorted(),
    );
    expect(program.code).toBe(1);
    expect(program.output).not.toMatch(/allowed|denied|identity/);
    expect(verdict).toMatchObject({ isIntact: false, faultCount: program.faults.length });
    expect(verdict.faults.map((each: Record<string, string>) => `${each.place}: ${each.fault}`)).toEqual(
      program.faults,
    );
    expect(await strongroom.verifyAudit()).toMatchObject({ code: 0 });
  });

  test('is found out by a seal below all others', async () => {
    await untilSealed(sql);
    await sql('alter table audit_seal drop constraint audit_seal_number_check');
    await tamper(
      sql,
      `insert into audit_seal (number, after_sequence, last_sequence, entries, sealed_at, previous, mac)
       select ${MINIMUM}, after_sequence, last_sequence, entries, sealed_at, previous, mac
         from audit_seal where number = 1`,
    );
    const { code, faults } = await strongroom.verifyAudit();
    await tamper(sql, 'delete from audit_seal where number < 0');
    expect({ code, faults }).toEqual({
      code: 1,
      faults: expect.arrayContaining([`seal ${MINIMUM}: edited, or not created with this root key`]),
    });
  });

  test('names a copy of a row, and is not sealed past a row that may still be committed', async () => {
    const [row] = (await rowsWhere('true')) as [Row];
    await sql(`insert into audit_record (${COLUMNS}) select ${COLUMNS} from audit_record where id = $1`, [row.id]);
    await untilSealed(sql);
    const [copy] = await sql('select max(sequence) as sequence from audit_record where id = $1', [row.id]);
    const ofCopy = `row ${copy?.sequence} (${row.id}): a copy of row ${row.sequence}`;
    await withClient(strongroom.databaseUrl, async (writer) => {
      await writer.query('begin');
      const { rows } = await writer.query(
        `insert into audit_record (id, organization_id, action, outcome, actor_kind, actor_id, request_id, facts, mac)
         select gen_random_uuid(), organization_id, action, outcome, actor_kind, actor_id, request_id, facts, mac
           from audit_record limit 1 returning sequence, id`,
      );
      const late = rows[0] as Row;
      await strongroom.seed.organization();
      await until('the rows behind it to wait', WITHIN_MS, async () => {
        const { text } = await strongroom.admin.anonymous.get('/metrics');
        return Number(/^strongroom_audit_unsealed_seconds (\S+)/m.exec(text)?.[1]) > 2;
      });
      const reach = await reachOf(sql);
      expect(reach.sealed).toBeLessThan(BigInt(late.sequence));
      expect(reach.newest).toBeGreaterThan(BigInt(late.sequence));
      await writer.query('commit');
      await untilSealed(sql);
      // It is no row of ours; but a seal has it.
      const { code, faults } = await strongroom.verifyAudit();
      expect({ code, faults: faults.toSorted() }).toEqual({
        code: 1,
        faults: [ofCopy, `row ${late.sequence} (${late.id}): ${EDITED}`].toSorted(),
      });
      await tamper(sql, `delete from audit_record where sequence = ${late.sequence}`);
      expect((await strongroom.verifyAudit()).faults.toSorted()).toEqual(
        [ofCopy, `row ${late.sequence}: deleted`].toSorted(),
      );
    });
  });

  test('still has events of long ago found by their time, among the seals of then', async () => {
    const { organization, admin } = await strongroom.seed.organization();
    for (const [action, age] of [
      ['kit:old', '3 days'],
      ['kit:young', '1 day'],
    ] as const) {
      await sql(
        `insert into audit_record (id, organization_id, action, outcome, actor_kind, actor_id, request_id, facts, mac)
         values (gen_random_uuid(), $1, 'kit:event', 'allowed', 'system', gen_random_uuid(), gen_random_uuid(), '{}', '')`,
        [organization.id],
      );
      await untilSealed(sql);
      await tamper(
        sql,
        `update audit_record set action = '${action}', occurred_at = now() - interval '${age}'
          where organization_id = '${organization.id}' and action = 'kit:event'`,
        `update audit_seal set sealed_at = sealed_at - interval '${age}' where sealed_at > now() - interval '1 hour'`,
      );
    }
    const between = async (from: string, to: string): Promise<string[]> => {
      const [times] = await sql(`select now() - $1::interval as from, now() - $2::interval as to`, [from, to]);
      const { auditEvents } = await admin.data(
        `query ($from: DateTime, $to: DateTime) { auditEvents(from: $from, to: $to, actorKind: SYSTEM) { nodes { action } } }`,
        { from: times?.from, to: times?.to },
      );
      return auditEvents.nodes.map(({ action }: { action: string }) => action);
    };
    expect(await between('2 days', '12 hours')).toEqual(['kit:young']);
    expect(await between('4 days', '2 days')).toEqual(['kit:old']);
    expect(await between('4 days', '12 hours')).toEqual(['kit:young', 'kit:old']);
    expect(await between('12 hours', '6 hours')).toEqual([]);
  });

  test('is found out by a row with the sequence of another, wherever it is read, and by one without', async () => {
    await strongroom.seed.project();
    await untilSealed(sql);
    const [last] = await sql('select * from audit_record order by sequence desc limit 1');
    // Genuine rows of a trail that is long, as far as its reader knows: only their number matters.
    await tamper(
      sql,
      `insert into audit_record (${COLUMNS}) select ${COLUMNS} from audit_record cross join generate_series(1, ${MANY})
        where sequence = ${last?.sequence}`,
    );
    await untilSealed(sql);
    await tamper(sql, 'alter table audit_record drop constraint audit_record_pkey');
    await tamper(sql, 'alter table audit_record alter sequence drop identity');
    await tamper(sql, 'alter table audit_record alter sequence drop not null');
    const [edge] = await sql(`select sequence from audit_record order by sequence offset ${MANY - 1} limit 1`);
    const usual = await counted();

    // Which one of the three is read as the row of this number depends on how they are sorted.
    expect(await withForged(edge?.sequence, last?.sequence, counted, 2)).toBeGreaterThanOrEqual(usual + 2);
    expect(await withForged('null', last?.sequence, counted)).toBe(usual + 1);
  });

  async function counted(): Promise<number> {
    const { output } = await strongroom.verifyAudit();
    return Number(/not intact: (\d+) violation/.exec(output)?.[1]);
  }
});
