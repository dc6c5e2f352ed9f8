import { buildAbility, can, type Rule } from '../../src/kernel/authz/ability.js';
import { type Conditions, compileConditions, type Fields } from '../../src/kernel/authz/conditions.js';
import fc from '../kit/properties.js';

const NAMES = ['environment', 'secretPath', 'secretName', 'secretTags'] as const;
const word = fc.constantFrom('dev', 'prod', '/', '/app', '/app/db', 'DB_URL', 'x');
const value = fc.oneof(word, fc.array(word, { maxLength: 3 }));
const fieldsOf = fc.dictionary(fc.constantFrom(...NAMES), value) as fc.Arbitrary<Fields>;
const operators = fc.record(
  { $eq: word, $ne: word, $in: fc.array(word, { maxLength: 3 }), $glob: fc.constantFrom('**', '/app/**', 'D*', 'x') },
  { requiredKeys: [] },
);
const conditionsOf = fc.dictionary(fc.constantFrom(...NAMES), fc.oneof(word, operators), {
  minKeys: 1,
}) as fc.Arbitrary<Conditions>;

const matches = (conditions: Conditions, fields: Fields): boolean => compileConditions(conditions)(fields);

describe('compileConditions', () => {
  test('a plain text means $eq', () => {
    fc.assert(
      fc.property(word, fieldsOf, (text, fields) => {
        expect(matches({ environment: text }, fields)).toBe(matches({ environment: { $eq: text } }, fields));
      }),
    );
  });

  test('all fields and all operators must hold', () => {
    fc.assert(
      fc.property(conditionsOf, fieldsOf, (conditions, fields) => {
        const single = Object.entries(conditions).flatMap(([field, condition]): unknown[] =>
          typeof condition === 'string'
            ? [{ [field]: condition }]
            : Object.entries(condition).map(([operator, operand]) => ({ [field]: { [operator]: operand } })),
        ) as unknown as Conditions[];
        const hasAll = Object.keys(conditions).every((field) => field in fields);

        expect(matches(conditions, fields)).toBe(hasAll && single.every((each) => matches(each, fields)));
      }),
    );
  });

  test('a field that the thing does not have matches nothing, $ne and an empty condition too', () => {
    fc.assert(
      fc.property(fc.oneof(word, operators), fieldsOf, (condition, fields) => {
        const { environment: _, ...others } = fields as Record<string, string>;
        expect(matches({ environment: condition } as Conditions, others)).toBe(false);
      }),
    );
  });

  test('$ne is the opposite of $eq, for lists too', () => {
    fc.assert(
      fc.property(word, value, (text, given) => {
        const fields = { secretTags: given };
        expect(matches({ secretTags: { $ne: text } }, fields)).toBe(!matches({ secretTags: { $eq: text } }, fields));
      }),
    );
  });

  test('$in is an $eq with any of its entries, and nothing for an empty list', () => {
    fc.assert(
      fc.property(fc.array(word, { maxLength: 4 }), value, (texts, given) => {
        const fields = { secretTags: given };
        expect(matches({ secretTags: { $in: texts } }, fields)).toBe(
          texts.some((text) => matches({ secretTags: { $eq: text } }, fields)),
        );
      }),
    );
  });

  test.each([
    ['/app/**', '/app', true],
    ['/app/**', '/app/db/eu', true],
    ['/app/**', '/apple', false],
    ['/app/*', '/app/db', true],
    ['/app/*', '/app/db/eu', false],
    ['**', '/', true],
    ['/**', '/a/b', true],
    ['DB_*', 'DB_URL', true],
    ['DB_*', 'db_url', false],
    ['DB_?', 'DB_10', false],
    ['/app', '/app', true],
  ])('$glob %s on %s is %s', (glob, path, expected) => {
    expect(matches({ secretPath: { $glob: glob } }, { secretPath: path })).toBe(expected);
  });

  test('an operator that is not known makes the rules unusable instead of wider', () => {
    expect(() => compileConditions({ environment: { $regex: '.*' } as never })).toThrow('unknown condition operator');
    expect(() => compileConditions({ environment: { $glob: '(a|b)+' } })).toThrow('invalid pattern');
  });
});

const READ = 'secrets:readValue';
const ruleOf = fc.record({
  subject: fc.constantFrom('secrets', 'tags'),
  action: fc.oneof(fc.constantFrom('readValue', 'edit'), fc.constantFrom(['readValue', 'edit'], ['edit'])),
  inverted: fc.boolean(),
  conditions: fc.option(conditionsOf, { nil: undefined }),
}) as unknown as fc.Arbitrary<Rule>;

/** What the rules say, read from the last to the first. */
function expected(rules: readonly Rule[], fields: Fields): boolean {
  const last = rules
    .filter(({ subject, action }) => subject === 'secrets' && [action].flat().includes('readValue'))
    .findLast(({ conditions }) => conditions === undefined || matches(conditions, fields));
  return last !== undefined && last.inverted !== true;
}

describe('abilities', () => {
  test('the last rule that applies decides', () => {
    fc.assert(
      fc.property(fc.array(ruleOf, { maxLength: 5 }), fieldsOf, (rules, fields) => {
        expect(can(buildAbility(rules), READ, fields)).toBe(expected(rules, fields));
      }),
    );
  });

  test('no rule allows nothing', () => {
    fc.assert(fc.property(fieldsOf, (fields) => expect(can(buildAbility([]), READ, fields)).toBe(false)));
  });

  test('an inverted rule takes back a part of what an earlier one gave', () => {
    const ability = buildAbility([
      { subject: 'secrets', action: ['readValue'] },
      { subject: 'secrets', action: ['readValue'], inverted: true, conditions: { environment: 'prod' } },
    ]);

    expect(can(ability, READ, { environment: 'dev' })).toBe(true);
    expect(can(ability, READ, { environment: 'prod' })).toBe(false);
    expect(can(ability, READ)).toBe(true);
  });

  test('an inverted rule before the one that gives is without effect', () => {
    const ability = buildAbility([
      { subject: 'secrets', action: 'readValue', inverted: true },
      { subject: 'secrets', action: 'readValue' },
    ]);

    expect(can(ability, READ, {})).toBe(true);
  });

  test('fields that a caller could name subjectType do not change the kind of the thing', () => {
    const ability = buildAbility([{ subject: 'tags', action: 'readValue' }]);

    expect(can(ability, READ, { subjectType: 'tags' })).toBe(false);
  });
});
