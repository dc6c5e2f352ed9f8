import { type Caller, mustSucceed, type Reply } from '../kit/caller.js';
import { EventStreamClient } from '../kit/event-stream.js';
import { withRefused, withUnreadable } from '../kit/poison.js';
import { type Strongroom, useStrongroom } from '../kit/strongroom.js';
import type { Sql } from '../kit/trail.js';
import { withoutRecordsOf } from '../kit/trail.js';
import { until } from '../kit/until.js';

/** Where work of several requests is shared, one of them must not make the others fail. */
const strongroom: Strongroom = useStrongroom({ RATE_LIMIT: 'off', REPLY_CACHE_MIB: '0' });
const sql: Sql = (text) => strongroom.sql(text);

/** An organization with secrets, and requests that read their values. */
async function scene() {
  const { admin, project, organization } = await strongroom.seed.project();
  const place = { projectId: project.id, environment: 'dev' };
  for (const key of ['ONE', 'TWO'])
    mustSucceed(await admin.post(`/api/v4/secrets/${key}`, { ...place, secretValue: key }));
  const list = (at = 0) => admin.get(`/api/v4/secrets?${new URLSearchParams({ ...place, tagSlugs: `t${at}` })}`);
  const values = () => admin.get(`/api/v4/secrets?${new URLSearchParams(place)}`);
  // From now on the node knows what the caller may do.
  for (let time = 0; time < 3; time += 1) mustSucceed(await values());
  return { admin, project, organization, place, list, values };
}

/** Many requests of two callers at once, in turns. */
async function mixed(one: (at: number) => Promise<Reply>, other: (at: number) => Promise<Reply>) {
  const both = await Promise.all(Array.from({ length: 40 }, async (_, at) => Promise.all([one(at), other(at)])));
  const codes = (replies: readonly Reply[]) => [
    ...new Set(replies.map(({ status, body }) => `${status} ${body.code ?? ''}`.trim())),
  ];
  return [codes(both.map(([reply]) => reply)), codes(both.map(([, reply]) => reply))] as const;
}

test('audit records that cannot be stored fail their own requests only', async () => {
  const [poisoned, sound] = [await scene(), await scene()];
  const read = async ({ list, values }: typeof sound, at: number) => (at % 2 === 0 ? list(at) : values());
  const result = await withoutRecordsOf(strongroom, poisoned.organization.id, () =>
    mixed(
      (at) => read(poisoned, at),
      (at) => read(sound, at),
    ),
  );
  expect(result).toEqual([['503 AUDIT_UNAVAILABLE'], ['200']]);
  expect(await mixed(poisoned.list, sound.list)).toEqual([['200'], ['200']]);
});

test('what callers send in the place of an ID fails no request of others', async () => {
  const [attacker, sound] = [await scene(), await scene()];
  const projectId = attacker.project.id;
  const wrong = ['a\u0000b', 'a\ud800b', 'no ID', 'x'.repeat(5_000)];
  const queries = [
    `query ($p: ID!, $id: ID!) { effectivePermissions(projectId: $p, identityId: $id) { isMember } }`,
    `query ($p: ID!, $id: ID!) { explainAccess(projectId: $p, identityId: $id, subject: SECRETS, action: READ_VALUE) { isMember } }`,
    `query ($p: ID!, $id: ID!) { project(id: $p) { id } explainOrganizationAccess(identityId: $id, subject: IDENTITY, action: READ) { isMember } }`,
  ];
  const attack = (at: number) =>
    attacker.admin.graphql(queries[at % 3] as string, { p: projectId, id: wrong[Math.floor(at / 3) % 4] });
  const [attacks, reads] = await mixed(attack, sound.list);
  expect(attacks.map((code) => code.slice(0, 3)).sort()).toEqual(['200', '422']);
  expect(reads).toEqual(['200']);
});

test('a project whose revision cannot be read fails its own requests only', async () => {
  const [poisoned, sound] = [await scene(), await scene()];
  const result = await withUnreadable(sql, 'project', `id = '${poisoned.project.id}'`, () =>
    mixed(poisoned.values, sound.values),
  );
  expect(result).toEqual([['500 INTERNAL'], ['200']]);
  expect(await mixed(poisoned.values, sound.values)).toEqual([['200'], ['200']]);
});

test('uses of a token that cannot be stored keep no others from being stored, and are kept', async () => {
  const [poisoned, sound] = [await scene(), await scene()];
  const own = async ({ admin }: { admin: Caller }): Promise<{ id: string; numUses: number }> => {
    const { viewer } = await admin.data('{ viewer { token { id useCount } } }');
    return { id: viewer.token.id, numUses: viewer.token.useCount };
  };
  const token = await own(poisoned);
  const usesOf = async (id: string) => {
    const [row] = await strongroom.sql('select num_uses::text as uses from access_token where id = $1', [id]);
    return Number(row?.uses);
  };
  const before = await usesOf(token.id);
  await withRefused(sql, 'access_token', `id <> '${token.id}' or num_uses <= ${before}`, async () => {
    for (let time = 0; time < 5; time += 1) mustSucceed(await poisoned.admin.get('/api/v1/projects'));
    const { id, numUses } = await own(sound);
    for (let time = 0; time < 5; time += 1) mustSucceed(await sound.admin.get('/api/v1/projects'));
    expect((await own(sound)).numUses).toBeGreaterThanOrEqual(numUses + 5);
    expect(await usesOf(id)).toBeGreaterThanOrEqual(numUses + 5);
    expect(await usesOf(token.id)).toBe(before);
  });
  expect((await own(poisoned)).numUses).toBeGreaterThanOrEqual(before + 5);
  expect(await usesOf(token.id)).toBeGreaterThanOrEqual(before + 5);
});

test('a record that the change feed cannot read holds up no stream', async () => {
  const [poisoned, sound] = [await scene(), await scene()];
  const open = async ({ admin, project }: typeof sound) => {
    const stream = await EventStreamClient.open(admin, `/api/v1/events?projectId=${project.id}`, {});
    await stream.count(1);
    return stream;
  };
  const streams = [await open(poisoned), await open(sound)] as const;
  try {
    mustSucceed(await poisoned.admin.post('/api/v2/folders', { ...poisoned.place, path: '/', name: 'made' }));
    // A copy of the record of that, about what is no folder.
    const columns = (await sql("select column_name from information_schema.columns where table_name = 'audit_record'"))
      .map(({ column_name }) => String(column_name))
      .filter((name) => name !== 'sequence');
    const changed: Record<string, string> = { id: 'gen_random_uuid()', facts: `facts || '{"folderId": "none"}'` };
    await sql(
      `insert into audit_record (${columns.join()}) select ${columns.map((name) => changed[name] ?? name).join()}
       from audit_record where organization_id = '${poisoned.organization.id}' and action = 'folder:create'`,
    );
    for (const [at, { admin, place }] of [poisoned, sound].entries()) {
      mustSucceed(await admin.post('/api/v4/secrets/AFTER', { ...place, secretValue: 'value' }));
      await (streams[at] as EventStreamClient).find('AFTER', ({ data }) => data?.secretKey === 'AFTER');
    }
    const line = await until(
      'the line in the log',
      20_000,
      async () => /.*change not readable.*/.exec(await strongroom.log())?.[0],
    );
    expect(JSON.parse(line)).toMatchObject({ sequence: expect.stringMatching(/^\d+$/), code: '22P02' });
  } finally {
    for (const stream of streams) stream.close();
  }
});
