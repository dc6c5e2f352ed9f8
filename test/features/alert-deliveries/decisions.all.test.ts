import { randomUUID } from 'node:crypto';
import { Notifying } from '../../kit/notifying.js';
import fc from '../../kit/properties.js';
import { rounds } from '../../kit/scope.js';
import { until } from '../../kit/until.js';
import { violationsOf } from '../alerts/kit.js';
import { makeProfile } from '../certificates/issuing-kit.js';
import { makeAuthority } from '../certificates/kit.js';
import { type Copied, copies } from './kit.js';

const WAIT_MS = 60_000;
const DECISIONS = `query ($id: ID!) { alertDecisions(certificateId: $id) { nodes {
  outcome dueAt alert { id } messages { state recipient createdAt } } } }`;

let notifying: Notifying;
beforeAll(async () => {
  notifying = await Notifying.start();
});
afterAll(() => notifying?.stop());
afterEach(() => notifying.sql('delete from certificate_alert; delete from certificate'));

const copy = (made: readonly Copied[]) => copies((text, params) => notifying.sql(text, params), notifying, made);
const equals = (value: string) => [{ field: 'common_name', operator: 'equals', value }];
const mail = (...recipients: string[]) => ({ channelType: 'email', config: { recipients } });
const decisions = async (id: string) => (await notifying.admin.data(DECISIONS, { id })).alertDecisions.nodes;
/** Has every alert look for what is due, as at midnight. */
async function lookNow(): Promise<void> {
  // There is one job for each day.
  await notifying.sql(`delete from job where kind = 'certificate-alerts:find-due' and every_seconds is null`);
  await notifying.runSchedule('certificate-alerts:find-due');
  // Wakes whoever looks for jobs.
  const waker = await notifying.alert([mail('nobody@example.com')], { enabled: false });
  await looked();
  await notifying.sql('delete from certificate_alert where id = $1', [waker]);
}
const looked = () =>
  until('all alerts to have looked', WAIT_MS, async () => {
    const [open] = await notifying.sql<{ isOver: boolean }>(
      `select not exists (select from job where kind in ('certificate-alerts:find-due', 'certificate-alerts:check')
           and state in ('waiting', 'running'))
         and wake_at > now() as "isOver" from job where kind = 'certificate-alerts:find-due' and every_seconds is not null`,
    );
    return open?.isOver === true;
  });

