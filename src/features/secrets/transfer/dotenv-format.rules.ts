import { isNameable } from '../../../kernel/suggestions.js';
import {
  checkedFile,
  commentLines,
  commentText,
  type Entry,
  type FormatError,
  type Inexpressible,
  type TransferFormat,
  type Warning,
} from './transfer-format.rules.js';

/**
 * Files of lines `KEY=value`. A value is read as the npm package `dotenv`, Docker Compose and python-dotenv read it; a line
 * that they read differently is a violation. A line that only a shell would read differently has a warning.
 */
export const dotenvFormat: TransferFormat = {
  parse: (text) => checkedFile(pairs(text.replace(/^\ufeff/, ''))),

  print: (entries) => {
    const written = entries.map(({ value, isFinal }) => quotedAlike(value, isFinal));
    const inexpressible = entries.flatMap(({ key }, index): Inexpressible[] => [
      ...(isShellName(key) ? [] : [{ index, part: 'secretKey' as const }]),
      ...(written[index] === undefined ? [{ index, part: 'secretValue' as const }] : []),
    ]);
    if (inexpressible.length > 0) return { inexpressible };
    const lines = entries.flatMap(({ key, comment }, index) => [...commentLines(comment), `${key}=${written[index]}`]);
    return { text: lines.map((line) => `${line}\n`).join('') };
  },

  join: (files) => files.join(''),
};

