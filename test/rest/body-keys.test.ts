import { z } from 'zod';
import { bodyKeys, prefersStrict } from '../../src/rest/body-keys.js';
import fc from '../kit/properties.js';

const Item = z.strictObject({ label: z.string(), count: z.int().optional() });
const Rules = z
  .strictObject({
    projectName: z.string().optional(),
    items: z.array(Item).max(5_000).optional(),
    inside: z.strictObject({ deeper: z.strictObject({ value: z.string() }).nullish() }).optional(),
    either: z.union([z.string(), Item]).optional(),
    ambiguous: z.union([Item, z.strictObject({ other: z.string() })]).optional(),
    kinds: z
      .array(
        z.discriminatedUnion('kind', [
          z.strictObject({ kind: z.literal('a'), alpha: z.string() }),
          z.strictObject({ kind: z.enum(['b', 'c']), bravo: z.string().default('') }),
        ]),
      )
      .optional(),
    exact: z.strictObject({ value: z.string() }).optional(),
    free: z.record(z.string(), z.unknown()).optional(),
  })
  .refine(() => true);
const keys = bodyKeys(Rules, ['exact']);
const separate = (body: unknown, isStrict = false) => keys.separate(body, isStrict);

describe('an unknown key', () => {
  test('is taken out at every depth, and listed once', async () => {
    const body = {
      id: 1,
      projectName: 'n',
      items: [
        { label: 'l', id: 1 },
        { label: 'm', colour: 2 },
      ],
      inside: { deeper: { value: 'v', id: 3 }, 'no name': 4 },
      either: { label: 'l', id: 5 },
      kinds: [
        { kind: 'a', alpha: 'x', bravo: 'y' },
        { kind: 'c', alpha: 'x' },
      ],
    };
    expect(await separate(body)).toEqual({
      known: {
        projectName: 'n',
        items: [{ label: 'l' }, { label: 'm' }],
        inside: { deeper: { value: 'v' } },
        either: { label: 'l' },
        kinds: [{ kind: 'a', alpha: 'x' }, { kind: 'c' }],
      },
      violations: [],
      // In the order of the body.
      ignored: 'id, colour, bravo, alpha, others=1',
    });
  });

  test('stays where the rules are to refuse it: in exact keys, in free objects, and where the shape is not certain', async () => {
    const body = {
      exact: { value: 'v', more: 1 },
      free: { any: 1 },
      ambiguous: { label: 'l', more: 1 },
      kinds: [{ kind: 'z', more: 1 }],
    };
    expect(await separate(body)).toEqual({ known: body, violations: [], ignored: null });
    expect(keys.open.has(Rules)).toBe(true);
    expect(keys.open.has(Rules.shape.exact.unwrap())).toBe(false);
  });

  test('that is misspelt is refused, and the others beside it are not listed as if they had been ignored', async () => {
    const { violations, ignored } = await separate({ projectNmae: 'n', items: [{ Label: 'x', id: 1 }] });
    expect(violations).toEqual([
      { path: 'body', code: 'UNKNOWN_KEY', message: 'unknown field `projectNmae`; did you mean `projectName`?' },
      { path: 'body.items[0]', code: 'UNKNOWN_KEY', message: 'unknown field `Label`; did you mean `label`?' },
    ]);
    expect(ignored).toBe('id');
  });

  test('beside the key that it looks like is ignored', async () => {
    expect(await separate({ projectName: 'n', ProjectName: 'n' })).toEqual({
      known: { projectName: 'n' },
      violations: [],
      ignored: 'ProjectName',
    });
  });

  test('is refused when strict handling is preferred', async () => {
    const { violations, ignored } = await separate({ id: 1, items: [{ label: 'l', 'no name': 1 }] }, true);
    expect(violations.map(({ path, message }) => `${path}: ${message}`)).toEqual([
      'body: unknown field `id`',
      'body.items[0]: unknown field (only identifiers of at most 40 characters are named)',
    ]);
    expect(ignored).toBeNull();
  });

  test('of JavaScript is one like any other, and reaches no object', async () => {
    const body = JSON.parse(
      '{"__proto__":{"polluted":1},"constructor":{},"inside":{"__proto__":{"deeper":{"value":"v"}}}}',
    );
    const { known, ignored } = await separate(body);
    expect(ignored).toBe('__proto__, constructor');
    expect(Object.getPrototypeOf(known)).toBe(Object.prototype);
    expect(Object.getPrototypeOf((known as { inside: object }).inside)).toBe(Object.prototype);
    expect((known as { inside: { deeper?: unknown } }).inside.deeper).toBeUndefined();
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  test.each([[null], ['text'], [5], [[{ id: 1 }]]])(
    'is not looked for in a body that is no object: %j',
    async (body) => {
      expect(await separate(body)).toEqual({ known: body, violations: [], ignored: null });
    },
  );
});

describe('many unknown keys', () => {
  const message = (count: number) =>
    `${count} unknown fields, including those in nested objects; at most 20 are ignored`;

  test('are ignored up to 20, wherever they are', async () => {
    const items = Array.from({ length: 20 }, (_, at) => ({ label: 'l', [`key${at}`]: 1 }));
    const { known, ignored, violations } = await separate({ items });
    expect(violations).toEqual([]);
    expect(known).toEqual({ items: items.map(({ label }) => ({ label })) });
    expect(ignored?.split(', ')).toHaveLength(20);
  });

  test.each([false, true])('beyond 20 are refused by their number, strict: %p', async (isStrict) => {
    const items = Array.from({ length: 21 }, () => ({ Label: 'l' }));
    expect((await separate({ items }, isStrict)).violations).toEqual([
      { path: 'body', code: 'UNKNOWN_KEY', message: message(21) },
    ]);
    const wide = Object.fromEntries(Array.from({ length: 50_000 }, (_, at) => [`projectNam${at}`, 1]));
    expect((await separate(wide, isStrict)).violations).toEqual([
      { path: 'body', code: 'UNKNOWN_KEY', message: message(50_000) },
    ]);
  });
});

test('the list of ignored keys fits a header field, whatever the keys are', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.dictionary(fc.string({ unit: 'binary', maxLength: 60 }), fc.constant(1), { maxKeys: 20 }),
      async (body) => {
        const { ignored } = await separate(body);
        expect(ignored ?? '').toMatch(/^([A-Za-z_$][\w$-]{0,39}(, |$)){0,20}(others=\d+)?$/);
      },
    ),
  );
});

