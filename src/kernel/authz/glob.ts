/** Bounds of a pattern: what a test of one text may cost at most follows from them. */
export const MAX_GLOB = 255;
const MAX_WILDCARDS = 10;
const MAX_ALTERNATIVES = 32;
const MAX_STEPS = 1_024;

/** Whether a text fits a pattern. */
type GlobTest = (text: string) => boolean;

class BadGlob extends Error {}

const one = (takes: Characters): Step => ({ kind: 'one', takes });
const literally = (literal: string): Step => {
  const code = placeOf(literal);
  return { kind: 'one', takes: { ranges: [[code, code]], isNegated: false, only: code }, literal };
};
const placeOf = (character: string): number => character.codePointAt(0) as number;
const ANY = one({ ranges: [], isNegated: true });
const STAR: Step = { kind: 'name' };
const REST: Step = { kind: 'rest' };
const NAMES: Step = { kind: 'names' };
const SLASH = literally('/');
/** The slash before a last `**`: with it comes the rest, without it nothing. */
const LAST_SLASH: Step = { ...SLASH, isOptional: true } as Step;

/**
 * Compiles a pattern: `*` and `?` stand for characters of a name, `**` in place of a name for any number of names, `[a-z]`
 * and `[^a-z]` for one character, `{a,b}` for either, and `\` takes what follows as it stands. A dot is a character like
 * any other. The time of a test grows with the length of the text, and with the product of both lengths at most.
 *
 * As in bash, braces are read first, and `**` beside other characters of a name is `*`: `/**{a,b}` is `/**a` or `/**b`, which
 * fit `/xa` and not `/x/a`. `**` may stand for no name, also as the first name and behind wildcards; picomatch wants one there.
 *
 * @returns a sentence about what is wrong with it, in place of a test
 */
export function compileGlob(pattern: string): GlobTest | string {
  try {
    const start = commonStart(alternativesIn(pattern));
    // Most patterns of many rules differ in their prefix, so they never need an automaton.
    let automaton: GlobAutomaton | undefined;
    let last: { readonly text: string; readonly fits: boolean } | undefined;
    return (text) => {
      if (!text.startsWith(start)) return false;
      // Rules are asked about many secrets of one folder in a row.
      if (last?.text === text) return last.fits;
      automaton ??= new GlobAutomaton(alternativesIn(pattern));
      last = { text, fits: automaton.test(text) };
      return last.fits;
    };
  } catch (error) {
    if (error instanceof BadGlob) return error.message;
    throw error;
  }
}

/**
 * Operations that a test takes for each character of a text, at most.
 *
 * @param pattern one that `compileGlob` makes a test of
 */
export const workOf = (pattern: string): number => wordsOf(alternativesIn(pattern));

function alternativesIn(pattern: string): Step[][] {
  if (pattern.length === 0 || pattern.length > MAX_GLOB) throw new BadGlob(`must have 1 to ${MAX_GLOB} characters`);
  const alternatives = alternativesOf(tokensOf(pattern)).map(stepsOf);
  const steps = alternatives.reduce((sum, { length }) => sum + length, 0);
  if (steps > MAX_STEPS) throw new BadGlob('must be shorter: its alternatives are too long in total');
  return alternatives;
}

/** A character as it stands, one of a class, or one with a meaning. */
type Token =
  | { readonly kind: 'literal'; readonly character: string; readonly step: Step }
  | { readonly kind: 'class'; readonly step: Step }
  | { readonly kind: 'special'; readonly character: string };

const literal = (character: string): Token => ({
  kind: 'literal',
  character,
  step: character === '/' ? SLASH : literally(character),
});
const isSpecial = (token: Token | undefined, character: string): boolean =>
  token?.kind === 'special' && token.character === character;

