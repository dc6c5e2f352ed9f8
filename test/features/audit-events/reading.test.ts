import { randomUUID } from 'node:crypto';
import { addAuditRecords } from '../../kit/audit-records.js';
import { type Caller, mustSucceed } from '../../kit/caller.js';
import { type SharedStrongroom, useSharedStrongroom } from '../../kit/strongroom.js';
import { actionsIn, type Event, events, LIST, page, seedStory } from './kit.js';

const strongroom: SharedStrongroom = useSharedStrongroom();

describe('the audit trail', () => {
  test('shows each event with its actor, request, details and the secrets whose values were read', async () => {
    const { organization, admin, project, read, secretId } = await seedStory(strongroom);
    const [event] = await events(admin, { requestId: read.headers['x-request-id'] });
    expect(event).toMatchObject({
      ...{ action: 'secret:get', outcome: 'ALLOWED', organizationId: organization.id, projectId: project.id },
      ...{ actorKind: 'IDENTITY', actorId: admin.identityId, requestId: read.headers['x-request-id'] },
      ...{ tokenId: expect.stringMatching(/^[0-9a-f-]{36}$/), address: expect.stringMatching(/127\.0\.0\.1|::1/) },
      disclosedSecrets: { count: 1, ids: [secretId] },
      facts: expect.arrayContaining([
        { name: 'secretId', stringValue: secretId, numberValue: null, booleanValue: null, listValue: null },
      ]),
    });
    const [stored] = await strongroom.auditRows('request_id = $1', [read.headers['x-request-id']]);
    expect(event).toMatchObject({ id: stored?.id, occurredAt: stored?.occurred_at.toISOString() });
  });

  test('shows whose secrets a list disclosed, and how many', async () => {
    const { admin, project } = await strongroom.seed.project();
    await strongroom.seed.secrets(admin, project, 'dev', 5);
    const list = mustSucceed(await admin.get(`/api/v4/secrets?projectId=${project.id}&environment=dev&secretPath=/`));
    const ids = list.body.secrets.map(({ id }: { id: string }) => id);
    const requestId = list.headers['x-request-id'];
    const { auditEvents } = await admin.data(
      `{ auditEvents(requestId: "${requestId}") { nodes { all: disclosedSecrets { count ids } some: disclosedSecrets(first: 2) { count ids } } } }`,
    );
    const [{ all, some }] = auditEvents.nodes;
    expect([all.count, all.ids.toSorted()]).toEqual([5, ids.toSorted()]);
    expect([some.count, some.ids]).toEqual([5, all.ids.slice(0, 2)]);
  });

  test('has what fields of one response reach again and again once', async () => {
    const { admin, project } = await strongroom.seed.project();
    for (let n = 0; n < 10; n += 1) await strongroom.seed.caller(admin, { project: project.id });
    const reply = mustSucceed(
      await admin.graphql(
        `query ($id: ID!) { project(id: $id) { members { nodes { project { one: certificates(first: 1) { totalCount }
          two: certificates(first: 2) { totalCount } notificationChannels { id } } } } } }`,
        { id: project.id },
      ),
    );
    expect(reply.body.data.project.members.nodes).toHaveLength(11);
    const requestId = reply.headers['x-request-id'];
    expect(actionsIn(await events(admin, { requestId })).toSorted()).toEqual([
      ...['certificate:list', 'notification-channel:list', 'project:get'],
    ]);
  });

  test('is filtered by each of its columns, and by all together', async () => {
    const { admin, project, nobody, written, denied, secretId } = await seedStory(strongroom);
    const of = async (args: object) => actionsIn(await events(admin, { ...args }));
    expect(await of({ actorId: nobody.identityId })).toEqual(['tags:read']);
    expect(await of({ outcome: 'DENIED' })).toEqual(['tags:read']);
    expect(await of({ actions: ['secret:create', 'secret:get'] })).toEqual(['secret:get', 'secret:create']);
    expect(await of({ projectId: project.id, actions: ['identity:create'] })).toEqual([]);
    expect(await of({ requestId: denied.headers['x-request-id'], outcome: 'DENIED' })).toEqual(['tags:read']);
    expect(await of({ actorKind: 'USER' })).toEqual([]);
    expect(await of({ class: 'VALUE_READ' })).toEqual(['secret:get']);
    expect(await of({ class: 'DENIAL', projectId: project.id })).toEqual(['tags:read']);
    expect(new Set(await of({ class: 'BROWSE', projectId: project.id }))).toEqual(new Set(['audit-event:list']));
    expect(await of({ subjectId: secretId })).toEqual(['secret:create']);
    expect(await of({ subjectId: nobody.identityId, class: 'CHANGE', projectId: project.id })).toEqual([
      'project-membership:create',
    ]);
    expect(
      await of({ projectId: project.id, actorId: admin.identityId, actorKind: 'IDENTITY', actions: ['secret:create'] }),
    ).toEqual(['secret:create']);
    for (const nothing of [
      { actorId: 'nope' },
      { requestId: 'nope' },
      { projectId: 'nope' },
      { actorId: randomUUID() },
    ])
      expect(await of(nothing)).toEqual([]);
    const [{ occurredAt }] = (await events(admin, { requestId: written.headers['x-request-id'] })) as [Event];
    const later = new Date(Date.parse(occurredAt) + 1).toISOString();
    expect(await of({ actions: ['secret:create'], from: occurredAt, to: later })).toEqual(['secret:create']);
    expect(await of({ actions: ['secret:create'], from: later })).toEqual([]);
    expect(await of({ actions: ['secret:create'], to: occurredAt })).toEqual([]);
  });

  test('is paged newest first, each event once, by cursors that are good for the same question alone', async () => {
    const { admin, project } = await strongroom.seed.project();
    for (let at = 0; at < 7; at += 1) mustSucceed(await admin.get(`/api/v1/projects/${project.id}/tags`));
    const asked = { actions: ['tag:list'], first: 3 };
    const found: Event[] = [];
    let after: string | null = null;
    do {
      const { nodes, pageInfo } = await page(admin, { ...asked, after });
      found.push(...nodes);
      after = pageInfo.hasNextPage ? pageInfo.endCursor : null;
    } while (after !== null);
    const stored = await strongroom.auditRows(`project_id = $1 and action = 'tag:list'`, [project.id]);
    expect(found.map(({ id }) => id)).toEqual(stored.map(({ id }) => id).reverse());
    const { pageInfo } = await page(admin, asked);
    const other = await admin.graphql(LIST, { first: 3, after: pageInfo.endCursor });
    expect(other).toBeError(422, 'VALIDATION_FAILED');
    // No number of the trail is in a cursor: it would tell how much happens elsewhere.
    expect(Buffer.from(pageInfo.endCursor, 'base64url').toString('latin1')).not.toMatch(/\d{2,}"/);
  });

  test('says that a page has looked at its share of events, and goes on from there', async () => {
    const { organization, admin } = await strongroom.seed.organization();
    const hay = { organizationId: organization.id, action: 'kit:hay' };
    const needle = { ...hay, action: 'kit:needle', actorKind: 'user' };
    await addAuditRecords(strongroom, [needle, ...Array<typeof hay>(20_099).fill(hay)]);
    const first = await page(admin, { actorKind: 'USER' });
    expect([first.nodes, first.isScanLimitReached, first.pageInfo.hasNextPage]).toEqual([[], true, true]);
    const second = await page(admin, { actorKind: 'USER', after: first.pageInfo.endCursor });
    const back = (
      await admin.data(
        '{ auditEvents(actorKind: USER, last: 5) { nodes { action } isScanLimitReached pageInfo { startCursor hasPreviousPage } } }',
      )
    ).auditEvents;
    expect([back.nodes, back.isScanLimitReached]).toEqual([[{ action: 'kit:needle' }], true]);
    expect(back.pageInfo).toMatchObject({ hasPreviousPage: true, startCursor: expect.any(String) });
    expect([actionsIn(second.nodes), second.isScanLimitReached, second.pageInfo.hasNextPage]).toEqual([
      ['kit:needle'],
      ...[false, false],
    ]);
  });

  test('takes the same number of statements for one event and for a hundred', async () => {
    const { admin, project } = await strongroom.seed.project();
    for (let at = 0; at < 10; at += 1) mustSucceed(await admin.get(`/api/v1/projects/${project.id}/tags`));
    const nested = `{ auditEvents(first: $first) { nodes { eventId organization { id } project { id } identity { id } user { id } disclosedSecrets { count } } } }`;
    const count = async (first: number) =>
      (await strongroom.statements(() => admin.data(nested.replace('$first', String(first))))).count;
    const [few, many] = [await count(2), await count(100)];
    expect(many).toBeLessThanOrEqual(few + 1);
  });
});

describe('whoever reads the audit trail', () => {
  test('leaves an event that tells how many were shown', async () => {
    const { admin, project } = await strongroom.seed.project();
    const reply = mustSucceed(await admin.get(`/api/v1/audit-events?projectId=${project.id}&limit=5`));
    const rows = await strongroom.auditRows('request_id = $1', [reply.headers['x-request-id']]);
    expect(rows).toMatchObject([
      { action: 'audit-event:list', project_id: project.id, facts: { count: reply.body.auditEvents.length } },
    ]);
  });

  test('reads that of a project with the right of the project, and of the organization only with that of the organization', async () => {
    const { admin, project } = await seedStory(strongroom);
    const viewer = await strongroom.seed.caller(admin, { project: project.id });
    const other = await strongroom.seed.projectOf(admin);
    const seen = await page(viewer, { projectId: project.id });
    expect(new Set(seen.nodes.map(({ projectId }: { projectId: string }) => projectId))).toEqual(new Set([project.id]));
    expect(await viewer.graphql(LIST, {})).toBeError(403, 'PERMISSION_DENIED');
    for (const hidden of [other.id, randomUUID()])
      expect(await viewer.graphql(LIST, { projectId: hidden })).toBeError(404, 'PROJECT_NOT_FOUND');
  });

  test('sees nothing of other organizations', async () => {
    const { admin, project, read } = await seedStory(strongroom);
    const { admin: stranger } = await strongroom.seed.organization();
    expect(await events(stranger, { projectId: project.id })).toEqual([]);
    expect(await events(stranger, { requestId: read.headers['x-request-id'] })).toEqual([]);
    expect(await events(stranger, { actorId: admin.identityId })).toEqual([]);
  });

  test('sees projects that it is no member of and deleted ones, with the right of the organization', async () => {
    const { admin, project } = await seedStory(strongroom);
    const auditor = await strongroom.seed.caller(admin, { organizationRole: 'admin' });
    mustSucceed(await admin.delete(`/api/v1/projects/${project.id}`));
    const found = await events(auditor, { projectId: project.id });
    expect(actionsIn(found)).toEqual(expect.arrayContaining(['project:delete', 'secret:get', 'secret:create']));
    expect(JSON.stringify(found)).not.toContain('hush');
  });
});

describe('Secret.reads', () => {
  const READS = `query ($projectId: ID!, $first: Int = 100, $after: String) { project(id: $projectId) { environments(slugs: ["dev"]) {
    secrets(path: "/") { nodes { id secretKey reads(first: 10) { nodes { action actorId } }
      page: reads(first: $first, after: $after) { nodes { eventId action } pageInfo { hasNextPage endCursor } } } } } } }`;
  const readsOf = async (caller: Caller, args: object, key: string) =>
    (await caller.data(READS, args as Record<string, unknown>)).project.environments[0].secrets.nodes.find(
      ({ secretKey }: { secretKey: string }) => secretKey === key,
    );

  test('tells who read the value: alone, in a list, by an import and inserted into another value', async () => {
    const { admin, project } = await strongroom.seed.project();
    const dev = { projectId: project.id, environment: 'dev', secretPath: '/' };
    const inDev = `projectId=${project.id}&environment=dev&secretPath=/`;
    const inStaging = inDev.replace('dev', 'staging');
    mustSucceed(await admin.post('/api/v4/secrets/BASE', { ...dev, secretValue: 'hush' }));
    mustSucceed(await admin.post('/api/v4/secrets/OTHER', { ...dev, secretValue: 'other' }));
    mustSucceed(await admin.post('/api/v4/secrets/URL', { ...dev, secretValue: 'https://\u0024{BASE}' }));
    mustSucceed(
      await admin.post('/api/v2/secret-imports', {
        ...{ projectId: project.id, environment: 'staging', path: '/' },
        import: { environment: 'dev', path: '/' },
      }),
    );
    const reader = await strongroom.seed.caller(admin, { project: project.id });
    mustSucceed(await reader.get(`/api/v4/secrets/BASE?${inDev}`));
    mustSucceed(await reader.get(`/api/v4/secrets/OTHER?${inDev}`));
    mustSucceed(await reader.get(`/api/v4/secrets/BASE?${inDev}&viewSecretValue=false`));
    mustSucceed(await reader.get(`/api/v4/secrets?${inDev}`));
    mustSucceed(await reader.get(`/api/v4/secrets/URL?${inDev}&expandSecretReferences=true`));
    mustSucceed(await reader.get(`/api/v4/secrets?${inStaging}&includeImports=true`));
    const { reads } = await readsOf(admin, { projectId: project.id }, 'BASE');
    const ofReader = reads.nodes.filter(({ actorId }: { actorId: string }) => actorId === reader.identityId);
    expect(actionsIn(ofReader)).toEqual(['secret:list', 'secret:get', 'secret:list', 'secret:get']);
    const other = (await readsOf(admin, { projectId: project.id }, 'OTHER')).reads.nodes;
    expect(actionsIn(other.filter(({ actorId }: { actorId: string }) => actorId === reader.identityId))).toEqual([
      ...['secret:list', 'secret:list', 'secret:get'],
    ]);
  });

  test('is paged, for many secrets by the same number of statements, and for whoever may read the trail alone', async () => {
    const { admin, project } = await strongroom.seed.project();
    await strongroom.seed.secrets(admin, project, 'dev', 6);
    for (let at = 0; at < 3; at += 1)
      mustSucceed(await admin.get(`/api/v4/secrets/KEY_00001?projectId=${project.id}&environment=dev&secretPath=/`));
    const { page: first } = await readsOf(admin, { projectId: project.id, first: 2 }, 'KEY_00001');
    expect([first.nodes.length, first.pageInfo.hasNextPage]).toEqual([2, true]);
    const one = `{ project(id: "${project.id}") { environments(slugs: ["dev"]) { secrets(path: "/", first: 1) { nodes { reads { nodes { action } } } } } } }`;
    const few = await strongroom.statements(() => admin.data(one));
    const many = await strongroom.statements(() => admin.data(one.replace('first: 1', 'first: 6')));
    expect(many.count).toBe(few.count);
    mustSucceed(
      await admin.post(`/api/v1/projects/${project.id}/roles`, {
        ...{ slug: 'reader', name: 'Reader' },
        permissions: [{ subject: 'secrets', action: ['read'] }],
      }),
    );
    const reader = await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['reader'] });
    const reply = await reader.graphql(one);
    expect(reply.body.data.project.environments[0].secrets.nodes).toEqual([{ reads: null }]);
    expect(reply.body.errors[0].extensions.code).toBe('PERMISSION_DENIED');
  });
});

