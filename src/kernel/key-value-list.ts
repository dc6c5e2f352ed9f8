import * as z from 'zod';

/** The highest number where no lower one is named. */
export const MAX_LIMIT = 1_000_000_000;

/**
 * The rule of a setting that is made of numbers by name: `depth=20,cost=10000`, each name at most once, in any order.
 *
 * @param defaults all names, each with the number that it has when the setting does not name it
 * @param highest what a name may have at most, if less than a thousand million; the least is 1
 */
export function keyValueList<N extends string>(
  defaults: Readonly<Record<N, number>>,
  highest?: Readonly<Partial<Record<N, number>>>,
) {
  const lower = Object.entries(highest ?? {}).map(([name, most]) => `${name} to ${String(most)}`);
  const names = Object.keys(defaults)
    .map((name) => `${name}=N`)
    .join(',');
  const bounds = lower.length === 0 ? '' : ` (${lower.join(', ')})`;
  const message = `must be ${names}, each optional, with N from 1 to ${MAX_LIMIT}${bounds}`;
  const isKnown = (name: string): name is N => Object.hasOwn(defaults, name);
  return z.string().transform((text, check): Record<N, number> => {
    const numbers = new Map<string, number>();
    for (const entry of text.split(',')) {
      const { name = '', number } = /^\s*(?<name>\w+)\s*=\s*(?<number>\d{1,10})\s*$/.exec(entry)?.groups ?? {};
      const value = Number(number);
      if (!isKnown(name) || numbers.has(name) || value < 1 || value > (highest?.[name] ?? MAX_LIMIT)) {
        check.addIssue({ code: 'custom', message });
        return z.NEVER;
      }
      numbers.set(name, value);
    }
    return { ...defaults, ...Object.fromEntries(numbers) };
  });
}
