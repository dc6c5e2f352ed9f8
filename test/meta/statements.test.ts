import type { EventEmitter } from 'node:events';
import { join } from 'node:path';
import type pg from 'pg';
import { ensureServiceRole, grantToServiceRole } from '../../src/kernel/database/service-role.js';
import {
  type SqlStatement,
  type Statement,
  sqlStatement,
  sqlVariants,
  t,
} from '../../src/kernel/database/statement.js';
import { migratedDatabase } from '../kit/databases.js';
import { withClient } from '../kit/tables.js';
import { ROOT, sources } from './sources.js';

type Exported = Statement<never, object> & Partial<Pick<SqlStatement, 'params' | 'row' | 'isOfOwner'>>;
interface Variants {
  (choice: never): Exported;
  readonly options: Readonly<Record<string, readonly unknown[]>>;
}
interface Column {
  readonly name: string;
  readonly type: string;
  /** Of the column of a table that it is; null for an expression. */
  readonly isNullable: boolean | null;
}
interface Field {
  readonly name: string;
  readonly tableID: number;
  readonly columnID: number;
  readonly dataTypeID: number;
}

const FILES = sources('src').filter(({ path }) => /\.(sql|queries)\.ts$/.test(path));

/** What the files with statements export, as `[file name, statement]`. */
async function statements(): Promise<[string, Exported][]> {
  const modules = await Promise.all(
    FILES.map(async ({ path }) => [path, (await import(join(ROOT, path))) as object] as const),
  );
  return modules.flatMap(([path, exported]) =>
    Object.entries(exported)
      // One for each kind of something: `lockCandidate.user`, `lockCandidate.identity`.
      .flatMap(([name, value]) =>
        typeof value === 'object' && value !== null
          ? Object.entries(value).map(([kind, one]) => [`${name}.${kind}`, one] as const)
          : [[name, value] as const],
      )
      .filter(([, value]) => typeof value === 'function')
      .flatMap(([name, value]): [string, Exported][] => {
        if ('text' in value) return [[`${path} ${name}`, value]];
        return 'options' in value
          ? variantsOf(value as Variants).map(([choice, one]) => [`${path} ${name} ${choice}`, one])
          : [];
      }),
  );
}

/** Each value of each option, beside the first and beside the last of all others. */
function variantsOf(variants: Variants): [string, Exported][] {
  const options = Object.entries(variants.options);
  const choices = [0, -1].flatMap((at) => {
    const others = Object.fromEntries(options.map(([name, values]) => [name, values.at(at)]));
    return options.flatMap(([name, values]) => values.map((value) => ({ ...others, [name]: value })));
  });
  return [...new Map(choices.map((choice) => [JSON.stringify(choice), variants(choice as never)]))];
}

/** Types of the parameters. @throws when the text is no statement on these tables */
async function parametersOf(client: pg.Client, text: string): Promise<string[]> {
  await client.query(`prepare described as ${text}`);
  const { rows } = await client.query<{ types: string[] }>(
    `select parameter_types::text[] as types from pg_prepared_statements where name = 'described'`,
  );
  await client.query('deallocate described');
  return rows[0]?.types ?? [];
}

/** The server describes the columns before it runs the statement, which does nothing to a database without rows. */
async function columnsOf(client: pg.Client, text: string, parameters: number): Promise<Column[]> {
  const { connection } = client as unknown as { connection: EventEmitter };
  let fields: readonly Field[] = [];
  const onDescription = (message: { fields: readonly Field[] }): void => {
    fields = message.fields;
  };
  await client.query('begin');
  connection.on('rowDescription', onDescription);
  await client.query(text, Array(parameters).fill(null)).catch(() => undefined);
  connection.off('rowDescription', onDescription);
  await client.query('rollback');
  const { rows } = await client.query<Column>(
    `select name, format_type(type, null) as type, not attnotnull as "isNullable"
     from unnest($1::text[], $2::oid[], $3::oid[], $4::int[]) with ordinality as field (name, type, relation, number, place)
     left join pg_attribute on attrelid = relation and attnum = number order by place`,
    [
      fields.map(({ name }) => name),
      fields.map(({ dataTypeID }) => dataTypeID),
      fields.map(({ tableID }) => tableID),
      fields.map(({ columnID }) => columnID),
    ],
  );
  return rows;
}

/** In what a statement is not as it is declared. One of typed tables declares nothing: it is prepared, and that is all. */
async function violationsOf(client: pg.Client, { text, params, row }: Exported): Promise<string[]> {
  const parameters = await parametersOf(client, text);
  if (params === undefined || row === undefined) return [];
  const columns = await columnsOf(client, text, parameters.length);
  const declared = Object.values(params).map(({ name }) => name);
  const types = new Map(Object.entries(row));
  return [
    ...(declared.join() === parameters.join() ? [] : [`parameters are ${parameters}, and declared as ${declared}`]),
    ...[...types]
      .filter(([name, { isOptional }]) => isOptional !== true && !columns.some((column) => column.name === name))
      .map(([name]) => `no ${name}`),
    ...columns.flatMap(({ name, type, isNullable }) => {
      const declaredType = types.get(name);
      if (declaredType?.name !== type) return [`${name} is ${type}, and declared as ${declaredType?.name}`];
      return isNullable === true && !declaredType.isNullable ? [`${name} may be null`] : [];
    }),
  ];
}

/** Whatever reads least is chosen, however few rows there are. */
const BY_INDEX = `set local plan_cache_mode = force_generic_plan; set local cpu_tuple_cost = 1000;
  ${['seqscan', 'bitmapscan', 'sort', 'hashjoin', 'mergejoin'].map((kind) => `set local enable_${kind} = off;`).join(' ')}`;
