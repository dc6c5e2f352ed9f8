import { randomUUID } from 'node:crypto';
import { type Caller, mustSucceed } from '../../kit/caller.js';
import { EventStreamClient } from '../../kit/event-stream.js';
import { callerWithRules } from '../../kit/rules.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';

const strongroom = useSharedStrongroom();
const SUBSCRIPTION = `subscription ($projectId: ID, $environment: String, $kinds: [ChangeKind!], $after: String) {
  changes(projectId: $projectId, environment: $environment, kinds: $kinds, after: $after) {
    cursor kind operation secretKey previous { secretKey } resetReason } }`;

const at = (project: { id: string }, environment = 'dev', secretPath = '/') => ({
  ...{ projectId: project.id, environment, secretPath },
});
const create = async (caller: Caller, key: string, place: object): Promise<void> => {
  mustSucceed(await caller.post(`/api/v4/secrets/${key}`, { ...place, secretValue: 'canary-value' }));
};

describe('the subscription', () => {
  test('sends events as GraphQL over SSE has them', async () => {
    const { admin, project } = await strongroom.seed.project();
    const stream = await EventStreamClient.open(admin, '/graphql/stream', {
      body: { query: SUBSCRIPTION, variables: { projectId: project.id, kinds: ['SECRET'] } },
    });
    await create(admin, 'KEY', at(project));
    mustSucceed(await admin.patch('/api/v4/secrets/KEY', { ...at(project), newSecretName: 'RENAMED' }));
    const sent = await stream.count(3);
    expect(sent.map(({ event }) => event)).toEqual(['next', 'next', 'next']);
    expect(sent.map(({ data }) => data.data.changes)).toMatchObject([
      { kind: 'FEED', operation: 'OPENED' },
      { kind: 'SECRET', operation: 'CREATED', secretKey: 'KEY' },
      { operation: 'MOVED', secretKey: 'RENAMED', previous: { secretKey: 'KEY' } },
    ]);
    stream.close();
  });

  test('continues after an event, and resets after an unknown one', async () => {
    const { admin, project } = await strongroom.seed.project();
    const open = (after?: string) =>
      EventStreamClient.open(admin, '/graphql/stream', {
        body: { query: SUBSCRIPTION, variables: { projectId: project.id, kinds: ['SECRET'], after } },
      });
    const first = await open();
    await create(admin, 'ONE', at(project));
    await create(admin, 'TWO', at(project));
    const [, one] = await first.count(3);
    const resumed = await open(one?.data.data.changes.cursor);
    expect((await resumed.count(1))[0]?.data.data.changes).toMatchObject({ secretKey: 'TWO' });
    const reset = await open('unknown');
    expect((await reset.count(1))[0]?.data.data.changes).toMatchObject({
      ...{ kind: 'FEED', operation: 'RESET', resetReason: 'UNKNOWN_POSITION' },
    });
    for (const stream of [first, resumed, reset]) stream.close();
  });

  test('passes all that other documents pass, and is refused with the status of the error', async () => {
    const { admin, project } = await strongroom.seed.project();
    const refused = async (query: string, variables: object = {}, caller = admin) => {
      const client = await EventStreamClient.open(caller, '/graphql/stream', { body: { query, variables } });
      const { errors } = await client.body();
      return [client.status, errors[0].extensions.code];
    };
    expect(await refused(SUBSCRIPTION, {}, admin.anonymous)).toEqual([401, 'TOKEN_MISSING']);
    expect(await refused(SUBSCRIPTION, { projectId: randomUUID() })).toEqual([404, 'PROJECT_NOT_FOUND']);
    expect(await refused(SUBSCRIPTION, { kinds: ['NOTHING'] })).toEqual([422, 'VALIDATION_FAILED']);
    expect(await refused('subscription { nothing }')).toEqual([400, 'GRAPHQL_INVALID']);
    expect(await refused('subscription {')).toEqual([400, 'GRAPHQL_SYNTAX']);
    expect(await refused(`query { project(id: "${project.id}") { id } }`)).toEqual([400, 'MALFORMED_REQUEST']);
    expect(await refused(`subscription { ${'a: '.repeat(1)}changes { ${'id '.repeat(20_000)} } }`)).toEqual([
      ...[400, 'QUERY_TOO_COMPLEX'],
    ]);
  });

  test('sent to /graphql is told where to go, whatever it accepts', async () => {
    const { admin, project } = await strongroom.seed.project();
    const request = { query: SUBSCRIPTION, variables: { projectId: project.id } };
    const parameters = new URLSearchParams({ query: SUBSCRIPTION, variables: JSON.stringify(request.variables) });
    const [posted, byGet, asStream] = [
      await admin.post('/graphql', request),
      await admin.get(`/graphql?${parameters}`),
      await admin.post('/graphql', request, { accept: 'text/event-stream' }),
    ];
    expect(posted).toBeError(400, 'MALFORMED_REQUEST');
    expect(byGet).toBeError(405, 'METHOD_NOT_ALLOWED');
    expect(asStream).toBeError(406, 'NOT_ACCEPTABLE');
    for (const { body } of [posted, byGet, asStream])
      expect(body.errors[0].message).toBe('Send subscriptions to /graphql/stream, with `Accept: text/event-stream`.');
  });
});

