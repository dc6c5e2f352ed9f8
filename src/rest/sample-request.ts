import type { z } from 'zod';
import type { WrittenRoute } from './route.js';

/** Stands for any value that a request could bring: every property and every call gives it again. */
const SAMPLE: string = new Proxy(() => undefined, {
  get: (_, name) =>
    name === Symbol.iterator ? function* nothing() {} : name === Symbol.toPrimitive ? () => 'sample' : SAMPLE,
  apply: () => SAMPLE,
}) as unknown as string;

/** An object with every key that the rules know, each with a sample. */
export const sampleKeys = (rules: z.ZodObject | undefined): Record<string, never> =>
  Object.fromEntries(Object.keys(rules?.shape ?? {}).map((key) => [key, SAMPLE as never]));

/** A sample for each parameter of a path. */
export const sampleParams = (path: string): Record<string, string> =>
  Object.fromEntries(paramNames(path).map((name) => [name, SAMPLE]));

/** Names of the parameters of a path. */
export const paramNames = (path: string): string[] => [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);

/** The last word of a path. */
export const lastWord = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

/**
 * What `variables` makes of a request in which every parameter and every known key was given.
 *
 * @throws Error for a path parameter that it does not use, and for one that the path does not have
 */
export function sampleVariables({
  path,
  query,
  body,
  variables,
}: Pick<WrittenRoute, 'path' | 'query' | 'body' | 'variables'>): Record<string, unknown> {
  const names = paramNames(path);
  const used = new Set<string>();
  const params = new Proxy({} as Record<string, string>, {
    get: (_, name) => {
      used.add(String(name));
      return SAMPLE;
    },
  });
  const made = variables({ params, query: sampleKeys(query), body: sampleKeys(body) }) as Record<string, unknown>;
  const forgotten = names.filter((name) => !used.has(name));
  const invented = [...used].filter((name) => !names.includes(name));
  if (forgotten.length + invented.length > 0)
    throw new Error(`path parameters and variables differ: ${[...forgotten, ...invented].join(', ')}`);
  return made;
}