describe('whatChanged', () => {
  const CHANGED = `query ($projectId: ID!, $since: DateTime!, $first: Int = 100) { whatChanged(projectId: $projectId, since: $since, first: $first) {
    secrets { events { action subjectId } hasMore } roles { events { action } hasMore } members { events { action } hasMore }
    tokens { events { action } hasMore } others { events { action } hasMore } } }`;

  test('sorts what changed since a time by what it is about, with tokens of members and no others', async () => {
    const { admin, project, nobody, secretId } = await seedStory(strongroom);
    mustSucceed(
      await admin.post(`/api/v1/projects/${project.id}/roles`, { slug: 'some', name: 'Some', permissions: [] }),
    );
    await strongroom.seed.caller(admin);
    const since = new Date(0).toISOString();
    const { whatChanged } = await admin.data(CHANGED, { projectId: project.id, since });
    expect(whatChanged.secrets.events).toEqual([{ action: 'secret:create', subjectId: secretId }]);
    expect(actionsIn(whatChanged.roles.events)).toEqual(['project-role:create']);
    expect(actionsIn(whatChanged.members.events)).toContain('project-membership:create');
    expect(actionsIn(whatChanged.tokens.events)).toEqual(
      expect.arrayContaining(['access-token:create', 'identity-token-auth:attach']),
    );
    const ofMembers = await strongroom.auditRows(
      `action = 'access-token:create' and facts ->> 'identityId' = any($1)`,
      [[admin.identityId, nobody.identityId]],
    );
    expect(whatChanged.tokens.events.filter(({ action }: Event) => action === 'access-token:create')).toHaveLength(
      ofMembers.length,
    );
    expect(actionsIn(whatChanged.others.events)).toContain('project:create');
    const later = new Date(Date.now() + 3_600_000).toISOString();
    const none = (await admin.data(CHANGED, { projectId: project.id, since: later })).whatChanged;
    expect(Object.values(none)).toEqual(Array(5).fill({ events: [], hasMore: false }));
  });

  test('cuts each kind by itself, by one statement more or less for none', async () => {
    const { admin, project } = await strongroom.seed.project();
    const since = new Date(0).toISOString();
    const ask = (first: number) =>
      strongroom.statements(
        async () => (await admin.data(CHANGED, { projectId: project.id, since, first })).whatChanged,
      );
    for (const key of ['A', 'B', 'C'])
      mustSucceed(
        await admin.post(`/api/v4/secrets/${key}`, {
          projectId: project.id,
          environment: 'dev',
          secretPath: '/',
          secretValue: key,
        }),
      );
    const { result: few, count } = await ask(2);
    expect([few.secrets.events.length, few.secrets.hasMore, few.roles.hasMore]).toEqual([2, true, false]);
    const { result: all, count: same } = await ask(100);
    expect([all.secrets.events.length, all.secrets.hasMore]).toEqual([3, false]);
    expect(same).toBe(count);
  });

  test('shows no tokens to those who may not see the accounts of the project', async () => {
    const { admin, project } = await strongroom.seed.project();
    mustSucceed(
      await admin.post(`/api/v1/projects/${project.id}/roles`, {
        ...{ slug: 'auditor', name: 'Auditor', permissions: [{ subject: 'audit-logs', action: ['read'] }] },
      }),
    );
    mustSucceed(
      await admin.post(`/api/v1/projects/${project.id}/roles`, {
        slug: 'auditor-of-one',
        name: 'Auditor of one identity',
        permissions: [
          { subject: 'audit-logs', action: ['read'] },
          { subject: 'member', action: ['read'] },
          { subject: 'identity', action: ['read'], conditions: { identityId: randomUUID() } },
        ],
      }),
    );
    const ofOne = await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['auditor-of-one'] });
    const seen = await ofOne.data(CHANGED, { projectId: project.id, since: new Date(0).toISOString() });
    expect(seen.whatChanged.tokens).toBeNull();
    const auditor = await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['auditor'] });
    const { whatChanged } = await auditor.data(CHANGED, { projectId: project.id, since: new Date(0).toISOString() });
    expect(whatChanged.tokens).toBeNull();
    expect(actionsIn(whatChanged.roles.events)).toEqual(['project-role:create', 'project-role:create']);
    const ofRest = await auditor.get(`/api/v1/projects/${project.id}/changes?since=1970-01-01T00:00:00Z`);
    expect(actionsIn(mustSucceed(ofRest).body.changes.roles.events)).toEqual([
      'project-role:create',
      'project-role:create',
    ]);
  });
});

describe('REST', () => {
  test('lists the same events, with the same filters and pages', async () => {
    const { admin, project } = await seedStory(strongroom);
    const ofGraphQL = await events(admin, { projectId: project.id, actions: ['secret:create', 'secret:get'] });
    const path = `/api/v1/audit-events?projectId=${project.id}&actions=secret:create,secret:get`;
    const all = mustSucceed(await admin.get(path)).body;
    expect(all.auditEvents.map(({ id }: Event) => id)).toEqual(ofGraphQL.map(({ id }) => id));
    expect(all.auditEvents[0]).toMatchObject({ outcome: 'allowed', actorKind: 'identity' });
    const one = mustSucceed(await admin.get(`${path}&limit=1`)).body;
    const next = mustSucceed(await admin.get(`${path}&limit=1&cursor=${one.nextCursor}`)).body;
    expect([...one.auditEvents, ...next.auditEvents].map(({ id }) => id)).toEqual(ofGraphQL.map(({ id }) => id));
    expect(await admin.get('/api/v1/audit-events?from=yesterday&outcome=maybe')).toBeError(422, 'VALIDATION_FAILED');
  });
});
