import { randomBytes, randomUUID } from 'node:crypto';
import { Keyring } from '../../src/kernel/crypto/keyring.js';
import { RootKey } from '../../src/kernel/crypto/root-key.js';
import { InstallationKeys, RootKeys } from '../../src/kernel/crypto/root-keys.js';
import { StableKeys } from '../../src/kernel/crypto/stable-keys.js';
import { AppError } from '../../src/kernel/errors.js';
import { SealedCursors } from '../../src/kernel/graphql/sealed-cursors.js';
import { isStorable } from '../../src/kernel/value-rules.js';
import { NOTHING_DISABLED } from '../kit/nothing-disabled.js';
import fc from '../kit/properties.js';

const installation = StableKeys.make();
const organizationId = randomUUID();

/** A node of the installation. It has no database: nothing of a cursor is stored. */
const node = (kept = installation) =>
  new Keyring(
    new InstallationKeys(new RootKeys(new RootKey(randomBytes(32))), kept),
    () => Promise.reject(new Error('a cursor needs no statement')),
    NOTHING_DISABLED,
  );
const cursors = (list = 'list', question: object = {}, of = organizationId, keyring = node()) =>
  new SealedCursors({ keyring, organizationId: of }, list, question);

function refusal(reader: SealedCursors, cursor: string, parts = 2): unknown {
  try {
    reader.read(cursor, parts);
    return null;
  } catch (error) {
    if (error instanceof AppError) return [error.code, error.details?.map(({ code }) => code)];
    throw error;
  }
}

const INVALID = ['VALIDATION_FAILED', ['INVALID_CURSOR']];
const key = fc
  .array(fc.string({ unit: 'binary', maxLength: 300 }), { minLength: 1, maxLength: 5 })
  .filter((parts) => parts.every(isStorable));

describe('sealed cursors', () => {
  test('come back on every node as the key that they were made of, and are safe in a query string', () => {
    const [writer, reader] = [cursors(), cursors()];
    fc.assert(
      fc.property(key, (parts) => {
        const cursor = writer.write(parts);
        expect(cursor).toMatch(/^[\w-]+$/);
        expect(reader.read(cursor, parts.length)).toEqual(parts);
        expect(refusal(reader, cursor, parts.length + 1)).toEqual(INVALID);
      }),
    );
    expect([reader.read(null, 2), reader.read(undefined, 2)]).toEqual([null, null]);
  });

  test('are one text for one position in a reply, and another in the next, of the same length for names of about one length', () => {
    const writer = cursors();
    expect(writer.write(['a', 'b'])).toBe(writer.write(['a', 'b']));
    expect(cursors().write(['a', 'b'])).not.toBe(writer.write(['a', 'b']));
    expect(writer.write(['a', 'b'])).toHaveLength(writer.write(['a', 'b'.repeat(100)]).length);
    expect(writer.write(['ü'.repeat(70)])).toHaveLength(writer.write(['a'.repeat(240)]).length);
  });

  test('are refused when any of their characters is another, or one more or less is there', () => {
    const cursor = cursors().write(['/', 'KEY']);
    for (let at = 0; at < cursor.length; at += 1)
      for (const other of ['A', 'Q', '_', '']) {
        if (other === cursor[at]) continue;
        expect(refusal(cursors(), cursor.slice(0, at) + other + cursor.slice(at + 1))).toEqual(INVALID);
      }
    for (const other of [`${cursor}A`, `${cursor}=`, ` ${cursor}`, ''])
      expect(refusal(cursors(), other)).toEqual(INVALID);
  });

  test('are none of another list, question, organization or root key', () => {
    const question = { project: 'a', environments: ['dev'] };
    const cursor = cursors('list', question).write(['/', 'KEY']);
    const foreign = [
      cursors('other', question),
      cursors('list', { ...question, project: 'b' }),
      cursors('list', { ...question, environments: ['dev', 'prod'] }),
      cursors('list', question, randomUUID()),
      cursors('list', question, organizationId, node(StableKeys.make())),
    ];
    for (const reader of foreign) expect(refusal(reader, cursor)).toEqual(INVALID);
    const same = cursors('list', { ...question, tags: null, key: undefined });
    expect(same.read(cursor, 2)).toEqual(['/', 'KEY']);
  });

  test('made up by a caller are refused', () => {
    fc.assert(fc.property(fc.string({ maxLength: 80 }), (made) => expect(refusal(cursors(), made)).toEqual(INVALID)));
  });
});
