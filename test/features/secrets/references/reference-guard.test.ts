import { abilityOf } from '../../../../src/features/identity/permissions/ability.js';
import { authorizeReferences } from '../../../../src/features/secrets/references/reference-writes.js';
import { can, type Rule } from '../../../../src/kernel/authz/ability.js';
import { SealedText } from '../../../../src/kernel/crypto/sealed-text.js';
import fc from '../../../kit/properties.js';
import { rounds } from '../../../kit/scope.js';

const ENVIRONMENTS = ['dev', 'prod'];
const PATHS = ['/', '/a', '/a/b'];
const KEYS = ['K', 'L'];

const place = fc.record({ environment: fc.constantFrom(...ENVIRONMENTS), path: fc.constantFrom(...PATHS) });
const condition = (values: readonly string[]) =>
  fc.oneof(fc.constantFrom(...values), fc.record({ $ne: fc.constantFrom(...values) }));
const rules = fc.array(
  fc.record({
    subject: fc.constant('secrets'),
    action: fc.constantFrom('describeSecret', 'readValue', 'edit'),
    inverted: fc.boolean(),
    conditions: fc.record(
      {
        environment: condition(ENVIRONMENTS),
        secretPath: condition(PATHS),
        secretName: condition(KEYS),
        secretTags: condition(['hot', 'cold']),
      },
      { requiredKeys: [] },
    ),
  }),
  { maxLength: 4 },
);

/** A reference as it is written, and the secret that it names from a place. */
const reference = fc.oneof(
  fc.constantFrom(...KEYS).map((key) => ({ text: `\${${key}}`, at: null, key })),
  fc.tuple(place, fc.constantFrom(...KEYS)).map(([at, key]) => ({
    text: `\${${[at.environment, ...at.path.split('/').filter((name) => name !== ''), key].join('.')}}`,
    at,
    key,
  })),
);
const placed = fc.record({ at: place, references: fc.array(reference, { maxLength: 4 }) });
type Placed = typeof placed extends fc.Arbitrary<infer T> ? T : never;

const placedValue = ({ at, references }: Placed) => ({
  ...at,
  value: new SealedText(`x ${references.map(({ text }) => text).join(' ')} \${}`),
});
const namesOf = ({ at, references }: Placed) => references.map((each) => ({ ...(each.at ?? at), key: each.key }));
const text = (name: object): string => JSON.stringify(name);

/** The places in the request of the values that are refused. */
function refused(given: readonly Rule[], values: readonly Placed[], earlier: readonly Placed[] = []): string[] {
  const project = { ability: abilityOf(given), projectId: 'p' } as Parameters<typeof authorizeReferences>[0];
  try {
    authorizeReferences(
      project,
      values.map((value, index) => ({
        ...placedValue(value),
        at: `values[${index}]`,
        earlier: () => earlier.map(placedValue),
      })),
    );
    return [];
  } catch (error) {
    return (error as { details: { path: string }[] }).details.map(({ path }) => path);
  }
}

test('exactly those values are refused that refer to what the writer may not describe and did not stand before', () => {
  fc.assert(
    fc.property(
      rules,
      fc.array(placed, { maxLength: 4 }),
      fc.array(placed, { maxLength: 2 }),
      (given, values, earlier) => {
        const ability = abilityOf(given);
        const stood = new Set(earlier.flatMap(namesOf).map(text));
        const expected = values.flatMap((value, index) => {
          const isFine = namesOf(value).every(
            (name) =>
              stood.has(text(name)) ||
              can(ability, 'secrets:describeSecret', {
                environment: name.environment,
                secretPath: name.path,
                secretName: name.key,
                secretTags: [],
              }),
          );
          return isFine ? [] : [`values[${index}]`];
        });

        expect(refused(given, values, earlier)).toEqual(expected);
      },
    ),
    { numRuns: rounds(500) },
  );
});

test('a right that depends on tags does not allow it, and a tag that is forbidden does not matter', () => {
  const value = { at: { environment: 'dev', path: '/' }, references: [{ text: '${K}', at: null, key: 'K' }] };
  const describe = { subject: 'secrets', action: 'describeSecret' };
  const tagged = { secretTags: 'hot' };

  expect(refused([{ ...describe, conditions: tagged }], [value])).toEqual(['values[0]']);
  expect(refused([describe, { ...describe, inverted: true, conditions: tagged }], [value])).toEqual([]);
});
