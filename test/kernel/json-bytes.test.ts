import { jsonBytes } from '../../src/kernel/operations/responses/response.js';
import fc from '../kit/properties.js';

const PIECE = 256 * 1024;

async function made(value: unknown): Promise<{ text: string; pieces: number[] }> {
  const pieces: number[] = [];
  const bytes = await jsonBytes(value, ({ length }) => pieces.push(length));
  return { text: bytes.toString('utf8'), pieces };
}

describe('JSON as bytes', () => {
  test('is what JSON.stringify makes, whatever is short or long in it', async () => {
    const leaf = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('x', '😀', '\u0001', '\ud800').map((sign) => `a${sign.repeat(PIECE)}`),
      fc.integer(),
      fc.boolean(),
      fc.constantFrom(null, undefined, new Date(0)),
    );
    const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
      tree: fc.oneof(
        { depthSize: 'small' },
        leaf,
        fc.array(tie('tree'), { maxLength: 5 }),
        fc.dictionary(fc.string(), tie('tree'), { maxKeys: 5 }),
        fc.tuple(fc.integer({ min: 0, max: 12_000 }), fc.string()).map(([count, text]) => Array(count).fill({ text })),
      ),
    }));
    await fc.assert(
      fc.asyncProperty(tree, async (value) => {
        fc.pre(value !== undefined);
        expect((await made({ value })).text).toBe(JSON.stringify({ value }));
        expect((await made([value])).text).toBe(JSON.stringify([value]));
        const named = { ['x'.repeat(PIECE)]: value };
        expect((await made(named)).text).toBe(JSON.stringify(named));
      }),
      { numRuns: 40 },
    );
  });

  test.each([
    ['a list of many', { nodes: Array.from({ length: 80_000 }, (_, index) => ({ index, key: 'x'.repeat(20) })) }],
    ['lists in lists', [[[Array.from({ length: 80_000 }, () => ['x'.repeat(20)])]]]],
    ['one long text', { content: '"\n😀'.repeat(800_000) }],
    [
      'an object of many members',
      Object.fromEntries(Array.from({ length: 80_000 }, (_, index) => [`k${index}`, 'x'.repeat(20)])),
    ],
  ])('of %s is made in pieces', async (_, value) => {
    const { text, pieces } = await made(value);
    expect(text).toBe(JSON.stringify(value));
    expect(pieces.length).toBeGreaterThan(5);
    expect(Math.max(...pieces)).toBeLessThan(6 * PIECE);
  });

  test('reads what is in a long list three times at most, however deep the list is', async () => {
    let reads = 0;
    const secret = Object.defineProperty({}, 'key', {
      enumerable: true,
      get: () => {
        reads += 1;
        return 'x'.repeat(30);
      },
    });
    const nodes = Array.from({ length: 20 }, () => ({ secrets: { nodes: Array(400).fill(secret) } }));
    const { pieces } = await made({ data: { projects: { nodes } } });
    expect(pieces.length).toBeGreaterThan(1);
    expect(reads).toBeLessThanOrEqual(3 * 20 * 400);
  });

  test.each([1, 100_000, 100_000_000])('is the same when about %d bytes are expected', async (expected) => {
    const value = Array.from({ length: 80_000 }, (_, index) => ({ index, key: '😀'.repeat(5) }));
    const pieces: Buffer[] = [];
    const bytes = await jsonBytes(value, (piece) => pieces.push(Buffer.from(piece)), expected);
    expect(bytes.toString('utf8')).toBe(JSON.stringify(value));
    expect(Buffer.concat(pieces).equals(bytes)).toBe(true);
  });

  test('ends with what is thrown at a piece', async () => {
    const value = Array.from({ length: 80_000 }, () => 'x'.repeat(20));
    let pieces = 0;
    const refusing = jsonBytes(value, () => {
      pieces += 1;
      if (pieces === 2) throw new Error('enough');
    });
    await expect(refusing).rejects.toThrow('enough');
    expect(pieces).toBe(2);
  });
});
