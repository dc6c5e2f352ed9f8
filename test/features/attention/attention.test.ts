import { randomUUID } from 'node:crypto';
import { type Caller, mustSucceed } from '../../kit/caller.js';
import { Rotating } from '../../kit/rotating.js';
import { LENIENT, useSharedStrongroom } from '../../kit/strongroom.js';
import { until } from '../../kit/until.js';

const LIST = `query ($first: Int, $after: String, $projectId: ID, $kinds: [AttentionKind!]) {
  attention(first: $first, after: $after, projectId: $projectId, kinds: $kinds) {
    isScanLimitReached pageInfo { hasNextPage endCursor }
    nodes { kind urgency since message errorCode subjectType subjectId subjectName projectId project { id } operations { mutation inputField inputValue httpMethod httpPath } }
  }
}`;

// biome-ignore lint/suspicious/noExplicitAny: as replies have it
type Page = { nodes: any[]; isScanLimitReached: boolean; pageInfo: { hasNextPage: boolean; endCursor: string | null } };

const strongroom = useSharedStrongroom(LENIENT);
const page = async (caller: Caller, args: Record<string, unknown> = {}): Promise<Page> =>
  (await caller.data(LIST, args)).attention;
const all = async (caller: Caller, args: Record<string, unknown> = {}): Promise<Page['nodes']> =>
  (await page(caller, args)).nodes;
const idsOf = (nodes: Page['nodes']): string[] => nodes.map(({ subjectId }) => subjectId);