function tokensOf(pattern: string): Token[] {
  const characters = [...pattern];
  const tokens: Token[] = [];
  let wildcards = 0;
  for (let at = 0; at < characters.length; at += 1) {
    const character = characters[at] as string;
    if (character === '\\') {
      at += 1;
      const escaped = characters[at];
      if (escaped === undefined) throw new BadGlob('must not end with \\');
      tokens.push(literal(escaped));
    } else if (character === '[') {
      const end = characters.indexOf(']', at + 2);
      if (end === -1) throw new BadGlob('must close each [');
      tokens.push({ kind: 'class', step: classOf(characters.slice(at + 1, end)) });
      at = end;
    } else if ('()|'.includes(character) || (character === '!' && at === 0)) {
      throw new BadGlob('must not contain ( ) | or begin with !, unless escaped with \\');
    } else {
      // Stars that touch count once: they are one wildcard.
      if (character === '*' && characters[at - 1] !== '*') wildcards += 1;
      tokens.push('*?{},'.includes(character) ? { kind: 'special', character } : literal(character));
    }
  }
  if (wildcards > MAX_WILDCARDS) throw new BadGlob(`must not have more than ${MAX_WILDCARDS} wildcards`);
  return tokens;
}

/** `a-z_` or `^a-z_`, without the brackets. */
function classOf(inner: readonly string[]): Step {
  const isNegated = inner[0] === '^';
  const members = isNegated ? inner.slice(1) : inner;
  if (members.length === 0 || members[0] === '!' || members.some((member) => '[]\\/'.includes(member)))
    throw new BadGlob('must have characters other than [ ] \\ / between [ and ]; ^ in front negates them');
  const ranges: (readonly [from: number, to: number])[] = [];
  for (let at = 0; at < members.length; at += 1) {
    const from = members[at] as string;
    const to = members[at + 1] === '-' ? members[at + 2] : undefined;
    ranges.push([placeOf(from), placeOf(to ?? from)]);
    if (to !== undefined) at += 2;
  }
  if (ranges.some(([from, to]) => from > to)) throw new BadGlob('must have ascending ranges');
  return one({ ranges, isNegated });
}

/** Every reading of `{a,b}`, in order. Braces do not nest. */
function alternativesOf(tokens: readonly Token[]): Token[][] {
  let readings: Token[][] = [[]];
  for (let at = 0; at < tokens.length; at += 1) {
    const token = tokens[at] as Token;
    if (isSpecial(token, '}')) throw new BadGlob('must open each }');
    if (!isSpecial(token, '{')) {
      // A comma outside of braces is a comma.
      const plain = isSpecial(token, ',') ? literal(',') : token;
      for (const reading of readings) reading.push(plain);
      continue;
    }
    const end = tokens.findIndex((other, index) => index > at && isSpecial(other, '}'));
    const inner = tokens.slice(at + 1, end);
    if (end === -1 || inner.some((other) => isSpecial(other, '{')))
      throw new BadGlob('must close each {, without nesting');
    const choices = split(inner, (other) => isSpecial(other, ','));
    if (choices.length === 1) throw new BadGlob('must have a comma between { and }');
    if (readings.length * choices.length > MAX_ALTERNATIVES)
      throw new BadGlob(`must not have more than ${MAX_ALTERNATIVES} alternatives`);
    readings = readings.flatMap((reading) => choices.map((choice) => [...reading, ...choice]));
    at = end;
  }
  return readings;
}

function split(tokens: readonly Token[], isSeparator: (token: Token) => boolean): Token[][] {
  const parts: Token[][] = [];
  let begin = 0;
  for (let at = 0; at < tokens.length; at += 1) {
    if (!isSeparator(tokens[at] as Token)) continue;
    parts.push(tokens.slice(begin, at));
    begin = at + 1;
  }
  parts.push(tokens.slice(begin));
  return parts;
}

const isSlash = (token: Token): boolean => token.kind === 'literal' && token.character === '/';
const isGlobstar = (name: readonly Token[] = []): boolean =>
  name.length >= 2 && name.every((token) => isSpecial(token, '*'));

function stepsOf(tokens: readonly Token[]): Step[] {
  // Several `**` in a row are one.
  const names = split(tokens, isSlash).filter((name, at, all) => !(isGlobstar(name) && isGlobstar(all[at + 1])));
  const steps: Step[] = [];
  const last = names.length - 1;
  for (const [index, name] of names.entries()) {
    if (!isGlobstar(name)) {
      addName(steps, name);
      // The slash before a last `**` belongs to it.
      if (index < last && !(index === last - 1 && isGlobstar(names[last]))) steps.push(SLASH);
    } else if (index < last) steps.push(NAMES);
    else steps.push(...(index === 0 ? [REST] : [LAST_SLASH, REST]));
  }
  return steps;
}

