import { useStrongroom } from '../../kit/strongroom.ts';
import { tamper, untilSealed } from '../../kit/trail.ts';

const COLUMNS = `id, organization_id, project_id, occurred_at, action, outcome, actor_kind, actor_id, token_id, request_id,
  address, user_agent, facts, disclosed, mac`;
const MINIMUM = '-9223372036854775808';
/** As many as the verifier reads at once, or more. */
const MANY = 5_000;

describe('whoever owns the tables of the audit trail', () => {
  const strongroom = useStrongroom({ RATE_LIMIT: 'off' });
  const sql = (text: string, params?: unknown[]) => strongroom.sql(text, params);

  async function sealed(where = 'true'): Promise<{ sequence: string; id: string }> {
    await strongroom.seed.project();
    await untilSealed(sql);
    const [row] = await sql(`select sequence, id from audit_record where ${where} order by sequence limit 1`);
    return row as { sequence: string; id: string };
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

  test.each([
    [
      'a fact spelled otherwise',
      `facts @? '$.count ? (@ >= 0)'`,
      `facts = jsonb_set(facts, '{count}', ((facts->>'count') || '.0')::jsonb)`,
    ],
    ['facts that are none', `facts = '{}'`, `facts = '[]'`],
    ['facts that are a number', `facts = '{}'`, `facts = '5'`],
    ['facts that are null', `facts = '{}'`, `facts = 'null'`],
    ['an address spelled otherwise', 'family(address) = 4', `address = ('::ffff:' || host(address))::inet`],
  ])('is found out by %s', async (_, where, edit) => {
    const { admin, project } = await strongroom.seed.project();
    await admin.get(`/api/v4/secrets?projectId=${project.id}&environment=dev`);
    await admin.data('query ($id: ID!) { project(id: $id) { id } }', { id: project.id });
    const { sequence, id } = await sealed(where);
    await sql('create table kept as select * from audit_record where sequence = $1', [sequence]);
    await tamper(sql, `update audit_record set ${edit} where sequence = ${sequence}`);

    const { code, faults } = await strongroom.verifyAudit();

    await tamper(
      sql,
      `update audit_record set (facts, address) = (select facts, address from kept) where sequence = ${sequence}`,
    );
    await sql('drop table kept');
    expect({ code, faults }).toEqual({
      code: 1,
      faults: [`row ${sequence} (${id}): edited, or not written with this root key`],
    });
    expect(await strongroom.verifyAudit()).toMatchObject({ code: 0 });
  });

  test('is found out by a row below all others', async () => {
    const { sequence } = await sealed();
    const { code, faults } = await withForged(MINIMUM, sequence, () => strongroom.verifyAudit());
    expect({ code, faults }).toEqual({
      code: 1,
      faults: [expect.stringMatching(`^row ${MINIMUM} \\(.*\\): inserted`)],
    });
  });

  test('is found out by a seal below all others', async () => {
    await sealed();
    await sql('alter table audit_seal drop constraint audit_seal_number_check');
    await tamper(
      sql,
      `insert into audit_seal select ${MINIMUM}, after_sequence, last_sequence, entries, sealed_at, previous, mac
         from audit_seal where number = 1`,
    );
    const { code, faults } = await strongroom.verifyAudit();
    await tamper(sql, 'delete from audit_seal where number < 0');
    expect({ code, faults }).toEqual({
      code: 1,
      faults: expect.arrayContaining([`seal ${MINIMUM}: edited, or not created with this root key`]),
    });
  });

  test('is found out by a row with the sequence of another, wherever it is read, and by one without', async () => {
    await sealed();
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
