import { Composer, CST, Lexer, LineCounter, Parser } from 'yaml';
import {
  checkedFile,
  commentLines,
  commentText,
  type Entry,
  type FormatError,
  type PrintableEntry,
  type TransferFormat,
} from './transfer-format.rules.js';

/** Files of one flat YAML map. Scalars are read as the text as written: `PORT: 8080` is the string `8080`. */
export const yamlFormat: TransferFormat = {
  parse: (text) => checkedFile(pairs(text)),

  print: (entries) => ({ text: entries.length === 0 ? '{}\n' : entries.map(printedPair).join('') }),

  join: (files) => files.join(''),
};

/** Far more than a file with the maximum number of secrets, each with some lines of comment, consists of. */
const MAX_TOKENS = 30_000;

const violation = (code: FormatError['code'], message: string): Omit<FormatError, 'line'> => ({ code, message });
const NOT_YAML = violation('NOT_YAML', 'is not valid YAML');
const TOO_LARGE = violation('TOO_LARGE', 'exceeds the limit of parts in a file');
const NOT_A_MAP = violation('NOT_A_MAP', 'must be one map of keys and values');
const NOT_TEXT = violation('NOT_TEXT', 'must be a string, not a list or map');
const NO_VALUE = violation('NO_VALUE', 'must have a colon and a value after its key');
/** Tokens that make one text stand for something else, or for many. */
const NOT_ALLOWED: Readonly<Partial<Record<string, Omit<FormatError, 'line'>>>> = {
  anchor: violation('ANCHOR', 'must not have an anchor'),
  tag: violation('TAG', 'must not have a tag'),
  alias: violation('ALIAS', 'must not be an alias'),
  directive: violation('DIRECTIVE', 'must not be a directive'),
  document: violation('MANY_DOCUMENTS', 'must be part of the first document'),
};

type Tokens = readonly CST.Token[];
type LineOf = (token: { readonly offset: number }) => number;

/**
 * The pairs of a file. They are taken from its syntax tree: composing a document would follow nested and referenced
 * nodes at any depth. Only a flat one is composed, for its other errors.
 */
function* pairs(text: string): Generator<Entry | FormatError> {
  const lines = new LineCounter();
  const lineOf: LineOf = ({ offset }) => lines.linePos(offset).line;
  const tokens = syntaxTree(text, lines);
  if (tokens === undefined) return yield { line: lines.lineStarts.length, ...TOO_LARGE };
  let isFlat = true;
  for (const found of pairsIn(tokens, lineOf)) {
    isFlat &&= 'value' in found;
    yield found;
  }
  if (isFlat) for (const line of brokenLines(tokens, text.length, lineOf)) yield { line, ...NOT_YAML };
}

/** Undefined when there is too much of it. */
function syntaxTree(text: string, lines: LineCounter): Tokens | undefined {
  const parser = new Parser(lines.addNewLine);
  lines.addNewLine(0);
  const tokens: CST.Token[] = [];
  let count = 0;
  for (const lexeme of new Lexer().lex(text)) {
    count += 1;
    if (count > MAX_TOKENS) return undefined;
    tokens.push(...parser.next(lexeme));
  }
  return [...tokens, ...parser.end()];
}

function brokenLines(tokens: Tokens, length: number, lineOf: LineOf): Set<number> {
  const composer = new Composer({ schema: 'failsafe', uniqueKeys: false });
  const documents = [...composer.compose(tokens, true, length)];
  return new Set(documents.flatMap(({ errors }) => errors.map(({ pos: [offset] }) => lineOf({ offset }))));
}

function* pairsIn(tokens: Tokens, lineOf: LineOf): Generator<Entry | FormatError> {
  const [document, ...more] = tokens.filter((token) => token.type === 'document');
  yield* notAllowed([...tokens.filter(({ type }) => type === 'directive'), ...(document?.start ?? [])], lineOf);
  if (document?.value !== undefined) {
    const { value } = document;
    if (!isMap(value)) yield { line: lineOf(value), ...(NOT_ALLOWED[value.type] ?? NOT_A_MAP) };
    else {
      const before = [...tokens.slice(0, tokens.indexOf(document)), ...document.start];
      for (const [index, item] of value.items.entries())
        yield* pairOf({ item, entry: index + 1 }, index === 0 ? [...before, ...item.start] : item.start, lineOf);
    }
  }
  yield* notAllowed(more, lineOf);
}

const isMap = (token: CST.Token): token is CST.BlockMap | CST.FlowCollection =>
  token.type === 'block-map' || (token.type === 'flow-collection' && token.start.type === 'flow-map-start');