const COMMENT = /^\s*#/;
/** `KEY=` or `KEY: ` and the blanks after it. Some readers lose `__proto__`. */
const HEAD = /^([ \t]*(?:export[ \t]+)?)(?!__proto__\b)([\w.-]+)([ \t]*=|:(?=[ \t]))([ \t]*)/;
/** The npm package ends lines and comments here; others do not. */
const LINE_SEPARATOR = /[\u2028\u2029]/;
/** What may follow the closing quote. */
const END_OF_PAIR = /^(?:[ \t]+#.*|[ \t]*)$/;

const NOT_A_PAIR = { code: 'NOT_A_PAIR', message: 'must be KEY=value, a comment or blank' } as const;
const SEPARATED = {
  code: 'LINE_SEPARATOR',
  message: 'must not contain a line or paragraph separator (U+2028, U+2029) outside of quotes',
} as const;
const VARIABLE: Warning = {
  reason: 'VARIABLE',
  message:
    'no variable is replaced here, as some readers do: `$NAME` is kept as text, and `${NAME}` refers to the secret NAME',
};
const NOT_FOR_SHELL: Warning = {
  reason: 'NOT_FOR_SHELL',
  message: 'a shell that sources the file would read this line differently; values in single quotes are read alike',
};

/** The pairs of a file, with the comments right above them, and the invalid lines. */
function* pairs(file: string): Generator<Entry | FormatError> {
  const source = file.replace(/\r\n?/g, '\n');
  const hasReturns = source !== file;
  let comment: string[] = [];
  for (let at = 0, line = 1; at < source.length; ) {
    let end = endOfLine(source, at);
    const text = source.slice(at, end);
    const head = HEAD.exec(text);
    if (head !== null) {
      const pair = pairAt(source, at, head, hasReturns);
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

/** The pair whose line starts at `at`. */
function pairAt(source: string, at: number, head: RegExpExecArray, hasReturns: boolean): FoundPair {
  const [whole, , key = '', sign, blanks = ''] = head;
  const open = at + whole.length;
  const quote = source[open] ?? '';
  const lineEnd = endOfLine(source, open);
  const refused = (end: number, why: string): FoundPair => ({
    end,
    found: { code: 'READERS_DIFFER', message: `${isNameable(key) ? `\`${key}\`: ` : ''}${why}` },
  });
  if (!/^['"`]/.test(quote)) {
    const raw = source.slice(open, lineEnd);
    if (LINE_SEPARATOR.test(raw)) return { end: lineEnd, found: SEPARATED };
    const { value, why } = unquotedValue(raw);
    if (value === undefined) return refused(lineEnd, why);
    const isPlain = isShellName(key) && sign === '=' && PLAIN.test(value) && (blanks === '' || value === '');
    const warnings = [...(value.includes('$') ? [VARIABLE] : []), ...(isPlain ? [] : [NOT_FOR_SHELL])];
    return { end: lineEnd, found: { key, value, warnings } };
  }
  const close = quote === '`' ? -1 : source.indexOf(quote, open + 1);
  if (close === -1) return refused(lineEnd, `a quote (${quote}) starts the value and is not closed`);
  const end = endOfLine(source, close);
  const rest = source.slice(close + 1, end);
  if (LINE_SEPARATOR.test(rest)) return { end, found: SEPARATED };
  const content = source.slice(open + 1, close);
  const { value, why } = quotedValue(quote, content);
  if (value === undefined) return refused(end, why);
  if (!END_OF_PAIR.test(rest))
    return refused(end, 'text follows the closing quote; a comment needs a blank before its #');
  const isLiteral = quote === "'";
  const isAlike = isShellName(key) && sign === '=' && blanks === '' && !(hasReturns && content.includes('\n'));
  const warnings = [
    ...((isLiteral ? value.includes('${') : value.includes('$')) ? [VARIABLE] : []),
    ...(isAlike && (isLiteral || !/[\\`]/.test(content)) ? [] : [NOT_FOR_SHELL]),
  ];
  return { end, found: { key, value, warnings } };
}

function endOfLine(source: string, at: number): number {
  const end = source.indexOf('\n', at);
  return end === -1 ? source.length : end;
}

/*
 * What the readers of .env files have in common: a POSIX shell (`set -a; . file`), Docker Compose (compose-go/dotenv), the
 * npm package `dotenv`, and python-dotenv. They differ in escapes, comments and variables; inside single quotes they agree
 * on everything but quotes, some backslashes, carriage returns and `${NAME}`.
 */

/** Characters that mean nothing to any reader. `~` and braces are not among them. */
const PLAIN = /^[\w.,:@%+=/-]*$/;

/**
 * A value written so that all of them read it, and no shell executes or replaces anything in it; undefined when there is
 * no such way.
 *
 * @param isFinal whether `${NAME}` in it is text: python-dotenv would replace it, also in single quotes. Otherwise it is a
 *   reference, and the file is for an import
 */
function quotedAlike(value: string, isFinal = false): string | undefined {
  if (value !== '' && PLAIN.test(value)) return value;
  if (value.includes('\r') || (isFinal && PYTHON_VARIABLE.test(value))) return undefined;
  if (!value.includes("'")) return PYTHON_ESCAPE.test(value) ? undefined : `'${value}'`;
  return /["\\$`]/.test(value) ? undefined : `"${value}"`;
}

const PYTHON_VARIABLE = /\$\{[^}:]*(?::-[^}]*)?\}/;
/** python-dotenv takes two backslashes for one, and most readers take the last one for the escape of the quote. */
const PYTHON_ESCAPE = /\\(?:\\|$)/;

/**
 * Names that shells evaluate or set themselves. Some assign with arithmetic, which executes commands: in bash
 * `RANDOM='x[$(id)]'` runs `id`; others are prompts, which are expanded when they are printed.
 */
const SHELL_OWN = new RegExp(
  `^(?:${[
    'BASH.*|COMP_.*|HIST.*|KSH.*|PS\\d|_|__proto__',
    'COLUMNS|DIRSTACK|EGID|ENV|EPOCH(?:SECONDS|REALTIME)|ERRNO|EUID|FUNCNAME|FUNCNEST|GID|GROUPS|IFS|JOBMAX|LINENO|LINES',
    'MAILCHECK|OPTARG|OPTIND|PGRP|PIPESTATUS|PPID|PROMPT_COMMAND|RANDOM|SECONDS|SHELLOPTS|SHLVL|SRANDOM|TMOUT|UID|USER_ID',
  ].join('|')})$`,
);

/** True for a key that a shell assigns as it is: any other would be the name of a command, or be evaluated. */
export const isShellName = (key: string): boolean => /^[A-Za-z_]\w*$/.test(key) && !SHELL_OWN.test(key);

/** A value that all readers but shells read alike, or why there is none. */
type ReadValue =
  | { readonly value: string; readonly why?: undefined }
  | { readonly value?: undefined; readonly why: string };

/** The value of a line without quotes, from after the `=` to its end. */
function unquotedValue(raw: string): ReadValue {
  // npm's package starts a comment at every `#`, the others only after a blank.
  const hash = raw.indexOf('#');
  if (hash !== -1 && raw[hash - 1] !== ' ')
    return { why: 'some readers start a comment at this #: put the value in quotes' };
  const value = raw.slice(0, hash === -1 ? raw.length : hash);
  // Readers remove different blanks at the ends.
  return /[^\P{Z} ]|[^\P{Cc}\t]|\ufeff/u.test(value)
    ? { why: 'contains a control character or an unusual blank: put the value in quotes' }
    : { value: value.trim() };
}

/** The value between quotes, from after the opening one to the first closing one. */
function quotedValue(quote: string, content: string): ReadValue {
  const ambiguous = quote === '"' ? /\\[abcftv0$"'`\\\n]/ : PYTHON_ESCAPE;
  if (ambiguous.test(content) || content.endsWith('\\')) {
    return { why: 'readers differ in what a backslash means here: use the other quotes, or JSON or YAML' };
  }
  return { value: quote === '"' ? content.replaceAll('\\n', '\n').replaceAll('\\r', '\r') : content };
}
