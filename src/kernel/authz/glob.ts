import { type Characters, GlobAutomaton, type Step, wordsOf } from './glob-automaton.js';

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
