import { createSecretKey, randomBytes, randomUUID } from 'node:crypto';
import { jest } from '@jest/globals';
import { OpenedValues } from '../../../src/kernel/crypto/opened-values.js';
import type { DataKey, PlaceInScope } from '../../../src/kernel/crypto/seal.js';
import { SealedText } from '../../../src/kernel/crypto/sealed-text.js';

const dataKey = (): DataKey => ({ id: randomUUID(), key: createSecretKey(randomBytes(32)) });
const place = (changes: Partial<PlaceInScope> = {}): PlaceInScope => ({
  table: 'secret',
  column: 'value',
  rowId: '8a1f5a0e-7a51-4f0a-9f0e-5a3f4f0c2d11',
  rowVersion: 1,
  ...changes,
});
const MIB = 1024 * 1024;

describe('opened values', () => {
  const made: OpenedValues[] = [];
  /** Says how often a record was opened. */
  const valuesOf = (maxBytes: number) => {
    const values = new OpenedValues(maxBytes);
    made.push(values);
    let opened = 0;
    const find = (key: DataKey, at: PlaceInScope, record: Buffer): string =>
      values
        .find(key, at, record, () => {
          opened += 1;
          return new SealedText(record.toString('hex'));
        })
        .reveal();
    return { values, find, opened: () => opened };
  };
  afterEach(() => {
    for (const values of made.splice(0)) values.close();
  });

  test('are opened once for a key, a place and a record, and anew for any other', () => {
    const { find, opened } = valuesOf(MIB);
    const key = dataKey();
    const record = randomBytes(60);
    for (let round = 0; round < 3; round += 1)
      expect(find(key, place(), Buffer.from(record))).toBe(record.toString('hex'));
    expect(opened()).toBe(1);
    const others: [DataKey, PlaceInScope][] = [
      [dataKey(), place()],
      [key, place({ table: 'secret_version' })],
      [key, place({ column: 'comment' })],
      [key, place({ rowId: randomUUID() })],
      [key, place({ rowVersion: 2 })],
    ];
    for (const [otherKey, at] of others) find(otherKey, at, record);
    expect(opened()).toBe(1 + others.length);
  });

  test('are opened anew when any bit of the record is another', () => {
    const { find, opened } = valuesOf(MIB);
    const key = dataKey();
    const record = randomBytes(60);
    find(key, place(), record);
    for (let bit = 0; bit < 8 * record.length; bit += 1) {
      const changed = Buffer.from(record);
      changed[bit >> 3] = (changed[bit >> 3] as number) ^ (1 << (bit & 7));
      expect(find(key, place(), changed)).toBe(changed.toString('hex'));
    }
    expect(opened()).toBe(1 + 8 * record.length);
  });

  test('that were opened first go first when there is no room', () => {
    const { find, opened } = valuesOf(64 * 1024);
    const key = dataKey();
    const records = Array.from({ length: 1_000 }, () => randomBytes(60));
    for (const record of records) find(key, place(), record);
    expect(opened()).toBe(1_000);
    find(key, place(), records.at(-1) as Buffer);
    expect(opened()).toBe(1_000);
    find(key, place(), records[0] as Buffer);
    expect(opened()).toBe(1_001);
  });

  test.each([
    ['without room', 0, 60],
    ['that are long', MIB, 9_000],
  ])('%s are not kept', (_, maxBytes, length) => {
    const { find, opened } = valuesOf(maxBytes);
    const [key, record] = [dataKey(), randomBytes(length)];
    for (let round = 0; round < 2; round += 1) find(key, place(), record);
    expect(opened()).toBe(2);
  });

  test('are gone after they were dropped', () => {
    const { values, find, opened } = valuesOf(MIB);
    const [key, record] = [dataKey(), randomBytes(60)];
    find(key, place(), record);
    values.close();
    find(key, place(), record);
    expect(opened()).toBe(2);
  });

  test('do not stay longer than five minutes, however often they are asked for', () => {
    jest.useFakeTimers();
    try {
      const { find, opened } = valuesOf(MIB);
      const [key, record] = [dataKey(), randomBytes(60)];
      for (let second = 0; second <= 300; second += 10) {
        find(key, place(), record);
        jest.advanceTimersByTime(10_000);
      }
      expect(opened()).toBe(2);
    } finally {
      jest.useRealTimers();
    }
  });
});
