import { until } from '../kit/until.ts';
import { type Check, expectThat } from './check.ts';
import { withNotifying } from './notifying-alone.ts';

const WITHIN_MS = 60_000;
const DAY_SECONDS = 86_400;
const RECIPIENTS = ['one@example.com', 'two@example.com'];

export const check: Check = {
  id: 'C38',
  title: 'a mail server that is away for a day',
  fullTimes: 3,
  needsQuiet: true,
  run: async (times) => {
    const attempts: number[] = [];
    await withNotifying(times, async (notifying) => {
      const comeBack = await notifying.withoutMail();
      const alertId = await notifying.alert([{ channelType: 'email', config: { recipients: RECIPIENTS } }]);
      await notifying.certificate(20);
      let passed = 0;
      let made = 0;
      const next = () =>
        until('the next attempt', WITHIN_MS, async () => {
          const found = await notifying.messages(alertId);
          const isOver = found.every(
            (message) => message.attempts > made && message.state === 'pending' && message.wait > 0,
          );
          return found.length === RECIPIENTS.length && isOver && found;
        });
      while (passed < DAY_SECONDS) {
        const messages = await next();
        made = Math.min(...messages.map((message) => message.attempts));
        const wait = Math.max(...messages.map((message) => message.wait)) + 1;
        passed += wait;
        if (passed >= DAY_SECONDS) await comeBack();
        await notifying.advanceClock(wait);
      }
      await until('both mails', WITHIN_MS, async () =>
        (await notifying.messages(alertId)).every(({ state }) => state === 'sent'),
      );
      for (const recipient of RECIPIENTS) {
        const mails = notifying.mail.mailsTo(recipient).length;
        expectThat(mails === 1, `${mails} mails to one recipient`);
      }
      attempts.push(made + 1);
    });
    return `${times * RECIPIENTS.length} mails, one to each recipient, after ${attempts.join(', ')} attempts in a day`;
  },
};
