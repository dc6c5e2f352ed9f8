import { Turns } from '../../src/kernel/turns.js';

/** Work that goes on until it is told to end. */
function opened<T>() {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  return { work: () => promise, resolve, reject };
}
const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('turns', () => {
  test('let only so many run at once, and the others in their order', async () => {
    const turns = new Turns(2);
    const started: number[] = [];
    const works = Array.from({ length: 5 }, () => opened<number>());
    const results = works.map(({ work }, index) =>
      turns.take(() => {
        started.push(index);
        return work();
      }),
    );
    await settled();
    expect(started).toEqual([0, 1]);
    works[1]?.resolve(1);
    await settled();
    expect(started).toEqual([0, 1, 2]);
    for (const [index, { resolve }] of works.entries()) resolve(index);
    expect(await Promise.all(results)).toEqual([0, 1, 2, 3, 4]);
    expect(started).toEqual([0, 1, 2, 3, 4]);
  });

  test('pass on when the work fails, and tell its caller alone', async () => {
    const turns = new Turns(1);
    const [failing, fine] = [opened<string>(), opened<string>()];
    const first = turns.take(failing.work);
    const second = turns.take(fine.work);
    failing.reject(new Error('failed'));
    fine.resolve('fine');
    await expect(first).rejects.toThrow('failed');
    await expect(second).resolves.toBe('fine');
    await expect(turns.take(async () => 'later')).resolves.toBe('later');
  });
});
