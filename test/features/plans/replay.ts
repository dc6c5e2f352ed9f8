import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { SESSION } from '../../../src/kernel/database/orm-options.js';
import { ensureServiceRole, grantToServiceRole } from '../../../src/kernel/database/service-role.js';
import { migratedDatabase } from '../../kit/databases.js';
import { buffersOf, executionOf, explained, isRead, type PlanNode } from '../../kit/explained.js';
import type { Executed } from '../../kit/statement-recorder.js';
import { IS_TABLE, withClient } from '../../kit/tables.js';

/** How often a statement is measured, with the longest of its parameters. */
const TIMES = 3;

/** What Postgres did for one execution of a statement. */
export interface Work {
  readonly text: string;
  /** Rows that it returned. */
  readonly rows: number;
  /** Parameters that it was given, elements of arrays included. */
  readonly given: number;
  /** Rows that passed through its plan, or pages that were looked at, whichever are more. */
  readonly read: number;
}

interface Statement {
  readonly text: string;
  readonly params: readonly Executed['params'][];
}

/** Reads with plans that are made. */
export interface Kept {
  measure(): Promise<Work[]>;
  close(): Promise<void>;
}

/** A second database, in which the reads of a first one are done again, planned when it is convenient for a test. */
export class Replay {
  private constructor(
    private readonly owner: pg.Client,
    private readonly url: string,
    private readonly role: string,
  ) {}

  /** One without rows, which nobody takes statistics of by himself. */
  static async create(): Promise<Replay> {
    const url = await migratedDatabase();
    const owner = await connect(url);
    const ask = async (text: string, params?: readonly unknown[]) => (await owner.query(text, params as never)).rows;
    const found = await ensureServiceRole(ask as never);
    if (!('role' in found)) throw new Error(found.reason);
    const nothing = async (): Promise<void> => undefined;
    await grantToServiceRole({ query: ask, begin: nothing, commit: nothing } as never, found.role, {});
    // Slices have rights of their own beside those; here only plans matter.
    await owner.query(`grant select on all tables in schema public to ${pg.escapeIdentifier(found.role)}`);
    // Partitions, too.
    const { rows: tables } = await owner.query(
      `select oid::regclass as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace`,
    );
    for (const { name } of tables) await owner.query(`alter table ${name} set (autovacuum_enabled = off)`);
    await owner.query('vacuum analyze');
    return new Replay(owner, url, found.role);
  }

  /** The rows of another database, without any look at what they are like. */
  async fill(databaseUrl: string): Promise<void> {
    const folder = await mkdtemp(join(tmpdir(), 'strongroom-rows-'));
    await chmod(folder, 0o777);
    // The trail only grows, and what refers to something may come before it.
    await this.owner.query('set session_replication_role = replica');
    try {
      await withClient(databaseUrl, async (source) => {
        for (const table of await tablesOf(source)) {
          if (table === 'schema_migration') continue;
          const columns = await columnsOf(source, table);
          const file = pg.escapeLiteral(join(folder, table));
          await source.query(`copy (select ${columns} from ${table}) to ${file}`);
          // What migrations put there. The trail has nothing yet, and lets nobody delete.
          if (!table.startsWith('audit_')) await this.owner.query(`delete from ${table}`);
          await this.owner.query(`copy ${table} (${columns}) from ${file}`);
        }
      });
    } finally {
      await rm(folder, { recursive: true });
    }
  }

  /** A statement of the owner. */
  async sql(text: string, params: unknown[] = []): Promise<void> {
    await this.owner.query(text, params);
  }

  /** What it takes to do these reads of an organization with plans of this moment, whatever the parameters. */
  async measure(organizationId: string, executed: readonly Executed[]): Promise<Work[]> {
    const kept = await this.keep(organizationId, executed);
    try {
      return await kept.measure();
    } finally {
      await kept.close();
    }
  }

  /** Plans these reads now, to measure them later by the same plans. */
  async keep(organizationId: string, executed: readonly Executed[]): Promise<Kept> {
    const client = await connect(this.url);
    const settings = [...SESSION, 'plan_cache_mode=force_generic_plan', 'statement_timeout=0'];
    await client.query(settings.map((setting) => `set ${setting}`).join('; '));
    await client.query(`select set_config('strongroom.organization', $1, false)`, [organizationId]);
    await client.query(`set role ${pg.escapeIdentifier(this.role)}`);
    const statements = readsOf(executed);
    for (const [at, { text, params }] of statements.entries()) {
      await client.query(`prepare ${nameOf(at)} as ${text}`);
      await client.query(executionOf(nameOf(at), params[0] ?? []));
    }
    return {
      measure: async () => {
        const works: Work[] = [];
        for (const [at, { text, params }] of statements.entries())
          for (const values of params) works.push(await workOf(client, text, values, executionOf(nameOf(at), values)));
        return works;
      },
      close: () => client.end(),
    };
  }

  async close(): Promise<void> {
    await this.owner.end();
  }
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

const tablesOf = async (client: pg.Client): Promise<string[]> =>
  (
    await client.query(`select table_name as name from information_schema.tables where ${IS_TABLE} order by 1`)
  ).rows.map(({ name }) => name);

async function columnsOf(client: pg.Client, table: string): Promise<string> {
  const { rows } = await client.query(
    `select string_agg(format('%I', attname), ', ' order by attnum) as columns from pg_attribute
     where attrelid = $1::regclass and attnum > 0 and not attisdropped and attgenerated = ''`,
    [table],
  );
  return rows[0].columns;
}

/** The statements among these that only read, each once, with the longest of its different parameters. */
function readsOf(executed: readonly Executed[]): Statement[] {
  const byText = Map.groupBy(executed, ({ text }) => text);
  return [...byText]
    .filter(([text]) => isRead(text))
    .map(([text, times]) => {
      const different = new Map(times.map(({ params }) => [JSON.stringify(params), params]));
      const longest = [...different].toSorted(([one], [other]) => other.length - one.length).slice(0, TIMES);
      return { text, params: longest.map(([, params]) => params) };
    });
}

const nameOf = (at: number): string => `kept_${at}`;

async function workOf(client: pg.Client, text: string, params: Executed['params'], execution: string): Promise<Work> {
  const plan = await explained(client, execution);
  return {
    text,
    rows: plan['Actual Rows'] * plan['Actual Loops'],
    given: params.reduce((sum, value) => sum + elementsOf(value), 0),
    read: Math.max(passed(plan), buffersOf(plan)),
  };
}

/** Of an array in Postgres' own form, as `{a,b}`. */
const elementsOf = (value: string | null): number => (value?.startsWith('{') ? value.split(',').length : 1);

/** Rows that its nodes gave or threw away. */
const passed = (node: PlanNode): number =>
  node['Actual Loops'] *
    (node['Actual Rows'] +
      (node['Rows Removed by Filter'] ?? 0) +
      (node['Rows Removed by Index Recheck'] ?? 0) +
      (node['Rows Removed by Join Filter'] ?? 0)) +
  (node.Plans ?? []).reduce((sum, inner) => sum + passed(inner), 0);
