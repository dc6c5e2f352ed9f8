import { createSecretKey, randomBytes, randomInt, randomUUID } from 'node:crypto';
import {
  type DataKey,
  keyIdOf,
  openBytes,
  openValue,
  type SealPlace,
  sealBytes,
  sealValue,
} from '../../../src/kernel/crypto/seal.js';
import fc from '../../kit/properties.js';

const NONCE_START = 17;
const HEADER_BYTES = 29;
const TAG_BYTES = 16;

const dataKey = (): DataKey => ({ id: randomUUID(), key: createSecretKey(randomBytes(32)) });
const place = (changes: Partial<SealPlace> = {}): SealPlace => ({
  organizationId: randomUUID(),
  projectId: randomUUID(),
  table: 'secret',
  column: 'value_sealed',
  rowId: randomUUID(),
  rowVersion: 1,
  ...changes,
});

/** The error code of a record that does not open; undefined when it opens. */
function refusal(key: DataKey, at: SealPlace, record: Uint8Array): string | undefined {
  try {
    openValue(key, at, record);
    return undefined;
  } catch (error) {
    return (error as { code: string }).code;
  }
}

const text = fc.string({ unit: 'grapheme', maxLength: 200 });
const anyPlace: fc.Arbitrary<SealPlace> = fc.record({
  organizationId: fc.uuid(),
  projectId: fc.option(fc.uuid(), { nil: null }),
  table: fc.string({ maxLength: 12 }),
  column: fc.string({ maxLength: 12 }),
  rowId: fc.uuid(),
  rowVersion: fc.nat(),
});

