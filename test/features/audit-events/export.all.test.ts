import type { Checkpoint } from '../../../src/features/audit/audit-events/checkpoints/checkpoint-text.js';
import { ExportVerifier } from '../../../src/features/audit/audit-events/checkpoints/export-verifier.js';
import { addAuditRecords } from '../../kit/audit-records.js';
import { type Caller, mustSucceed } from '../../kit/caller.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';
import { tamper, untilSealed } from '../../kit/trail.js';
import { verifyExport } from '../../kit/verify-export.js';

const strongroom = useSharedStrongroom();
const EXPORT = '/api/v1/audit-events/export';

const sealed = () => untilSealed((text) => strongroom.sql(text));

/** An export, as text. */
async function exported(caller: Caller, query = ''): Promise<string> {
  await sealed();
  const { status, headers, text } = await caller.get(`${EXPORT}${query}`);
  expect([status, headers['content-type']]).toEqual([200, 'application/x-ndjson; charset=utf-8']);
  return text;
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into lines of every shape
const linesOf = (text: string): any[] =>
  text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
const eventsOf = (text: string) => linesOf(text).filter(({ type }) => type === 'event');
const cursorOf = (text: string): string => linesOf(text).findLast(({ type }) => type === 'cursor').cursor;
const idsOf = (text: string): string[] => eventsOf(text).map(({ id }) => id);

/** Events of an organization that nobody caused by a request. */
const addEvents = (organizationId: string, count: number) =>
  addAuditRecords(strongroom, Array(count).fill({ organizationId, action: 'kit:event', facts: { b: 1, a: ['2'] } }));

const makeCheckpoint = async (caller: Caller, maxEvents = 20_000) => {
  await sealed();
  return mustSucceed(await caller.post('/api/v1/audit-checkpoints', { maxEvents })).body.auditCheckpoint;
};
const checkpointsOf = async (caller: Caller) => mustSucceed(await caller.get('/api/v1/audit-checkpoints')).body;

/** Whether an export matches, by what the program verifies with: it need not start for each of many forgeries. */
function matches(text: string, checkpoints: readonly Checkpoint[], { key = null as string | null, first = 1 } = {}) {
  const verifier = new ExportVerifier(
    checkpoints.filter(({ number }) => number >= first),
    { key, first },
  );
  for (const line of text.replace(/\n$/, '').split('\n')) verifier.take(Buffer.from(line));
  return verifier.report().faultCount === 0;
}

describe('an export of the trail', () => {
  test('has each settled event once, oldest first, with its own time, and the lists of secrets that they name', async () => {
    const { admin, project, organization } = await strongroom.seed.project();
    await strongroom.seed.secrets(admin, project, 'dev', 3);
    const path = `/api/v4/secrets?projectId=${project.id}&environment=dev&secretPath=/`;
    const listed = mustSucceed(await admin.get(path));
    const text = await exported(admin);
    const stored = await strongroom.auditRows('organization_id = $1', [organization.id]);
    expect(idsOf(text)).toEqual(stored.slice(0, idsOf(text).length).map(({ id }) => id));
    const [event] = eventsOf(text).filter(({ requestId }) => requestId === listed.headers['x-request-id']);
    const [row] = stored.filter(({ request_id }) => request_id === listed.headers['x-request-id']);
    expect(event).toMatchObject({
      ...{ action: 'secret:list', class: 'value-read', occurredAt: row?.occurred_at.toISOString() },
      ...{ actorId: admin.identityId, projectId: project.id, disclosed: row?.disclosed.toString('hex') },
    });
    const [list] = linesOf(text).filter(({ type, digest }) => type === 'secrets' && digest === event.disclosed);
    expect(list.ids.toSorted()).toEqual(listed.body.secrets.map(({ id }: { id: string }) => id).toSorted());
    expect(linesOf(text).at(-1)).toEqual({ type: 'cursor', cursor: expect.any(String), isEnd: true });
    expect(text).not.toContain('value-1');
    const [own] = await strongroom.auditRows(`organization_id = $1 and action = 'audit-event:export'`, [
      organization.id,
    ]);
    expect(own).toMatchObject({ class: 'browse', actor_id: admin.identityId });
  });

  test('continues at any of its cursors with the same bytes, and at the last one with what came since', async () => {
    const { organization, admin } = await strongroom.seed.organization();
    await addEvents(organization.id, 1_100);
    const whole = await exported(admin);
    const cursors = linesOf(whole).filter(({ type }) => type === 'cursor');
    expect(cursors.map(({ isEnd }) => isEnd)).toEqual([false, false, true]);
    const rest = await exported(admin, `?after=${cursors[0].cursor}`);
    const bytes = (text: string) => text.split('\n').filter((line) => line.startsWith('{"type":"event"'));
    expect(bytes(rest).slice(0, bytes(whole).length - 500)).toEqual(bytes(whole).slice(500));
    mustSucceed(await admin.get('/api/v1/groups'));
    const since = await exported(admin, `?after=${cursorOf(rest)}`);
    expect(eventsOf(since).map(({ action }) => action)).toEqual(['audit-event:export', 'group:list']);
    expect(eventsOf(whole)[5].id).not.toBe(eventsOf(rest)[5].id);
  });

  test('of a project has its events alone, for whoever may read them', async () => {
    const { admin, project } = await strongroom.seed.project();
    const viewer = await strongroom.seed.caller(admin, { project: project.id });
    const events = eventsOf(await exported(viewer, `?projectId=${project.id}`));
    expect(new Set(events.map(({ projectId }) => projectId))).toEqual(new Set([project.id]));
    const denied = await viewer.get(EXPORT);
    expect(denied).toBeError(403, 'PERMISSION_DENIED');
    expect(await strongroom.auditRows('request_id = $1', [denied.headers['x-request-id']])).toMatchObject([
      { outcome: 'denied', class: 'denial', actor_id: viewer.identityId },
    ]);
    const { admin: stranger } = await strongroom.seed.organization();
    expect(eventsOf(await exported(stranger, `?projectId=${project.id}`))).toEqual([]);
    expect(await admin.anonymous.get(EXPORT)).toBeError(401, 'TOKEN_MISSING');
    expect(await admin.get(`${EXPORT}?after=nope`)).toBeError(422, 'VALIDATION_FAILED');
    const cursor = cursorOf(await exported(viewer, `?projectId=${project.id}`));
    expect(await admin.get(`${EXPORT}?after=${cursor}`)).toBeError(422, 'VALIDATION_FAILED');
  });
});

describe('checkpoints', () => {
  test('prove an export: each line of it, their order and their number', async () => {
    const { organization, admin } = await strongroom.seed.organization();
    await addEvents(organization.id, 30);
    const project = await strongroom.seed.projectOf(admin);
    await strongroom.seed.secrets(admin, project, 'dev', 2);
    mustSucceed(await admin.get(`/api/v4/secrets?projectId=${project.id}&environment=dev`));
    const first = await makeCheckpoint(admin, 20);
    const second = await makeCheckpoint(admin);
    const text = await exported(admin);
    const known = await checkpointsOf(admin);
    expect(known.auditCheckpoints).toMatchObject([
      { number: 1, firstEvent: 1, eventCount: 20, publicKey: first.publicKey },
      { number: 2, firstEvent: 21, eventCount: second.eventCount, publicKey: first.publicKey },
    ]);
    const good = await verifyExport(text, known, '--key', first.publicKey);
    expect([good.code, good.output]).toEqual([0, expect.stringContaining('2 checkpoints, 1 to 2')]);
    const lines = text.split('\n');
    const swapped = [...lines];
    [swapped[3], swapped[4]] = [swapped[4] as string, swapped[3] as string];
    const forged: [string, string][] = [
      ['an edited event', text.replace('kit:event', 'kit:other')],
      ['a missing event', lines.toSpliced(7, 1).join('\n')],
      ['an added event', lines.toSpliced(7, 0, lines[7] as string).join('\n')],
      ['two events in another order', swapped.join('\n')],
      ['an export that was cut off', `${lines.slice(0, 25).join('\n')}\n`],
    ];
    const { ids } = linesOf(text).find(({ type }) => type === 'secrets');
    const longer = text.replace(JSON.stringify(ids), JSON.stringify([...ids, 'zz']));
    expect(longer).not.toBe(text);
    forged.push(['a longer list of secrets', longer]);
    expect(matches(text, known.auditCheckpoints)).toBe(true);
    for (const [name, changed] of forged)
      expect([name, matches(changed, known.auditCheckpoints)]).toEqual([name, false]);
    expect(await verifyExport(longer, known)).toMatchObject({ code: 1 });
  });

  test('that were edited, left out or signed with another key are found', async () => {
    const { organization, admin } = await strongroom.seed.organization();
    for (let at = 0; at < 3; at += 1) {
      await addEvents(organization.id, 2);
      await makeCheckpoint(admin);
    }
    const text = await exported(admin);
    const { auditCheckpoints: known } = await checkpointsOf(admin);
    expect(matches(text, known)).toBe(true);
    const [one, two, three] = known;
    for (const [checkpoints, trusted] of [
      [[one, { ...two, eventCount: two.eventCount + 1 }, three]],
      [[one, three]],
      [[two, three]],
      [[]],
      [known, { first: 9 }],
      [known, { key: Buffer.alloc(32, 7).toString('base64') }],
    ] as [Checkpoint[], { first?: number; key?: string }?][])
      expect(matches(text, checkpoints, trusted)).toBe(false);
    const tail = text.split('\n').slice(one.eventCount).join('\n');
    expect(await verifyExport(tail, known, '--first', '2')).toMatchObject({ code: 0 });
    expect(matches(tail, known)).toBe(false);
    const otherKey = Buffer.alloc(32, 7).toString('base64');
    expect(await verifyExport(text, known, '--key', otherKey)).toMatchObject({ code: 1 });
    expect(await verifyExport(text, 'nothing')).toMatchObject({ code: 78 });
  });

  test('find what was edited in the database, whoever had its keys', async () => {
    const { organization, admin } = await strongroom.seed.organization();
    await addEvents(organization.id, 5);
    await makeCheckpoint(admin);
    const known = await checkpointsOf(admin);
    const rename = (from: string, to: string) =>
      tamper(
        (statement) => strongroom.sql(statement),
        `update audit_record set action = '${to}' where organization_id = '${organization.id}' and action = '${from}'`,
      );
    expect(matches(await exported(admin), known.auditCheckpoints)).toBe(true);
    await rename('kit:event', 'kit:other');
    try {
      expect(await verifyExport(await exported(admin), known)).toMatchObject({ code: 1 });
    } finally {
      await rename('kit:other', 'kit:event');
    }
  });

  test('are made by two callers at once without a gap, and by a job for organizations with new events', async () => {
    const { organization, admin } = await strongroom.seed.organization();
    await addEvents(organization.id, 5);
    await sealed();
    await Promise.all([1, 2, 3].map(() => admin.post('/api/v1/audit-checkpoints', {})));
    const { auditCheckpoints } = await checkpointsOf(admin);
    expect(auditCheckpoints.map(({ number }: { number: number }) => number)).toEqual([1, 2, 3]);
    expect(matches(await exported(admin), auditCheckpoints)).toBe(true);
    expect(
      await admin.data(`{ node(id: "${auditCheckpoints[0].id}") { id ... on AuditCheckpoint { number } } }`),
    ).toEqual({
      node: { id: auditCheckpoints[0].id, number: 1 },
    });
    const { admin: stranger } = await strongroom.seed.organization();
    expect(await checkpointsOf(stranger)).toEqual({ auditCheckpoints: [] });
    expect(await stranger.data(`{ node(id: "${auditCheckpoints[0].id}") { id } }`)).toEqual({ node: null });
  });
});
