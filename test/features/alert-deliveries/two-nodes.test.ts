import { Notifying } from '../../kit/notifying.js';
import { until } from '../../kit/until.js';

const CERTIFICATES = 300;
const CHANNELS = 3;
const WAIT_MS = 120_000;

test('two nodes that look at once send each notification once', async () => {
  const notifying = await Notifying.start();
  try {
    const second = await notifying.anotherNode();
    const servers = await Promise.all(Array.from({ length: CHANNELS }, () => notifying.server()));
    const channels = servers.map((server) => ({ channelType: 'webhook', config: { url: server.url() } }));
    const alertId = await notifying.alert(channels);
    await notifying.certificates(CERTIFICATES, await notifying.certificate(200));
    await notifying.sql(`update certificate set not_after = now() + interval '20 days' where common_name like 'host%'`);
    await notifying.runSchedule('certificate-alerts:find-due');
    await until('all messages to be sent', WAIT_MS, async () => {
      const messages = await notifying.messages(alertId);
      return messages.length === CERTIFICATES * CHANNELS && messages.every(({ state }) => state === 'sent');
    });
    expect(await second.stop()).toBe(0);
    for (const { received } of servers) {
      const ids = received.map(({ body }) => (JSON.parse(body) as { id: string }).id);
      expect(ids).toHaveLength(CERTIFICATES);
      expect(new Set(ids).size).toBe(CERTIFICATES);
    }
    const [ledger] = await notifying.sql('select count(*)::int as rows from notification_delivery');
    expect(ledger).toEqual({ rows: CERTIFICATES * CHANNELS });
  } finally {
    await notifying.stop();
  }
});
