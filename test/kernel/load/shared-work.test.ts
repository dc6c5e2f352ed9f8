import { AppError } from '../../../src/kernel/errors.js';
import { SharedWork } from '../../../src/kernel/load/shared-work.js';

/** Work that ends when the test says so. */
class Work {
  readonly shared = new SharedWork<string, string>({ most: 3, maxWaiting: 5 });
  /** The items of each turn. */
  readonly turns: string[] = [];
  readonly #ends: ((result: Promise<string>) => void)[] = [];

  ask = async (item: string, name = 'one'): Promise<string> => {
    const { result, place } = await this.shared.share(name, item, (begin) => {
      this.turns.push(begin().join());
      return new Promise((resolve) => this.#ends.push(resolve));
    });
    return `${item}: ${result} ${place}`;
  };

  /** All that was asked for at this moment. */
  readonly begin = (): Promise<void> => new Promise(setImmediate);

  async end(result: string | Error): Promise<void> {
    this.#ends.shift()?.(result instanceof Error ? Promise.reject(result) : Promise.resolve(result));
    // Then the next one begins.
    await new Promise(setImmediate);
    await new Promise(setImmediate);
  }
}

test('who comes while a turn runs shares the next one, which begins after they came', async () => {
  const work = new Work();
  const asked = [work.ask('a')];
  await work.begin();
  asked.push(work.ask('b'), work.ask('c'));
  expect(work.turns).toEqual(['a']);

  await work.end('valid');
  expect(work.turns).toEqual(['a', 'b,c']);
  // Revoked meanwhile: nobody who came after that is told of the turn before.
  await work.end('revoked');

  expect(await Promise.all(asked)).toEqual(['a: valid 0', 'b: revoked 0', 'c: revoked 1']);
});

test('who comes at the same moment shares a turn', async () => {
  const work = new Work();
  const asked = [work.ask('a'), work.ask('b')];
  expect(work.turns).toEqual([]);
  await work.begin();
  expect(work.turns).toEqual(['a,b']);
  await work.end('valid');
  expect(await Promise.all(asked)).toEqual(['a: valid 0', 'b: valid 1']);
});

test('names do not wait for each other', async () => {
  const work = new Work();
  void work.ask('a', 'one');
  void work.ask('b', 'two');
  await work.begin();
  expect(work.turns).toEqual(['a', 'b']);
});

test('a turn that fails does so for those who share it, and for nobody else', async () => {
  const work = new Work();
  const asked = [work.ask('a')];
  await work.begin();
  asked.push(...['b', 'c', 'd', 'e'].map((item) => work.ask(item)));
  const outcomes = Promise.allSettled(asked);
  await work.end('valid');
  await work.end(new Error('away'));
  await work.end('valid');
  expect((await outcomes).map(({ status }) => status)).toEqual([
    'fulfilled',
    ...['rejected', 'rejected', 'rejected'],
    'fulfilled',
  ]);

  // It is whole again.
  const next = work.ask('f');
  await work.begin();
  await work.end('valid');
  expect(await next).toBe('f: valid 0');
});

test('work that fails before it begins is over as well', async () => {
  const shared = new SharedWork<string, string>({ most: 3, maxWaiting: 1 });
  const refused = (): Promise<string> => Promise.reject(new Error('no turn'));
  await expect(shared.share('one', 'a', refused)).rejects.toThrow('no turn');
  expect(await shared.share('one', 'b', async (begin) => begin().join())).toEqual({ result: 'b', place: 0 });
});

test('a full turn is followed by another one, and when too many wait the next is refused', async () => {
  const work = new Work();
  const asked = [work.ask('a')];
  await work.begin();
  asked.push(...['b', 'c', 'd', 'e', 'f'].map((item) => work.ask(item)));
  await expect(work.ask('g')).rejects.toEqual(new AppError('OVERLOADED'));

  await work.end('valid');
  asked.push(work.ask('h'));
  for (let turn = 0; turn < 3; turn += 1) await work.end('valid');
  expect((await Promise.all(asked)).length).toBe(7);
  expect(work.turns).toEqual(['a', 'b,c,d', 'e,f,h']);
});