function addName(steps: Step[], name: readonly Token[]): void {
  // A name is never empty: `a/*` is not `a/`.
  if (name.length === 1 && isSpecial(name[0], '*')) steps.push(ANY);
  for (const [at, token] of name.entries()) {
    if (token.kind !== 'special') steps.push(token.step);
    else if (token.character === '?') steps.push(ANY);
    else if (!isSpecial(name[at - 1], '*')) steps.push(STAR);
  }
}

/** What every text that fits begins with. */
function commonStart([first = [], ...others]: readonly (readonly Step[])[]): string {
  let start = '';
  for (const [at, step] of first.entries()) {
    if (step.kind !== 'one' || step.literal === undefined || step.isOptional === true) break;
    if (!others.every((steps) => isLiteral(steps[at], step.literal))) break;
    start += step.literal;
  }
  return start;
}

const isLiteral = (step: Step | undefined, character: string | undefined): boolean =>
  step?.kind === 'one' && step.literal === character && step.isOptional !== true;

/** A set of characters, by code points. */
interface Characters {
  /** First and last code point of each range. */
  readonly ranges: readonly (readonly [from: number, to: number])[];
  /** All but these, and never a slash. */
  readonly isNegated: boolean;
  /** The one code point that it is. */
  readonly only?: number;
}

/** One step of a pattern. */
type Step =
  /** One character. `isOptional`: the text may also end before it, whatever steps follow. */
  | { readonly kind: 'one'; readonly takes: Characters; readonly literal?: string; readonly isOptional?: true }
  /** Any number of characters, slashes among them with `rest` alone. */
  | { readonly kind: 'name' | 'rest' }
  /** Whole names, each with the slash behind it, or none: a `**` that names follow. */
  | { readonly kind: 'names' };

const BITS = 32;
const SLASH_CODE = 47;
const ASCII = 128;
const WHOLE_NAMES: Characters = { ranges: [[SLASH_CODE, SLASH_CODE]], isNegated: false, only: SLASH_CODE };

/** A bit for each state. */
type States = Int32Array<ArrayBuffer>;

/** The states of a test that runs: a test neither waits nor calls another. */
let open: States = new Int32Array(1);

/**
 * All alternatives of a pattern as one automaton. Its states are bits, each for a place between two steps: what repeats is a loop
 * at its place, and alternatives stand one behind the other. A character moves all states at once, a word of 32 at a time, so that
 * a test takes `words` operations for each character of the text, whatever the pattern is.
 */
class GlobAutomaton {
  /** Operations for each character of a text. */
  readonly words: number;
  /** What each state takes to get to the next one. */
  readonly #takes: (Characters | undefined)[] = [];
  readonly #starts: States;
  /** A text may end here. */
  readonly #ends: States;
  /** States that stay open with a character of a name, and with a slash. */
  readonly #loops: States;
  readonly #slashLoops: States;
  /** Who gets here is at the next state, too. */
  readonly #passedOver: States;
  /** The first code point of each class. All code points of a class behave alike in every step. */
  readonly #classes: readonly number[];
  readonly #classOfAscii: readonly number[];
  /** The states that take a character of a class, made when one comes. */
  readonly #taking: (States | undefined)[] = [];

  constructor(alternatives: readonly (readonly Step[])[]) {
    this.words = wordsOf(alternatives);
    [this.#starts, this.#ends, this.#loops, this.#slashLoops, this.#passedOver] = [0, 0, 0, 0, 0].map(
      () => new Int32Array(this.words),
    ) as [States, States, States, States, States];
    for (const steps of alternatives) this.#add(steps);
    this.#classes = classesOf(this.#takes);
    this.#classOfAscii = Array.from({ length: ASCII }, (_, code) => this.#find(code));
    if (open.length < this.words) open = new Int32Array(this.words);
  }

