import { z } from 'zod';
import { check, checkYielding, EVEN_IF_INVALID, textsOfField } from '../../src/kernel/validation.js';
import { TurnCounter } from '../kit/turn-counter.js';

const messageFor = (rules: z.ZodType, input: unknown): string | undefined =>
  check(rules, input).violations?.[0]?.message;

test('a bound is told in the right number', () => {
  expect(messageFor(z.string().min(1), '')).toBe('must have at least 1 character');
  expect(messageFor(z.string().min(5), '')).toBe('must have at least 5 characters');
  expect(messageFor(z.array(z.int()).max(1), [1, 2])).toBe('must have at most 1 entry');
  expect(messageFor(z.array(z.int()).max(2), [1, 2, 3])).toBe('must have at most 2 entries');
  expect(messageFor(z.int().min(1), 0)).toBe('must be at least 1');
});

test('of many violations no more are put into words than are reported', () => {
  let worded = 0;
  const error = (): string => {
    worded += 1;
    return 'must be short';
  };
  const { violations } = check(z.array(z.string({ error })), Array(5_000).fill(1));
  expect(violations).toHaveLength(1_001);
  expect(worded).toBe(1_001);
});

describe('a rule on the whole of a list or an object', () => {
  const isEachOnce = (list: readonly unknown[]) => new Set(textsOfField(list, 'name')).size === list.length;
  const Names = z
    .array(z.strictObject({ name: z.string() }))
    .refine(isEachOnce, { ...EVEN_IF_INVALID, error: 'must be unique' });
  const Rules = z
    .strictObject({ names: Names, size: z.int().optional() })
    .refine(({ names }) => names !== null, { ...EVEN_IF_INVALID, path: ['size'], error: 'must have names' });
  const violations = (input: unknown) =>
    check(Rules, input).violations?.map(({ path, message }) => `${path} ${message}`);

  test('is told beside faults of what is in it', () => {
    const names = [{ name: 'a' }, { name: 'a' }];
    expect(violations({ names })).toEqual(['names must be unique']);
    expect(violations({ names: [...names, { name: 1 }, null] })).toEqual([
      'names[2].name must be a string',
      'names[3] must be an object',
      'names must be unique',
    ]);
    expect(violations({ names: null })).toEqual(['names must be a list', 'size must have names']);
  });

  test('is not asked of what is no list or object', () => {
    for (const input of ['names', 7, null, [], undefined]) expect(violations(input)).toHaveLength(1);
    expect(violations({ names: {} })).toEqual(['names must be a list']);
  });
});

describe('a long list of objects', () => {
  const Item = z.strictObject({ name: z.string().trim().min(1), size: z.int().default(1) });
  const Items = z.strictObject({ place: z.string(), items: z.array(Item).min(1).max(5_000) });
  const items = (count: number, item: (index: number) => unknown) => Array.from({ length: count }, (_, at) => item(at));

  test.each<[string, unknown]>([
    ['that is sound', { place: 'here', items: items(200, (at) => ({ name: ` n${at} ` })) }],
    ['beside another fault', { items: items(200, () => ({ name: 'n' })), other: 1 }],
    [
      'with some faults in it',
      { place: 'here', items: items(200, (at) => (at % 7 === 0 ? { naem: 'n' } : { name: 'n' })) },
    ],
    ['that is too long', { place: 'here', items: items(5_001, () => ({ name: 'n' })) }],
    ['of unknown keys', { place: 'here', items: items(2_000, () => ({ name: 'n', other: 1 })) }],
  ])('%s is checked in slices as it is at once', async (_, input) => {
    expect(await checkYielding(Items, input, 'body')).toEqual(check(Items, input, 'body'));
  });

  test('is checked whichever of several lists was long before', async () => {
    const Two = z.strictObject({ left: z.array(Item), right: z.array(Item) });
    const sound = (count: number) => items(count, () => ({ name: 'n' }));
    const inLeft = { left: [{ name: 1 }], right: sound(60) };
    expect((await checkYielding(Two, { left: sound(60), right: [] })).violations).toBeUndefined();
    expect(await checkYielding(Two, inLeft)).toEqual(check(Two, inLeft));
  });

  test('lets others run meanwhile', async () => {
    const counter = new TurnCounter();
    const slow = z.string().refine(() => {
      for (const end = performance.now() + 1; performance.now() < end; );
      return true;
    });
    await checkYielding(z.strictObject({ items: z.array(z.strictObject({ slow })) }), {
      items: items(60, () => ({ slow: '' })),
    });
    counter.stop();
    expect(counter.turns).toBeGreaterThanOrEqual(5);
  });

  test('is not collected behind the faults that are told', async () => {
    const { violations } = await checkYielding(
      Items,
      { place: 'here', items: items(5_000, () => ({ name: 1 })) },
      'body',
    );
    expect(violations).toHaveLength(1_001);
    expect(violations?.[1_000]?.path).toBe('body.items[1000].name');
  });
});
