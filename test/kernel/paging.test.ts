import { AppError } from '../../src/kernel/errors.js';
import { decodeCursor, Page, SearchPage } from '../../src/kernel/paging.js';
import { isStorable } from '../../src/kernel/value-rules.js';
import fc from '../kit/properties.js';

const key = fc.array(fc.string({ unit: 'binary', maxLength: 60 }), { minLength: 1, maxLength: 4 });

/** Cursor of a list whose one row has this key. */
const cursorOf = (parts: readonly string[]): string => new Page([parts], {}, (row) => row).pageInfo.endCursor as string;

function refusal(cursor: string, parts: number): AppError | null {
  try {
    decodeCursor(cursor, parts);
    return null;
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
}

describe('cursors', () => {
  test('come back as the key that they were made of, whatever its texts hold', () => {
    fc.assert(
      fc.property(key, (parts) => {
        // A lone surrogate has no UTF-8 form, and Postgres stores no NUL: no key of a row has either.
        fc.pre(parts.every(isStorable));
        expect(decodeCursor(cursorOf(parts), parts.length)).toEqual(parts);
      }),
    );
  });

  test('are safe in a query string as they are', () => {
    fc.assert(fc.property(key, (parts) => expect(cursorOf(parts)).toMatch(/^[\w-]+$/)));
  });

  test('of a list ordered by another number of columns are refused', () => {
    fc.assert(
      fc.property(key, fc.integer({ min: 1, max: 5 }), (parts, wanted) => {
        fc.pre(wanted !== parts.length);
        expect(refusal(cursorOf(parts), wanted)?.code).toBe('VALIDATION_FAILED');
      }),
    );
  });

  test('made up by a caller are refused, and not quoted', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 80 }), (made) => {
        const error = refusal(made, 2);
        expect(error?.code).toBe('VALIDATION_FAILED');
        expect(error?.details).toEqual([
          { path: 'after', code: 'INVALID_CURSOR', message: 'must be a cursor from this list' },
        ]);
      }),
    );
  });

  test.each([null, 1, 'text', {}, [1, 2], ['a', null], ['a', ['b']], { length: 2 }, ['a']])(
    'that hold %j are refused',
    (content) => {
      const cursor = Buffer.from(JSON.stringify(content)).toString('base64url');
      expect(refusal(cursor, 2)?.code).toBe('VALIDATION_FAILED');
    },
  );
});

describe('Page', () => {
  const rows = ['a', 'b', 'c'];
  const keyOf = (row: string): readonly string[] => [row];

  test('without first is whole', () => {
    const page = new Page(rows, {}, keyOf);

    expect(page.nodes).toEqual(rows);
    expect(page.pageInfo).toMatchObject({ hasNextPage: false, hasPreviousPage: false });
  });

  test('shows first rows, and hides the one row more that tells of a next page', () => {
    const page = new Page(rows, { first: 2, after: 'x' }, keyOf);

    expect(page.nodes).toEqual(['a', 'b']);
    expect(page.pageInfo).toMatchObject({ hasNextPage: true, hasPreviousPage: true, endCursor: page.edges[1]?.cursor });
  });

  test('of nothing has no cursors', () => {
    expect(new Page<string>([], { first: 2 }, keyOf).pageInfo).toEqual({
      hasNextPage: false,
      hasPreviousPage: false,
      startCursor: null,
      endCursor: null,
    });
  });

  test('keeps its place when its rows are changed', () => {
    const page = new Page(rows, { first: 2 }, keyOf).map((row) => row.toUpperCase(), keyOf);

    expect(page.nodes).toEqual(['A', 'B']);
    expect(page.hasNextPage).toBe(true);
    expect(decodeCursor(page.pageInfo.endCursor as string, 1)).toEqual(['B']);
  });
});

describe('a page whose rows were looked for', () => {
  const keyOf = (row: string): string[] => [row];
  const cursors = { write: (position: readonly string[]) => `cursor of ${position}` };

  test('goes on from where the search stopped, although it is not full', () => {
    const stopped = new SearchPage(['a'], { first: 3 }, keyOf, { cursors, stoppedAt: ['m'] });
    expect([stopped.isScanLimitReached, stopped.pageInfo.hasNextPage]).toEqual([true, true]);
    expect(stopped.pageInfo).toMatchObject({ startCursor: 'cursor of a', endCursor: 'cursor of m' });
    expect(new SearchPage(['a'], { first: 3 }, keyOf, { cursors, stoppedAt: null }).pageInfo).toMatchObject({
      hasNextPage: false,
    });
  });

  test('leaves out rows of which nothing is left, and still has a next page', () => {
    const page = new SearchPage(['a', 'b', 'c'], { first: 2 }, keyOf, { cursors, stoppedAt: null });
    const shown = page.map((row) => (row === 'b' ? null : row.toUpperCase()), keyOf);
    expect([shown.nodes, shown.pageInfo.hasNextPage, shown.isScanLimitReached]).toEqual([['A'], true, false]);
  });
});