describe('a decision', () => {
  test('says whom an alert has notified when, or why it has not', async () => {
    const [sent = '', later = '', revoked = '', over = '', old = '', newer = ''] = await copy([
      { name: 'sent', days: 5 },
      { name: 'later', days: 40.5 },
      { name: 'revoked', days: 5, isRevoked: true },
      { name: 'over', days: -1 },
      { name: 'renewed', days: 5 },
      { name: 'renewed', days: 50 },
    ]);
    await notifying.sql('update certificate set lineage_id = $2, renewed_from_id = $2 where id = $1', [newer, old]);
    await notifying.alert([mail('ann@example.com', 'bob@example.com')], { filters: equals('sent') });
    await until('both mails', WAIT_MS, async () => {
      const [decision] = await decisions(sent);
      return decision.outcome === 'NOTIFIED' && decision.messages.every((m: { state: string }) => m.state === 'SENT');
    });
    const [decision] = await decisions(sent);
    expect(decision.dueAt).toBeNull();
    expect(decision.messages.map(({ recipient }: { recipient: string }) => recipient).sort()).toEqual([
      'ann@example.com',
      'bob@example.com',
    ]);
    const outcome = async (id: string) => (await decisions(id)).map((one: { outcome: string }) => one.outcome);
    expect(await outcome(later)).toEqual(['FILTERED']);
    await notifying.sql('delete from certificate_alert');
    const id = await notifying.alert([mail('ann@example.com')], { filters: [] });
    await lookNow();
    expect(await outcome(revoked)).toEqual(['REVOKED']);
    expect(await outcome(over)).toEqual(['EXPIRED']);
    expect(await outcome(old)).toEqual(['SUPERSEDED']);
    const [waiting] = await decisions(later);
    expect(waiting).toMatchObject({ outcome: 'NOT_DUE_YET', messages: [] });
    const [{ day }] = (await notifying.sql(
      `select date_trunc('day', now() + interval '11.5 days')::timestamptz as day`,
    )) as [{ day: Date }];
    // The first midnight at which it is due, in 10.5 days.
    expect([day.getTime(), day.getTime() - 86_400_000]).toContain(new Date(waiting.dueAt).getTime());
    expect(new Date(waiting.dueAt).toISOString()).toMatch(/T00:00:00.000Z$/);
    await notifying.admin.patch(`/api/v1/cert-manager/alerts/${id}`, { eventType: 'renewal' });
    expect(await outcome(later)).toEqual(['NO_EVENT']);
    await notifying.admin.patch(`/api/v1/cert-manager/alerts/${id}`, { enabled: false });
    expect(await outcome(later)).toEqual(['DISABLED']);
    await notifying.alert([{ ...mail('ann@example.com'), enabled: false }]);
    expect(await outcome(later)).toEqual(['NO_CHANNEL', 'DISABLED']);
  });

  test.each([
    ['ends earlier', 5, 2],
    ['ends at the same time', 5, 5],
    ['ends later', 5, 9],
  ])('counts a certificate as superseded by its renewal, which %s, and not the renewal', async (_, days, daysAfter) => {
    const [first = '', second = ''] = await copy([
      { name: 'moment', days },
      { name: 'moment', days: daysAfter },
    ]);
    const times = 'not_before = o.not_before, created_at = o.created_at';
    const link = `lineage_id = o.id, renewed_from_id = o.id, ${days === daysAfter ? 'not_after = o.not_after, ' : ''}${times}`;
    await notifying.sql(`update certificate n set ${link} from certificate o where n.id = $1 and o.id = $2`, [
      second,
      first,
    ]);
    await notifying.alert([mail('ann@example.com')], { filters: equals('moment') });
    const outcome = async (id: string) => (await decisions(id)).map((one: { outcome: string }) => one.outcome);
    await until('the mail about the renewal', WAIT_MS, async () => (await outcome(second))[0] === 'NOTIFIED');
    expect(await outcome(first)).toEqual(['SUPERSEDED']);
  });

  test('counts a certificate as superseded by a later one of its profile and names', async () => {
    const { admin, projectId } = notifying;
    const root = await makeAuthority(admin, projectId);
    const profile = await makeProfile(admin, { project: { id: projectId }, root });
    const [first = '', second = '', other = '', imported = ''] = await copy([
      { name: 'profiled', days: 5, profile: 'web' },
      { name: 'profiled', days: 9, profile: 'web' },
      { name: 'otherwise', days: 5, profile: 'web' },
      { name: 'imported', days: 5 },
      // Its profile is deleted.
      { name: 'imported', days: 9, profile: 'gone' },
    ]);
    await notifying.sql("update certificate set profile_id = $1 where profile_slug = 'web'", [profile.id]);
    await notifying.alert([mail('ann@example.com')]);
    const outcome = async (id: string) => (await decisions(id)).map((one: { outcome: string }) => one.outcome);
    await until('the mail', WAIT_MS, async () => (await outcome(second))[0] === 'NOTIFIED');
    expect(await outcome(first)).toEqual(['SUPERSEDED']);
    for (const id of [other, imported]) expect(await outcome(id)).toEqual(['NOTIFIED']);
    await notifying.sql('delete from certificate; delete from certificate_profile; delete from certificate_authority');
  });

  test('counts a certificate as superseded neither by one of its names alone, nor by a renewal that has expired', async () => {
    const [first = '', , third = ''] = await copy([
      { name: 'names', days: 5 },
      { name: 'names', days: 50 },
      { name: 'names', days: -1 },
    ]);
    await notifying.sql('update certificate set lineage_id = $2, renewed_from_id = $2 where id = $1', [third, first]);
    await notifying.alert([mail('ann@example.com')], { filters: equals('names') });
    await until('the mail', WAIT_MS, async () => (await decisions(first))[0].outcome === 'NOTIFIED');
  });

  test('is for who may read alerts and the certificate: others do not learn of it', async () => {
    const [id = ''] = await copy([{ name: 'hidden', days: 5 }]);
    await notifying.alert([mail('ann@example.com')], { enabled: false });
    const read = { subject: 'pki-alerts', action: 'read' };
    const other = { subject: 'certificates', action: 'read', conditions: { commonName: 'other' } };
    const refused = [await notifying.member([read]), await notifying.member([read, other])];
    for (const caller of refused) {
      const answers = [await caller.graphql(DECISIONS, { id }), await caller.graphql(DECISIONS, { id: randomUUID() })];
      for (const answer of answers) expect(answer).toBeError(404, 'CERTIFICATE_NOT_FOUND');
    }
    const reader = await notifying.member([{ subject: 'certificates', action: 'read' }]);
    expect(await reader.graphql(DECISIONS, { id })).toBeError(403, 'PERMISSION_DENIED');
    const allowed = await notifying.member([read, { ...other, conditions: { commonName: 'hidden' } }]);
    expect((await allowed.data(DECISIONS, { id })).alertDecisions.nodes).toHaveLength(1);
  });
});