/** Of the policies themselves. */
const OF_POLICY = / on organization o :: (Index Cond: \((parent_id|id) = \(InitPlan\)\.col1\))?$/;
const NUMBERED: readonly [RegExp, string][] = [
  [/Index Only Scan/g, 'Index Scan'],
  [/(InitPlan|SubPlan) \d+/g, '$1'],
  [/(?<=\w)_\d+\b/g, ''],
];

/** By which index a role reads each table of a statement, and on which condition. */
async function readsOf(client: pg.Client, text: string, role: string | null): Promise<string[]> {
  await client.query('begin');
  await client.query(BY_INDEX);
  if (role !== null) await client.query(`set local role ${role}`);
  const given = (await parametersOf(client, text)).map(() => 'null').join();
  await client.query(`prepare planned as ${text}`);
  const { rows } = await client.query<{ 'QUERY PLAN': string }>(
    `explain (costs off) execute planned ${given === '' ? '' : `(${given})`}`,
  );
  await client.query('rollback');
  await client.query('deallocate planned');
  const lines = rows.map((row) => row['QUERY PLAN'].trim());
  return lines
    .flatMap((line, at) => {
      const condition = /^Index Cond: .*/.exec(lines[at + 1] ?? '')?.[0] ?? '';
      return /(Index|Index Only|Seq) Scan/.test(line) ? [`${line.replace('->  ', '')} :: ${condition}`] : [];
    })
    .map((line) => NUMBERED.reduce((plain, [what, by]) => plain.replaceAll(what, by), line))
    .filter((line) => !OF_POLICY.test(line))
    .sort();
}

describe('statements', () => {
  let url: string;
  beforeAll(async () => {
    url = await migratedDatabase();
  });
  const violations = (all: readonly [string, Exported][]): Promise<string[]> =>
    withClient(url, async (client) => {
      const found: string[] = [];
      for (const [name, statement] of all) {
        const ofOne = await violationsOf(client, statement).catch(({ message }: Error) => [message]);
        found.push(...ofOne.map((violation) => `${name}: ${violation}`));
      }
      return found;
    });

  test('take and return on a migrated database what they declare', async () => {
    const all = await statements();
    expect(all.length).toBeGreaterThan(8);
    expect(await violations(all)).toEqual([]);
  });

  // Behind a policy, an expression that may tell of a row (COALESCE, arithmetic) is no condition of an index: take it into a subselect.
  test('are answered by the same indexes behind row-level security as without it', async () => {
    // On tables without rows, the order of joins in variants is arbitrary.
    const all = (await statements()).filter(([name]) => !name.endsWith('}'));
    await withClient(url, async (client) => {
      const ask = async (text: string, params?: readonly unknown[]) => (await client.query(text, params as never)).rows;
      const found = await ensureServiceRole(ask as never);
      if (!('role' in found)) throw new Error(found.reason);
      const nothing = async (): Promise<void> => undefined;
      await grantToServiceRole({ query: ask, begin: nothing, commit: nothing } as never, found.role, {});
      const bounded = async (text: string) => [
        await readsOf(client, text, found.role),
        await readsOf(client, text, null),
      ];
      const slow = 'select from folder f join environment e on e.id = coalesce(f.environment_id, f.project_id)';
      const [hidden, plain] = await bounded(slow);
      expect(hidden).not.toEqual(plain);
      const changed: string[] = [];
      for (const [name, { text }] of all.filter(([, { isOfOwner }]) => isOfOwner !== true)) {
        const [asService, asOwner] = await bounded(text);
        if (String(asService) !== String(asOwner)) changed.push(`${name}: ${asService?.join(', ')}`);
      }
      expect(changed).toEqual([]);
    });
  });

  test('would not with another parameter, another type of a column, or one that may be null', async () => {
    const text = 'select id, parent_id, version::text as version from folder where path = :path';
    const wrong = sqlStatement({
      text,
      params: { path: t.uuid },
      row: { id: t.uuid, parent_id: t.uuid, version: t.integer },
    });
    const missing = sqlStatement({
      text: 'select id from tag where slug = $1',
      params: {},
      row: { id: t.uuid, slug: t.text },
    });
    expect(
      await violations([
        ['wrong', wrong],
        ['missing', missing],
      ]),
    ).toEqual([
      'wrong: parameters are text, and declared as uuid',
      'wrong: parent_id may be null',
      'wrong: version is text, and declared as integer',
      'missing: parameters are text, and declared as ',
      'missing: no slug',
    ]);
  });

  test('have variants that name some of their parameters and columns', async () => {
    const variants = sqlVariants({
      options: { isByKey: [false, true], column: ['version', 'missing'] },
      text: ({ isByKey, column }) => `select ${column} from secret where ${isByKey ? 'key = :key' : 'id = :id'}`,
      params: { id: t.uuid, key: t.text },
      row: { version: t.optional(t.integer) },
    });
    expect(variants({ isByKey: true, column: 'version' })).toBe(variants({ isByKey: true, column: 'version' }));
    expect(variants({ isByKey: true, column: 'version' }).text).toBe('select version from secret where key = $1');
    expect(await violations(variantsOf(variants))).toEqual([
      '{"isByKey":false,"column":"missing"}: column "missing" does not exist',
      '{"isByKey":true,"column":"missing"}: column "missing" does not exist',
    ]);
  });

  test('name parameters that they declare', () => {
    const text = 'select 1 as one where :known = :unknown';
    expect(() => sqlStatement({ text, params: { known: t.text }, row: { one: t.integer } })).toThrow('not declared');
  });
});
