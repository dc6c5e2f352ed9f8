import { SCAN_LIMIT, scanRows } from '../../../../src/features/secrets/scope/scan.js';
import type { CursorKey } from '../../../../src/kernel/paging.js';
import fc from '../../../kit/properties.js';
import { rounds } from '../../../kit/scope.js';

/** Rows 0 to `size - 1`, of which the caller sees some, and what was read of them. */
function source(size: number, isSeen: (row: number) => boolean) {
  const reads: number[] = [];
  const read = async (after: CursorKey | null, limit: number): Promise<number[]> => {
    reads.push(limit);
    const start = after === null ? 0 : Number(after[0]) + 1;
    return Array.from({ length: Math.max(0, Math.min(limit, size - start)) }, (_, index) => start + index);
  };
  return {
    reads,
    rows: { read, see: (row: number) => (isSeen(row) ? row : null), keyOf: (row: number) => [String(row)] },
  };
}

const all = (size: number, isSeen: (row: number) => boolean): number[] =>
  Array.from({ length: size }, (_, row) => row).filter(isSeen);

describe('a page filled with rows of which only some are seen', () => {
  test('has the next of them, and one more when there are more, whatever is hidden', async () => {
    const size = fc.integer({ min: 0, max: 3_000 });
    await fc.assert(
      fc.asyncProperty(
        size,
        fc.integer({ min: 1, max: 50 }),
        fc.integer({ min: 1, max: 40 }),
        async (rows, first, each) => {
          const isSeen = (row: number) => row % each === 0;
          const { rows: found, stoppedAt } = await scanRows(
            { first, after: null, isOpen: false },
            source(rows, isSeen).rows,
          );
          expect(stoppedAt).toBeNull();
          expect(found).toEqual(all(rows, isSeen).slice(0, first + 1));
        },
      ),
      { numRuns: rounds(200) },
    );
  });

  test('looks at no more than it shows where all are seen', async () => {
    const { reads, rows } = source(50_000, () => true);
    const { rows: found } = await scanRows({ first: 10, after: ['99'], isOpen: true }, rows);
    expect(found).toEqual(Array.from({ length: 11 }, (_, index) => 100 + index));
    expect(reads).toEqual([11]);
  });

  test('reads four times as many rows where few do not fill it', async () => {
    const { reads, rows } = source(50_000, (row) => row % 10 === 0);
    const { rows: found } = await scanRows({ first: 60, after: null, isOpen: false }, rows);
    expect(found).toHaveLength(61);
    expect(reads).toEqual([244, 976]);
  });

  test('goes on where a read ended that gave only its last row', async () => {
    const { reads, rows } = source(50_000, (row) => row === 2_000);
    const read = async (after: CursorKey | null, limit: number) =>
      (await rows.read(after, limit)).filter((row, at) => row === 2_000 || at === limit - 1);
    const given = { ...rows, read, examinedOf: () => reads.at(-1) as number };
    expect(await scanRows({ first: 5, after: null, isOpen: false }, given)).toEqual({
      rows: [2_000],
      stoppedAt: [String(SCAN_LIMIT - 1)],
    });
  });

  test('goes on where a read ended that could look no further, and stops there after the third', async () => {
    const { reads, rows } = source(50_000, () => true);
    const ends = ['99', '199', '299'];
    // Each looks through a hundred rows and gives one.
    const read = async (after: CursorKey | null, limit: number) => (await rows.read(after, limit)).slice(0, 1);
    const given = { ...rows, read, endOf: () => [ends[reads.length - 1] as string] };
    expect(await scanRows({ first: 200, after: null, isOpen: true }, given)).toEqual({
      rows: [0, 100, 200],
      stoppedAt: ['299'],
    });
    reads.length = 0;
    expect(await scanRows({ first: 1, after: null, isOpen: true }, given)).toEqual({ rows: [0, 100], stoppedAt: null });
  });

  test('stops at 10,000 rows in three reads, says where, and goes on from there', async () => {
    const isSeen = (row: number) => row === 3 || row > 24_990;
    const { reads, rows } = source(25_000, isSeen);
    const options = { first: 5, isOpen: false };
    const one = await scanRows({ ...options, after: null }, rows);
    expect([one.rows, one.stoppedAt, reads.length]).toEqual([[3], [String(SCAN_LIMIT - 1)], 3]);
    const two = await scanRows({ ...options, after: one.stoppedAt }, rows);
    expect([two.rows, two.stoppedAt]).toEqual([[], [String(2 * SCAN_LIMIT - 1)]]);
    const three = await scanRows({ ...options, after: two.stoppedAt }, rows);
    expect([three.rows, three.stoppedAt]).toEqual([[24_991, 24_992, 24_993, 24_994, 24_995, 24_996], null]);
  });
});
