import { randomUUID } from 'node:crypto';
import { ChangeTail } from '../../../src/features/audit/change-feed/change-tail.js';
import { settledSequence } from '../../../src/kernel/audit/settled.js';
import { Database } from '../../../src/kernel/database/database.js';
import { type Caller, mustSucceed } from '../../kit/caller.js';
import { EventStreamClient, type StreamEvent } from '../../kit/event-stream.js';
import { callerWithRules } from '../../kit/rules.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';
import { until } from '../../kit/until.js';

const strongroom = useSharedStrongroom();
const at = (project: { id: string }, environment = 'dev', secretPath = '/') => ({
  ...{ projectId: project.id, environment, secretPath },
});
const create = async (caller: Caller, key: string, place: object): Promise<void> => {
  mustSucceed(await caller.post(`/api/v4/secrets/${key}`, { ...place, secretValue: 'canary-value' }));
};
const events = (caller: Caller, query: Record<string, string> = {}, headers: Record<string, string> = {}) =>
  EventStreamClient.open(caller, `/api/v1/events?${new URLSearchParams(query)}`, { headers });
const keysOf = (all: readonly StreamEvent[]) =>
  all.filter(({ data }) => data?.kind === 'secret').map(({ data }) => data.secretKey);

/** Settled changes come in order: what was made before the last one has come, or never will. */
async function upTo(stream: EventStreamClient, admin: Caller, place: object): Promise<readonly StreamEvent[]> {
  const key = `LAST_${randomUUID().slice(0, 8).toUpperCase()}`;
  await create(admin, key, place);
  await stream.find(key, ({ data }) => data?.secretKey === key);
  return stream.events.filter(({ data }) => data?.kind === 'secret' && data.secretKey !== key);
}

