/** Bounds of a pattern: what a test of one text may cost at most follows from them. */
export const MAX_GLOB = 255;
const MAX_WILDCARDS = 10;
const MAX_ALTERNATIVES = 32;
const MAX_STEPS = 1_024;

/** Whether a text fits a pattern. */
export type GlobTest = (text: string) => boolean;

/** One step of a pattern: what it takes of the text, and whether it may be left out or repeated. */
interface Step {
  readonly takes: (character: string) => boolean;
  /** The same as a part of a regular expression. */
  readonly source: string;
  /** The one character that it takes. */
  readonly literal?: string;
  /** It may take more than one character. */
  readonly repeats: boolean;
  /** It may be passed over. */
  readonly isOptional: boolean;
  /** Of what it takes, only this character leads to the step behind it. */
  readonly leadsOnWith?: string;
  /** Who passes it over passes over the step behind it too. */
  readonly skips?: 2;
}

class BadGlob extends Error {}

const codeOf = (character: string): string => `\\u{${(character.codePointAt(0) as number).toString(16)}}`;
const isInName = (character: string): boolean => character !== '/';
const one = (takes: Step['takes'], source: string): Step => ({ takes, source, repeats: false, isOptional: false });
const literally = (wanted: string): Step => ({
  ...one((character) => character === wanted, codeOf(wanted)),
  literal: wanted,
});
const ANY = one(isInName, '[^/]');
const STAR: Step = { takes: isInName, source: '[^/]*', repeats: true, isOptional: true };
const REST: Step = { takes: () => true, source: '[^]*', repeats: true, isOptional: true };
/** Whole names, each with the slash behind it, or none: a `**` that names follow. */
const NAMES: Step = { ...REST, source: '(?:[^]*/)?', leadsOnWith: '/' };
/** The slash before a last `**`: with it comes the rest, without it nothing. */
const SLASH: Step = { ...literally('/'), source: '(?:$|/)', isOptional: true, skips: 2 };

/**
 * Compiles a pattern: `*` and `?` stand for characters of a name, `**` in place of a name for any number of names, `[a-z]`
 * and `[^a-z]` for one character, `{a,b}` for either, and `\` takes what follows as it stands. A dot is a character like
 * any other. The time of a test grows with the product of both lengths at most: nothing is tried twice.
 *
 * As in bash, braces are read first, and `**` beside other characters of a name is `*`: `/**{a,b}` is `/**a` or `/**b`, which
 * fit `/xa` and not `/x/a`. `**` may stand for no name, also as the first name and behind wildcards; picomatch wants one there.
 *
 * @returns a sentence about what is wrong with it, in place of a test
 * Source: behaviour 2.
 */
export function compileGlob(pattern: string): GlobTest | string {
  try {
    if (pattern.length === 0 || pattern.length > MAX_GLOB) throw new BadGlob(`must have 1 to ${MAX_GLOB} characters`);
    const alternatives = alternativesOf(tokensOf(pattern)).map(stepsOf);
    const steps = alternatives.reduce((sum, { length }) => sum + length, 0);
    if (steps > MAX_STEPS) throw new BadGlob('must be shorter: its alternatives are too long together');
    const tests = alternatives.map(testOf);
    return (text) => tests.some((test) => test(text));
  } catch (error) {
    if (error instanceof BadGlob) return error.message;
    throw error;
  }
}

/** A character as it stands, one of a class, or one with a meaning. */
type Token =
  | { readonly kind: 'literal'; readonly character: string }
  | { readonly kind: 'class'; readonly step: Step }
  | { readonly kind: 'special'; readonly character: string };

const literal = (character: string): Token => ({ kind: 'literal', character });
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
      throw new BadGlob('must not hold ( ) | or begin with !, unless after \\');
    } else {
      // Stars that touch count once: they are one wildcard.
      if (character === '*' && characters[at - 1] !== '*') wildcards += 1;
      tokens.push({ kind: '*?{},'.includes(character) ? 'special' : 'literal', character });
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
    throw new BadGlob('must have characters other than [ ] \\ / between [ and ], and ^ in front for all others');
  const ranges: (readonly [from: string, to: string])[] = [];
  for (let at = 0; at < members.length; at += 1) {
    const from = members[at] as string;
    const to = members[at + 1] === '-' ? members[at + 2] : undefined;
    ranges.push([from, to ?? from]);
    if (to !== undefined) at += 2;
  }
  if (ranges.some(([from, to]) => placeOf(from) > placeOf(to))) throw new BadGlob('must have ranges that go upwards');
  const isMember = (character: string): boolean =>
    ranges.some(([from, to]) => placeOf(from) <= placeOf(character) && placeOf(character) <= placeOf(to));
  const source = ranges.map(([from, to]) => `${codeOf(from)}-${codeOf(to)}`).join('');
  return one(
    (character) => isInName(character) && isMember(character) !== isNegated,
    `(?!/)[${isNegated ? '^' : ''}${source}]`,
  );
}

