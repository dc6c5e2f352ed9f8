import { fromConditionsType, toConditionsType } from '../../../src/features/identity/permissions/permission.type.js';
import fc from '../../kit/properties.js';

const word = fc.string({ minLength: 1, maxLength: 8 });
const operators = fc
  .record({ $eq: word, $ne: word, $in: fc.array(word, { minLength: 1 }), $glob: word }, { requiredKeys: [] })
  .filter((given) => Object.keys(given).length > 0);
const conditions = fc.record(
  {
    environment: fc.oneof(word, operators),
    secretPath: fc.oneof(word, operators),
    secretName: fc.oneof(word, operators),
    secretTags: fc.record({ $in: fc.array(word, { minLength: 1 }) }),
  },
  { requiredKeys: [] },
);

describe('conditions of rules', () => {
  test('come back from GraphQL as they were, a plain text as a plain text', () => {
    fc.assert(
      fc.property(conditions, (given) => {
        expect(fromConditionsType(toConditionsType(given))).toEqual(given);
      }),
    );
  });

  test('are none where there are none', () => {
    expect([toConditionsType(null), toConditionsType(undefined), fromConditionsType(null)]).toEqual([null, null, null]);
  });

  test('keep what no rule allows for the rules to refuse', () => {
    expect(fromConditionsType({ environment: { is: 'dev', ne: 'prod' }, secretPath: {} })).toEqual({
      environment: { is: 'dev', $ne: 'prod' },
      secretPath: {},
    });
  });
});
