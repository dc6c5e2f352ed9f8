import { parse as parseWithDotenv } from 'dotenv';
import {
  checkedFile,
  commentLines,
  commentText,
  type Entry,
  type FormatError,
  type Inexpressible,
  type TransferFormat,
} from './transfer-format.rules.js';

/**
 * Files of lines `KEY=value`, as the npm package `dotenv` reads them: what is accepted here means the same there. Lines
 * that the package skips silently are violations.
 */
export const dotenvFormat: TransferFormat = {
  parse: (text) => checkedFile(pairs(text.replace(/\r\n?/g, '\n'))),

  print: (entries) => {
    const written = entries.map(({ value }) => writtenValue(value));
    const inexpressible = entries.flatMap(({ key }, index): Inexpressible[] => [
      ...(isExpressibleKey(key) ? [] : [{ index, part: 'secretKey' as const }]),
      ...(written[index] === undefined ? [{ index, part: 'secretValue' as const }] : []),
    ]);
    if (inexpressible.length > 0) return { inexpressible };
    const lines = entries.flatMap(({ key, comment }, index) => [...commentLines(comment), `${key}=${written[index]}`]);
    return { text: lines.map((line) => `${line}\n`).join('') };
  },

  join: (files) => files.join(''),
};

const COMMENT = /^\s*#/;
/**
 * `KEY=` or `KEY: ` and the whitespace after it. The package lets the value start on a later line, where it swallows
 * another pair.
 */
const HEAD = /^\s*(?:export\s+)?([\w.-]+)(?:\s*=|:(?=\s))\s*/;
/** What follows a closing quote: whitespace, and then a comment or the end of the line. */
const END_OF_PAIR = /[^\S\n\u2028\u2029]*(?:$|[\n\u2028\u2029#])/y;
/** The package ends lines and comments here; editors do not. */
const LINE_SEPARATOR = /[\u2028\u2029]/;
const QUOTES = [`'`, '"', '`'];

const NOT_A_PAIR = { code: 'NOT_A_PAIR', message: 'must be KEY=value, a comment or blank' } as const;
const SEPARATED = {
  code: 'LINE_SEPARATOR',
  message: 'must not contain a line or paragraph separator (U+2028, U+2029) outside of quotes',
} as const;

/** The pairs of a file, with the comments right above them, and the invalid lines. */
function* pairs(source: string): Generator<Entry | FormatError> {
  let comment: string[] = [];
  for (let at = 0, line = 1; at < source.length; ) {
    let end = endOfLine(source, at);
    const text = source.slice(at, end);
    const head = HEAD.exec(text);
    if (head !== null) {
      const pair = pairAt(source, at, head);
      yield { comment: comment.join('\n') || undefined, ...pair.found, line };
      comment = [];
      end = pair.end;
    } else if (COMMENT.test(text)) {
      if (LINE_SEPARATOR.test(text)) yield { line, ...SEPARATED };
      comment.push(commentText(text));
    } else {
      if (text.trim() !== '') yield { line, ...NOT_A_PAIR };
      comment = [];
    }
    line += source.slice(at, end).split('\n').length;
    at = end + 1;
  }
}

interface FoundPair {
  /** Where its last line ends: a quoted value may span lines. */
  readonly end: number;
  readonly found: Omit<Entry, 'line'> | Omit<FormatError, 'line'>;
}

/** The pair whose key starts at `at`. */
function pairAt(source: string, at: number, [head, key = '']: RegExpExecArray): FoundPair {
  const open = at + head.length;
  const close = closingQuote(source, open);
  const end = endOfLine(source, close ?? open);
  if (LINE_SEPARATOR.test(head + source.slice(close ?? open, end))) return { end, found: SEPARATED };
  // One pair at a time: the time that the package takes for a whole file grows with the square of its blank lines.
  const read = parseWithDotenv(source.slice(at, end));
  // Not parsed by the package: it loses a pair with the key `__proto__`.
  const value = Object.hasOwn(read, key) ? read[key] : undefined;
  return { end, found: value === undefined ? NOT_A_PAIR : { key, value } };
}

function endOfLine(source: string, at: number): number {
  const end = source.indexOf('\n', at);
  return end === -1 ? source.length : end;
}

/**
 * Where the quotes that open at `open` close: the first quote without a backslash before it or, when more than a
 * comment follows that one, the last before it that ends its line. Undefined: the value is not quoted, whatever it
 * starts with.
 */
function closingQuote(source: string, open: number): number | undefined {
  const quote = source[open] ?? '';
  if (!QUOTES.includes(quote)) return undefined;
  let lastEscaped: number | undefined;
  for (let at = source.indexOf(quote, open + 1); at !== -1; at = source.indexOf(quote, at + 1)) {
    END_OF_PAIR.lastIndex = at + 1;
    const endsPair = END_OF_PAIR.test(source);
    if (source[at - 1] !== '\\') return endsPair ? at : lastEscaped;
    if (endsPair) lastEscaped = at;
  }
  return lastEscaped;
}

/** The package accepts no other keys, and loses `__proto__`. */
const isExpressibleKey = (key: string): boolean => /^[\w.-]+$/.test(key) && key !== '__proto__';

/** A value written so that the package reads it back; undefined when there is no way. */
const writtenValue = (value: string): string | undefined =>
  waysToWrite(value).find((written) => parseWithDotenv(`KEY=${written}`).KEY === value);

/** Ways to write a value, the plainest first. Each is complete in itself, whatever follows in the file. */
function waysToWrite(value: string): string[] {
  if (/^[\w.,:@%+=/-]*$/.test(value)) return [value];
  // A carriage return needs an escape, and only a value in double quotes has escapes.
  const escaped = value.replaceAll('\r', '\\r');
  const quoted = QUOTES.filter((quote) => !value.includes(quote)).map((quote) =>
    inQuotes(quote, quote === '"' ? escaped : value),
  );
  // On one line quotes may contain the same quote: the package strips the outermost.
  const lines = [value, escaped.replaceAll('\n', '\\n')].filter((line) => !/[#\r\n\u2028\u2029]/.test(line));
  return [...quoted, ...lines.flatMap((line) => [bare(line), ...QUOTES.map((quote) => inQuotes(quote, line))])];
}

const inQuotes = (quote: string, text: string): string =>
  quote + text + quote + (text.endsWith('\\') ? guard(quote) : '');

const bare = (text: string): string => (QUOTES.includes(text.charAt(0)) ? text + guard(text.charAt(0)) : text);

/**
 * A comment with a quote that does not end its line. The package searches the rest of the file for a closing quote,
 * gets no further than this one, and backtracks.
 */
const guard = (quote: string): string => ` #${quote}.`;