  #add(steps: readonly Step[]): void {
    const takes = this.#takes;
    add(this.#starts, takes.length);
    for (const step of steps) {
      const at = takes.length;
      if (step.kind === 'one') {
        if (step.isOptional === true) add(this.#ends, at);
        takes.push(step.takes);
        continue;
      }
      add(this.#loops, at);
      if (step.kind !== 'name') add(this.#slashLoops, at);
      if (step.kind !== 'names') continue;
      // Not passed over from the inside: a name is taken with its slash or not at all.
      add(this.#passedOver, at);
      if (has(this.#starts, at)) add(this.#starts, at + 1);
      takes.push(WHOLE_NAMES);
    }
    add(this.#ends, takes.length);
    takes.push(undefined);
  }

  /** Whether a whole text fits. */
  test(text: string): boolean {
    open.set(this.#starts);
    for (let at = 0; at < text.length; at += 1) {
      const code = text.codePointAt(at) as number;
      if (code > 0xffff) at += 1;
      if (!this.#move(code)) return false;
    }
    for (let word = 0; word < this.words; word += 1)
      if (((open[word] as number) & (this.#ends[word] as number)) !== 0) return true;
    return false;
  }

  /** @returns false when no state is left */
  #move(code: number): boolean {
    const at = code < ASCII ? (this.#classOfAscii[code] as number) : this.#find(code);
    const taking = this.#taking[at] ?? this.#takingClass(at);
    return this.#moveAll(open, taking, code === SLASH_CODE ? this.#slashLoops : this.#loops);
  }

  #moveAll(states: States, taking: States, loops: States): boolean {
    const passedOver = this.#passedOver;
    const words = this.words;
    let carry = 0;
    let carryOver = 0;
    let left = 0;
    for (let word = 0; word < words; word += 1) {
      const now = states[word] as number;
      const taken = now & (taking[word] as number);
      const reached = (taken << 1) | carry;
      const passed = reached & (passedOver[word] as number);
      const next = reached | (passed << 1) | carryOver | (now & (loops[word] as number));
      carry = taken >>> (BITS - 1);
      carryOver = passed >>> (BITS - 1);
      states[word] = next;
      left |= next;
    }
    return left !== 0;
  }

  /** The last class that begins at or before a code point. */
  #find(code: number): number {
    let [low, high] = [0, this.#classes.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#classes[middle] as number) <= code) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  #takingClass(at: number): States {
    const code = this.#classes[at] as number;
    const taking = new Int32Array(this.words);
    for (let state = 0; state < this.#takes.length; state += 1) {
      const takes = this.#takes[state];
      if (takes !== undefined && (takes.only === undefined ? isAmong(code, takes) : takes.only === code))
        add(taking, state);
    }
    this.#taking[at] = taking;
    return taking;
  }
}

/** Words of an automaton: what repeats has no state of its own, and each alternative has one for its end. */
function wordsOf(alternatives: readonly (readonly Step[])[]): number {
  let states = alternatives.length;
  for (const steps of alternatives) for (const { kind } of steps) if (kind === 'one' || kind === 'names') states += 1;
  return Math.ceil(states / BITS);
}

const add = (states: States, at: number): void => {
  states[at >> 5] = (states[at >> 5] as number) | (1 << (at & 31));
};
const has = (states: States, at: number): boolean => (((states[at >> 5] as number) >>> (at & 31)) & 1) === 1;

const isAmong = (code: number, { ranges, isNegated }: Characters): boolean =>
  isNegated
    ? code !== SLASH_CODE && !ranges.some(([from, to]) => from <= code && code <= to)
    : ranges.some(([from, to]) => from <= code && code <= to);

function classesOf(sets: readonly (Characters | undefined)[]): number[] {
  const edges = new Set([0, SLASH_CODE, SLASH_CODE + 1]);
  let last: Characters | undefined;
  for (const set of sets) {
    if (set === undefined || set === last) continue;
    last = set;
    for (const [from, to] of set.ranges) edges.add(from).add(to + 1);
  }
  return [...edges].sort((one, other) => one - other);
}
