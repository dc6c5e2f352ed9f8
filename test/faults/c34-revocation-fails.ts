import { type Check, expectThat } from './check.ts';
import { withRotating } from './rotating-times.ts';

const FAILURES = 5;

export const check: Check = {
  id: 'C34',
  title: `revoking fails ${FAILURES} times in a deletion`,
  fullTimes: 10,
  needsQuiet: true,
  run: async (times) => {
    await withRotating(times, async ({ rotating }) => {
      const { fake } = rotating;
      const { id } = await rotating.create();
      await rotating.expectRotates(id);
      const value = await rotating.secretOf(id);
      for (let failure = 1; failure <= FAILURES; failure += 1) {
        fake.fail({ on: 'revoke', how: 500, times: 1 });
        const reply = await rotating.delete(id, '?revokeGeneratedCredentials=true&deleteSecrets=true');
        expectThat(reply.status === 502, `the deletion answered ${reply.status}`);
        const { rotationStatus } = await rotating.get(id);
        expectThat(rotationStatus === 'deleting', `it is ${rotationStatus}`);
        expectThat((await rotating.secretOf(id)) === value, 'the secret is not what it was');
      }
      fake.recover();
      await rotating.expectLeavesNothing(id);
    });
    return `${times * FAILURES} failures: it stayed, with its secret, and was gone when its tokens were`;
  },
};
