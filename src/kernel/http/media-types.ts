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
