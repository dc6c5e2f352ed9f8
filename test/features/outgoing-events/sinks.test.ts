import { createHmac, randomUUID } from 'node:crypto';
import { type Caller, mustSucceed } from '../../kit/caller.js';
import { Notifying } from '../../kit/notifying.js';
import type { OutsideServer } from '../../kit/outside/outside-server.js';
import { Seed } from '../../kit/seed.js';
import { until } from '../../kit/until.js';

const SINKS = '/api/v1/organization/audit-sinks';
let world: Notifying;
let admin: Caller;

beforeAll(async () => {
  world = await Notifying.start();
  ({ admin } = world);
});

afterAll(() => world?.stop());

interface Made {
  readonly id: string;
  readonly signingSecret: string | null;
}

async function sink(server: OutsideServer, kind: string, more: object = {}): Promise<Made> {
  const body = { name: `sink-${randomUUID().slice(0, 8)}`, kind, url: server.url('/v1/logs?token=abc'), ...more };
  const { auditSink, signingSecret } = mustSucceed(await admin.post(SINKS, body)).body;
  return { id: auditSink.id, signingSecret };
}

const shown = async ({ id }: Made) => mustSucceed(await admin.get(`${SINKS}/${id}`)).body.auditSink;
const remove = async ({ id }: Made) => mustSucceed(await admin.delete(`${SINKS}/${id}`, {}));
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
