import { isDeepStrictEqual } from 'node:util';
import pg from 'pg';
import { type Caller, mustSucceed, type Reply } from '../kit/caller.ts';
import { graphqlOperations } from '../kit/operations/graphql.ts';
import type { Operation } from '../kit/operations/operation.ts';
import { restOperations } from '../kit/operations/rest-requests.ts';
import type { Seed } from '../kit/seed.ts';
import { IS_TABLE } from '../kit/tables.ts';
import { type Sql, untilSealed } from '../kit/trail.ts';
import { CANARY, seedWorld, type World } from '../kit/world.ts';
import { type Check, expectThat } from './check.ts';
import { type Installation, withInstallation } from './installation.ts';

/** The owner of the tables, who needs no right to insert, is refused too. */
const REFUSE = `create function refuse_audit() returns trigger language plpgsql security definer as $$
  begin raise exception 'refused' using errcode = 'insufficient_privilege'; end $$;
  create trigger refused before insert on audit_record for each statement execute function refuse_audit()`;
const ALLOW = 'drop trigger refused on audit_record; drop function refuse_audit()';

/** Told to nobody: that a token was used is counted before the request begins, and uses of keys are reserved beforehand. */
const COUNTERS: Readonly<Record<string, readonly string[]>> = {
  access_token: ['num_uses', 'last_used_at'],
  data_key: ['seals_reserved'],
};

/** All but those in which the service notes by itself when its jobs are due. */
const TABLES = `select table_name as name from information_schema.tables
  where ${IS_TABLE} and table_name !~ '^(agenda_|job$|job_)' order by 1`;

/** Every row of every table, without what is counted. */
async function contentsOf(sql: Sql): Promise<Record<string, unknown>> {
  const contents: Record<string, unknown> = {};
  for (const { name } of (await sql(TABLES)) as { name: string }[]) {
    const counters = (COUNTERS[name] ?? []).map((column) => pg.escapeLiteral(column)).join(', ');
    const row = counters === '' ? 't::text' : `(to_jsonb(t) - array[${counters}])::text`;
    const [found] = await sql(
      `select count(*)::int as count, md5(coalesce(string_agg(${row}, ' ' order by ${row}), '')) as rows from ${pg.escapeIdentifier(name)} t`,
    );
    contents[name] = found;
  }
  return contents;
}

interface Call {
  readonly name: string;
  send(): Promise<Reply>;
}

/** Every operation, by who may do it and by who may not, and the one that only the first admin has. */
async function callsOf(installation: Installation, seed: Seed): Promise<Call[]> {
  const { world, admin } = await seedWorld(seed);
  const callers = {
    viewer: await seed.caller(admin, { organizationRole: 'member', project: world.project, projectRoles: ['viewer'] }),
    powerless: await seed.caller(admin, { project: world.project, projectRoles: ['no-access'] }),
  };
  const members = `/api/v2/workspace/${world.certificateProject}/identity-memberships`;
  mustSucceed(await admin.post(`${members}/${callers.viewer.identityId}`, { role: 'viewer' }));
  mustSucceed(await admin.post(`${members}/${callers.powerless.identityId}`, { role: 'no-access' }));
  const call = (who: string, caller: Caller, { name, send }: Operation, ids: World): Call => ({
    name: `${name} (${who})`,
    send: () => send(caller, ids),
  });
  const operations = [...restOperations(), ...graphqlOperations()].filter(({ needsHost }) => !needsHost);
  const first = await installation.admin();
  // Kept in memory, where they are: such replies need their audit rows as well.
  for (const operation of operations.filter(({ changes }) => !changes)) await operation.send(admin, world);
  return [
    ...operations.map((operation) => call('admin', admin, operation, world)),
    ...operations.flatMap((operation) => {
      const who = operation.denial?.[0];
      return who === undefined ? [] : [call(who, callers[who], operation, world)];
    }),
    {
      name: 'mutation createOrganization (first admin)',
      send: () =>
        first.graphql(
          'mutation ($input: CreateOrganizationInput!) { createOrganization(input: $input) { organization { id } accessToken } }',
          { input: { name: 'Refused', slug: 'refused' } },
        ),
    },
  ];
}

/** One operation. @throws Error when it is answered with anything but the refusal, or leaves anything behind */
async function judge({ name, send }: Call, sql: Sql, before: Record<string, unknown>): Promise<void> {
  const { status, body, text } = await send();
  const code = body?.errors?.[0]?.extensions?.code ?? body?.code;
  expectThat(status === 503 && code === 'AUDIT_UNAVAILABLE', `${name} is answered ${status} ${code}`);
  expectThat(!text.includes(CANARY) && !/sr[ts]_/.test(text), `${name} shows a secret`);
  expectThat(
    Object.values(body.data ?? {}).every((value) => value === null),
    `${name} shows data`,
  );
  const after = await contentsOf(sql);
  const changed = Object.keys(after).filter((table) => !isDeepStrictEqual(after[table], before[table]));
  expectThat(changed.length === 0, `${name} changed ${changed.join(', ')}`);
}

/** The documents ask for all that there is. */
const EVERYTHING = { GRAPHQL_LIMITS: 'tokens=4000,cost=100000,objects=100000', ALLOW_PRIVATE_TARGETS: 'true' };

export const check: Check = {
  id: 'C18',
  title: 'no audit row, no answer and no change',
  fullTimes: 1,
  needsQuiet: true,
  run: () =>
    withInstallation(async (installation) => {
      const pool = new pg.Pool({ connectionString: await installation.databaseUrl(), max: 1 });
      try {
        const sql: Sql = async (text) => (await pool.query(text)).rows;
        const calls = await callsOf(installation, await installation.seed());
        await untilSealed(sql);
        const before = await contentsOf(sql);
        await sql(REFUSE);
        for (const call of calls) await judge(call, sql, before);
        await sql(ALLOW);
        // They were refused for want of an audit row, and not because they were wrong.
        const reads = calls.filter(({ name }) => /^(GET|query) .*\(admin\)$/.test(name));
        for (const { name, send } of reads) {
          const { status } = await send();
          expectThat(status === 200, `${name} is answered ${status} afterwards`);
        }
        return `${calls.length} operations refused, 0 changed tables, 0 secrets shown, ${reads.length} reads well afterwards`;
      } finally {
        await pool.end();
      }
    }, EVERYTHING),
};
