import { checkedFile, type Entry, type FormatError, type TransferFormat } from './transfer-format.rules.js';

/** Files of one flat JSON object whose values are strings. */
export const jsonFormat: TransferFormat = {
  parse: (text) => checkedFile(members(new Tokens(text))),

  // Written by hand: an object would put numeric keys first, and cannot hold `__proto__`.
  print: (entries) => {
    const lines = entries.map(({ key, value }) => `  ${JSON.stringify(key)}: ${JSON.stringify(value)}`);
    return { text: lines.length === 0 ? '{}\n' : `{\n${lines.join(',\n')}\n}\n` };
  },

  join: (files) => `{\n${files.map((file) => file.slice(2, -3)).join(',\n')}\n}\n`,
};

const NOT_JSON = { code: 'NOT_JSON', message: 'is not valid JSON' } as const;
const NOT_AN_OBJECT = { code: 'NOT_AN_OBJECT', message: 'must be one object of keys and values' } as const;
const NOT_TEXT = { code: 'NOT_TEXT', message: 'must be a string' } as const;

/**
 * The members of the object, up to the first syntax error. `JSON.parse` would keep the last of two equal keys without
 * reporting the others, and does not report lines.
 */
function* members(tokens: Tokens): Generator<Entry | FormatError> {
  const broken = (): FormatError => ({ line: tokens.line(), ...NOT_JSON });
  if (!tokens.takes('{')) {
    yield { line: tokens.line(), ...NOT_AN_OBJECT };
    return;
  }
  if (!tokens.takes('}')) {
    let entry = 0;
    do {
      entry += 1;
      const line = tokens.line();
      const key = tokens.takesText();
      if (key === undefined || !tokens.takes(':')) return yield broken();
      const value = tokens.takesText();
      if (value !== undefined) yield { key, value, line, entry };
      else if (tokens.takesOtherValue()) yield { line, entry, ...NOT_TEXT };
      else return yield broken();
    } while (tokens.takes(','));
    if (!tokens.takes('}')) return yield broken();
  }
  if (!tokens.isAtEnd()) yield broken();
}

/** JSON's own whitespace: no other blank, and no line separator. */
const BLANKS = /[ \t\n\r]*/y;
const WORD = /(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?=[ \t\n\r,}]|$)/y;

/** Scanner of a JSON text. */
class Tokens {
  #at: number;
  #line = 1;
  #lineBegins = 0;

  constructor(private readonly text: string) {
    // Some editors start a file with a byte order mark.
    this.#at = text.startsWith('\ufeff') ? 1 : 0;
  }

  /** Line of the next token. */
  line(): number {
    this.#skipBlanks();
    for (;;) {
      const end = this.text.indexOf('\n', this.#lineBegins);
      if (end === -1 || end >= this.#at) return this.#line;
      this.#lineBegins = end + 1;
      this.#line += 1;
    }
  }

  isAtEnd(): boolean {
    this.#skipBlanks();
    return this.#at === this.text.length;
  }

  takes(sign: '{' | '}' | ':' | ','): boolean {
    this.#skipBlanks();
    if (this.text[this.#at] !== sign) return false;
    this.#at += 1;
    return true;
  }

  /** A string, when one is next. */
  takesText(): string | undefined {
    this.#skipBlanks();
    const end = endOfText(this.text, this.#at);
    if (end === undefined) return undefined;
    try {
      const value: unknown = JSON.parse(this.text.slice(this.#at, end));
      this.#at = end;
      return value as string;
    } catch {
      return undefined;
    }
  }

  /** Any other value, when one is next. The contents of arrays and objects do not matter here. */
  takesOtherValue(): boolean {
    this.#skipBlanks();
    WORD.lastIndex = this.#at;
    const end = WORD.test(this.text) ? WORD.lastIndex : endOfNested(this.text, this.#at);
    this.#at = end ?? this.#at;
    return end !== undefined;
  }

  #skipBlanks(): void {
    BLANKS.lastIndex = this.#at;
    BLANKS.test(this.text);
    this.#at = BLANKS.lastIndex;
  }
}

/** Position after the string that starts at `at`; undefined when none does, or when it does not end. */
function endOfText(text: string, at: number): number | undefined {
  if (text[at] !== '"') return undefined;
  const signs = /["\\]/g;
  signs.lastIndex = at + 1;
  for (let sign = signs.exec(text); sign !== null; sign = signs.exec(text)) {
    if (sign[0] === '"') return signs.lastIndex;
    signs.lastIndex += 1;
  }
  return undefined;
}

/** Position after the array or object that starts at `at`; undefined when none does, or when it does not end. */
function endOfNested(text: string, at: number): number | undefined {
  if (text[at] !== '[' && text[at] !== '{') return undefined;
  const signs = /["[\]{}]/g;
  signs.lastIndex = at;
  let depth = 0;
  for (let sign = signs.exec(text); sign !== null; sign = signs.exec(text)) {
    if (sign[0] === '"') {
      const end = endOfText(text, sign.index);
      if (end === undefined) return undefined;
      signs.lastIndex = end;
    } else depth += sign[0] === '[' || sign[0] === '{' ? 1 : -1;
    if (depth === 0) return signs.lastIndex;
  }
  return undefined;
}
