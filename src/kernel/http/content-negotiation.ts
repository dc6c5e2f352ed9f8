import type { FastifyReply } from 'fastify';

// Our own, since `negotiator` refuses a type that has a parameter or a misspelt weight.

/** What an answer is sent as, and whether the caller asked for it by its name and not by `*`. */
export interface ChosenType<T extends string> {
  readonly type: T;
  readonly isNamed: boolean;
}

interface Range {
  readonly type: string;
  readonly quality: number;
  readonly place: number;
}

/**
 * Chooses the media type of an answer by an Accept header: the highest `q`, then what the header names first, then what is
 * offered first. The most specific range speaks for a type, as RFC 9110, 12.5.1 has it; other parameters are passed over.
 *
 * @param offered without parameters, in lower case, the default first
 * @returns null when the header takes none of them
 */
export function chooseType<T extends string>(accept: string | undefined, offered: readonly T[]): ChosenType<T> | null {
  const ranges = (accept ?? '').split(',').flatMap(readRange);
  const [first] = offered;
  if (ranges.length === 0) return first === undefined ? null : { type: first, isNamed: false };
  const [best] = offered
    .flatMap((type) => {
      const range = rangeFor(type, ranges);
      return range === undefined || range.quality === 0 ? [] : [{ type, range }];
    })
    .sort((a, b) => b.range.quality - a.range.quality || a.range.place - b.range.place);
  return best === undefined ? null : { type: best.type, isNamed: best.range.type === best.type };
}

function readRange(text: string, place: number): Range[] {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  if (type === '') return [];
  const weight = parameters.find((parameter) => /^q\s*=/.test(parameter));
  const quality = Number(weight?.replace(/^q\s*=\s*/, '') ?? 1);
  // Whoever misspells a weight still named the type.
  return [{ type, place, quality: quality >= 0 && quality <= 1 ? quality : 1 }];
}

const rangeFor = (type: string, ranges: readonly Range[]): Range | undefined =>
  [type, type.replace(/\/.*$/, '/*'), '*/*']
    .map((wanted) => ranges.find((range) => range.type === wanted))
    .find((range) => range !== undefined);

// Our own, since `negotiator` takes an entry with a weight above 1 or another parameter for one that accepts the coding.

/** Content codings that answers may be sent in, best first. */
export const ENCODINGS = ['br', 'gzip'] as const;
export type Encoding = (typeof ENCODINGS)[number];

/** What a client prefers: the coding, or null for the bytes as they are. `isNeeded`: it refuses those. */
interface Preference {
  readonly encoding: Encoding | null;
  readonly isNeeded: boolean;
}

/** `br;q=0.5`, a weight of at most three digits. */
const ENTRY = /^(?<name>[\w!#$%&'*+.^`|~-]+)[ \t]*(?:;[ \t]*q=(?<weight>0(?:\.\d{0,3})?|1(?:\.0{0,3})?))?$/i;

/**
 * Reads `Accept-Encoding`; entries that are none are passed over. Source: RFC 9110, 12.5.3.
 *
 * @param offered codings that the answer can be sent in, best first
 */
export function preferredEncoding(header: string | undefined, offered: readonly Encoding[] = ENCODINGS): Preference {
  const weights = new Map<string, number>();
  for (const entry of (header ?? '').split(',')) {
    const { name, weight } = ENTRY.exec(entry.trim())?.groups ?? {};
    if (name !== undefined) weights.set(name.toLowerCase().replace(/^x-/, ''), Number(weight ?? 1));
  }
  const others = weights.get('*');
  const weightOf = (encoding: Encoding): number => weights.get(encoding) ?? others ?? 0;
  const [best] = offered.filter((encoding) => weightOf(encoding) > 0).sort((a, b) => weightOf(b) - weightOf(a));
  if (best === undefined) return { encoding: null, isNeeded: false };
  const plain = weights.get('identity');
  return (plain ?? 0) > weightOf(best)
    ? { encoding: null, isNeeded: false }
    : { encoding: best, isNeeded: (plain ?? others) === 0 };
}

/** Says that an answer depends on a request header, beside those that it is said of already. */
export function addVary(reply: FastifyReply, name: string): void {
  const present = reply.getHeader('vary');
  const names = present === undefined ? [] : String(present).split(', ');
  reply.header('vary', [...new Set([...names, name])].join(', '));
}
