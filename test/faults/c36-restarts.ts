import { until } from '../kit/until.ts';
import { type Check, expectThat } from './check.ts';
import { eventIds, repeated, webhook, withNotifying } from './notifying-alone.ts';

const CERTIFICATES = 5_000;
/** Every second one has been renewed. */
const RENEWED = CERTIFICATES / 2;
const RESTARTS = 5;
const WITHIN_MS = 900_000;

export const check: Check = {
  id: 'C36',
  title: `${CERTIFICATES} certificates, half of them renewed, and three channels of which one always fails, with ${RESTARTS} kills`,
  fullTimes: 1,
  needsQuiet: true,
  run: async (times) => {
    const counted: string[] = [];
    await withNotifying(times, async (notifying) => {
      const first = await notifying.server();
      const second = await notifying.server();
      const failing = await notifying.server((_, response) => response.writeHead(500).end());
      await notifying.certificates(CERTIFICATES, await notifying.certificate(200));
      await notifying.sql(
        `update certificate set not_after = now() + interval '20 days' where common_name like 'host%'`,
      );
      await notifying.sql(
        `insert into certificate select (jsonb_populate_record(c, jsonb_build_object('id', gen_random_uuid(), 'renewed_from_id', c.id,
           'not_after', now() + interval '300 days', 'fingerprint_sha256', 'renewed ' || c.serial_number))).*
         from certificate c where c.common_name like 'host%' order by c.serial_number limit $1`,
        [RENEWED],
      );
      const due = CERTIFICATES - RENEWED;
      const alertId = await notifying.alert([first, second, failing].map(webhook));
      for (let restart = 1; restart <= RESTARTS; restart += 1) {
        await until('part of the messages', WITHIN_MS, () => first.received.length >= (due / (RESTARTS + 1)) * restart);
        await notifying.kill();
        await notifying.restart();
        await notifying.endLeases();
      }
      await until('the messages of two channels', WITHIN_MS, async () => {
        const messages = await notifying.messages(alertId);
        return messages.length === due * 3 && messages.filter(({ state }) => state === 'sent').length === due * 2;
      });
      const { rows, keys } = await notifying.ledger();
      expectThat(rows === due * 3 && keys === rows, `${rows} rows of the ledger with ${keys} keys`);
      for (const server of [first, second]) {
        const ids = eventIds(server);
        expectThat(new Set(ids).size === due, `${new Set(ids).size} of ${due} were received`);
        expectThat(repeated(ids) <= RESTARTS * 8, `${repeated(ids)} were received twice`);
      }
      const renewed = await notifying.sql(
        `select from notification_delivery d join certificate c on c.id = d.subject_id
           join certificate n on n.renewed_from_id = c.id`,
      );
      expectThat(renewed.length === 0, `${renewed.length} of certificates that were renewed`);
      const twice = repeated(eventIds(first)) + repeated(eventIds(second));
      const pending = (await notifying.messages(alertId)).filter(({ state }) => state === 'pending').length;
      counted.push(
        `${rows} keys, ${due * 2} sent, ${twice} of them received twice, ${pending} still tried, 0 of renewed ones`,
      );
    });
    return counted.join('; ');
  },
};