const notAllowed = (tokens: Tokens, lineOf: LineOf, entry?: number): FormatError[] =>
  tokens.flatMap((token) => {
    const found = NOT_ALLOWED[token.type];
    return found === undefined ? [] : [{ line: lineOf(token as CST.SourceToken), entry, ...found }];
  });

/** @param above everything before its key, from the line after the previous value */
function* pairOf(
  { item, entry }: { item: CST.CollectionItem; entry: number },
  above: Tokens,
  lineOf: LineOf,
): Generator<Entry | FormatError> {
  const { start, key: name, sep = [], value } = item;
  const before = [...start, ...(name == null ? [] : [name]), ...sep];
  const first = before.find(({ type }) => !BLANK.has(type));
  // Commas and comments at the end of a map are an item of their own.
  if (first === undefined) return;
  const line = lineOf((name ?? first) as CST.SourceToken);
  const [nameScalar, valueScalar] = [scalarOf(name), scalarOf(value)];
  const violations = [
    ...notAllowed(value === undefined ? before : [...before, value], lineOf, entry),
    ...(CST.isCollection(name) ? [{ line, entry, ...NOT_TEXT }] : []),
    ...(CST.isCollection(value) ? [{ line: lineOf(value), entry, ...NOT_TEXT }] : []),
    ...(sep.some(({ type }) => type === 'map-value-ind') ? [] : [{ line, entry, ...NO_VALUE }]),
    // Reported here and not by the composer, which creates an error for each wrong escape, even for thousands.
    ...(nameScalar?.isBroken || valueScalar?.isBroken ? [{ line, entry, ...NOT_YAML }] : []),
  ];
  if (violations.length > 0) yield* violations;
  else yield { key: nameScalar?.text ?? '', value: valueScalar?.text ?? '', comment: commentIn(above), line, entry };
}

const BLANK: ReadonlySet<string> = new Set(['space', 'newline', 'comment', 'comma']);

/** A scalar as its text; undefined for none, and for nodes that are not scalars. */
function scalarOf(token: CST.Token | null | undefined): { text: string; isBroken: boolean } | undefined {
  let isBroken = false;
  const scalar = CST.resolveAsScalar(token, true, () => {
    isBroken = true;
  });
  return scalar === null ? undefined : { text: scalar.value, isBroken };
}

/** The comment right above a key. The last line is that of the key. */
function commentIn(tokens: Tokens): string | undefined {
  const lines: CST.Token[][] = [[]];
  for (const token of tokens) {
    if (token.type === 'newline') lines.push([]);
    else lines.at(-1)?.push(token);
  }
  const above = lines.slice(0, -1);
  const begin = above.findLastIndex((line) => !isCommentLine(line)) + 1;
  const texts = above
    .slice(begin)
    .flatMap((line) => line.flatMap((token) => (token.type === 'comment' ? token.source : [])));
  return texts.map(commentText).join('\n') || undefined;
}

const isCommentLine = (line: Tokens): boolean =>
  line.some(({ type }) => type === 'comment') && line.every(({ type }) => type === 'comment' || type === 'space');

function printedPair({ key, value, comment }: PrintableEntry): string {
  const above = commentLines(comment).map((line) => `${line}\n`);
  const name = /^[A-Za-z_]\w*$/.test(key) && !WORDS.test(key) ? key : quoted(key);
  // Parsers look at most 1,024 characters ahead for the colon.
  const begin = name.length > 1_000 ? `? ${name}\n:` : `${name}:`;
  return `${above.join('')}${begin} ${isPlainText(value) ? block(value) : quoted(value)}\n`;
}

/** What some parser takes for a boolean, for null, or for a number. */
const WORDS = /^(y|n|yes|no|on|off|true|false|null|e\d+)$/i;

/**
 * In double quotes nothing is a number, and everything has an escape: JSON's, and those of what YAML does not print.
 */
const quoted = (text: string): string =>
  JSON.stringify(text).replace(
    /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** Lines of ASCII without surrounding blanks, such as keys and certificates: readable as a block. */
const isPlainText = (value: string): boolean =>
  value.includes('\n') &&
  value
    .replace(/\n$/, '')
    .split('\n')
    .every((line) => /^[!-~]([ -~]*[!-~])?$/.test(line));

const block = (value: string): string => {
  const lines = value.replace(/\n$/, '').split('\n');
  return [value.endsWith('\n') ? '|' : '|-', ...lines.map((line) => `  ${line}`)].join('\n');
};
