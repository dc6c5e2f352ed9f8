import { randomBytes } from 'node:crypto';
import { AuditChain, type RowStamp, type Seal } from '../../../src/kernel/audit/audit-chain.js';
import fc from '../../kit/properties.js';

const chain = new AuditChain(randomBytes(32));

/** One in three rows is kept for ever. */
const expiryOf = (sequence: bigint): string | null =>
  [null, '1970-01-01', '2031-12-01'][Number(sequence % 3n)] as string | null;

const stamps = fc
  .uniqueArray(fc.bigInt({ min: 1n, max: 2n ** 62n }), { minLength: 1, maxLength: 20 })
  .map((sequences) =>
    sequences
      .sort((a, b) => (a < b ? -1 : 1))
      .map(
        (sequence): RowStamp => ({
          sequence,
          occurredAt: String(sequence * 3n),
          expiresOn: expiryOf(sequence),
          mac: randomBytes(32),
        }),
      ),
  );

const sealOf = (rows: readonly RowStamp[], head: Seal | null = null): Seal =>
  chain.seal(head, { rows, last: rows.at(-1)?.sequence ?? 0n, sealedAt: '1700000000000' });

describe('a seal', () => {
  test('accounts for its rows, by sequence and digest, and is genuine', () => {
    fc.assert(
      fc.property(stamps, (rows) => {
        const seal = sealOf(rows);
        expect(chain.entriesOf(seal)).toEqual(
          rows.map((row) => ({
            sequence: row.sequence,
            digest: chain.digestOf(row),
            expiresOn: row.expiresOn,
            bytes: chain.entryOf(row),
          })),
        );
        expect(chain.isGenuine(seal)).toBe(true);
        expect(new AuditChain(randomBytes(32)).isGenuine(seal)).toBe(false);
      }),
    );
  });

  test('is not genuine any more with any part of it changed', () => {
    fc.assert(
      fc.property(stamps, fc.nat(), fc.integer({ min: 0, max: 7 }), (rows, at, bit) => {
        const seal = sealOf(rows);
        const flipped = (part: Buffer): Buffer => {
          const copy = Buffer.from(part);
          const index = at % copy.length;
          copy[index] = (copy[index] as number) ^ (1 << bit);
          return copy;
        };
        const forgeries: Partial<Seal>[] = [
          { number: seal.number + 1n },
          { after: seal.after + 1n },
          { last: seal.last + 1n },
          { sealedAt: '1700000000001' },
          { entries: flipped(seal.entries) },
          { entries: seal.entries.subarray(24) },
          { previous: flipped(seal.previous) },
          {
            previous: Buffer.concat([seal.previous, seal.entries.subarray(0, 24)]),
            entries: seal.entries.subarray(24),
          },
          { expiries: seal.expiries === null ? Buffer.alloc(rows.length * 2) : null },
          ...(seal.expiries === null
            ? []
            : [
                { expiries: flipped(seal.expiries) },
                { entries: Buffer.concat([seal.entries, seal.expiries]), expiries: null },
                {
                  entries: Buffer.concat([seal.entries, seal.expiries.subarray(0, 2)]),
                  expiries: seal.expiries.subarray(2),
                },
              ]),
          { mac: flipped(seal.mac) },
          { mac: seal.mac.subarray(16) },
        ];
        for (const forgery of forgeries) expect(chain.isGenuine({ ...seal, ...forgery })).toBe(false);
      }),
    );
  });

  test('is linked to the one that it was made after, and to no other', () => {
    fc.assert(
      fc.property(stamps, (rows) => {
        const first = sealOf(rows);
        const other = chain.seal(null, { rows, last: first.last, sealedAt: '1700000000001' });
        const second = chain.seal(first, { rows, last: first.last + 1n, sealedAt: '1700000000002' });
        expect([first, second].map(({ number, after }) => [number, after])).toEqual([
          [1n, 0n],
          [2n, first.last],
        ]);
        expect(chain.isLinked(null, first)).toBe(true);
        expect(chain.isLinked(first, second)).toBe(true);
        expect(chain.isLinked(other, second)).toBe(false);
        expect(chain.isLinked(null, second)).toBe(false);
      }),
    );
  });

  test('tells two rows apart by time, end or MAC, and knows a row again at another sequence', () => {
    const row = { sequence: 7n, occurredAt: '1700000000000', expiresOn: null, mac: randomBytes(32) };
    expect(chain.digestOf({ ...row, sequence: 8n })).toBe(chain.digestOf(row));
    expect(chain.digestOf({ ...row, occurredAt: '1700000000001' })).not.toBe(chain.digestOf(row));
    expect(chain.digestOf({ ...row, expiresOn: '2027-01-01' })).not.toBe(chain.digestOf(row));
    expect(chain.digestOf({ ...row, occurredAt: 'Infinity' })).not.toBe(chain.digestOf(row));
    expect(chain.digestOf({ ...row, mac: randomBytes(32) })).not.toBe(chain.digestOf(row));
  });
});
