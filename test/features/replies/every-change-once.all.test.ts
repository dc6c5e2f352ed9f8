import { randomUUID } from 'node:crypto';
import type { Reply } from '../../kit/caller.js';
import { expectOneRow, rowsOf, takesKey } from '../../kit/operations/effects.js';
import { graphqlOperations } from '../../kit/operations/graphql.js';
import type { Operation } from '../../kit/operations/operation.js';
import { restOperations } from '../../kit/operations/rest-requests.js';
import { misfits } from '../../kit/reply-misfits.js';
import { sample } from '../../kit/scope.js';
import { LENIENT, useSharedStrongroom } from '../../kit/strongroom.js';
import { IS_TABLE } from '../../kit/tables.js';
import { seedWorld, type World } from '../../kit/world.js';

const strongroom = useSharedStrongroom(LENIENT, 'every operation');

const changes = [...restOperations(), ...graphqlOperations()].filter(({ changes: isChange }) => isChange);

/** Of a route, the API reference promises what the reply is like. */
const isRoute = ({ name }: Operation): boolean => / \/api\//.test(name);

/** A credential in a reply: nobody can ask for it again. */
const showsCredential = ({ text }: Reply): boolean =>
  /"(accessToken|clientSecret)":"[^"]/.test(text) || /srt_/.test(text);

/** Tables with rows of projects. Keys count their uses, and jobs, notices and messages follow a change: no reply that is kept shows them. */
const PROJECT_TABLES = `select table_name as name from information_schema.columns join information_schema.tables using (table_schema, table_name)
  where column_name = 'project_id' and ${IS_TABLE}
    and table_name not in ('audit_record', 'data_key', 'job', 'notice', 'notification_message') order by 1`;

/** Names of accounts stand in replies about projects, also of those who left. */
const ACCOUNTS = `select 'identity ' || id as id, name from identity where organization_id = $1
  union all select 'user ' || id, username from app_user where organization_id = $1`;

let ofEveryTable: string | undefined;

/** The rows of a project, as one text for each table. */
async function everyTable(): Promise<string> {
  ofEveryTable ??= (await strongroom.sql<{ name: string }>(PROJECT_TABLES))
    .map(
      ({ name }) => `select '${name}' as name, coalesce(string_agg(t::text, ' ' order by t::text), '') as text
        from ${name} t where project_id = $1`,
    )
    .join(' union all ');
  return ofEveryTable;
}

/** What replies about the project of a world may show, and its revision. */
async function shownOf({ project, organization }: World) {
  const rows = Object.fromEntries(
    (await strongroom.sql<{ name: string; text: string }>(await everyTable(), [project])).map(({ name, text }) => [
      name,
      text,
    ]),
  );
  const [row] = await strongroom.sql<{ revision: string; text: string }>(
    `select revision, (to_jsonb(p) - 'revision')::text as text from project p where id = $1`,
    [project],
  );
  const accounts = await strongroom.sql<{ id: string; name: string }>(ACCOUNTS, [organization]);
  return {
    isThere: row !== undefined,
    revision: Number(row?.revision),
    rows: { ...rows, project: row?.text ?? '' },
    accounts: new Map(accounts.map(({ id, name }) => [id, name])),
  };
}

type Shown = Awaited<ReturnType<typeof shownOf>>;

const isChanged = (before: Shown, after: Shown): boolean =>
  JSON.stringify(before.rows) !== JSON.stringify(after.rows) ||
  [...before.accounts].some(([id, name]) => after.accounts.get(id) !== name);

test('every route that changes something takes a key, but for those that answer without a token', () => {
  const others = changes.filter((operation) => !takesKey(operation)).map(({ name }) => name.split(' ')[1] as string);

  expect(others.filter((path) => !path.startsWith('/api/v1/auth/'))).toEqual([]);
});

describe('has one effect and one row in the audit trail when it is sent twice with one key, and a new revision when a project shows it', () => {
  const keyed = changes.filter((each) => takesKey(each) && !each.needsHost);

  test.each(sample(keyed, 3).map((each): [string, Operation] => [each.name, each]))('%s', async (_, operation) => {
    const { world, admin } = await seedWorld(strongroom.seed, operation.things);
    const headers = { 'idempotency-key': randomUUID() };
    const before = await shownOf(world);

    const sent = await rowsOf(strongroom, () => operation.send(admin, world, headers));
    const first = sent.reply;
    const after = await shownOf(world);
    const second = await operation.send(admin, world, headers);

    expectOneRow(sent, operation, { world, admin });
    if (isRoute(operation)) expect(misfits(operation.name, first.body)).toEqual([]);
    if (after.isThere && isChanged(before, after)) expect(after.revision).toBeGreaterThan(before.revision);
    if (showsCredential(first) || second.status !== 200) {
      expect(second).toBeError(409, 'IDEMPOTENCY_ANSWER_WITHHELD');
      expect(showsCredential(second)).toBe(false);
      return;
    }
    expect(second.text).toBe(first.text);
    expect(second.headers['idempotency-replayed']).toBe('true');
    const ids = [first, second].map((reply) => reply.headers['x-request-id']);
    const rows = await strongroom.auditRows('request_id = any($1::uuid[])', [ids]);
    const own = rows.filter(({ action }) => !operation.alsoLeaves?.includes(action));
    expect(own.map(({ action, request_id }) => [action, request_id])).toEqual([
      ...(operation.looksUp === undefined ? [] : [[operation.looksUp, ids[0]]]),
      [operation.audit, ids[0]],
      ['idempotency:replay', ids[1]],
    ]);
  });
});
