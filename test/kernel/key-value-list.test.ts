import { keyValueList } from '../../src/kernel/value-rules.js';
import fc from '../kit/properties.js';

const DEFAULTS = { apples: 3, pears: 5, plums: 7 };
const rule = keyValueList(DEFAULTS, { plums: 50 });
const some = fc.record(
  {
    apples: fc.integer({ min: 1, max: 1_000_000_000 }),
    pears: fc.integer({ min: 1, max: 1_000_000_000 }),
    plums: fc.integer({ min: 1, max: 50 }),
  },
  { requiredKeys: [] },
);

test('numbers are read by name in any order, whatever blanks surround them, and the others keep their defaults', () => {
  const blank = fc.constantFrom('', ' ', '  ');
  fc.assert(
    fc.property(some, blank, fc.boolean(), (given, space, isTurned) => {
      const entries = Object.entries(given).map(
        ([name, number]) => `${space}${name}${space}=${space}${number}${space}`,
      );
      fc.pre(entries.length > 0);
      expect(rule.parse((isTurned ? entries.toReversed() : entries).join(','))).toEqual({ ...DEFAULTS, ...given });
    }),
  );
});

test('a text that names anything else, or another number, is refused whole, and told by the rule and not by the text', () => {
  const others = fc.constantFrom(
    '',
    'apples',
    'apples=0',
    'apples=1000000001',
    'plums=51',
    'constructor=1',
    'apples=1,apples=1',
    'apples=1,',
  );
  const wrong = fc.oneof(
    others,
    others.map((text) => `pears=1,${text}`),
  );
  fc.assert(
    fc.property(wrong, (text) => {
      expect(rule.safeParse(text).error?.issues.map(({ message }) => message)).toEqual([
        'must be apples=N,pears=N,plums=N, each optional, with N from 1 to 1000000000 (plums to 50)',
      ]);
    }),
  );
});
