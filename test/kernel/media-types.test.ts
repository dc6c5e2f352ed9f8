import { chooseType } from '../../src/kernel/http/content-negotiation.js';
import fc from '../kit/properties.js';

const OFFERED = ['application/json', 'application/graphql-response+json', 'text/html'] as const;
const type = fc.constantFrom(...OFFERED, 'application/*', 'text/*', '*/*', 'image/png');
const weight = fc.integer({ min: 0, max: 1000 }).map((thousandths) => thousandths / 1000);
const ranges = fc.uniqueArray(fc.tuple(type, weight), { minLength: 1, selector: ([name]) => name });
const header = (list: readonly (readonly [string, number])[]): string =>
  list.map(([name, q]) => `${name};q=${q}`).join(', ');

/** The weight of a type, found the slow way. */
const weightOf = (name: string, list: readonly (readonly [string, number])[]): number => {
  const of = (wanted: string) => list.find(([each]) => each === wanted)?.[1];
  return of(name) ?? of(`${name.split('/')[0]}/*`) ?? of('*/*') ?? 0;
};

describe('chooseType', () => {
  test('takes a type of the highest weight that the header gives, and none without one', () => {
    fc.assert(
      fc.property(ranges, (list) => {
        const weights = OFFERED.map((name) => weightOf(name, list));
        const chosen = chooseType(header(list), OFFERED);
        if (Math.max(...weights) === 0) expect(chosen).toBeNull();
        else expect(weightOf(chosen?.type as string, list)).toBe(Math.max(...weights));
      }),
    );
  });

  test('says that a type was named exactly when the header names it', () => {
    fc.assert(
      fc.property(ranges, (list) => {
        const chosen = chooseType(header(list), OFFERED);
        if (chosen !== null) expect(chosen.isNamed).toBe(list.some(([name]) => name === chosen.type));
      }),
    );
  });

  test('answers any text, and takes the default where nothing is asked for', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        chooseType(text, OFFERED);
      }),
    );
    for (const text of [undefined, '', ' , '])
      expect(chooseType(text, OFFERED)).toEqual({ type: 'application/json', isNamed: false });
  });

  test('takes what stands first among equals, and a misspelt weight for a whole one', () => {
    expect(chooseType('text/html, application/json', OFFERED)?.type).toBe('text/html');
    expect(chooseType('text/html;q=0.9, application/json;q=high', OFFERED)?.type).toBe('application/json');
  });
});
