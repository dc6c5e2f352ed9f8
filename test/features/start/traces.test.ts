import { OutsideServer } from '../../kit/outside/outside-server.js';
import { MAKE_DUE } from '../../kit/schedules.js';
import { Strongroom } from '../../kit/strongroom.js';
import { until } from '../../kit/until.js';
import { CANARY } from '../../kit/world.js';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const CALLER = 'b7ad6b7169203331';

interface Sent {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly { readonly key: string; readonly value: Record<string, string | number> }[];
  readonly status?: { readonly code: number };
}

/** It refuses what a node sends that has this path, and nothing else. */
const REFUSED = '/refused';
const TAKEN = '/v1/traces';
let collector: OutsideServer;
beforeAll(async () => {
  collector = await OutsideServer.start(null, ({ url }, response) =>
    response.writeHead(url === REFUSED ? 400 : 200).end('{}'),
  );
});
afterAll(() => collector.stop());

const taken = () => collector.received.filter(({ path }) => path === TAKEN);

const spans = (): Sent[] =>
  taken().flatMap(({ body }) =>
    JSON.parse(body).resourceSpans.flatMap(({ scopeSpans }: { scopeSpans: { spans: Sent[] }[] }) =>
      scopeSpans.flatMap((scope) => scope.spans),
    ),
  );

const attributesOf = ({ attributes }: Sent) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));

describe('traces', () => {
  let strongroom: Strongroom;
  beforeAll(async () => {
    strongroom = await Strongroom.start({
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${collector.port}/`,
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Basic%20abc,x-tenant=one',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
    });
  });

  test('delay nobody where the collector refuses them, which the log says', async () => {
    const url = `http://127.0.0.1:${collector.port}${REFUSED}`;
    const node = await strongroom.startSecondNode({ env: { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: url } });
    expect((await node.caller('').anonymous.get('/api/v1/projects')).status).toBe(401);
    expect(await node.stop()).toBe(0);
    expect(collector.received.map(({ path }) => path)).toContain(REFUSED);
    const line = await until('the line', 20_000, () =>
      node.service.output.split('\n').find((text) => text.includes('traces not exported')),
    );
    expect(JSON.parse(line)).toMatchObject({ level: 40, status: 400, dropped: expect.any(Number) });
  });

  test('show requests with their statements, in the trace of whoever asks, and nothing that came from a caller', async () => {
    const { admin, project } = await strongroom.seed.project();
    const place = { projectId: project.id, environment: 'dev' };
    const traceparent = `00-${TRACE}-${CALLER}-01`;
    const path = `/api/v4/secrets/${CANARY}`;
    const made = await admin.post(path, { ...place, secretValue: CANARY }, { traceparent });
    const again = await admin.post(path, { ...place, secretValue: CANARY }, { traceparent });
    const unsampled = await admin.get('/api/v1/projects', { traceparent: `00-${TRACE}-${CALLER}-00` });
    const malformed = await admin.get('/api/v1/projects', { traceparent: `00-${'0'.repeat(32)}-${CALLER}-01` });
    expect([made.status, again.status, unsampled.status, malformed.status]).toEqual([200, 409, 200, 200]);
    // The node before may have done those of the start.
    await strongroom.sql(MAKE_DUE, ['jobs:delete-finished']);
    await until('a job to end', 30_000, async () => {
      const { text } = await admin.anonymous.get('/metrics');
      return /^strongroom_job_attempts_total\{.*outcome="done".*\} [1-9]/m.test(text);
    });
    await admin.get('/readyz');
    await strongroom.stop();

    const [first] = taken();
    expect(first?.method).toBe('POST');
    expect(first?.headers).toMatchObject({
      authorization: 'Basic abc',
      'x-tenant': 'one',
      'content-type': 'application/json',
    });
    const { resource } = JSON.parse(String(first?.body)).resourceSpans[0];
    expect(resource.attributes).toEqual(
      expect.arrayContaining([
        { key: 'service.name', value: { stringValue: 'strongroom' } },
        { key: 'deployment.environment.name', value: { stringValue: 'test' } },
      ]),
    );

    const requestOf = ({ headers }: { headers: Record<string, unknown> }) =>
      spans().find((span) => attributesOf(span)['strongroom.request_id'] === headers['x-request-id']);
    const write = requestOf(made) as Sent;
    expect(write).toMatchObject({
      name: 'POST /api/v4/secrets/:secretName',
      kind: 2,
      traceId: TRACE,
      parentSpanId: CALLER,
    });
    expect(attributesOf(write)).toMatchObject({ 'http.response.status_code': 200, 'http.request.method': 'POST' });
    expect(BigInt(write.endTimeUnixNano)).toBeGreaterThan(BigInt(write.startTimeUnixNano));
    const parts = spans().filter(({ parentSpanId }) => parentSpanId === write.spanId);
    expect(parts.map(({ name }) => name)).toEqual(expect.arrayContaining(['INSERT secret']));
    expect(new Set(parts.map(({ traceId, kind }) => [traceId, kind].join()))).toEqual(new Set([`${TRACE},3`]));
    expect(attributesOf(requestOf(again) as Sent)).toMatchObject({ 'strongroom.error_code': 'SECRET_KEY_TAKEN' });
    expect(requestOf(unsampled)).toBeUndefined();
    const own = requestOf(malformed) as Sent;
    expect(own.parentSpanId).toBeUndefined();
    expect(own.traceId).toMatch(/^(?!0{32})[0-9a-f]{32}$/);
    expect(spans().some(({ name }) => name.startsWith('job '))).toBe(true);
    expect(spans().some(({ name }) => name.includes('/readyz'))).toBe(false);
    for (const { body } of collector.received) {
      expect(body).not.toContain(CANARY);
      expect(body).not.toContain(String(admin.token));
      expect(body).not.toContain(project.id);
    }
  });
});
