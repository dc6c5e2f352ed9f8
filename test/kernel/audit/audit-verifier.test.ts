import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { AuditChain, type Expiry, type Seal } from '../../../src/kernel/audit/audit-chain.js';
import {
  type Anchor,
  AuditVerifier,
  type FoundRow,
  type RepeatedRow,
} from '../../../src/kernel/audit/audit-verifier.js';
import fc from '../../kit/properties.js';

const chain = new AuditChain(randomBytes(32));

interface Trail {
  readonly rows: readonly FoundRow[];
  readonly seals: readonly Seal[];
  readonly expiries?: readonly Expiry[];
}

const MAX_VIOLATIONS = 1_000;

async function* each<T>(list: readonly T[]): AsyncGenerator<T> {
  yield* list;
}

/** In batches of a few, so that seals end in the middle of them. */
async function* batches(rows: readonly FoundRow[]): AsyncGenerator<readonly FoundRow[]> {
  for (let at = 0; at < rows.length; at += 7) yield rows.slice(at, at + 7);
}

const MONTH = '2026-11-01';
const LATER = '2027-03-01';

const inOrder = <T>(list: readonly T[], keyOf: (item: T) => bigint): T[] =>
  [...list].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));

const verify = ({ rows, seals, expiries = [] }: Trail, anchors: Anchor[] = [], repeats: RepeatedRow[] = []) =>
  new AuditVerifier(chain, MAX_VIOLATIONS).verify(
    {
      rows: batches(inOrder(rows, ({ sequence }) => sequence)),
      seals: each(inOrder(seals, ({ number }) => number)),
      repeats,
      editedLists: [],
      expiries,
    },
    anchors,
  );

const faultsOf = async (trail: Trail, anchors?: Anchor[], repeats?: RepeatedRow[]): Promise<string[]> =>
  (await verify(trail, anchors, repeats)).faults.map(({ place, fault }) => `${place}: ${fault}`);

const rowAt = (sequence: bigint): FoundRow => ({
  sequence,
  id: randomUUID(),
  occurredAt: String(1_700_000_000_000n + sequence),
  expiresOn: [null, MONTH, LATER][Number(sequence % 3n)] as string | null,
  mac: randomBytes(32),
  isGenuine: true,
  isListed: true,
});

/** A trail with gaps, as rolled back changes leave them, sealed in pieces; the last rows are not sealed yet. */
const trails = fc
  .tuple(
    fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 12, maxLength: 60 }),
    fc.array(fc.integer({ min: 1, max: 8 }), { minLength: 3, maxLength: 6 }),
  )
  .map(([steps, sizes]): Trail => {
    let sequence = 0n;
    const rows = steps.map((step) => {
      sequence += BigInt(step);
      return rowAt(sequence);
    });
    const seals: Seal[] = [];
    let at = 0;
    for (const size of sizes) {
      const sealed = rows.slice(at, at + size);
      at += size;
      const newest = sealed.at(-1);
      if (newest === undefined) break;
      seals.push(chain.seal(seals.at(-1) ?? null, { rows: sealed, last: newest.sequence, sealedAt: '1' }));
    }
    return { rows, seals };
  });

const sealedRows = ({ rows, seals }: Trail): FoundRow[] =>
  rows.filter(({ sequence }) => sequence <= (seals.at(-1) as Seal).last);

/** A trail, and two different numbers of sealed rows of it. */
const withTwo = fc.tuple(trails, fc.nat(), fc.nat()).map(([trail, one, other]) => {
  const { length } = sealedRows(trail);
  const first = one % length;
  return { trail, first, second: (first + 1 + (other % (length - 1))) % length };
});

const without = <T>(list: readonly T[], item: T): T[] => list.filter((each) => each !== item);
const nameOf = ({ sequence, id }: FoundRow): string => `row ${sequence} (${id})`;

