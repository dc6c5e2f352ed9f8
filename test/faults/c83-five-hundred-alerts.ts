import { mustSucceed } from '../kit/caller.ts';
import type { Notifying } from '../kit/notifying.ts';
import { someAtATime } from '../kit/some-at-a-time.ts';
import { until } from '../kit/until.ts';
import { type Check, expectThat } from './check.ts';
import { withNotifying } from './notifying-alone.ts';

const ALERTS = 500;
/** Checks after everything was accepted, on two nodes. */
const CHECKS = 20;
const WITHIN_MS = 900_000;
const KEYS = '/api/v1/organization/keys';

export const check: Check = {
  id: 'C83',
  title: `${ALERTS} alerts with a mail server that is away, refuses, greylists and comes back, switched off and on, with their key disabled and enabled`,
  fullTimes: 1,
  needsQuiet: true,
  run: async (times) => {
    const counted: string[] = [];
    await withNotifying(times, async (notifying) => {
      const other = await notifying.anotherNode();
      try {
        counted.push(await survive(notifying));
      } finally {
        await other.stop();
      }
    });
    return counted.join('; ');
  },
};

/** Half of the alerts are of expiration, and half of a revocation that happens while the key is disabled. */
async function survive(notifying: Notifying): Promise<string> {
  const { admin, projectId } = notifying;
  const key = mustSucceed(await admin.post(KEYS, { name: 'of-alerts' })).body.organizationKey.id;
  mustSucceed(await admin.patch(`/api/v1/projects/${projectId}/key`, { organizationKeyId: key }));
  const alerts = await someAtATime(
    Array.from({ length: ALERTS }, (_, at) => at),
    async (at) => {
      const channel = { channelType: 'email', config: { recipients: [recipientOf(at)] } };
      const more = { name: `alert ${at}`, eventType: at % 2 === 0 ? 'expiration' : 'revocation' };
      return notifying.alert([channel], { ...more, ...named(at % 2 === 0 ? 'expires' : 'revoked') });
    },
  );
  const expiring = await notifying.certificate(20, 'expires.example.com', {});
  const revoked = await notifying.certificate(20, 'revoked.example.com', {});
  expectThat(expiring !== revoked, 'the same certificate');

  const back = await notifying.withoutMail();
  await looked(notifying);
  mustSucceed(await admin.post(`${KEYS}/${key}/disable`, {}));
  await notifying.revoke(revoked);
  await until('a message of each alert', WITHIN_MS, async () => (await stateCounts(notifying)).all >= ALERTS);
  const setEnabled = (enabled: boolean, every: number) =>
    someAtATime(
      alerts.filter((_, at) => at % every === 0),
      async (id) => mustSucceed(await admin.patch(`/api/v1/cert-manager/alerts/${id}`, { enabled })),
    );
  // Each third alert is switched off while its mail waits, some of them without the key.
  await setEnabled(false, 3);
  await until('what waited to be cancelled', WITHIN_MS, async () => {
    await notifying.hurry();
    return (await stateCounts(notifying)).cancelled >= Math.floor(ALERTS / 3);
  });
  mustSucceed(await admin.post(`${KEYS}/${key}/enable`, {}));
  await back();
  notifying.mail.refuses = () => 550;
  await until('everything to be refused', WITHIN_MS, async () => {
    await notifying.hurry();
    return (await stateCounts(notifying)).pending === 0;
  });
  const { failed } = await stateCounts(notifying);
  expectThat(notifying.mail.received.length === 0, 'something was accepted');
  await setEnabled(true, 3);
  // As the next day: whoever comes for the first time is sent away for now.
  const seen = new Set<string>();
  notifying.mail.refuses = (recipient) => {
    if (seen.has(recipient)) return null;
    seen.add(recipient);
    return 451;
  };
  await looked(notifying);
  await until('everything to be accepted', WITHIN_MS, async () => {
    await notifying.hurry();
    const { sent, pending } = await stateCounts(notifying);
    return pending === 0 && sent >= ALERTS;
  });
  for (let time = 0; time < CHECKS; time += 1) {
    await looked(notifying);
    if (time === 0) for (const enabled of [false, true]) await setEnabled(enabled, 5);
  }
  await notifying.hurry();
  await until('nothing to be sent', WITHIN_MS, async () => (await stateCounts(notifying)).pending === 0);

  const received = alerts.map((_, at) => notifying.mail.mailsTo(recipientOf(at)).length);
  const none = received.filter((count) => count === 0).length;
  const twice = received.filter((count) => count > 1).length;
  expectThat(none === 0, `${none} of ${ALERTS} received nothing`);
  expectThat(twice === 0, `${twice} of ${ALERTS} received it again`);
  expectThat(seen.size === ALERTS, `${seen.size} of ${ALERTS} were greylisted`);
  return `${ALERTS} of ${ALERTS} received, 0 again in ${CHECKS} checks; ${failed} were refused before`;
}

const recipientOf = (at: number): string => `recipient-${at}@example.com`;
const named = (name: string) => ({
  filters: [{ field: 'common_name', operator: 'equals', value: `${name}.example.com` }],
});

/** Has every alert look, as at midnight, until all have. */
const looked = (notifying: Notifying): Promise<void> =>
  notifying.runToEnd('certificate-alerts:find-due', {
    queued: ['certificate-alerts:check', 'certificate-alerts:import'],
    withinMs: WITHIN_MS,
  });

async function stateCounts(notifying: Notifying) {
  const rows = await notifying.sql<{ state: string; count: number }>(
    'select state, count(*)::int as count from notification_message group by state',
  );
  const of = (state: string): number => rows.find((row) => row.state === state)?.count ?? 0;
  const all = rows.reduce((sum, { count }) => sum + count, 0);
  return { all, pending: of('pending'), sent: of('sent'), failed: of('failed'), cancelled: of('cancelled') };
}
