import { createHmac, randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { Caller, mustSucceed } from '../../kit/caller.js';
import { codeBlocks, DOCS, readDocument } from '../../kit/documents.js';
import { Notifying } from '../../kit/notifying.js';
import type { OutsideServer, ReceivedRequest } from '../../kit/outside/outside-server.js';
import { isAll } from '../../kit/scope.js';
import { Seed } from '../../kit/seed.js';
import type { Service } from '../../kit/service.js';
import { until } from '../../kit/until.js';

let world: Notifying;
/** Another one in the full run only. */
let second: Service;
let admin: Caller;

beforeAll(async () => {
  world = await Notifying.start();
  second = isAll ? await world.anotherNode() : world.service;
  ({ admin } = world);
});

afterAll(async () => {
  if (isAll) await second?.stop();
  await world?.stop();
});

const webhooksOf = (projectId: string): string => `/api/v1/projects/${projectId}/change-webhooks`;

interface Made {
  readonly id: string;
  readonly path: string;
  readonly signingSecret: string;
}

async function webhook(projectId: string, server: OutsideServer, more: object = {}): Promise<Made> {
  const body = { name: `hook-${randomUUID().slice(0, 8)}`, url: server.url('/in?token=abc'), ...more };
  const { changeWebhook, signingSecret } = mustSucceed(await admin.post(webhooksOf(projectId), body)).body;
  return { id: changeWebhook.id, path: `${webhooksOf(projectId)}/${changeWebhook.id}`, signingSecret };
}

const projectOf = async (): Promise<string> => (await new Seed(admin).projectOf(admin)).id;
const secret = (projectId: string, key: string, caller = admin, environment = 'dev') =>
  caller.post(`/api/v4/secrets/${key}`, { projectId, environment, secretPath: '/', secretValue: 'canary-value' });
async function secrets(projectId: string, count: number, prefix = 'KEY'): Promise<string[]> {
  const keys = Array.from({ length: count }, (_, at) => `${prefix}_${at}`);
  for (const [at, key] of keys.entries())
    mustSucceed(await secret(projectId, key, at % 2 === 0 ? admin : new Caller(second.url, admin.token)));
  return keys;
}

type Event = { id: string; type: string; subject: string; data: Record<string, unknown> };
const eventsIn = ({ body }: ReceivedRequest): Event[] => JSON.parse(body);
const eventsOf = (server: OutsideServer): Event[] => server.received.flatMap(eventsIn);
/** Changes of the last seconds before a webhook was created may follow: of the project, and of other webhooks. */
const keysOf = (events: readonly Event[]) => events.flatMap(({ data }) => data.secretKey ?? []);
const received = (server: OutsideServer, key: string): Promise<unknown> =>
  until(`${key} to be received`, 30_000, async () => keysOf(eventsOf(server)).includes(key));
const statusOf = async ({ path }: Made) => mustSucceed(await admin.get(path)).body.changeWebhook.delivery;
/** As if the pause after a failure were over. */
const endPause = ({ id }: Made) => world.sql('update change_webhook set next_attempt_at = now() where id = $1', [id]);
/** A pause that lasts longer than a busy machine takes for all that comes before its end. @returns false when there is none */
const lengthenPause = async ({ id }: Made): Promise<boolean> => {
  const paused = await world.sql(
    `update change_webhook set next_attempt_at = now() + interval '1 hour' where id = $1 and next_attempt_at > now() returning id`,
    [id],
  );
  return paused.length > 0;
};

describe('change webhooks', () => {
  test('get changes of their project in order, signed, and without values or what the filters leave out', async () => {
    const [projectId, other] = [await projectOf(), await projectOf()];
    const [all, filtered] = [await world.server(), await world.server()];
    const { signingSecret, path } = await webhook(projectId, all);
    await webhook(projectId, filtered, { kinds: ['secret'], environment: 'prod', secretPath: '/**' });
    const place = { projectId, environment: 'dev', secretPath: '/' };
    mustSucceed(await secret(other, 'ELSEWHERE'));
    mustSucceed(await secret(projectId, 'FIRST'));
    mustSucceed(await admin.patch('/api/v4/secrets/FIRST', { ...place, newSecretName: 'RENAMED' }));
    mustSucceed(await admin.delete('/api/v4/secrets/RENAMED', place));
    mustSucceed(await secret(projectId, 'IN_PROD', admin, 'prod'));
    await received(all, 'IN_PROD');
    await received(filtered, 'IN_PROD');
    const events = eventsOf(all).filter(({ data }) => data.kind === 'secret');
    expect(events.map(({ data }) => [data.operation, data.secretKey])).toEqual([
      ...[
        ['created', 'FIRST'],
        ['moved', 'RENAMED'],
        ['deleted', 'RENAMED'],
      ],
      ['created', 'IN_PROD'],
    ]);
    expect(events[0]).toEqual({
      specversion: '1.0',
      id: expect.stringMatching(/^[0-9a-f]{32}$/),
      type: 'com.strongroom.change',
      source: path.replace('/api/v1', ''),
      subject: 'secret:create',
      time: expect.stringMatching(/^\d{4}-.*Z$/),
      datacontenttype: 'application/json',
      data: {
        ...{ cursor: expect.any(String), kind: 'secret', operation: 'created', action: 'secret:create' },
        ...{ ...place, secretKey: 'FIRST', previous: null, subjectId: expect.any(String), resetReason: null },
        ...{ actorKind: 'identity', actorId: admin.identityId, occurredAt: expect.any(String) },
      },
    });
    expect(keysOf(eventsOf(filtered))).toEqual(['IN_PROD']);
    for (const { method, path: sentTo, headers, body } of all.received) {
      expect([method, sentTo]).toEqual(['POST', '/in?token=abc']);
      expect(headers['content-type']).toBe('application/cloudevents-batch+json; charset=utf-8');
      const [, time, signature] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(headers['x-strongroom-signature'])) ?? [];
      expect(signature).toBe(createHmac('sha256', signingSecret).update(`${time}.${body}`).digest('hex'));
      expect(Math.abs(Date.now() - Number(time))).toBeLessThan(60_000);
      expect(body).not.toContain('canary');
    }
    expect(await statusOf({ id: '', path, signingSecret })).toMatchObject({
      state: 'active',
      failures: 0,
      lastFailure: null,
    });
  });

  test('get after a failure what they missed, in order and with the same IDs, while others are not held up', async () => {
    const projectId = await projectOf();
    let isUp = false;
    const down = await world.server((_, response) => response.writeHead(isUp ? 200 : 503).end());
    const hanging: ServerResponse[] = [];
    const slow = await world.server((_, response) => void hanging.push(response));
    const healthy = await world.server();
    const [failing, stuck] = [await webhook(projectId, down), await webhook(projectId, slow)];
    await webhook(projectId, healthy);
    const keys = await secrets(projectId, 130);
    await received(healthy, 'KEY_129');
    expect(keysOf(eventsOf(healthy))).toEqual(keys);
    await until('a failure', 30_000, async () => (await statusOf(failing)).failures > 0);
    expect(await statusOf(failing)).toMatchObject({
      ...{ state: 'failing', lastFailure: 'TARGET_REJECTED', lastStatus: 503, lastSuccessAt: null },
      ...{ lastFailureAt: expect.any(String), nextAttemptAt: expect.any(String), rewoundAt: null },
    });
    const { lagRecords, lagSeconds } = await statusOf(failing);
    expect([lagRecords >= 130, lagSeconds > 0]).toEqual([true, true]);
    await until('a pause', 20_000, () => lengthenPause(failing));
    const tried = eventsOf(down).map(({ id }) => id);
    down.received.length = 0;
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    expect(down.received).toHaveLength(0);
    isUp = true;
    await endPause(failing);
    await received(down, 'KEY_129');
    expect(keysOf(eventsOf(down))).toEqual(keys);
    const ids = eventsOf(down).map(({ id }) => id);
    expect(ids.slice(0, 1)).toEqual(tried.slice(0, 1));
    expect(new Set(ids).size).toBe(ids.length);
    expect(Math.max(...down.received.map((request) => eventsIn(request).length))).toBeLessThanOrEqual(100);
    // It is active after the first of two batches, and has received all once the answer to the last one is stored.
    await until('the status', 20_000, async () => (await statusOf(failing)).lagRecords === 0);
    expect(await statusOf(failing)).toMatchObject({ state: 'active', failures: 0, lagSeconds: 0, nextAttemptAt: null });
    for (const response of hanging) response.writeHead(200).end();
    mustSucceed(await admin.delete(stuck.path, {}));
  });

  test('get one request at a time, whatever node sends it, and nothing twice', async () => {
    const projectId = await projectOf();
    let [open, most] = [0, 0];
    const server = await world.server((_, response) => {
      open += 1;
      most = Math.max(most, open);
      setTimeout(() => {
        open -= 1;
        response.writeHead(204).end();
      }, 300);
    });
    await webhook(projectId, server);
    const keys: string[] = [];
    for (let round = 0; round < 6; round += 1) {
      keys.push(...(await secrets(projectId, 5, `R${round}`)));
      await new Promise((resolve) => setTimeout(resolve, 400));
    }
    await received(server, 'R5_4');
    expect(keysOf(eventsOf(server))).toEqual(keys);
    expect(server.received.length).toBeGreaterThan(1);
    expect(most).toBe(1);
  });

  test('send nothing while disabled, continue where they stopped, and send nothing once deleted', async () => {
    const projectId = await projectOf();
    const server = await world.server();
    const other = await world.server();
    const made = await webhook(projectId, server, { kinds: ['secret'] });
    await webhook(projectId, other, { kinds: ['secret'] });
    mustSucceed(await admin.patch(made.path, { enabled: false }));
    mustSucceed(await secret(projectId, 'MISSED'));
    await received(other, 'MISSED');
    expect(server.received).toHaveLength(0);
    expect((await statusOf(made)).state).toBe('disabled');
    mustSucceed(await admin.patch(made.path, { enabled: true, url: server.url('/new') }));
    await received(server, 'MISSED');
    expect(server.received[0]?.path).toBe('/new');
    mustSucceed(await admin.delete(made.path, {}));
    expect(await admin.get(made.path)).toBeError(404, 'CHANGE_WEBHOOK_NOT_FOUND');
    mustSucceed(await secret(projectId, 'LATER'));
    await received(other, 'LATER');
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    expect(keysOf(eventsOf(server))).toEqual(['MISSED']);
  });

  test('show their signing secret once, keep it sealed, and sign with a new one after a rotation', async () => {
    const projectId = await projectOf();
    const server = await world.server();
    const made = await webhook(projectId, server, { enabled: false });
    expect(made.signingSecret).toMatch(/^srw_[\w-]{49}$/);
    const shown = [
      await admin.get(made.path),
      await admin.get(webhooksOf(projectId)),
      await admin.patch(made.path, {}),
    ];
    expect(shown.map(({ text }) => text).join()).not.toMatch(/srw_|token=abc/);
    const { body } = mustSucceed(await admin.get(made.path));
    expect(body.changeWebhook.origin).toBe(new URL(server.url()).origin);
    const rotated = mustSucceed(await admin.post(`${made.path}/rotate-secret`, {})).body.signingSecret;
    expect(rotated).not.toBe(made.signingSecret);
    expect(mustSucceed(await admin.post(`${made.path}/test`, {})).body.result).toEqual({
      ...{ isAccepted: true, errorCode: null, status: null },
    });
    const [test] = server.received;
    expect(eventsIn(test as ReceivedRequest)).toMatchObject([{ type: 'com.strongroom.test' }]);
    const [, time, signature] = /^t=(\d+),v1=(\w+)$/.exec(String(test?.headers['x-strongroom-signature'])) ?? [];
    expect(signature).toBe(createHmac('sha256', rotated).update(`${time}.${test?.body}`).digest('hex'));
    const rows = await world.sql('select w::text from change_webhook w where id = $1', [made.id]);
    expect(JSON.stringify(rows)).not.toMatch(/srw_|token=abc/);
    const trail = await world.sql('select facts::text from audit_record where subject_id = $1', [made.id]);
    expect(JSON.stringify(trail)).not.toMatch(/srw_|token=abc/);
  });

  test('are verified and deduplicated by the example for receivers', async () => {
    const projectId = await projectOf();
    const server = await world.server();
    const { path, signingSecret } = await webhook(projectId, server, { enabled: false });
    mustSucceed(await admin.post(`${path}/test`, {}));
    const { headers, body = '' } = server.received[0] ?? {};
    const [verifying = '', receiving = ''] = ['webhooks', 'changes'].map(
      (name) =>
        codeBlocks({ path: '', text: readDocument(`${DOCS}/${name}.md`) }).find(({ language }) => language === 'js')
          ?.code,
    );
    const example = `${verifying}\n${receiving.replace(/^import .*$/m, '')}`;
    const { newEvents } = await import(`data:text/javascript,${encodeURIComponent(example)}`);
    const header = headers?.['x-strongroom-signature'];
    expect(newEvents(header, Buffer.from(body), 'another secret')).toEqual([]);
    expect(newEvents(header, Buffer.from(body), signingSecret)).toMatchObject([{ type: 'com.strongroom.test' }]);
    expect(newEvents(header, Buffer.from(body), signingSecret)).toEqual([]);
  });

  test('require permission to read the audit trail too, and an https URL', async () => {
    const { projectId } = world;
    const maker = await world.member([{ subject: 'webhooks', action: ['create', 'edit', 'read'] }]);
    const body = { name: 'hook', url: 'https://hooks.example.com/', enabled: false };
    expect(await maker.post(webhooksOf(projectId), body)).toBeError(403, 'PERMISSION_DENIED');
    const made = mustSucceed(await admin.post(webhooksOf(projectId), body)).body.changeWebhook;
    const path = `${webhooksOf(projectId)}/${made.id}`;
    expect(await maker.patch(path, { enabled: true })).toBeError(403, 'PERMISSION_DENIED');
    expect(await maker.post(`${path}/rotate-secret`, {})).toBeError(403, 'PERMISSION_DENIED');
    expect(mustSucceed(await maker.get(path)).body.changeWebhook.id).toBe(made.id);
    for (const url of ['http://hooks.example.com/', 'https://ann:secret@hooks.example.com/', 'hooks'])
      expect(await admin.post(webhooksOf(projectId), { name: 'other', url })).toBeError(422, 'VALIDATION_FAILED');
  });

  test('begin with a reset when events expired before they were sent, and the trail says so', async () => {
    const projectId = await projectOf();
    const server = await world.server();
    const made = await webhook(projectId, server, { kinds: ['secret'], enabled: false });
    mustSucceed(await secret(projectId, 'LEFT'));
    // As if the month of later events had been dropped.
    await world.sql(
      `insert into audit_record (id, organization_id, action, outcome, actor_kind, actor_id, request_id, facts, mac, class)
       select gen_random_uuid(), organization_id, 'audit-trail:expire', 'allowed', 'system', actor_id, request_id,
         jsonb_build_object('newest', now() + interval '1 minute'), mac, 'change'
       from audit_record where project_id = $1 limit 1`,
      [projectId],
    );
    mustSucceed(await admin.patch(made.path, { enabled: true }));
    await received(server, 'LEFT');
    const [reset, ...others] = eventsOf(server);
    expect(reset).toMatchObject({
      subject: 'feed:reset',
      data: { operation: 'reset', resetReason: 'position-expired' },
    });
    expect(keysOf(others)).toEqual(['LEFT']);
    mustSucceed(await secret(projectId, 'NEXT'));
    await received(server, 'NEXT');
    expect(eventsOf(server).filter(({ subject }) => subject === 'feed:reset')).toHaveLength(1);
    expect((await statusOf(made)).rewoundAt).toEqual(expect.any(String));
    const rewinds = await world.sql(
      `select facts from audit_record where action = 'change-webhook:rewind' and project_id = $1`,
      [projectId],
    );
    expect(rewinds).toEqual([{ facts: { changeWebhookId: made.id } }]);
  });
});