describe('the list of what needs a person', () => {
  let rotating: Rotating;
  let admin: Caller;
  beforeEach(async () => {
    rotating = await Rotating.start(strongroom);
    ({ admin } = rotating);
  });
  afterEach(() => rotating?.stop());

  const setStatus = (id: string, status: string) =>
    strongroom.sql('update secret_rotation set status = $2 where id = $1', [id, status]);
  const organizationOf = async (caller: Caller): Promise<string> =>
    (await caller.data('{ organization { id } }')).organization.id;
  /** A member of the project with a role of its own. */
  async function member(permissions: readonly object[]): Promise<Caller> {
    const slug = `role-${randomUUID().slice(0, 8)}`;
    mustSucceed(await admin.post(`/api/v1/projects/${rotating.project.id}/roles`, { slug, name: slug, permissions }));
    return strongroom.seed.caller(admin, { project: rotating.project.id, projectRoles: [slug] });
  }

  test('is empty where nothing needs one, and has what does with its reason and the operations that help, the most urgent first', async () => {
    expect(await all(admin)).toEqual([]);
    const [failed, undecided] = [await rotating.create(), await rotating.create()];
    await setStatus(failed.id, 'failed');
    await setStatus(undecided.id, 'needs_reconciliation');
    const job = await strongroom.seed.job({
      organizationId: await organizationOf(admin),
      state: 'failed',
      attempts: 3,
    });

    const path = '/api/v2/secret-rotations/datatool-service-token';
    const operation = (mutation: string, httpMethod: string, httpPath: string, inputValue: string) => ({
      ...{ mutation, httpMethod, httpPath },
      ...{ inputField: 'id', inputValue },
    });
    const items = await all(admin);
    expect(
      items
        .slice(1)
        .map(({ kind }) => kind)
        .toSorted(),
    ).toEqual(['JOB_FAILED', 'ROTATION_FAILED']);
    expect(items[0]).toEqual({
      ...{ kind: 'ROTATION_UNDECIDED', urgency: 'CRITICAL', since: expect.any(String), errorCode: null },
      message: 'It is unknown which credential the external system has. All candidates are kept.',
      ...{ subjectType: 'SecretRotation', subjectId: undecided.id, subjectName: undecided.name },
      ...{ projectId: rotating.project.id, project: { id: rotating.project.id } },
      // Tokens are not reset: there is nothing to reconcile with.
      operations: [
        operation('checkSecretRotation', 'POST', `${path}/${undecided.id}/check-credentials`, undecided.id),
        operation('deleteSecretRotation', 'DELETE', `${path}/${undecided.id}`, undecided.id),
      ],
    });
    expect(items.find(({ subjectId }) => subjectId === job)).toMatchObject({
      ...{ urgency: 'MEDIUM', subjectType: 'Job', projectId: null, project: null },
      operations: [
        operation('retryJob', 'POST', `/api/v1/jobs/${job}/retry`, job),
        operation('cancelJob', 'POST', `/api/v1/jobs/${job}/cancel`, job),
      ],
    });
    const { attention } = mustSucceed(await admin.get('/api/v1/attention?kind=rotation-undecided')).body;
    expect(attention).toMatchObject([{ kind: 'rotation-undecided', urgency: 'critical', subjectId: undecided.id }]);
    const { node } = await admin.data('query ($id: ID!) { node(id: $id) { id } }', { id: undecided.id });
    expect(node).toEqual({ id: undecided.id });
  });

  test('comes in pages of any length, in one order, of one project and of some kinds', async () => {
    const rotations = await Promise.all(Array.from({ length: 5 }, () => rotating.create()));
    for (const { id } of rotations) await setStatus(id, 'needs_reconciliation');
    const organizationId = await organizationOf(admin);
    const jobs = await Promise.all(
      Array.from({ length: 4 }, () => strongroom.seed.job({ organizationId, state: 'failed', attempts: 3 })),
    );
    const whole = await all(admin);
    expect(idsOf(whole).slice(0, 5).toSorted()).toEqual(rotations.map(({ id }) => id).toSorted());
    expect(idsOf(whole).slice(5).toSorted()).toEqual(jobs.toSorted());
    for (const first of [1, 2, 4]) {
      const seen: string[] = [];
      for (let after: string | null = null, more = true; more; ) {
        const { nodes, pageInfo } = await page(admin, { first, after });
        seen.push(...idsOf(nodes));
        ({ endCursor: after, hasNextPage: more } = pageInfo);
      }
      expect(seen).toEqual(idsOf(whole));
    }
    expect(idsOf(await all(admin, { projectId: rotating.project.id }))).toEqual(idsOf(whole).slice(0, 5));
    expect(idsOf(await all(admin, { kinds: ['JOB_FAILED'] }))).toEqual(idsOf(whole).slice(5));
    expect(await all(admin, { kinds: ['JOB_FAILED'], projectId: rotating.project.id })).toEqual([]);
  });

  test('has only what its reader may read, and operations that it may perform', async () => {
    const { id } = await rotating.create();
    const hidden = await rotating.create({ environment: 'prod' });
    for (const each of [id, hidden.id]) await setStatus(each, 'failed');
    await strongroom.seed.job({ organizationId: await organizationOf(admin), state: 'failed', attempts: 3 });

    const READ = { subject: 'secret-rotation', action: ['read'], conditions: { environment: 'dev' } };
    const reader = await member([READ]);
    expect(await page(reader)).toMatchObject({
      nodes: [{ subjectId: id, operations: [] }],
      ...{ isScanLimitReached: false, pageInfo: { hasNextPage: false } },
    });
    const rotator = await member([{ ...READ, action: ['read', 'rotate-secrets'] }]);
    expect((await all(rotator))[0].operations.map(({ mutation }: { mutation: string }) => mutation)).toEqual([
      'rotateSecrets',
      'checkSecretRotation',
    ]);
    // Nor what is left of rotations that it may not read.
    for (const each of [id, hidden.id])
      await strongroom.sql(
        `insert into credential_debt (id, organization_id, project_id, rotation_id, connection_id, type, reason, parameters, name, tries)
         select gen_random_uuid(), organization_id, project_id, id, connection_id, type, 'replaced', '{}', environment_id::text, 1
         from secret_rotation where id = $1`,
        [each],
      );
    const revocationsOf = async (caller: Caller) => await all(caller, { kinds: ['CREDENTIAL_NOT_REVOKED'] });
    expect(await revocationsOf(reader)).toMatchObject([{ operations: [] }]);
    expect(await revocationsOf(admin)).toHaveLength(2);
    const remover = await member([READ, { ...READ, action: ['delete'], conditions: { environment: 'prod' } }]);
    expect(await revocationsOf(remover)).toMatchObject([{ operations: [] }]);
    // Nobody learns that there is anything: not who has no right, and not who is of another organization.
    const { admin: stranger } = await strongroom.seed.project();
    for (const caller of [await member([]), stranger, await strongroom.seed.caller(admin)]) {
      expect(await page(caller)).toEqual({
        ...{ nodes: [], isScanLimitReached: false },
        pageInfo: { hasNextPage: false, endCursor: null },
      });
    }
    for (const projectId of [rotating.project.id, randomUUID()])
      expect(await stranger.get(`/api/v1/attention?projectId=${projectId}`)).toBeError(404, 'PROJECT_NOT_FOUND');
  });

  test('has connections of projects for who may read all of the organization, and no operations that need a right there', async () => {
    rotating.fake.replaceApiToken();
    const path = `/api/v1/app-connections/datatool/${rotating.connectionId}`;
    mustSucceed(await admin.post(`${path}/check`, {}));
    const operator = await strongroom.seed.caller(admin, { organizationRole: 'admin' });
    const ofConnection = async (caller: Caller) =>
      (await all(caller)).find(({ subjectId }) => subjectId === rotating.connectionId);
    expect(await ofConnection(operator)).toMatchObject({ project: null, operations: [] });
    expect((await operator.post(`${path}/check`, {})).status).toBe(403);
    expect(await ofConnection(admin)).toMatchObject({
      project: { id: rotating.project.id },
      operations: [{ mutation: 'checkAppConnection', httpPath: `${path}/check` }, { mutation: 'updateAppConnection' }],
    });
  });

  test('takes as many statements for much as for little', async () => {
    const document = LIST;
    const count = async () => (await strongroom.statements(() => admin.data(document, { first: 100 }))).count;
    const { id } = await rotating.create();
    await setStatus(id, 'failed');
    await count();
    const little = await until('the number to stay', 30_000, async () => {
      const [one, other] = [await count(), await count()];
      return one === other && one;
    });
    for (let made = 0; made < 8; made += 1) await setStatus((await rotating.create()).id, 'failed');
    await count();
    expect(await until('the number to be as before', 30_000, async () => (await count()) === little)).toBe(true);
  });
});
