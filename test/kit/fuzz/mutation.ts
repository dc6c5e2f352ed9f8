import type { Arbitrary } from 'fast-check';
import fc from '../properties.ts';
import { junk } from './json-arbitrary.js';

/** One thing done to a request: `at` chooses the place, from 0 to 1. */
interface Mutation {
  readonly kind: 'replace' | 'drop' | 'add';
  readonly at: number;
  readonly value: unknown;
}

export const mutations: Arbitrary<Mutation[]> = fc.array(
  fc.record({
    kind: fc.constantFrom('replace' as const, 'replace' as const, 'drop' as const, 'add' as const),
    at: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
    value: junk,
  }),
  { maxLength: 3 },
);

type Holder = Record<string, unknown>;

/** A copy of a request with things done to it, wherever in its depth. */
export function mutated<T extends object>(request: T, changes: readonly Mutation[]): T {
  const copy = structuredClone(request);
  for (const { kind, at, value } of changes) {
    const places = placesIn(copy as Holder);
    const [holder, key] = places[Math.floor(at * places.length)] ?? [copy as Holder, 'added'];
    if (kind === 'replace') holder[key] = value;
    else if (kind === 'add') holder[Array.isArray(holder) ? holder.length : `${key}x`] = value;
    else if (Array.isArray(holder)) holder.splice(Number(key), 1);
    else delete holder[key];
  }
  return copy;
}

function placesIn(value: Holder): [Holder, string][] {
  return Object.entries(value).flatMap(([key, inner]) => [
    [value, key] as [Holder, string],
    ...(typeof inner === 'object' && inner !== null ? placesIn(inner as Holder) : []),
  ]);
}
