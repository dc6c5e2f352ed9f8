import type { z } from 'zod';

/** Stands for any value that a request could bring: every property and every call gives it again. */
export const SAMPLE: string = new Proxy(() => undefined, {
  get: (_, name) =>
    name === Symbol.iterator ? function* nothing() {} : name === Symbol.toPrimitive ? () => 'sample' : SAMPLE,
  apply: () => SAMPLE,
}) as unknown as string;

/** An object with every key that the rules know, each with a sample. */
export const sampleKeys = (rules: z.ZodObject | undefined): Record<string, never> =>
  Object.fromEntries(Object.keys(rules?.shape ?? {}).map((key) => [key, SAMPLE as never]));