describe('a sealed value', () => {
  test('opens to what was sealed, 100,000 times from 0 B to 512 KiB, and no nonce comes twice', () => {
    const key = dataKey();
    const at = place();
    const large = randomBytes(256 * 1024).toString('hex');
    const small = randomBytes(1024).toString('base64url');
    const nonces = new Set<string>();
    let differences = 0;
    for (let round = 0; round < 100_000; round += 1) {
      const plaintext =
        round % 1_000 === 0 ? large.slice(0, (round / 99_000) * large.length) : small.slice(0, round % 300);
      const record = sealValue(key, at, plaintext);
      nonces.add(record.toString('latin1', NONCE_START, HEADER_BYTES));
      if (openValue(key, at, record) !== plaintext) differences += 1;
    }
    expect({ differences, nonces: nonces.size, largest: large.length }).toEqual({
      differences: 0,
      nonces: 100_000,
      largest: 512 * 1024,
    });
  });

  test('opens to any well-formed text, in any place', () => {
    fc.assert(
      fc.property(text, anyPlace, (plaintext, at) => {
        const key = dataKey();
        expect(openValue(key, at, sealValue(key, at, plaintext))).toBe(plaintext);
      }),
    );
    const key = dataKey();
    const at = place();
    for (const plaintext of ['', '\uFEFFbom', '\0', 'é\u0301', '🔑']) {
      expect(openValue(key, at, sealValue(key, at, plaintext))).toBe(plaintext);
    }
  });

  test('is refused at sealing when UTF-8 cannot hold it', () => {
    expect(() => sealValue(dataKey(), place(), 'a\ud800b')).toThrow(
      expect.objectContaining({ code: 'VALIDATION_FAILED' }),
    );
  });

  test('never opens with one bit flipped, whichever of all bits of 200 records', () => {
    let opened = 0;
    let flips = 0;
    for (let count = 0; count < 200; count += 1) {
      const key = dataKey();
      const at = place();
      const record = sealValue(key, at, randomBytes(count % 40).toString('hex'));
      for (let bit = 0; bit < record.length * 8; bit += 1) {
        const byte = bit >> 3;
        const before = record[byte] as number;
        record[byte] = before ^ (1 << (bit & 7));
        if (refusal(key, at, record) !== 'SEALED_VALUE_INVALID') opened += 1;
        record[byte] = before;
        flips += 1;
      }
      if (refusal(key, at, record) !== undefined) throw new Error('the record itself no longer opens');
    }
    expect(opened).toBe(0);
    expect(flips).toBeGreaterThanOrEqual(200 * 45 * 8);
  });

  test.each([4, 8, 12, 15])('never opens with its tag cut to %d bytes', (bytes) => {
    const key = dataKey();
    const at = place();
    const record = sealValue(key, at, 'a value long enough that sixteen bytes remain for a tag');
    expect(refusal(key, at, record.subarray(0, record.length - TAG_BYTES + bytes))).toBe('SEALED_VALUE_INVALID');
    const empty = sealValue(key, at, '');
    expect(refusal(key, at, empty.subarray(0, empty.length - TAG_BYTES + bytes))).toBe('SEALED_VALUE_INVALID');
  });

  test('never opens as garbage, as nothing, or with another format', () => {
    const key = dataKey();
    const at = place();
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
        expect(refusal(key, at, bytes)).toBe('SEALED_VALUE_INVALID');
        const named = Buffer.concat([sealValue(key, at, '').subarray(0, NONCE_START), bytes]);
        expect(refusal(key, at, named)).toBe('SEALED_VALUE_INVALID');
      }),
    );
  });

  test('opens only in the place that it was sealed for', () => {
    const parts = ['organizationId', 'projectId', 'table', 'column', 'rowId', 'rowVersion'] as const;
    fc.assert(
      fc.property(anyPlace, anyPlace, fc.constantFrom(...parts), (at, other, part) => {
        fc.pre(at[part] !== other[part]);
        const key = dataKey();
        const record = sealValue(key, at, 'value');
        expect(refusal(key, { ...at, [part]: other[part] }, record)).toBe('SEALED_VALUE_INVALID');
        expect(refusal(key, at, record)).toBeUndefined();
      }),
      { numRuns: 500 },
    );
  });

  test('does not take a letter moved from one part of the place to the next for the same place', () => {
    const key = dataKey();
    const at = place({ table: 'ab', column: 'c' });
    const record = sealValue(key, at, 'value');
    expect(refusal(key, { ...at, table: 'a', column: 'bc' }, record)).toBe('SEALED_VALUE_INVALID');
    expect(refusal(key, { ...at, table: 'abc', column: '' }, record)).toBe('SEALED_VALUE_INVALID');
  });

  test('opens for ids in upper case, which name the same row', () => {
    const key = dataKey();
    const at = place();
    const record = sealValue(key, at, 'value');
    expect(openValue(key, { ...at, rowId: at.rowId.toUpperCase() }, record)).toBe('value');
  });

  test('needs the key with the right bytes and the right id', () => {
    const key = dataKey();
    const at = place();
    const record = sealValue(key, at, 'value');
    expect(refusal({ ...key, key: createSecretKey(randomBytes(32)) }, at, record)).toBe('SEALED_VALUE_INVALID');
    expect(refusal({ ...key, id: randomUUID() }, at, record)).toBe('SEALED_VALUE_INVALID');
    const renamed = { ...key, id: randomUUID() };
    const swapped = Buffer.concat([sealValue(renamed, at, '').subarray(0, NONCE_START), record.subarray(NONCE_START)]);
    expect(refusal(renamed, at, swapped)).toBe('SEALED_VALUE_INVALID');
  });

  test('names its key', () => {
    const key = dataKey();
    const record = sealValue(key, place(), 'x');
    expect(keyIdOf(record)).toBe(key.id);
    expect(keyIdOf(record.subarray(0, HEADER_BYTES + TAG_BYTES - 1))).toBeNull();
    expect(keyIdOf(new Uint8Array())).toBeNull();
    expect(keyIdOf(Buffer.concat([Buffer.of(2), record.subarray(1)]))).toBeNull();
  });

  test('holds nothing of the plaintext, and is as long as the plaintext and 45 bytes', () => {
    const plaintext = 'canary-'.repeat(randomInt(3, 9));
    const record = sealValue(dataKey(), place(), plaintext);
    expect(record.toString('latin1')).not.toContain('canary');
    expect(record).toHaveLength(plaintext.length + 45);
  });

  test('of bytes opens to the same bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), anyPlace, (bytes, at) => {
        const key = dataKey();
        expect([...openBytes(key, at, sealBytes(key, at, bytes))]).toEqual([...bytes]);
      }),
    );
  });
});
