import { until } from '../kit/until.ts';
import { type Check, expectThat } from './check.ts';
import { eventIds, repeated, webhook, withNotifying } from './notifying-alone.ts';

const CERTIFICATES = 1_000;
const CHANNELS = 3;
const WITHIN_MS = 300_000;

export const check: Check = {
  id: 'C36',
  title: `two nodes look for ${CERTIFICATES} certificates of ${CHANNELS} channels at once`,
  fullTimes: 5,
  needsQuiet: true,
  run: async (times) => {
    let deliveries = 0;
    await withNotifying(times, async (notifying) => {
      const second = await notifying.anotherNode();
      try {
        const servers = await Promise.all(Array.from({ length: CHANNELS }, () => notifying.server()));
        const alertId = await notifying.alert(servers.map(webhook));
        await notifying.certificates(CERTIFICATES, await notifying.certificate(200));
        await notifying.sql(
          `update certificate set not_after = now() + interval '20 days' where common_name like 'host%'`,
        );
        await notifying.runSchedule('certificate-alerts:find-due');
        await until('all messages to be sent', WITHIN_MS, async () => {
          const messages = await notifying.messages(alertId);
          return messages.length === CERTIFICATES * CHANNELS && messages.every(({ state }) => state === 'sent');
        });
        for (const server of servers) {
          const ids = eventIds(server);
          expectThat(
            ids.length === CERTIFICATES && repeated(ids) === 0,
            `${ids.length} requests, ${repeated(ids)} twice`,
          );
          deliveries += ids.length;
        }
      } finally {
        await second.stop();
      }
    });
    return `${deliveries} deliveries, none twice`;
  },
};
