import { onceLoaded } from '../../src/kernel/once.js';

test('loads once, also for those who ask meanwhile, and again after a failure', async () => {
  const answers = [Promise.reject(new Error('too many open files')), Promise.resolve('loaded')];
  let calls = 0;
  const load = onceLoaded(async () => answers[calls++]);
  const failed = await Promise.allSettled([load(), load()]);
  expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(await Promise.all([load(), load(), load()])).toEqual(['loaded', 'loaded', 'loaded']);
  expect(calls).toBe(2);
});