const SINKS = '/api/v1/organization/audit-sinks';
interface MadeSink {
  readonly id: string;
  readonly signingSecret: string | null;
}

async function sink(server: OutsideServer, kind: string, more: object = {}): Promise<MadeSink> {
  const body = { name: `sink-${randomUUID().slice(0, 8)}`, kind, url: server.url('/v1/logs?token=abc'), ...more };
  const { auditSink, signingSecret } = mustSucceed(await admin.post(SINKS, body)).body;
  return { id: auditSink.id, signingSecret };
}

const shown = async ({ id }: MadeSink) => mustSucceed(await admin.get(`${SINKS}/${id}`)).body.auditSink;
const remove = async ({ id }: MadeSink) => mustSucceed(await admin.delete(`${SINKS}/${id}`, {}));
/** Makes a change that the trail records. @returns the id of what it is about */
const change = async (): Promise<string> => (await new Seed(admin).projectOf(admin)).id;
const linesOf = ({ received }: OutsideServer) =>
  received.flatMap(({ body }) => body.trimEnd().split('\n')).map((line) => JSON.parse(line));
const recordsOf = ({ received }: OutsideServer) =>
  received.flatMap(({ body }) => JSON.parse(body).resourceLogs[0].scopeLogs[0].logRecords);
/** Lines of the trail as an export has them, without its cursors. */
async function exported(): Promise<string[]> {
  const { text } = await admin.get('/api/v1/audit-events/export');
  return text.split('\n').filter((line) => line.startsWith('{"type":"event"'));
}

