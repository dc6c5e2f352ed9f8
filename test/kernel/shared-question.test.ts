import { SharedQuestion } from '../../src/kernel/shared-question.js';

test('is asked once for all who want to know meanwhile, and again for who comes after', async () => {
  let asked = 0;
  const question = new SharedQuestion(async () => ++asked, 60_000);

  expect(await Promise.all([question.answer('late'), question.answer('late')])).toEqual([1, 1]);
  expect(await question.answer('late')).toBe(2);
});

test('that is not answered in time is asked anew by the next, who does not wait for the first', async () => {
  const answers = [new Promise<string>(() => undefined), Promise.resolve('answered')];
  const question = new SharedQuestion(() => answers.shift() as Promise<string>, 1);

  expect(await question.answer('late')).toBe('late');
  expect(await question.answer('late')).toBe('answered');
});

test('that cannot be asked fails for all who wait, and for nobody else', async () => {
  let fails = true;
  const question = new SharedQuestion(async () => {
    if (fails) throw new Error('away');
    return 'back';
  }, 60_000);

  const waiting = await Promise.allSettled([question.answer(null), question.answer(null)]);
  expect(waiting.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  fails = false;
  expect(await question.answer(null)).toBe('back');
});