describe('an alert with daily reminders', () => {
  test('notifies once a day until the certificate is dealt with', async () => {
    const [id = ''] = await copy([{ name: 'daily', days: 5 }]);
    const sent = (count: number) =>
      until(`${count} messages`, WAIT_MS, async () => {
        const states = (await notifying.messages(alertId)).map(({ state }) => state);
        return states.length === count && states.every((state) => state === 'sent');
      });
    const channels = [mail('ann@example.com')];
    const alertId = await notifying.alert(channels, { notificationConfig: { enableDailyNotification: true } });
    await sent(1);
    await lookNow();
    await sent(1);
    const [delivery] = await notifying.sql<{ isToday: boolean }>(
      `select occurrence = to_char(now() at time zone 'UTC', 'YYYY-MM-DD') as "isToday" from notification_delivery`,
    );
    expect(delivery?.isToday).toBe(true);
    const nextDay = async (): Promise<void> => {
      await notifying.sql(`update notification_delivery set occurrence = 'before ' || message_id`);
      await lookNow();
    };
    await nextDay();
    await sent(2);
    expect((await decisions(id))[0].messages).toHaveLength(2);
    await notifying.revoke(id);
    await nextDay();
    await sent(2);
    const path = `/api/v1/cert-manager/alerts/${alertId}`;
    const { alert } = (await notifying.admin.get(path)).body;
    expect(alert.notificationConfig).toEqual({ enableDailyNotification: true });
    const refused = await notifying.admin.patch(path, {
      eventType: 'renewal',
      notificationConfig: { enableDailyNotification: true },
    });
    expect(refused).toBeError(422, 'VALIDATION_FAILED');
    const other = (await notifying.admin.patch(path, { eventType: 'renewal' })).body.alert;
    expect([other.eventType, other.notificationConfig]).toEqual(['renewal', undefined]);
    const again = await notifying.admin.patch(path, { notificationConfig: { enableDailyNotification: true } });
    expect(violationsOf(again)).toEqual(['body.notificationConfig.enableDailyNotification INVALID']);
  });
});

