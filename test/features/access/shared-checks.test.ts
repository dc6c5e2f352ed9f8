import { SharedChecks } from '../../../src/features/access/shared-checks.js';
import { AppError } from '../../../src/kernel/errors.js';

/** Checks that end when the test says so. */
class Checks {
  readonly shared = new SharedChecks<string>(3);
  /** For how many requests each check was made. */
  readonly sizes: number[] = [];
  readonly #ends: ((result: Promise<string>) => void)[] = [];

  ask = async (credential = 'one'): Promise<string> => {
    const share = await this.shared.share(credential, (begin) => {
      this.sizes.push(begin());
      return new Promise((resolve) => this.#ends.push(resolve));
    });
    return `${share.result}${share.isFirst ? ' first' : ''}`;
  };

  async end(result: string | Error): Promise<void> {
    this.#ends.shift()?.(result instanceof Error ? Promise.reject(result) : Promise.resolve(result));
    await new Promise(setImmediate);
  }
}

test('who comes while a check runs shares the next one, which begins after they came', async () => {
  const checks = new Checks();
  const asked = [checks.ask(), checks.ask(), checks.ask()];
  expect(checks.sizes).toEqual([1]);

  await checks.end('valid');
  expect(checks.sizes).toEqual([1, 2]);
  // Revoked meanwhile: nobody who came after that is told of the check before.
  await checks.end('revoked');

  expect(await Promise.all(asked)).toEqual(['valid first', 'revoked first', 'revoked']);
});

test('credentials do not wait for each other', () => {
  const checks = new Checks();
  void checks.ask('one');
  void checks.ask('two');
  expect(checks.sizes).toEqual([1, 1]);
});

test('a check that fails does so for those who share it, and for nobody else', async () => {
  const checks = new Checks();
  const asked = Promise.allSettled([checks.ask(), checks.ask(), checks.ask()]);
  await checks.end(new Error('away'));
  await checks.end('valid');
  expect((await asked).map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled']);

  // It is whole again.
  const next = checks.ask();
  await checks.end('valid');
  expect(await next).toBe('valid first');
});

test('no more wait than may share a check: the next is refused', async () => {
  const checks = new Checks();
  const asked = [checks.ask(), checks.ask(), checks.ask(), checks.ask()];
  await expect(checks.ask()).rejects.toEqual(new AppError('OVERLOADED'));

  await checks.end('valid');
  asked.push(checks.ask());
  await checks.end('valid');
  await checks.end('valid');
  expect((await Promise.all(asked)).length).toBe(5);
  expect(checks.sizes).toEqual([1, 3, 1]);
});
