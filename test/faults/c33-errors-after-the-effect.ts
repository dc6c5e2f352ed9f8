import { mustSucceed } from '../kit/caller.ts';
import { type Check, expectThat } from './check.ts';
import { withRotating } from './rotating-times.ts';

const STATUSES = [302, 400, 401, 403, 404, 409, 429];

export const check: Check = {
  id: 'C33',
  title: 'a token is made, and the answer is an error',
  fullTimes: 49,
  needsQuiet: true,
  run: async (times) => {
    await withRotating(1, async ({ rotating }) => {
      const { fake } = rotating;
      const { id } = await rotating.create();
      for (let time = 0; time < times; time += 1) {
        fake.fail({ on: 'create', when: 'after', how: STATUSES[time % STATUSES.length] ?? 400, times: 1 });
        fake.fail({ on: 'revoke', when: 'after', how: STATUSES[time % STATUSES.length] ?? 400, times: 1 });
        mustSucceed(await rotating.rotate(id));
        await rotating.settled();
        await rotating.expectWhole(id);
      }
      const names = fake.calls
        .filter(({ call }) => call === 'create')
        .map(({ body }) => (JSON.parse(body) as { name: string }).name);
      expectThat(new Set(names).size === names.length, 'a name was asked for again');
    });
    return `${times} rotations succeeded, as many orphans are gone, no name was asked for twice`;
  },
};
