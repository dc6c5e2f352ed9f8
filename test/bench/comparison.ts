import type { Measured } from './measure.ts';

/**
 * Requests a second of the platform that the interface comes from, with as many clients, once measured elsewhere: two cores, with
 * Postgres and the clients on the same machine. Ratios to them say little about a machine that is faster or slower than that one.
 */
const REFERENCE: Readonly<Record<string, number>> = {
  'list of 10': 51,
  'list of 100': 39,
  'list of 1000': 9,
  'list of 1000, none equal': 11,
  'get secret': 5,
  'get project': 89,
  'list projects (20)': 125,
  'create token': 81,
  'create token, none equal': 81,
  login: 14,
  'create secret': 5,
  'update secret (of 10)': 5,
  'update secret (of 1000)': 5,
};

/** A load of GraphQL, and the one of REST that asks the same. */
const TWINS: Readonly<Record<string, string>> = {
  'GraphQL get project': 'get project',
  'GraphQL get secret': 'get secret',
  'GraphQL list of 10': 'list of 10',
  'GraphQL list of 100': 'list of 100',
  'GraphQL list of 1000': 'list of 1000',
  'GraphQL list of 10, not kept': 'list of 10, not kept',
  'GraphQL list of 100, not kept': 'list of 100, not kept',
  'GraphQL list of 1000, not kept': 'list of 1000, not kept',
};

/** Loads in terms of others, for those that were measured: the reference, and GraphQL beside REST. */
export function comparison(loads: readonly Measured[]): string {
  const rates = new Map(loads.map(({ name, perSecond }) => [name, perSecond]));
  const cells = (name: string, reference: number): string[] => {
    const rate = rates.get(name);
    return rate === undefined ? ['-', '-'] : [rate.toFixed(0), (rate / reference).toFixed(1)];
  };
  const reference = Object.entries(REFERENCE)
    .filter(([name]) => rates.has(name) || rates.has(`${name}, not kept`))
    .map(([name, rate]) => [name, String(rate), ...cells(name, rate), ...cells(`${name}, not kept`, rate)]);
  const twins = Object.entries(TWINS).flatMap(([name, twin]) => {
    const [rate, other] = [rates.get(name), rates.get(twin)];
    return rate === undefined || other === undefined
      ? []
      : [[name, other.toFixed(0), rate.toFixed(0), (other / rate).toFixed(2)]];
  });
  return [
    table(['requests/s', 'reference*', 'kept', 'ratio', 'not kept', 'ratio'], reference),
    table(['requests/s', 'REST', 'GraphQL', 'cost'], twins),
    '* measured elsewhere, on two cores; wanted: a ratio of 10 at least, and GraphQL at 1.3 times the cost of REST at most',
    'Equal lists that are asked for at once share a response, kept or not, and tokens for one identity share a transaction: see `none equal`',
  ].join('\n\n');
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, ...rows]
    .map(([first = '', ...others]) => first.padEnd(32) + others.map((cell) => cell.padStart(12)).join(''))
    .join('\n');
}