describe('the event stream', () => {
  let quiet: EventStreamClient;
  let begun = 0;

  beforeAll(async () => {
    const { admin, project } = await strongroom.seed.project();
    quiet = await events(admin, { projectId: project.id, kinds: 'tag' });
    await quiet.count(1);
    begun = quiet.text.length;
  });

  test('continues within the changes of a record, also if that is the last one before the node began to follow', async () => {
    const { admin, organization, project } = await strongroom.seed.project();
    const secrets = [1, 2, 3].map((number) => ({ secretKey: `KEY_${number}`, secretValue: 'value' }));
    const database = await Database.connect(strongroom.databaseUrl, {});
    try {
      for (let isLast = false, round = 0; !isLast; round += 1) {
        expect(round).toBeLessThan(20);
        const place = { ...at(project, 'dev'), secretPath: `/round-${round}` };
        const folder = { projectId: project.id, environment: 'dev', path: '/', name: `round-${round}` };
        mustSucceed(await admin.post('/api/v2/folders', folder));
        const behind = new ChangeTail();
        (await behind.join({ database })).leave();
        const { headers } = mustSucceed(await admin.post('/api/v4/secrets/batch', { ...place, secrets }));
        const [record] = await strongroom.auditRows('request_id = $1', [headers['x-request-id']]);
        const sequence = BigInt(String(record?.sequence));
        await until('it to be settled', 20_000, async () => (await settledSequence(database.query)) >= sequence);
        const tail = new ChangeTail();
        const { settled, leave } = await tail.join({ database });
        isLast = settled === sequence;
        const { changes } = await tail.read(database.query, organization.id, { sequence, index: 0 });
        leave();
        // A node that has not read the record must not take it for read.
        const { upTo } = await behind.read(database.query, organization.id, { sequence, index: 0 });
        expect(upTo).toBeLessThan(sequence);
        if (isLast) expect(changes.map(({ location }) => location?.key)).toEqual(['KEY_2', 'KEY_3']);
      }
    } finally {
      await database.close();
    }
  });

  test('sends what happens to secrets in its order, without values, and continues after any event', async () => {
    const { admin, project } = await strongroom.seed.project();
    const stream = await events(admin, { projectId: project.id, kinds: 'secret' });
    expect(stream.status).toBe(200);
    expect(stream.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
    });
    const secret = { projectId: project.id, environment: 'dev', secretPath: '/' };
    await create(admin, 'KEY', secret);
    mustSucceed(await admin.patch('/api/v4/secrets/KEY', { ...secret, secretValue: 'canary-value-2' }));
    mustSucceed(await admin.patch('/api/v4/secrets/KEY', { ...secret, newSecretName: 'RENAMED' }));
    mustSucceed(await admin.delete('/api/v4/secrets/RENAMED', secret));
    const [opened, ...changes] = await stream.count(5);
    expect(opened).toMatchObject({ event: 'opened', data: { kind: 'feed', operation: 'opened', resetReason: null } });
    expect(changes.map(({ data }) => [data.operation, data.secretKey, data.previous?.secretKey, data.action])).toEqual([
      ['created', 'KEY', undefined, 'secret:create'],
      ['updated', 'KEY', undefined, 'secret:update'],
      ['moved', 'RENAMED', 'KEY', 'secret:update'],
      ['deleted', 'RENAMED', undefined, 'secret:delete'],
    ]);
    expect(changes[0]?.data).toEqual({
      ...{ cursor: changes[0]?.id, kind: 'secret', operation: 'created', action: 'secret:create', resetReason: null },
      ...{ ...secret, secretKey: 'KEY', previous: null, subjectId: expect.any(String) },
      ...{ actorKind: 'identity', actorId: admin.identityId, occurredAt: expect.any(String) },
    });
    expect(stream.text).not.toContain('canary');
    for (const [index, { id }] of (await stream.count(5)).entries()) {
      const resumed = await events(admin, { projectId: project.id, kinds: 'secret' }, { 'last-event-id': String(id) });
      const rest = changes.slice(index).map(({ data }) => data.operation);
      const seen = index === 4 ? [] : await resumed.count(rest.length);
      expect(seen.map(({ data }) => data.operation)).toEqual(rest);
      resumed.close();
    }
    stream.close();
  });

  test('filters by environment, path and kind', async () => {
    const { admin, project } = await strongroom.seed.project();
    const inDev = { projectId: project.id, environment: 'dev' };
    mustSucceed(await admin.post('/api/v2/folders', { ...inDev, path: '/', name: 'apps' }));
    const { body: web } = mustSucceed(await admin.post('/api/v2/folders', { ...inDev, path: '/apps', name: 'web' }));
    const streams = {
      environment: await events(admin, { projectId: project.id, environment: 'prod' }),
      path: await events(admin, { secretPath: '/apps' }),
      below: await events(admin, { projectId: project.id, secretPath: '/apps/**', kinds: 'secret,tag' }),
      kinds: await events(admin, { projectId: project.id, kinds: 'tag, environment' }),
    };
    await create(admin, 'ROOT', at(project));
    await create(admin, 'PROD', at(project, 'prod'));
    await create(admin, 'APPS', at(project, 'dev', '/apps'));
    await create(admin, 'WEB', at(project, 'dev', '/apps/web'));
    mustSucceed(await admin.post(`/api/v1/projects/${project.id}/tags`, { slug: 'db', color: '#ff0000' }));
    mustSucceed(
      await admin.delete(`/api/v2/folders/${web.folder.id}`, {
        projectId: project.id,
        environment: 'dev',
        forceDelete: true,
      }),
    );
    await streams.below.find('the deletion', ({ data }) => data.operation === 'deleted');
    await streams.kinds.find('the tag', ({ data }) => data.kind === 'tag');
    expect(keysOf(await upTo(streams.environment, admin, at(project, 'prod')))).toEqual(['PROD']);
    expect(keysOf(await upTo(streams.path, admin, at(project, 'dev', '/apps')))).toEqual(['APPS']);
    expect(streams.below.events.slice(1, 4).map(({ data }) => [data.operation, data.secretKey])).toEqual([
      ['created', 'APPS'],
      ['created', 'WEB'],
      ['deleted', 'WEB'],
    ]);
    expect(streams.kinds.events.slice(1).map(({ data }) => data.kind)).toEqual(['tag']);
    for (const stream of Object.values(streams)) stream.close();
  });

  test('shows each caller what it may see when the event is sent, and nothing after its right was taken', async () => {
    const { admin, project } = await strongroom.seed.project();
    const rule = { subject: 'secrets', action: ['describeSecret'], conditions: { environment: 'dev' } };
    const { caller, change } = await callerWithRules(strongroom, admin, project.id, rule);
    const stream = await events(caller, { projectId: project.id });
    await create(admin, 'SEEN', at(project));
    await create(admin, 'HIDDEN', at(project, 'prod'));
    await create(admin, 'MOVING', at(project));
    mustSucceed(await admin.post(`/api/v1/projects/${project.id}/tags`, { slug: 'db', color: '#ff0000' }));
    const ids = await secretIds(admin, at(project), 'MOVING');
    const ends = {
      source: { environment: 'dev', secretPath: '/' },
      destination: { environment: 'prod', secretPath: '/' },
    };
    await admin.data('mutation ($input: MoveSecretsInput!) { moveSecrets(input: $input) { secretIds } }', {
      input: { projectId: project.id, secretIds: ids, ...ends },
    });
    expect((await upTo(stream, admin, at(project))).map(({ data }) => [data.operation, data.secretKey])).toEqual([
      ['created', 'SEEN'],
      ['created', 'MOVING'],
      // Out of its sight: for this caller it is gone.
      ['deleted', 'MOVING'],
    ]);
    const all = await events(admin, { projectId: project.id });
    await change({ subject: 'tags', action: ['read'] });
    await create(admin, 'LATER', at(project));
    mustSucceed(await admin.post(`/api/v1/projects/${project.id}/tags`, { slug: 'later', color: '#ff0000' }));
    await stream.find('the tag', ({ data }) => data.kind === 'tag');
    expect(keysOf(stream.events)).not.toContain('LATER');
    await all.find('the secret', ({ data }) => data.secretKey === 'LATER');
    for (const each of [stream, all]) each.close();
  });

  test('obeys conditions on the type of the event', async () => {
    const { admin, project } = await strongroom.seed.project();
    const rule = {
      subject: 'secrets',
      action: ['describeSecret'],
      conditions: { eventType: { $in: ['secret:delete'] } },
    };
    const { caller } = await callerWithRules(strongroom, admin, project.id, rule);
    const stream = await events(caller, { projectId: project.id });
    await create(admin, 'KEY', at(project));
    mustSucceed(await admin.delete('/api/v4/secrets/KEY', at(project)));
    const event = await stream.find('a secret', ({ data }) => data.kind === 'secret');
    expect(event.data).toMatchObject({ operation: 'deleted', secretKey: 'KEY' });
    stream.close();
  });

  test('ends with an error once its token is revoked, or its project is out of sight', async () => {
    const { admin, project } = await strongroom.seed.project();
    const revoked = await strongroom.seed.caller(admin, { project: project.id });
    const removed = await strongroom.seed.caller(admin, { project: project.id });
    const [one, two] = [
      await events(revoked, { projectId: project.id }),
      await events(removed, { projectId: project.id }),
    ];
    mustSucceed(await admin.post('/api/v1/auth/token/revoke', { accessToken: revoked.token }));
    mustSucceed(await admin.delete(`/api/v2/workspace/${project.id}/identity-memberships/${removed.identityId}`));
    await create(admin, 'KEY', at(project));
    expect((await one.find('the error', ({ event }) => event === 'error')).data).toMatchObject({
      code: 'TOKEN_REVOKED',
    });
    expect((await two.find('the error', ({ event }) => event === 'error')).data).toMatchObject({
      code: 'PROJECT_NOT_FOUND',
    });
    await until('both to end', 20_000, () => one.isEnded && two.isEnded);
    expect(keysOf([...one.events, ...two.events])).toEqual([]);
  });

  test('begins anew, and says so, where it cannot continue', async () => {
    const { admin, project } = await strongroom.seed.project();
    const other = await strongroom.seed.project();
    const foreign = await events(other.admin, { projectId: other.project.id });
    const [opened] = await foreign.count(1);
    for (const id of ['garbage', String(opened?.id)]) {
      const stream = await events(admin, { projectId: project.id }, { 'last-event-id': id });
      const [reset] = await stream.count(1);
      expect(reset).toMatchObject({ event: 'reset', data: { operation: 'reset', resetReason: 'unknown-position' } });
      expect(keysOf(await upTo(stream, admin, at(project)))).toEqual([]);
      stream.close();
    }
    foreign.close();
  });

  test('begins anew after an event of a stream with other filters, and continues after its own', async () => {
    const { admin, project } = await strongroom.seed.project();
    const other = await strongroom.seed.projectOf(admin);
    const filters = { projectId: project.id, kinds: 'secret,folder', environment: 'dev', secretPath: '/' };
    const first = await events(admin, filters);
    const [opened] = await first.count(1);
    const headers = { 'last-event-id': String(opened?.id) };
    await create(admin, 'KEY', at(project));
    for (const change of [
      ...[{ projectId: other.id }, { environment: 'prod' }, { secretPath: '/**' }],
      { kinds: 'secret' },
    ]) {
      const stream = await events(admin, { ...filters, ...change }, headers);
      expect((await stream.count(1))[0]).toMatchObject({ event: 'reset', data: { resetReason: 'unknown-position' } });
      stream.close();
    }
    const again = { ...filters, projectId: project.id.toUpperCase(), kinds: 'folder,secret' };
    const stream = await events(admin, again, headers);
    expect((await stream.count(1))[0]).toMatchObject({ event: 'change', data: { secretKey: 'KEY' } });
    stream.close();
    first.close();
  });

  test('asks for the rights of a caller once for all of its streams that a change wakes', async () => {
    const { admin, project } = await strongroom.seed.project();
    const other = await strongroom.seed.caller(admin, { project: project.id });
    const open = (caller: Caller, count: number) =>
      Promise.all(Array.from({ length: count }, () => events(caller, { projectId: project.id, kinds: 'secret' })));
    const streams = [...(await open(admin, 1)), ...(await open(other, 1))];
    const statementsFor = async (key: string) =>
      (
        await strongroom.statements(async () => {
          await create(admin, key, at(project));
          await Promise.all(streams.map((stream) => stream.find(key, ({ data }) => data?.secretKey === key)));
        })
      ).count;
    await statementsFor('FIRST');
    const few = await statementsFor('OF_TWO');
    streams.push(...(await open(admin, 18)), ...(await open(other, 18)));
    await statementsFor('WAKING_ALL');
    // Two for each check; those that were still busy with something share another one.
    expect((await statementsFor('OF_ALL')) - few).toBeLessThan(20);
    mustSucceed(await admin.post('/api/v1/auth/token/revoke', { accessToken: other.token }));
    await create(admin, 'AFTER', at(project));
    await until('its streams to end', 20_000, () => streams.filter(({ isEnded }) => isEnded).length === 19);
    expect(streams.filter((stream) => keysOf(stream.events).includes('AFTER')).length).toBeLessThanOrEqual(19);
    for (const stream of streams) stream.close();
  });

  test('refuses strangers, wrong media types and parameters, and more than 20 streams of one token', async () => {
    const { admin, project } = await strongroom.seed.project();
    const other = await strongroom.seed.project();
    const refused = async (opening: Promise<EventStreamClient>) => {
      const client = await opening;
      return [client.status, (await client.body()).code];
    };
    expect(await refused(events(admin.anonymous))).toEqual([401, 'TOKEN_MISSING']);
    expect(await refused(events(other.admin, { projectId: project.id }))).toEqual([404, 'PROJECT_NOT_FOUND']);
    expect(await refused(events(admin, { projectId: randomUUID() }))).toEqual([404, 'PROJECT_NOT_FOUND']);
    expect(await refused(events(admin, {}, { accept: 'application/json' }))).toEqual([406, 'NOT_ACCEPTABLE']);
    expect(await refused(events(admin, { kinds: 'secret,unknown', secretPath: 'x' }))).toEqual([
      422,
      'VALIDATION_FAILED',
    ]);
    const open = await Promise.all(Array.from({ length: 20 }, () => events(admin)));
    expect(open.map(({ status }) => status)).toEqual(Array(20).fill(200));
    expect(await refused(events(admin))).toEqual([429, 'TOO_MANY_STREAMS']);
    open[0]?.close();
    await until('a place', 20_000, async () => {
      const next = await events(admin);
      next.close();
      return next.status === 200;
    });
    for (const stream of open) stream.close();
  });

  test('does not wait for a client that does not read, and that client misses nothing', async () => {
    const { admin, project } = await strongroom.seed.project();
    const slow = await events(admin, { projectId: project.id, kinds: 'secret' });
    const quick = await events(admin, { projectId: project.id, kinds: 'secret' });
    await slow.count(1);
    slow.pause();
    const keys = await strongroom.seed.secrets(admin, project, 'dev', 1_500);
    await quick.count(1_501);
    expect(keysOf(quick.events)).toEqual(keys);
    slow.resume();
    await slow.count(1_501);
    expect(keysOf(slow.events)).toEqual(keys);
    for (const stream of [slow, quick]) stream.close();
  });

  // Last: its stream was opened before all others.
  test('shows that it is alive while nothing happens, by comments or by the position that it has reached', async () => {
    await until('a sign of life', 20_000, () => quiet.text.length > begun);
    expect(quiet.text.slice(begun)).toMatch(/^(:|id: )/);
    expect(quiet.events).toHaveLength(1);
    quiet.close();
  });
});

async function secretIds(caller: Caller, place: Record<string, string>, key: string): Promise<string[]> {
  const { secret } = mustSucceed(await caller.get(`/api/v4/secrets/${key}?${new URLSearchParams(place)}`)).body;
  return [secret.id];
}
