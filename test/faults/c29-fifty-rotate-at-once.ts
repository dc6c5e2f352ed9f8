import { type Check, expectThat } from './check.ts';
import { withRotating } from './rotating-times.ts';

const CALLERS = 50;

export const check: Check = {
  id: 'C29',
  title: `${CALLERS} callers at two nodes rotate the same at once`,
  fullTimes: 20,
  needsQuiet: true,
  run: async (times) => {
    let refused = 0;
    await withRotating(1, async (alone) => {
      const { rotating } = alone;
      const { fake } = rotating;
      const other = await alone.anotherNode();
      try {
        for (let time = 0; time < times; time += 1) {
          const { id } = await rotating.create();
          const before = fake.tokens.all().length;
          fake.fail({ on: 'create', when: 'after', how: 'late', ms: 2_000, times: 1 });
          const callers = Array.from({ length: CALLERS }, (_, at) => (at % 2 === 0 ? rotating.admin : other.admin));
          const replies = await Promise.all(callers.map((caller) => rotating.rotate(id, caller)));
          fake.recover();
          const successes = replies.filter(({ status }) => status === 200).length;
          const running = replies.filter(({ status, body }) => status === 409 && body.code === 'ROTATION_RUNNING');
          expectThat(
            successes === 1 && running.length === CALLERS - 1,
            `${successes} answered 200, ${running.length} that it runs`,
          );
          const made = fake.tokens.all().length - before;
          expectThat(made === 1, `${made} tokens were made`);
          refused += running.length;
          await rotating.settled();
          await rotating.expectWhole(id);
        }
      } finally {
        await other.stop();
      }
    });
    return `${times} times one 200, one token, and ${refused} answers that name the attempt which runs`;
  },
};
