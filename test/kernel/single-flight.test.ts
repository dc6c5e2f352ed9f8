import { SingleFlight } from '../../src/kernel/once.js';

test('is asked once for all who want to know meanwhile, and again for who comes after', async () => {
  let asked = 0;
  const flight = new SingleFlight(async () => ++asked, 60_000);

  expect(await Promise.all([flight.result('late'), flight.result('late')])).toEqual([1, 1]);
  expect(await flight.result('late')).toBe(2);
});

test('that is not answered in time is asked anew by the next, who does not wait for the first', async () => {
  const answers = [new Promise<string>(() => undefined), Promise.resolve('answered')];
  const flight = new SingleFlight(() => answers.shift() as Promise<string>, 1);

  expect(await flight.result('late')).toBe('late');
  expect(await flight.result('late')).toBe('answered');
});

test('that cannot be asked fails for all who wait, and for nobody else', async () => {
  let fails = true;
  const flight = new SingleFlight(async () => {
    if (fails) throw new Error('away');
    return 'back';
  }, 60_000);

  const waiting = await Promise.allSettled([flight.result(null), flight.result(null)]);
  expect(waiting.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  fails = false;
  expect(await flight.result(null)).toBe('back');
});
