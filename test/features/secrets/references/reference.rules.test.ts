import {
  isReferenceable,
  parseReferences,
  printReference,
  type ReferenceTarget,
  rewriteReferences,
} from '../../../../src/features/secrets/core/reference.rules.js';
import fc from '../../../kit/properties.js';
import { rounds } from '../../../kit/scope.js';

const targetsOf = (value: string): ReferenceTarget[] =>
  parseReferences(value).references.map(({ environment, path, key }) => ({ environment, path, key }));
const textOf = (value: string): string =>
  parseReferences(value)
    .pieces.map((piece) => {
      if (typeof piece === 'string') return piece;
      return 'written' in piece ? piece.written : piece.text;
    })
    .join('');

const word = fc.stringMatching(/^[A-Za-z0-9_-]{1,12}$/);
const local = word.map((key): ReferenceTarget => ({ environment: null, path: null, key }));
const elsewhere = fc
  .record({ environment: word, names: fc.array(word, { maxLength: 4 }), key: word })
  .map(({ names, ...rest }): ReferenceTarget => ({ ...rest, path: `/${names.join('/')}` }));
const target = fc.oneof(local, elsewhere);
/** Text with much that looks like a reference and is none. */
const plain = fc.oneof(fc.string({ unit: 'grapheme', maxLength: 20 }), fc.stringMatching(/^[${}.A a-]{0,16}$/));

describe('references in values', () => {
  test.each([
    ['${KEY}', { environment: null, path: null, key: 'KEY' }],
    ['${prod.KEY}', { environment: 'prod', path: '/', key: 'KEY' }],
    ['${prod.db.main-1.PASS_word}', { environment: 'prod', path: '/db/main-1', key: 'PASS_word' }],
    ['postgres://u:${PASS}@host', { environment: null, path: null, key: 'PASS' }],
    ['${${KEY}', { environment: null, path: null, key: 'KEY' }],
  ])('%j names a secret', (value, wanted) => {
    expect(targetsOf(value)).toEqual([wanted]);
    expect(textOf(value)).toBe(value);
  });

  test.each([
    '',
    'KEY',
    '$KEY',
    '${}',
    '${.KEY}',
    '${KEY.}',
    '${a..KEY}',
    '${a b}',
    '${KEY',
    '$ {KEY}',
    '${a/b}',
    '${@p.e.KEY}',
    `\${${'k'.repeat(256)}}`,
    `\${${'e'.repeat(65)}.KEY}`,
    `\${dev.${'f'.repeat(2_000)}.KEY}`,
  ])('%j is plain text', (value) => {
    expect(targetsOf(value)).toEqual([]);
    expect(textOf(value)).toBe(value);
  });

  test.each([
    ['$${KEY}', '${KEY}', []],
    ['a$${dev.b.KEY}c', 'a${dev.b.KEY}c', []],
    ['$$${KEY}', '$<KEY>', ['KEY']],
    ['$$$${KEY}', '$${KEY}', []],
    ['$$$$${KEY}', '$$<KEY>', ['KEY']],
    ['$${KEY}${KEY}', '${KEY}<KEY>', ['KEY']],
    ['$$ $$KEY $${} $${a b}', '$$ $$KEY $${} $${a b}', []],
  ])('%j stands for %j: each $$ before {KEY} is a $', (value, stands, keys) => {
    const { pieces, references } = parseReferences(value);
    const read = pieces.map((piece) => {
      if (typeof piece === 'string') return piece;
      return 'written' in piece ? piece.stands : `<${piece.key}>`;
    });
    expect(read.join('')).toBe(stands);
    expect(references.map(({ key }) => key)).toEqual(keys);
    expect(textOf(value)).toBe(value);
    expect(rewriteReferences(value, (reference) => reference)).toBe(value);
  });

  test('are told once each, in the order of their first places', () => {
    const { pieces, references } = parseReferences('${B}-${A}-${B}${dev.B}');
    expect(references.map(({ text }) => text)).toEqual(['${B}', '${A}', '${dev.B}']);
    expect(pieces.map((piece) => (typeof piece === 'object' && 'text' in piece ? piece.text : piece))).toEqual([
      '${B}',
      '-',
      '${A}',
      '-',
      '${B}',
      '${dev.B}',
    ]);
  });

  test('what is printed is read back', () => {
    fc.assert(fc.property(target, (wanted) => expect(targetsOf(printReference(wanted))).toEqual([wanted])));
  });

  test('pieces together are the value, and references print as they stand', () => {
    const values = fc
      .array(fc.oneof(plain, target.map(printReference)), { maxLength: 8 })
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(values, (value) => {
        expect(textOf(value)).toBe(value);
        for (const reference of parseReferences(value).references)
          expect(printReference(reference)).toBe(reference.text);
      }),
      { numRuns: rounds(1_000) },
    );
  });

  test('a rewrite changes what it is told to and nothing else', () => {
    expect(
      rewriteReferences('a${K}b${dev.K}c${K}', ({ environment }) =>
        environment ? null : { environment: 'prod', path: '/x', key: 'L' },
      ),
    ).toBe('a${prod.x.L}b${dev.K}c${prod.x.L}');
    const values = fc.array(fc.oneof(plain, target.map(printReference))).map((parts) => parts.join(''));
    fc.assert(
      fc.property(values, (value) => {
        expect(rewriteReferences(value, () => null)).toBe(value);
        expect(rewriteReferences(value, (same) => same)).toBe(value);
      }),
    );
  });

  test('a key can be named when its reference is read back as that key', () => {
    fc.assert(
      fc.property(fc.oneof(word, plain, fc.constant('a.b')), (key) => {
        const [found, ...more] = parseReferences(printReference({ environment: null, path: null, key })).references;
        const isReadBack = found?.key === key && found.environment === null && more.length === 0;
        expect(isReferenceable(key)).toBe(isReadBack);
      }),
    );
  });

  test('a long value of half references, or of dollars, is read in one go', () => {
    for (const value of ['${a${a.'.repeat(75_000), '$'.repeat(512 * 1024), '$$${a}'.repeat(80_000)])
      expect(textOf(value)).toBe(value);
  });
});
