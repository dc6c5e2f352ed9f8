/** The largest number that is counted. Larger numbers are reported as this one. */
export const MAX_SUM = Number.MAX_SAFE_INTEGER;

/** Sums and products that stop at `MAX_SUM`: thirty fragments that spread each other twice are a thousand million selections. */
export const plus = (a: number, b: number): number => Math.min(a + b, MAX_SUM);
export const times = (a: number, b: number): number => Math.min(a * b, MAX_SUM);