describe('audit sinks', () => {
  test('get the lines of an export, signed, in order and without gaps over a time when they are down', async () => {
    let isUp = false;
    const server = await world.server((_, response) => response.writeHead(isUp ? 200 : 500).end());
    const made = await sink(server, 'webhook');
    for (let round = 0; round < 5; round += 1) await change();
    const last = await change();
    const failing = await until('a failure', 30_000, async () => {
      const { delivery } = await shown(made);
      return delivery.state === 'failing' && delivery;
    });
    expect(failing).toMatchObject({
      lastFailure: 'TARGET_REJECTED',
      lastStatus: 500,
      nextAttemptAt: expect.any(String),
    });
    expect(failing.lagRecords).toBeGreaterThan(5);
    server.received.length = 0;
    isUp = true;
    await world.sql('update audit_sink set next_attempt_at = now() where id = $1', [made.id]);
    await until('the last change', 30_000, async () => linesOf(server).some(({ subjectId }) => subjectId === last));
    const sent = server.received.flatMap(({ body }) => body.trimEnd().split('\n'));
    const all = await exported();
    const from = all.indexOf(sent[0] as string);
    expect(from).toBeGreaterThanOrEqual(0);
    expect(sent).toEqual(all.slice(from, from + sent.length));
    expect(sent.some((line) => line.includes('"audit-sink:create"'))).toBe(true);
    for (const { headers, body } of server.received) {
      expect(headers['content-type']).toBe('application/x-ndjson; charset=utf-8');
      const [, time, signature] = /^t=(\d+),v1=(\w+)$/.exec(String(headers['x-strongroom-signature'])) ?? [];
      expect(signature).toBe(createHmac('sha256', String(made.signingSecret)).update(`${time}.${body}`).digest('hex'));
    }
    await remove(made);
  });

  test('get log records as a collector, with their headers, which are not shown', async () => {
    const partial = JSON.stringify({ partialSuccess: { rejectedLogRecords: '1', errorMessage: 'too old' } });
    const server = await world.server((_, response) => response.writeHead(200).end(partial));
    const headers = [{ name: 'Authorization', value: 'Bearer canary-token' }];
    const made = await sink(server, 'otlp', { headers });
    expect(made.signingSecret).toBeNull();
    const id = await change();
    await until('the change', 30_000, async () => JSON.stringify(recordsOf(server)).includes(id));
    const record = recordsOf(server).find(({ body }) => JSON.parse(body.stringValue).subjectId === id);
    const line = JSON.parse(record.body.stringValue);
    expect(await exported()).toContain(record.body.stringValue);
    expect(record).toMatchObject({
      ...{ timeUnixNano: `${Date.parse(line.occurredAt)}000000`, severityNumber: 9, severityText: 'INFO' },
      ...{ observedTimeUnixNano: expect.stringMatching(/^\d{19}$/), eventName: line.action },
    });
    expect(record.attributes).toContainEqual({ key: 'strongroom.audit.id', value: { stringValue: line.id } });
    expect(record.attributes).toContainEqual({ key: 'enduser.id', value: { stringValue: admin.identityId } });
    const elsewhere = await admin.patch(`${SINKS}/${made.id}`, { url: 'https://other.example.com/v1/logs' });
    expect(elsewhere).toBeError(422, 'VALIDATION_FAILED');
    expect(elsewhere.body.details).toMatchObject([{ path: 'body.headers', code: 'MISSING' }]);
    for (const { path, headers: sent, method } of server.received) {
      expect([method, path]).toEqual(['POST', '/v1/logs?token=abc']);
      expect(sent).toMatchObject({ authorization: 'Bearer canary-token', 'content-type': 'application/json' });
    }
    const requests = server.received.length;
    const { rejectedRecords, origin, delivery } = await until('the rejections', 20_000, async () => {
      const found = await shown(made);
      return found.rejectedRecords >= requests && found;
    });
    expect([rejectedRecords >= 1, origin, delivery.state]).toEqual([true, new URL(server.url()).origin, 'active']);
    const texts = [await admin.get(SINKS), await admin.get(`${SINKS}/${made.id}`)].map(({ text }) => text);
    const rows = await world.sql('select s::text from audit_sink s where id = $1', [made.id]);
    expect(JSON.stringify([texts, rows])).not.toMatch(/canary|token=abc/);
    await remove(made);
  });

  test('of a test get one request, disabled or not, and nothing else while disabled', async () => {
    const server = await world.server((_, response) => response.writeHead(401).end());
    const other = await world.server();
    const made = await sink(server, 'otlp', { enabled: false });
    const healthy = await sink(other, 'webhook');
    expect(mustSucceed(await admin.post(`${SINKS}/${made.id}/test`, {})).body.result).toEqual({
      ...{ isAccepted: false, errorCode: 'TARGET_REJECTED', status: 401 },
    });
    const id = await change();
    await until('the other sink', 30_000, async () => linesOf(other).some(({ subjectId }) => subjectId === id));
    expect(server.received.map(({ body }) => JSON.parse(body).resourceLogs[0].scopeLogs[0].logRecords)).toEqual([[]]);
    await remove(made);
    await remove(healthy);
  });

  test('refuse headers that the service sets, and callers who may not change settings', async () => {
    const body = { name: 'sink', kind: 'otlp', url: 'https://collector.example.com/v1/logs', enabled: false };
    for (const header of [
      ...[
        { name: 'Host', value: 'x' },
        { name: 'content-type', value: 'x' },
        { name: 'X-A', value: 'a\r\nb: c' },
      ],
      { name: 'A B', value: 'x' },
    ])
      expect(await admin.post(SINKS, { ...body, headers: [header] })).toBeError(422, 'VALIDATION_FAILED');
    const role = { slug: `auditor-${randomUUID().slice(0, 8)}`, name: 'Auditor' };
    const rules = [{ subject: 'AUDIT_LOGS', action: ['READ'] }];
    await admin.data(
      'mutation ($input: CreateOrganizationRoleInput!) { createOrganizationRole(input: $input) { __typename } }',
      {
        input: { ...role, permissions: rules },
      },
    );
    const auditor = await new Seed(admin).caller(admin);
    const { identityId } = auditor;
    await admin.data(
      'mutation ($input: SetOrganizationMemberInput!) { setOrganizationMember(input: $input) { __typename } }',
      { input: { identityId, roleSlug: role.slug } },
    );
    expect(mustSucceed(await auditor.get(SINKS)).body.auditSinks).toEqual(expect.any(Array));
    expect(await auditor.post(SINKS, body)).toBeError(403, 'PERMISSION_DENIED');
  });
});