describe('project events of the command line', () => {
  const open = (caller: Caller, body: object) =>
    EventStreamClient.open(caller, '/api/v1/events/subscribe/project-events', { body });

  test('are refused with a field that is not known, which would be of other events', async () => {
    const { admin, project } = await strongroom.seed.project();
    const event = { event: 'secret:update', conditions: { environmentSlug: 'dev' } };
    for (const body of [
      { register: [event], environment: 'dev' },
      { register: [{ ...event, secretPath: '/' }] },
      { register: [{ ...event, conditions: { environment: 'dev' } }] },
    ]) {
      const client = await open(admin, { projectId: project.id, ...body });
      expect([client.status, (await client.body()).code]).toEqual([422, 'VALIDATION_FAILED']);
    }
  });

  test('have the names, conditions and data that its clients read', async () => {
    const { admin, project } = await strongroom.seed.project();
    const register = [
      { event: 'secret:create', conditions: { environmentSlug: 'dev', secretPath: '/' } },
      { event: 'secret:delete', conditions: { environmentSlug: 'dev' } },
    ];
    const stream = await open(admin, { projectId: project.id, register });
    const all = await open(admin, { projectId: project.id });
    await create(admin, 'KEY', at(project));
    await create(admin, 'ELSEWHERE', at(project, 'prod'));
    mustSucceed(await admin.patch('/api/v4/secrets/KEY', { ...at(project), secretValue: 'canary-value' }));
    mustSucceed(await admin.delete('/api/v4/secrets/KEY', at(project)));
    const place = { environment: 'dev', secretPath: '/', secretKey: 'KEY' };
    expect((await stream.count(2)).map(({ event, data }) => [event, data])).toEqual(
      ['secret:create', 'secret:delete'].map((event) => [
        event,
        {
          ...{ projectType: 'secret-manager', projectId: project.id, ...place },
          data: { eventType: event, payload: [place] },
        },
      ]),
    );
    expect((await all.count(4)).map(({ event, data }) => [event, data.secretKey])).toEqual([
      ['secret:create', 'KEY'],
      ['secret:create', 'ELSEWHERE'],
      ['secret:update', 'KEY'],
      ['secret:delete', 'KEY'],
    ]);
    for (const each of [stream, all]) each.close();
  });

  test('reach the folders that import a changed folder', async () => {
    const { admin, project } = await strongroom.seed.project();
    const source = { import: { environment: 'dev', path: '/' } };
    mustSucceed(
      await admin.post('/api/v2/secret-imports', {
        projectId: project.id,
        environment: 'staging',
        path: '/',
        ...source,
      }),
    );
    const register = [{ event: 'secret:import-mutation', conditions: { environmentSlug: 'staging', secretPath: '/' } }];
    const stream = await open(admin, { projectId: project.id, register });
    const { caller } = await callerWithRules(strongroom, admin, project.id, {
      subject: 'secrets',
      action: ['describeSecret'],
    });
    const hidden = await open(caller, { projectId: project.id });
    await create(admin, 'KEY', at(project));
    const [event] = await stream.count(1);
    const place = { environment: 'staging', secretPath: '/' };
    expect(event?.data).toMatchObject({ ...place, data: { eventType: 'secret:import-mutation', payload: place } });
    expect((await hidden.count(1)).map(({ event: name }) => name)).toEqual(['secret:create']);
    for (const each of [stream, hidden]) each.close();
  });
});