describe('a walk over the trail', () => {
  test('finds a whole one whole, and counts it', async () => {
    await fc.assert(
      fc.asyncProperty(trails, async (trail) => {
        const head = trail.seals.at(-1) as Seal;
        expect(await verify(trail, [{ number: head.number, hash: head.mac.toString('hex') }])).toEqual({
          rows: trail.rows.length,
          unsealed: trail.rows.length - sealedRows(trail).length,
          expired: 0,
          seals: trail.seals.length,
          head,
          faults: [],
          faultCount: 0,
        });
      }),
    );
  });

  test('names an edited row, one with another time, and one that was put in its place', async () => {
    await fc.assert(
      fc.asyncProperty(withTwo, async ({ trail, first }) => {
        const row = trail.rows[first] as FoundRow;
        const others = without(trail.rows, row);
        const edited = { ...row, isGenuine: false };
        expect(await faultsOf({ ...trail, rows: [...others, edited] })).toEqual([
          `${nameOf(row)}: edited, or not written with this root key`,
        ]);
        const moment = { ...row, occurredAt: 'Infinity' };
        expect(await faultsOf({ ...trail, rows: [...others, moment] })).toEqual([
          `${nameOf(row)}: its time or end was edited, or it replaces another row`,
        ]);
        const forged = { ...rowAt(row.sequence), isGenuine: false };
        expect(await faultsOf({ ...trail, rows: [...others, forged] })).toEqual([`${nameOf(forged)}: edited`]);
      }),
    );
  });

  test('names a deleted row', async () => {
    await fc.assert(
      fc.asyncProperty(withTwo, async ({ trail, first }) => {
        const row = trail.rows[first] as FoundRow;
        expect(await faultsOf({ ...trail, rows: without(trail.rows, row) })).toEqual([`row ${row.sequence}: deleted`]);
      }),
    );
  });

  test('names both of two swapped rows, and where they were', async () => {
    await fc.assert(
      fc.asyncProperty(withTwo, async ({ trail, first, second }) => {
        const [one, other] = [trail.rows[first] as FoundRow, trail.rows[second] as FoundRow];
        const swapped = [
          { ...one, sequence: other.sequence },
          { ...other, sequence: one.sequence },
        ];
        const rows = [...without(without(trail.rows, one), other), ...swapped];
        expect((await faultsOf({ ...trail, rows })).sort()).toEqual(
          [
            `${nameOf(swapped[0] as FoundRow)}: moved here from ${one.sequence}`,
            `${nameOf(swapped[1] as FoundRow)}: moved here from ${other.sequence}`,
          ].sort(),
        );
      }),
    );
  });

  test('names a row that was inserted where there was none, before the first one too', async () => {
    await fc.assert(
      fc.asyncProperty(trails, fc.boolean(), async (trail, isGenuine) => {
        const { last } = trail.seals.at(-1) as Seal;
        const taken = new Set(trail.rows.map(({ sequence }) => sequence));
        for (const sequence of [-5n, 0n, 1n, 2n, 3n, last - 1n]) {
          if (taken.has(sequence)) continue;
          const inserted = { ...rowAt(sequence), isGenuine };
          expect(await faultsOf({ ...trail, rows: [...trail.rows, inserted] })).toEqual([
            `${nameOf(inserted)}: inserted: no seal covers it`,
          ]);
        }
      }),
    );
  });

  test('names of two rows with one id the later one, but the one that no seal has where there is one', async () => {
    await fc.assert(
      fc.asyncProperty(withTwo, async ({ trail, first }) => {
        const row = trail.rows[first] as FoundRow;
        const later = { ...row, sequence: 1_000n };
        const repeats = [{ sequence: later.sequence, id: row.id, first: row.sequence }];
        expect(await faultsOf({ ...trail, rows: [...trail.rows, later] }, [], repeats)).toEqual([
          `${nameOf(later)}: a copy of row ${row.sequence}`,
        ]);
        const earlier = { ...row, sequence: -1n };
        expect(
          await faultsOf(
            { ...trail, rows: [...trail.rows, earlier] },
            [],
            [{ sequence: row.sequence, id: row.id, first: earlier.sequence }],
          ),
        ).toEqual([`${nameOf(earlier)}: inserted: no seal covers it`]);
      }),
    );
  });

  test('names a forged row that no seal has reached', async () => {
    await fc.assert(
      fc.asyncProperty(trails, async (trail) => {
        const forged = { ...rowAt(1_000n), isGenuine: false };
        expect(await faultsOf({ ...trail, rows: [...trail.rows, forged] })).toEqual([
          `${nameOf(forged)}: edited, or not written with this root key`,
        ]);
      }),
    );
  });

  test('names a seal that was edited or deleted in the middle, and nothing else', async () => {
    await fc.assert(
      fc.asyncProperty(trails, fc.nat(), async (trail, at) => {
        const seal = trail.seals[at % (trail.seals.length - 1)] as Seal;
        const others = without(trail.seals, seal);
        const edited = { ...seal, last: seal.last + 100n };
        expect(await faultsOf({ ...trail, seals: [...others, edited] })).toEqual([
          `seal ${seal.number}: edited, or not created with this root key`,
        ]);
        expect(await faultsOf({ ...trail, seals: others })).toEqual([`seal ${seal.number}: deleted`]);
      }),
    );
  });

  test('names the seal after one that was replaced by a genuine one', async () => {
    await fc.assert(
      fc.asyncProperty(trails, async (trail) => {
        const [first, ...others] = trail.seals as [Seal, ...Seal[]];
        const rows = trail.rows.filter(({ sequence }) => sequence <= first.last);
        const replaced = chain.seal(null, { rows, last: first.last, sealedAt: '2' });
        expect(await faultsOf({ ...trail, seals: [replaced, ...others] })).toEqual([
          'seal 2: does not follow the seal before it, which was replaced',
        ]);
      }),
    );
  });

  test('does not notice a cut-off end by itself, and does by an anchor', async () => {
    await fc.assert(
      fc.asyncProperty(trails, async (trail) => {
        const head = trail.seals.at(-1) as Seal;
        const anchor = { number: head.number, hash: head.mac.toString('hex') };
        const cut = {
          seals: trail.seals.slice(0, -1),
          rows: trail.rows.filter(({ sequence }) => sequence <= head.after),
        };
        expect(await faultsOf(cut)).toEqual([]);
        expect(await faultsOf(cut, [anchor])).toEqual([
          `seal ${head.number}: cut off, with everything after it: an anchor names it`,
        ]);
        const rows = trail.rows.filter(({ sequence }) => sequence > head.after && sequence <= head.last);
        const again = chain.seal(trail.seals.at(-2) as Seal, { rows, last: head.last, sealedAt: '2' });
        expect(await faultsOf({ ...trail, seals: [...cut.seals, again] }, [anchor])).toEqual([
          `seal ${head.number}: replaced: an anchor names another seal with this number`,
        ]);
      }),
    );
  });

  test('tells no more faults than asked for, and counts them all', async () => {
    const rows = Array.from({ length: 50 }, (_, index) => ({ ...rowAt(BigInt(index + 1)), isGenuine: false }));
    const report = await new AuditVerifier(chain, 10).verify(
      { rows: batches(rows), seals: each([]), repeats: [], editedLists: [], expiries: [] },
      [],
    );
    expect(report).toMatchObject({ rows: 50, unsealed: 0, faultCount: 50 });
    expect(report.faults).toHaveLength(10);
  });
});

