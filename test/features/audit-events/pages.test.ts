import { randomUUID } from 'node:crypto';
import { addAuditRecords } from '../../kit/audit-records.js';
import { mustSucceed } from '../../kit/caller.js';
import { type SharedStrongroom, useSharedStrongroom } from '../../kit/strongroom.js';
import { actionsIn, events, page, seedStory } from './kit.js';

const strongroom: SharedStrongroom = useSharedStrongroom();

describe('the audit trail', () => {
  test('is paged back from its end, and from a cursor, as it is paged forward', async () => {
    const { admin, project } = await strongroom.seed.project();
    for (let at = 0; at < 7; at += 1) mustSucceed(await admin.get(`/api/v1/projects/${project.id}/tags`));
    const BACK = `query ($first: Int, $after: String, $last: Int, $before: String, $skip: Int = 0) {
      auditEvents(actions: ["tag:list"], first: $first, after: $after, last: $last, before: $before, skip: $skip) {
        nodes { eventId } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`;
    const ask = async (args: object) => {
      const { nodes, pageInfo } = (await admin.data(BACK, args as Record<string, unknown>)).auditEvents;
      return { ids: nodes.map(({ eventId }: { eventId: string }) => eventId), pageInfo };
    };
    const all = (await ask({})).ids;
    expect(all).toHaveLength(7);
    const end = await ask({ last: 3 });
    expect([end.ids, end.pageInfo]).toMatchObject([all.slice(4), { hasPreviousPage: true, hasNextPage: false }]);
    const middle = await ask({ last: 3, before: end.pageInfo.startCursor });
    expect([middle.ids, middle.pageInfo]).toMatchObject([
      all.slice(1, 4),
      { hasPreviousPage: true, hasNextPage: true },
    ]);
    const top = await ask({ last: 3, before: middle.pageInfo.startCursor });
    expect([top.ids, top.pageInfo]).toMatchObject([all.slice(0, 1), { hasPreviousPage: false, hasNextPage: true }]);
    expect((await ask({ first: 2, after: top.pageInfo.endCursor })).ids).toEqual(all.slice(1, 3));
    expect((await ask({ last: 2, after: all.length === 7 ? middle.pageInfo.startCursor : null })).ids).toEqual(
      all.slice(5),
    );
    expect((await ask({ first: 2, skip: 3 })).ids).toEqual(all.slice(3, 5));
    expect((await ask({ before: top.pageInfo.startCursor })).ids).toEqual([]);
  });

  test('learns nothing of how much happens elsewhere, if it may read one project alone', async () => {
    const { organization, admin, project } = await seedStory(strongroom);
    const viewer = await strongroom.seed.caller(admin, { project: project.id });
    const [busy, subject] = [randomUUID(), randomUUID()];
    const hay = { actorKind: 'identity', actorId: busy, requestId: subject, subjectId: subject };
    await addAuditRecords(
      strongroom,
      Array(20_100).fill({ organizationId: organization.id, action: 'kit:hay', ...hay }),
    );
    for (const filter of [
      { actorId: busy },
      { actions: ['kit:hay'] },
      { subjectId: subject },
      { requestId: subject },
    ]) {
      const asked = { ...filter, projectId: project.id, outcome: 'ALLOWED' };
      expect(await page(viewer, asked)).toMatchObject({ nodes: [], isScanLimitReached: false });
      // By the project, which has fewer.
      expect(await page(admin, asked)).toMatchObject({ nodes: [], isScanLimitReached: filter.requestId !== undefined });
      expect(await page(admin, { ...filter, actorKind: 'USER' })).toMatchObject({
        nodes: [],
        isScanLimitReached: true,
      });
    }
  });

  test('finds events of before there were classes by the class that they have', async () => {
    const { organization, admin } = await strongroom.seed.organization();
    const old = { organizationId: organization.id, actorKind: 'user', class: null };
    await addAuditRecords(strongroom, [
      { ...old, action: 'secret:update' },
      { ...old, action: 'secret:list', disclosed: '00'.repeat(16) },
      { ...old, action: 'tag:list' },
      { ...old, action: 'secrets:readValue', outcome: 'denied' },
    ]);
    const found = async (kind: string) => actionsIn(await events(admin, { class: kind, actorKind: 'USER' }));
    expect(await found('CHANGE')).toEqual(['secret:update']);
    expect(await found('VALUE_READ')).toEqual(['secret:list']);
    expect(await found('BROWSE')).toEqual(['tag:list']);
    expect(await found('DENIAL')).toEqual(['secrets:readValue']);
  });

  test('reads it in the form of the platform, too', async () => {
    const { organization, admin, project, nobody, written, denied } = await seedStory(strongroom);
    const PATH = '/api/v1/organization/audit-logs';
    const logs = async (query: Record<string, string>) =>
      mustSucceed(await admin.get(`${PATH}?${new URLSearchParams(query)}`)).body.auditLogs;
    const [log] = await logs({ projectId: project.id, eventType: 'secret:create,secret:delete' });
    const [stored] = await strongroom.auditRows('request_id = $1', [written.headers['x-request-id']]);
    expect(log).toEqual({
      ...{ id: stored?.id, orgId: organization.id, projectId: project.id, class: 'change', outcome: 'allowed' },
      event: { type: 'secret:create', metadata: expect.objectContaining({ secretIds: [written.body.secret.id] }) },
      actor: { type: 'identity', metadata: { identityId: admin.identityId } },
      ...{ ipAddress: expect.stringMatching(/127|::1/), userAgent: stored?.user_agent ?? null },
      userAgentType: stored?.user_agent === null ? null : 'other',
      ...{ createdAt: stored?.occurred_at.toISOString(), updatedAt: stored?.occurred_at.toISOString() },
    });
    expect(log.event.metadata).not.toHaveProperty('states');
    const [refusal] = await logs({ actor: String(nobody.identityId), actorType: 'identity' });
    expect(refusal).toMatchObject({ event: { type: 'tags:read' }, outcome: 'denied' });
    expect(denied.status).toBe(403);
    const agents = ['Mozilla/5.0 (X11)', 'cli', 'k8-operator/1.2', 'clip'];
    for (const agent of agents) await admin.get(`/api/v1/projects/${project.id}/tags`, { 'user-agent': agent });
    const listed = await logs({ eventType: 'tag:list', limit: '3', offset: '1' });
    expect(listed.map(({ userAgentType }: { userAgentType: string }) => userAgentType)).toEqual([
      'k8-operator',
      'cli',
      'web',
    ]);
    const { createdAt } = listed[1];
    const since = await logs({ eventType: 'tag:list', startDate: createdAt });
    expect(since).toHaveLength(3);
    expect(await logs({ eventType: 'tag:list', endDate: createdAt })).toHaveLength(1);
    for (const name of ['userAgentType', 'eventMetadata', 'environment', 'secretPath', 'secretKey'])
      expect(await admin.get(`${PATH}?${name}=web`)).toBeError(422, 'VALIDATION_FAILED');
  });
});
