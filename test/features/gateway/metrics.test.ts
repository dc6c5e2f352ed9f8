import { randomBytes, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mintToken } from '../../../src/kernel/crypto/token.js';
import { Exposition } from '../../kit/exposition.js';
import { type Caller, type SecondNode, useSharedStrongroom } from '../../kit/strongroom.js';
import { until } from '../../kit/until.js';

const OPERATIONS = 'strongroom_operations_total';

async function pageOf(caller: Caller): Promise<Exposition> {
  const reply = await caller.anonymous.get('/metrics');
  expect(reply.status).toBe(200);
  expect(reply.headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
  return new Exposition(reply.text);
}

const strongroom = useSharedStrongroom();

describe('the page of metrics', () => {
  /** By how much series grow while `work` runs. */
  async function growth(work: () => Promise<unknown>) {
    const before = await pageOf(strongroom.admin);
    await work();
    const after = await pageOf(strongroom.admin);
    return {
      of: (name: string, labels: Record<string, string>) => after.sum(name, labels) - before.sum(name, labels),
      /** Operations that were counted, whatever they were; the reading of this page is one. */
      operations: after.sum(OPERATIONS) - before.sum(OPERATIONS) - 1,
    };
  }

  test('keeps the rules of the text format', async () => {
    await strongroom.admin.get('/api/v1/projects');
    const page = await pageOf(strongroom.admin);
    expect(page.samples.length).toBeGreaterThan(100);
    expect([...page.types].filter(([name, type]) => type === 'counter' && !name.endsWith('_total'))).toEqual([]);
  });

  test('tells what runs, that it stays, and that the database answers', async () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
    // Within a second, or it counts as away.
    const page = await until('the database to answer', 60_000, async () => {
      const asked = await pageOf(strongroom.admin);
      return asked.sum('strongroom_database_up') === 1 && asked;
    });
    expect(page.sum('strongroom_build_info', { version, node_version: process.version })).toBe(1);
    expect(page.sum('strongroom_draining')).toBe(0);
    expect(page.has('strongroom_draining')).toBe(true);
    expect(page.sum('process_start_time_seconds')).toBeGreaterThan(1.7e9);
    for (const name of [
      'nodejs_eventloop_lag_p99_seconds',
      'strongroom_database_connections',
      'strongroom_database_wait_seconds_count',
      'strongroom_audit_queue_length',
      'strongroom_audit_oldest_wait_seconds',
      'strongroom_reply_cache_bytes',
      'strongroom_data_key_seals_ratio',
      'strongroom_unreadable_values_total',
    ]) {
      expect([name, page.has(name)]).toEqual([name, true]);
    }
  });

  test('counts REST by route and code', async () => {
    const { admin, project } = await strongroom.seed.project();
    const path = 'GET /api/v1/projects/:projectId';
    const grown = await growth(async () => {
      await admin.get(`/api/v1/projects/${project.id}`);
      await admin.get(`/api/v1/projects/${project.id}`);
      await admin.get(`/api/v1/projects/${randomUUID()}`);
      await admin.anonymous.get(`/api/v1/projects/${project.id}`);
      await admin.get(`/nowhere/${randomUUID()}`);
    });
    expect(grown.of(OPERATIONS, { api: 'rest', operation: path, code: 'OK' })).toBe(2);
    expect(grown.of(OPERATIONS, { api: 'rest', operation: path, code: 'PROJECT_NOT_FOUND' })).toBe(1);
    expect(grown.of(OPERATIONS, { api: 'rest', operation: path, code: 'TOKEN_MISSING' })).toBe(1);
    expect(grown.of(OPERATIONS, { api: 'rest', operation: 'unknown', code: 'ROUTE_NOT_FOUND' })).toBe(1);
    expect(grown.operations).toBe(5);
    expect(
      grown.of('strongroom_http_request_duration_seconds_count', {
        method: 'GET',
        route: '/api/v1/projects/:projectId',
      }),
    ).toBe(4);
  });

  test('counts GraphQL by root fields of the schema and codes, through aliases and fragments, and not by names of callers', async () => {
    const { admin, project } = await strongroom.seed.project();
    const grown = await growth(async () => {
      await admin.graphql('query Mine { projects { nodes { id } } mine: projects { nodes { id } } }');
      await admin.graphql(
        'query ($id: ID!, $other: ID!) { ...Both } fragment Both on Query { a: project(id: $id) { id } b: project(id: $other) { id } }',
        { id: project.id, other: randomUUID() },
      );
      await admin.graphql('query ($id: ID!) { project(id: $id) @skip(if: true) { id } __typename }', {
        id: project.id,
      });
      await admin.graphql('query ($id: ID!) { project(id: $id) { id } }');
    });
    expect(grown.of(OPERATIONS, { api: 'graphql', operation: 'projects', code: 'OK' })).toBe(2);
    // A field that fails leaves the other one as it is.
    expect(grown.of(OPERATIONS, { api: 'graphql', operation: 'project', code: 'PROJECT_NOT_FOUND' })).toBe(1);
    expect(grown.of(OPERATIONS, { api: 'graphql', operation: 'project', code: 'OK' })).toBe(1);
    expect(grown.of(OPERATIONS, { api: 'graphql', operation: '__typename', code: 'OK' })).toBe(1);
    expect(grown.of(OPERATIONS, { api: 'graphql', operation: 'project', code: 'VALIDATION_FAILED' })).toBe(1);
    expect(grown.operations).toBe(6);
    expect(grown.of('strongroom_graphql_operation_duration_seconds_count', { operation: 'projects' })).toBe(1);
  });

  test('counts what never reached a field of GraphQL once each, by its code', async () => {
    const { admin } = strongroom;
    const grown = await growth(async () => {
      await admin.graphql('{ projects { nodes { id } }');
      await admin.graphql('{ nothing }');
      await admin.request({ method: 'POST', path: '/graphql', rawBody: '{' });
      await admin.request({ method: 'POST', path: '/graphql', body: { variables: {} } });
    });
    const codes = ['GRAPHQL_SYNTAX', 'GRAPHQL_INVALID', 'MALFORMED_JSON', 'MALFORMED_REQUEST'];
    for (const code of codes)
      expect([code, grown.of(OPERATIONS, { api: 'graphql', operation: 'none', code })]).toEqual([code, 1]);
    expect(grown.operations).toBe(codes.length);
  });

  test('counts refused tokens over both ways in', async () => {
    const { admin } = strongroom;
    const authorization = `Bearer ${mintToken()}`;
    const grown = await growth(async () => {
      await admin.anonymous.get('/api/v1/projects', { authorization });
      await admin.anonymous.graphql('{ projects { nodes { id } } }', {}, { authorization });
    });
    expect(grown.of('strongroom_tokens_refused_total', { code: 'TOKEN_INVALID' })).toBe(2);
  });

  test('counts values that do not open, each time that they are read', async () => {
    const { admin, project } = await strongroom.seed.project();
    const at = `projectId=${project.id}&environment=dev`;
    await admin.post('/api/v4/secrets/BROKEN', { projectId: project.id, environment: 'dev', secretValue: 'x' });
    const grownBefore = await growth(() => admin.get(`/api/v4/secrets?${at}`));
    expect(grownBefore.of('strongroom_unreadable_values_total', {})).toBe(0);
    // The second time it makes them good again.
    const flip = `update secret set value_sealed =
      set_byte(value_sealed, length(value_sealed) - 1, 255 - get_byte(value_sealed, length(value_sealed) - 1)) where project_id = $1`;
    await strongroom.sql(flip, [project.id]);
    await strongroom.sql('update project set revision = revision + 1 where id = $1', [project.id]);
    const grown = await growth(async () => {
      expect((await admin.get(`/api/v4/secrets?${at}`)).headers['x-unreadable-values']).toBe('1');
    });
    expect(grown.of('strongroom_unreadable_values_total', {})).toBe(1);
    await strongroom.sql(flip, [project.id]);
  });

  test('does not grow with what callers make up', async () => {
    const { admin } = strongroom;
    const wild = () => randomBytes(6).toString('hex');
    const METHODS = ['GET', 'POST', 'PATCH', 'DELETE', 'PUT', 'PROPFIND', 'LOCK'] as const;
    const one = async (number: number): Promise<void> => {
      const word = `z${wild()}`;
      const method = METHODS[number % METHODS.length] as string;
      await admin.request({ method, path: `/${word}/${word}?${word}=${word}` });
      await admin.get(`/api/v1/projects/${word}`);
      await admin.graphql(`query ${word} { ${word}: projects { nodes { id } } }`);
      await admin.graphql(`{ ${word} }`);
    };
    await Promise.all(METHODS.map((_, number) => one(number)));
    // Jobs that the service does for the first time meanwhile are none of theirs.
    const series = async () =>
      (await pageOf(admin)).samples.filter(({ name }) => name !== 'strongroom_job_attempts_total').length;
    const before = await series();
    for (let done = 0; done < 125; done += 25)
      await Promise.all(Array.from({ length: 25 }, (_, index) => one(done + index)));
    // Latencies open no series: a histogram has all its buckets from the first.
    expect((await series()) - before).toBeLessThanOrEqual(10);
    const { text } = await admin.anonymous.get('/metrics');
    expect(text).not.toMatch(/z[0-9a-f]{12}/);
  });

  test('sends no statement for requests, however often it is read', async () => {
    const { count } = await strongroom.statements(async () => {
      for (let reading = 0; reading < 5; reading += 1) await pageOf(strongroom.admin);
    });
    expect(count).toBe(0);
  });

  test('is not there for who comes through a proxy that nobody trusts', async () => {
    const proxied: Record<string, string>[] = [
      { 'x-forwarded-for': '10.0.0.1' },
      { 'x-forwarded-for': '' },
      { forwarded: 'for=10.0.0.1' },
      { via: '1.1 cache' },
      { 'x-real-ip': '10.0.0.1' },
      { 'x-forwarded-proto': 'https' },
      { 'x-forwarded-host': 'strongroom.example.com' },
      { 'x-client-ip': '10.0.0.1' },
      { 'x-cluster-client-ip': '10.0.0.1' },
      { 'cf-connecting-ip': '10.0.0.1' },
      { 'true-client-ip': '10.0.0.1' },
      { 'x-original-forwarded-for': '10.0.0.1' },
    ];
    for (const headers of proxied)
      expect(await strongroom.admin.anonymous.get('/metrics', headers)).toBeError(404, 'ROUTE_NOT_FOUND');
  });
});

describe('the page of metrics with a token of its own', () => {
  const TOKEN = 'metrics-0123456789';
  let admin: Caller;
  let node: SecondNode;
  beforeAll(async () => {
    node = await strongroom.startSecondNode({ env: { METRICS_TOKEN: TOKEN } });
    admin = strongroom.admin.at(node.url);
  });
  afterAll(() => node.stop());

  test('answers who has it, wherever he comes from, and nobody else', async () => {
    const bearer = (token: string) => ({ authorization: `Bearer ${token}`, 'x-forwarded-for': '8.8.8.8' });
    expect((await admin.anonymous.get('/metrics', bearer(TOKEN))).status).toBe(200);
    expect(await admin.anonymous.get('/metrics')).toBeError(401, 'TOKEN_MISSING');
    expect(await admin.anonymous.get('/metrics', bearer(`${TOKEN}0`))).toBeError(401, 'TOKEN_INVALID');
    expect(await admin.get('/metrics')).toBeError(401, 'TOKEN_INVALID');
  });
});