describe('an alert that includes authorities', () => {
  test('notifies of one of the project, and again of its next certificate', async () => {
    const { id } = await makeAuthority(notifying.admin, notifying.projectId, { validDays: 20 });
    const filters = [{ field: 'include_cas', operator: 'equals', value: 'true' }];
    const alertId = await notifying.alert([mail('pki@example.com')], { filters });
    const sent = (count: number) =>
      until(`${count} mails`, WAIT_MS, async () => {
        const states = (await notifying.messages(alertId)).map(({ state }) => state);
        return states.length === count && states.every((state) => state === 'sent');
      });
    await sent(1);
    expect(notifying.mail.mailsTo('pki@example.com')[0]?.mail.text).toContain('Example Root');
    await lookNow();
    await notifying.sql(`update certificate_authority set serial_number = 'ABCDEF' where id = $1`, [id]);
    await lookNow();
    await sent(2);
    expect(notifying.mail.mailsTo('pki@example.com')).toHaveLength(2);
    expect((await decisions(id))[0]).toMatchObject({ outcome: 'NOTIFIED', messages: [{}, {}] });
    const list = `/api/v1/cert-manager/alerts?projectId=${notifying.projectId}`;
    await until('the outcome', WAIT_MS, async () => {
      const { alerts } = (await notifying.admin.get(list)).body;
      return alerts[0].lastRun?.status === 'success';
    });
    await notifying.sql(
      `update notification_message set state = 'failed', error_code = 'TARGET_REJECTED' where owner_id = $1`,
      [alertId],
    );
    const { alerts } = (await notifying.admin.get(list)).body;
    expect(alerts[0].lastRun).toEqual({ timestamp: expect.any(String), status: 'failed', error: 'TARGET_REJECTED' });
    await notifying.sql('delete from certificate_authority');
    expect(await notifying.sql('select from notification_delivery')).toEqual([]);
  });
});

describe('decisions', () => {
  const names = fc.constantFrom('a.example.com', 'b.example.com', 'B.test');
  const certificate = fc.record({
    name: names,
    days: fc.constantFrom(-1, 2, 20, 45, 400),
    sans: fc.subarray(['a.example.com', 'x.test', 'y.test']),
    profile: fc.constantFrom(null, 'web'),
    isRevoked: fc.constantFrom(false, false, false, true),
  });
  const filter = fc.oneof(
    fc.record({
      field: fc.constantFrom('common_name', 'san', 'profile_name'),
      operator: fc.constantFrom('equals', 'not_equals', 'contains', 'starts_with', 'ends_with'),
      value: fc.constantFrom('a.example.com', 'B', 'test', 'web'),
    }),
    fc.record({ field: fc.constant('san'), operator: fc.constant('matches'), value: fc.constantFrom('*.TEST', '?.*') }),
  );
  const alert = fc.record({
    alertBefore: fc.constantFrom('1d', '3w', '1m', '2y', '9999y'),
    filters: fc.array(filter, { maxLength: 2 }),
    isOn: fc.constantFrom(true, true, true, false),
    isOfCas: fc.boolean(),
  });
  const cas = { field: 'include_cas', operator: 'equals', value: 'true' };

  test('are what alerts do', async () => {
    await looked();
    const authority = await makeAuthority(notifying.admin, notifying.projectId, { validDays: 25 });
    await fc.assert(
      fc.asyncProperty(
        fc.array(certificate, { minLength: 1, maxLength: 12 }),
        fc.array(alert, { minLength: 1, maxLength: 8 }),
        async (certificates, alerts) => {
          await notifying.sql('delete from certificate_alert; delete from certificate');
          const server = 'https://127.0.0.1:1/';
          for (const { isOn, isOfCas, filters, ...more } of alerts)
            await notifying.alert([{ channelType: 'webhook', config: { url: server }, enabled: isOn }], {
              ...more,
              filters: isOfCas ? [...filters, cas] : filters,
            });
          await looked();
          // Of the authority that is there already.
          await notifying.sql('delete from notification_message');
          const ids = [...(await copy(certificates)), authority.id];
          await notifying.sql(`delete from job where kind = 'certificate-alerts:import'`);
          const expected: string[] = [];
          for (const id of ids)
            for (const { outcome, alert: about } of await decisions(id))
              if (outcome === 'DUE') expected.push(`${about.id} ${id}`);
          await lookNow();
          const reported = await notifying.sql<{ key: string }>(
            `select owner_id || ' ' || subject_id as key from notification_delivery`,
          );
          expect(reported.map(({ key }) => key).sort()).toEqual(expected.sort());
          for (const id of ids)
            for (const { outcome, alert: about } of await decisions(id))
              expect(['NOTIFIED', 'PENDING', 'FAILED'].includes(outcome)).toBe(expected.includes(`${about.id} ${id}`));
        },
      ),
      { numRuns: rounds(8) },
    );
  });
});
