import type {
  ParsedFile,
  PrintableEntry,
  TransferFormat,
} from '../../../../src/features/secrets/transfer/transfer-format.rules.js';
import fc from '../../../kit/properties.js';

/** Signs that mean something in some format, and texts that are taken for something else. */
const NASTY = [
  ...['"', "'", '`', '\\', '#', '$', '=', ':', ' ', '\t', '\n', '\r', '\r\n', '\u0000', '\u001f', '\u007f', '\u0085'],
  ...[
    '\u00a0',
    '\u2028',
    '\u2029',
    '\ufeff',
    'ä',
    '\u{1f511}',
    '\\n',
    '\\r',
    "\\'",
    '\\"',
    '$A',
    '---',
    '...',
    '|',
    '>',
    '&a',
  ],
  ...[
    '*a',
    '!t',
    '%',
    '@',
    ',',
    '{',
    '}',
    '[',
    ']',
    '- ',
    '? ',
    ': ',
    ' #',
    '# ',
    'export ',
    'KEY=',
    'true',
    'null',
    '~',
    '1e3',
  ],
];
const piece = fc.oneof(
  fc.constantFrom(...NASTY),
  fc.string({ unit: 'grapheme', maxLength: 3 }),
  fc.stringMatching(/^\w{1,4}$/),
);

/** Values that hurt: quotes, blanks at the ends, all kinds of line ends, escapes, whatever some parser cares for. */
export const nastyText = fc
  .oneof(
    { weight: 5, arbitrary: fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join('')) },
    fc.string({ unit: 'binary' }),
  )
  .filter((text) => text.isWellFormed());

/** Anything at all: what people paste by mistake. */
export const garbage = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .array(fc.oneof(piece, fc.constantFrom('A', 'B', '\n', '\n')), { maxLength: 30 })
      .map((it) => it.join('')),
  },
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.json(),
);

/** Entries with these keys, none twice. */
export const entriesWith = (
  key: fc.Arbitrary<string>,
  comment?: fc.Arbitrary<string | undefined>,
): fc.Arbitrary<PrintableEntry[]> =>
  fc.uniqueArray(fc.record({ key, value: nastyText, comment: comment ?? fc.constant(undefined) }), {
    selector: (entry) => entry.key,
    maxLength: 6,
  });

/** Keys under the rule of secret keys, as they are after trimming. */
export const secretKeys = fc
  .oneof(fc.stringMatching(/^[A-Z_]{1,12}$/), nastyText)
  .map((text) => text.trim())
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what the rule refuses
  .filter((key) => key.length >= 1 && key.length <= 255 && !/[/:=\u0000-\u001f\u007f-\u009f]/.test(key));

/** Comments of lines without blanks at their ends. */
export const comments = fc
  .array(fc.stringMatching(/^[!-~]([ -~ä]{0,10}[!-~])?$/), { maxLength: 3 })
  .map((lines) => lines.join('\n') || undefined);

/** Without what only a file has. */
export const plain = ({ entries }: ParsedFile): PrintableEntry[] =>
  entries.map(({ line: _line, entry: _entry, warnings: _warnings, ...entry }) => ({ comment: undefined, ...entry }));

/** The text of entries that a format can hold. */
export function printed(format: TransferFormat, entries: readonly PrintableEntry[]): string {
  const file = format.print(entries);
  if (file.inexpressible !== undefined) throw new Error(`cannot be written: ${JSON.stringify(file.inexpressible)}`);
  return file.text;
}

/** The faults of a text, as `line code` and, where there is one, the number of the entry. */
export const violationsIn = (format: TransferFormat, text: string): string[] =>
  format
    .parse(text)
    .violations.map(({ line, code, entry }) => [line, code, entry].filter((it) => it !== undefined).join(' '));