describe('rows that were dropped because they had ended', () => {
  const endsIn = (month: string | null) => (row: FoundRow) => row.expiresOn === month;

  const statementOn = (rows: readonly FoundRow[], expiresOn = MONTH): Expiry => {
    const hash = createHash('sha256');
    for (const row of rows) hash.update(chain.entryOf(row));
    return chain.expire({ expiresOn, rows: BigInt(rows.length), digest: hash.digest(), expiredAt: '2' });
  };

  /** A trail of which all rows are sealed, and of which rows end in the month. */
  const ended = trails
    .map(({ seals, ...trail }) => ({ rows: sealedRows({ seals, ...trail }), seals }))
    .filter(({ rows }) => [null, MONTH, LATER].every((month) => rows.some(endsIn(month))))
    .map((trail) => {
      const gone = trail.rows.filter(endsIn(MONTH));
      return { ...trail, all: trail.rows, gone, rows: trail.rows.filter((row) => !endsIn(MONTH)(row)) };
    });

  test('are counted, and are no fault, with a statement about them', async () => {
    await fc.assert(
      fc.asyncProperty(ended, async ({ rows, seals, gone }) => {
        const report = await verify({ rows, seals, expiries: [statementOn(gone)] });
        expect(report).toMatchObject({ faults: [], rows: rows.length, expired: gone.length });
      }),
    );
  });

  test('were deleted without one, or with one that is edited, or about another month', async () => {
    await fc.assert(
      fc.asyncProperty(ended, async ({ rows, seals, gone, all }) => {
        const deleted = gone.map(({ sequence }) => `row ${sequence}: deleted`);
        const statement = statementOn(gone);
        const edited = `expiry ${MONTH}: edited, or not created with this root key`;
        expect(await faultsOf({ rows, seals })).toEqual(deleted);
        for (const forgery of [{ rows: 0n }, { expiredAt: '3' }, { digest: randomBytes(32) }, { mac: Buffer.alloc(0) }])
          expect(await faultsOf({ rows, seals, expiries: [{ ...statement, ...forgery }] })).toEqual([
            ...deleted,
            edited,
          ]);
        const other = statementOn(all.filter(endsIn(LATER)), LATER);
        expect(await faultsOf({ rows, seals, expiries: [other] })).toEqual([
          ...deleted,
          `expiry ${LATER}: its rows were not those that were sealed`,
        ]);
      }),
    );
  });

  test('are told apart from those that were deleted, edited or moved there before, and from those that came back', async () => {
    await fc.assert(
      fc.asyncProperty(ended, async ({ rows, seals, gone }) => {
        const different = `expiry ${MONTH}: its rows were not those that were sealed`;
        const [first, ...others] = gone as [FoundRow, ...FoundRow[]];
        const kept = rows.find(endsIn(null)) as FoundRow;
        const edits = [
          others,
          [{ ...first, mac: randomBytes(32) }, ...others],
          [{ ...first, occurredAt: '0' }, ...others],
        ];
        for (const dropped of edits)
          expect(await faultsOf({ rows, seals, expiries: [statementOn(dropped)] })).toEqual([different]);
        const moved = inOrder([...gone, { ...kept, expiresOn: MONTH }], ({ sequence }) => sequence);
        expect(
          await faultsOf({ rows: rows.filter((row) => row !== kept), seals, expiries: [statementOn(moved)] }),
        ).toEqual([`row ${kept.sequence}: deleted`, different]);
        expect(await faultsOf({ rows: [...rows, first], seals, expiries: [statementOn(gone)] })).toEqual([different]);
      }),
    );
  });

  test('is where a row is found that was given another end', async () => {
    await fc.assert(
      fc.asyncProperty(ended, async ({ rows, seals, all }) => {
        const kept = rows.find(endsIn(null)) as FoundRow;
        const moved = all.map((row) => (row === kept ? { ...row, expiresOn: MONTH } : row));
        expect(await faultsOf({ rows: moved, seals })).toEqual([
          `${nameOf(kept)}: its time or end was edited, or it replaces another row`,
        ]);
      }),
    );
  });
});
