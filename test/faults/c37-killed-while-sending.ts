import { until } from '../kit/until.ts';
import { type Check, expectThat } from './check.ts';
import { eventIds, repeated, webhook, withNotifying } from './notifying-alone.ts';

const CERTIFICATES = 500;
const KILLS = 20;
const WITHIN_MS = 120_000;

export const check: Check = {
  id: 'C37',
  title: `${CERTIFICATES} deliveries, and ${KILLS} times SIGKILL after the target has accepted one`,
  fullTimes: 3,
  needsQuiet: true,
  run: async (times) => {
    let again = 0;
    await withNotifying(times, async (notifying) => {
      /** A request that is accepted, but whose answer never comes: its sender dies first. */
      let isLast = false;
      let dying = (): void => undefined;
      const server = await notifying.server((_, response) => {
        if (isLast) dying();
        else response.writeHead(200).end();
      });
      await notifying.certificates(CERTIFICATES, await notifying.certificate(200));
      await notifying.sql(
        `update certificate set not_after = now() + interval '20 days' where common_name like 'host%'`,
      );
      const alertId = await notifying.alert([webhook(server)]);
      for (let kill = 1; kill <= KILLS; kill += 1) {
        await until('further requests', WITHIN_MS, () => server.received.length >= (CERTIFICATES / (KILLS + 1)) * kill);
        const accepted = new Promise<void>((resolve) => {
          dying = resolve;
        });
        isLast = true;
        await accepted;
        await notifying.kill();
        isLast = false;
        const sent = await notifying.sentIds();
        const ofSent = () => eventIds(server).filter((id) => sent.has(id)).length;
        const before = ofSent();
        await notifying.restart();
        await notifying.endLeases();
        const seen = server.received.length;
        await until('requests after the restart', WITHIN_MS, () => server.received.length > seen + 5);
        expectThat(ofSent() === before, `${ofSent() - before} were sent again after their row said sent`);
      }
      await until('all messages to be sent', WITHIN_MS, async () => {
        const messages = await notifying.messages(alertId);
        return messages.length === CERTIFICATES && messages.every(({ state }) => state === 'sent');
      });
      const ids = eventIds(server);
      expectThat(new Set(ids).size === CERTIFICATES, `${new Set(ids).size} of ${CERTIFICATES} were received`);
      const most = Math.max(...[...Map.groupBy(ids, (id) => id).values()].map((each) => each.length));
      expectThat(
        repeated(ids) <= KILLS && most <= 2,
        `${repeated(ids)} were received again, one of them ${most} times`,
      );
      again += repeated(ids);
    });
    return `${times * CERTIFICATES} received, ${again} of them again after ${times * KILLS} kills, none after its row said sent`;
  },
};