test('a known body comes out as it went in', async () => {
  const item = fc.record(
    { label: fc.string(), count: fc.integer() },
    { requiredKeys: ['label'], noNullPrototype: true },
  );
  const body = fc.record(
    { projectName: fc.string(), items: fc.array(item), either: fc.oneof(fc.string(), item), free: fc.object() },
    { requiredKeys: [], noNullPrototype: true },
  );
  await fc.assert(
    fc.asyncProperty(body, async (given) => {
      expect(await separate(given)).toEqual({ known: given, violations: [], ignored: null });
    }),
  );
});

describe('strict handling', () => {
  test.each([
    'handling=strict',
    'Handling=Strict',
    'handling="strict"',
    'handling = strict',
    'respond-async, wait=10, handling=strict',
    'return=minimal; foo="a", handling=strict; why="x"',
    'handling=strict, handling=lenient',
  ])('is preferred by %s', (header) => {
    expect(prefersStrict(header)).toBe(true);
  });

  test.each([
    undefined,
    '',
    'handling',
    'handling=lenient',
    'handling=lenient, handling=strict',
    'x-handling=strict',
    'foo="handling=strict"',
    'foo; handling=strict',
    'handling=strictly',
    '"handling=strict"',
  ])('is not preferred by %s', (header) => {
    expect(prefersStrict(header)).toBe(false);
  });
});
