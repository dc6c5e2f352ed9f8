import { request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { mustSucceed } from '../../kit/caller.js';
import { MAKE_DUE } from '../../kit/schedules.js';
import { otherNodeInAll } from '../../kit/scope.js';
import { type Caller, type OtherNode, type Reply, useSharedStrongroom } from '../../kit/strongroom.js';
import { withClient } from '../../kit/tables.js';
import { until } from '../../kit/until.js';

const strongroom = useSharedStrongroom();
let other: OtherNode;
beforeAll(async () => {
  other = await otherNodeInAll(strongroom);
});

/** What decides what somebody may do. */
const TABLES = [
  'additional_privilege',
  'app_user',
  'environment',
  'group_member',
  'identity',
  'identity_token_auth',
  'identity_universal_auth',
  'organization',
  'organization_membership',
  'organization_role',
  'project',
  'project_membership',
  'project_role',
];
/** Rises with every change in the project, and is read for each request. */
const UNMARKED = ['project.revision'];

const MARKED = 'select exists (select from access_change where transaction = pg_current_xact_id()) as is_marked';

type IsMarked = (text: string) => Promise<boolean>;

/** Runs `work` with what tells whether a statement leaves a mark, of which nothing remains. */
const withMarks = <T>(work: (isMarked: IsMarked) => Promise<T>): Promise<T> =>
  withClient(strongroom.databaseUrl, (client) =>
    work(async (text) => {
      // A job may lock the same tables in another order: Postgres ends one of the two then.
      const [isMarked] = await until(`an end of: ${text}`, 20_000, async () => {
        await client.query('begin');
        try {
          await client.query(text);
          return [(await client.query(MARKED)).rows[0].is_marked as boolean] as const;
        } finally {
          await client.query('rollback');
        }
      });
      return isMarked;
    }),
  );

describe('a change of access is marked', () => {
  test.each(TABLES)('in every column of %s, by a new row, a deletion and a truncation', async (table) => {
    const columns = await strongroom.sql<{ name: string }>(
      `select column_name as name from information_schema.columns where table_schema = 'public' and table_name = $1 and is_generated = 'NEVER'`,
      [table],
    );
    await withMarks(async (isMarked) => {
      const unmarked: string[] = [];
      for (const { name } of columns) {
        const column = pg.escapeIdentifier(name);
        if (!(await isMarked(`update ${table} set ${column} = ${column} where false`)))
          unmarked.push(`${table}.${name}`);
      }
      expect(columns.length).toBeGreaterThan(3);
      expect(unmarked).toEqual(UNMARKED.filter((name) => name.startsWith(`${table}.`)));
      expect(await isMarked(`delete from ${table} where false`)).toBe(true);
      expect(await isMarked(`truncate ${table} cascade`)).toBe(true);
    });
  });

  test('of a token, unless it is a use, a later end, or about one that nobody can use', async () => {
    const { admin } = await strongroom.seed.organization();
    const { identityId } = await strongroom.seed.caller(admin);
    const of = `where identity_id = '${identityId}'`;
    const change = (set: string) => `update access_token set ${set} ${of}`;
    const each = (texts: readonly string[]) =>
      withMarks(async (isMarked) => {
        const found: [string, boolean][] = [];
        for (const text of texts) found.push([text, await isMarked(text)]);
        return found;
      });
    const marking = [
      change('is_revoked = true'),
      change(`expires_at = now() + interval '1 hour'`),
      change('num_uses_limit = 5'),
      change('max_ttl_seconds = 5'),
      change('token_hash = sha256(token_hash)'),
      `delete from access_token ${of}`,
      'truncate access_token cascade',
    ];
    expect(await each(marking)).toEqual(marking.map((text) => [text, true]));
    const others = [change('num_uses = num_uses + 1, last_used_at = now()'), change('expires_at = null')];
    expect(await each(others)).toEqual(others.map((text) => [text, false]));
    await strongroom.sql(change('is_revoked = true'));
    expect(await each([`delete from access_token ${of}`])).toEqual([[`delete from access_token ${of}`, false]]);
  });
});

interface Scene {
  readonly admin: Caller;
  readonly projectId: string;
  /** At the other node, which knows what it may do. */
  readonly reader: Caller;
  readonly read: () => Promise<Reply>;
}

async function scene(projectRoles = ['viewer']): Promise<Scene> {
  const { admin } = await strongroom.seed.organization();
  const { id: projectId } = await strongroom.seed.projectOf(admin);
  mustSucceed(await admin.post('/api/v4/secrets/KEY', { projectId, environment: 'dev', secretValue: 'value' }));
  const reader = (await strongroom.seed.caller(admin, { project: projectId, projectRoles })).at(other.url);
  const read = () => reader.get(`/api/v4/secrets/KEY?projectId=${projectId}&environment=dev`);
  for (let times = 0; times < 3; times += 1) mustSucceed(await read());
  return { admin, projectId, reader, read };
}

describe('what a node knows of a caller', () => {
  test('is wrong as soon as a transaction commits that began long before', async () => {
    const { read, reader, projectId } = await scene();
    await withClient(strongroom.databaseUrl, async (early) => {
      await early.query('begin');
      await early.query('delete from project_membership where project_id = $1 and identity_id = $2', [
        projectId,
        reader.identityId,
      ]);
      // Its mark has an earlier number than those of others that are seen before it is.
      for (let times = 0; times < 3; times += 1) {
        await scene();
        mustSucceed(await read());
      }
      await early.query('commit');
      expect(await read()).toBeError(404, 'PROJECT_NOT_FOUND');
    });
  });

  test('is not wrong because of a change that was taken back', async () => {
    const { read, reader } = await scene();
    await withClient(strongroom.databaseUrl, async (client) => {
      await client.query('begin');
      await client.query('delete from project_membership where identity_id = $1', [reader.identityId]);
      mustSucceed(await read());
      await client.query('rollback');
      mustSucceed(await read());
    });
  });

  test('is right with marks of another server, and after all are deleted, also of a change that no node has looked at yet', async () => {
    const { admin, read, reader, projectId } = await scene();
    await strongroom.sql(`insert into access_change values ('18446744073709551000'::xid8)`);
    for (let times = 0; times < 3; times += 1) mustSucceed(await read());
    mustSucceed(await admin.delete(`/api/v2/workspace/${projectId}/identity-memberships/${reader.identityId}`));
    const marks = async () =>
      (await strongroom.sql('select transaction::text as mark from access_change')).map(({ mark }) => String(mark));
    const before = await marks();
    expect(before.length).toBeGreaterThan(1);
    await strongroom.sql(MAKE_DUE, ['access:delete-change-marks']);
    await until('the marks to be deleted', 60_000, async () => {
      const left = await marks();
      return left.length > 0 && !left.some((mark) => before.includes(mark));
    });
    expect(await read()).toBeError(404, 'PROJECT_NOT_FOUND');
  });

  const ENDS = `now() + interval '5 seconds'`;
  const TERM = `jsonb_build_object('startsAt', now(), 'endsAt', ${ENDS})`;
  const ENDINGS: readonly (readonly [string, (reply: Reply) => void])[] = [
    [
      `update access_token set expires_at = ${ENDS} where identity_id = $1`,
      (reply) => expect(reply).toBeError(401, 'TOKEN_EXPIRED'),
    ],
    [
      `update organization_membership set ends_at = ${ENDS} where identity_id = $1`,
      (reply) => expect(reply).toBeError(401, 'TOKEN_SCOPE_REFUSED'),
    ],
    [
      `update project_membership set role_terms = jsonb_build_object('viewer', ${TERM}) where identity_id = $1`,
      (reply) => expect(reply).toBeError(404, 'PROJECT_NOT_FOUND'),
    ],
  ];

  async function expectEnd({ read, reader }: Scene, end: string): Promise<void> {
    await strongroom.sql(end, [reader.identityId]);
    const ending = Date.now() + 5_000;
    let reply = await read();
    mustSucceed(reply);
    while (reply.status === 200) {
      expect(Date.now()).toBeLessThan(ending + 10_000);
      const [row] = await strongroom.sql<{ is_over: boolean }>('select now() > $1::timestamptz as is_over', [
        new Date(ending),
      ]);
      reply = await read();
      if (row?.is_over === true) expect([end, reply.status]).not.toEqual([end, 200]);
      await delay(100);
    }
  }

  test('ends when a token, a membership of the organization or a role in a project ends by itself', async () => {
    const ended = await Promise.all(
      ENDINGS.map(async ([end, isEnded]) => {
        const there = await scene();
        await expectEnd(there, end);
        return { there, isEnded };
      }),
    );
    // Not what was read last: the membership may have ended in the middle of it.
    for (const { there, isEnded } of ended) isEnded(await there.read());
  });

  test('begins when a role begins by itself', async () => {
    const { admin, projectId } = await scene();
    const reader = (await strongroom.seed.caller(admin, { project: projectId, projectRoles: ['viewer'] })).at(
      other.url,
    );
    const term = `jsonb_build_object('startsAt', ${ENDS}, 'endsAt', now() + interval '1 hour')`;
    await strongroom.sql(
      `update project_membership set role_terms = jsonb_build_object('viewer', ${term}) where identity_id = $1`,
      [reader.identityId],
    );
    const read = () => reader.get(`/api/v4/secrets/KEY?projectId=${projectId}&environment=dev`);
    expect(await read()).toBeError(404, 'PROJECT_NOT_FOUND');
    await until('the role to begin', 20_000, async () => (await read()).status === 200);
  });

  test('withdrawn while a hundred read, is gone for each that asks afterwards', async () => {
    const { admin, projectId, reader } = await scene();
    const read = () => reader.patient.get(`/api/v4/secrets/KEY?projectId=${projectId}&environment=dev`);
    let isWithdrawn = false;
    let reads = 0;
    const late: Reply[] = [];
    const readers = Array.from({ length: 100 }, async () => {
      for (let isEnded = false; !isEnded; ) {
        const wasWithdrawn = isWithdrawn;
        const reply = await read();
        reads += 1;
        if (wasWithdrawn) late.push(reply);
        isEnded = wasWithdrawn;
      }
    });
    await until('each to have read', 60_000, () => reads >= 100);
    const membership = `/api/v2/workspace/${projectId}/identity-memberships/${reader.identityId}`;
    mustSucceed(await admin.patient.delete(membership));
    isWithdrawn = true;
    await Promise.all(readers);
    expect(late.map(({ status }) => status)).toEqual(late.map(() => 404));
    expect(late).toHaveLength(100);
  });
});

test('a right that is withdrawn while the body of a request is on its way, is gone when it has come', async () => {
  const { admin, projectId, reader } = await scene(['member']);
  const body = JSON.stringify({ projectId, environment: 'dev', secretValue: 'v' });
  const create = (key: string, meanwhile: () => Promise<unknown>): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      const headers = {
        authorization: `Bearer ${reader.token}`,
        'content-type': 'application/json',
        'content-length': body.length,
      };
      const sent = request(`${other.url}/api/v4/secrets/${key}`, { method: 'POST', headers }, (reply) => {
        reply.resume();
        resolve(reply.statusCode);
      });
      sent.on('error', reject);
      sent.write(body.slice(0, 1), () => meanwhile().then(() => sent.end(body.slice(1)), reject));
    });
  for (const key of ['A', 'B', 'C']) expect(await create(key, async () => undefined)).toBe(200);
  const withdraw = async () => {
    // Until then it may go by what was seen as it arrived.
    await delay(700);
    mustSucceed(await admin.delete(`/api/v2/workspace/${projectId}/identity-memberships/${reader.identityId}`));
  };
  expect(await create('D', withdraw)).toBe(404);
});