const placeOf = (character: string): number => character.codePointAt(0) as number;

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
      throw new BadGlob('must close each {, none in another');
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
  const parts: Token[][] = [[]];
  for (const token of tokens) {
    if (isSeparator(token)) parts.push([]);
    else parts.at(-1)?.push(token);
  }
  return parts;
}

const isSlash = (token: Token): boolean => token.kind === 'literal' && token.character === '/';
const isGlobstar = (name: readonly Token[] = []): boolean =>
  name.length >= 2 && name.every((token) => isSpecial(token, '*'));

function stepsOf(tokens: readonly Token[]): Step[] {
  // Several `**` in a row are one.
  const names = split(tokens, isSlash).filter((name, at, all) => !(isGlobstar(name) && isGlobstar(all[at + 1])));
  return names.flatMap((name, index): Step[] => {
    const isLast = index === names.length - 1;
    if (isGlobstar(name)) {
      if (!isLast) return [NAMES];
      return index === 0 ? [REST] : [SLASH, REST];
    }
    // The slash before a last `**` belongs to it.
    const hasOwnSlash = !isLast && !(index === names.length - 2 && isGlobstar(names.at(-1)));
    return [...nameSteps(name), ...(hasOwnSlash ? [literally('/')] : [])];
  });
}

function nameSteps(name: readonly Token[]): Step[] {
  const steps = name.flatMap((token, index): Step[] => {
    if (token.kind === 'class') return [token.step];
    if (token.kind === 'literal') return [literally(token.character)];
    if (token.character === '?') return [ANY];
    return isSpecial(name[index - 1], '*') ? [] : [STAR];
  });
  // A name is never empty: `a/*` is not `a/`.
  return steps.length === 1 && steps[0] === STAR ? [ANY, STAR] : steps;
}

/** A regular expression where it has at most one choice to make: with more it might try each with each. */
function testOf(steps: readonly Step[]): GlobTest {
  // Most patterns of many rules are told apart by how they begin, and so never become an expression.
  const start = startOf(steps);
  if (steps.filter(({ repeats }) => repeats).length > 1) return (text) => text.startsWith(start) && walk(steps, text);
  const source = `^${steps.map((step) => step.source).join('')}$`;
  let expression: RegExp | undefined;
  return (text) => {
    if (!text.startsWith(start)) return false;
    expression ??= new RegExp(source, 'u');
    return expression.test(text);
  };
}

/** What every text that fits begins with. */
function startOf(steps: readonly Step[]): string {
  const end = steps.findIndex(({ literal, isOptional }) => literal === undefined || isOptional);
  return (end === -1 ? steps : steps.slice(0, end)).map(({ literal }) => literal).join('');
}

/** Walks all ways through the steps side by side. */
function walk(steps: readonly Step[], text: string): boolean {
  const end = steps.length;
  let open = new Uint8Array(end + 1);
  enter(steps, open, 0);
  for (const character of text) {
    const next = new Uint8Array(end + 1);
    let isAlive = false;
    for (let at = 0; at < end; at += 1) {
      const step = steps[at] as Step;
      if (open[at] === 0 || !step.takes(character)) continue;
      isAlive = true;
      if (step.leadsOnWith === undefined) enter(steps, next, step.repeats ? at : at + 1);
      else {
        // Not passed over from the inside: a name is taken with its slash or not at all.
        next[at] = 1;
        if (character === step.leadsOnWith) enter(steps, next, at + 1);
      }
    }
    if (!isAlive) return false;
    open = next;
  }
  return open[end] === 1;
}

/** Opens a step, and those behind it that can be reached without taking anything. */
function enter(steps: readonly Step[], open: Uint8Array, start: number): void {
  for (let at = start; ; ) {
    open[at] = 1;
    const step = steps[at];
    if (step?.isOptional !== true) return;
    at += step.skips ?? 1;
  }
}
