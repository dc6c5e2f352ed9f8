import { abilityOf } from '../../../../src/features/identity/permissions/ability.js';
import { dependsOnLocation, fieldsOf, folderTest } from '../../../../src/features/secrets/scope/visibility.rules.js';
import { can, type Rule } from '../../../../src/kernel/authz/ability.js';
import fc from '../../../kit/properties.js';
import { rounds } from '../../../kit/scope.js';

const SIGHT = ['secrets:describeSecret', 'secrets:readValue'] as const;

const secrets = (conditions?: Rule['conditions'], inverted = false, action: Rule['action'] = 'read'): Rule => ({
  subject: 'secrets',
  action,
  inverted,
  ...(conditions === undefined ? {} : { conditions }),
});

const FOLDERS = ['dev', 'prod'].flatMap((environment) =>
  ['/', '/app', '/app/deep'].map((path) => ({ environment, path })),
);
/** All the secrets that the conditions below can tell apart. */
const SECRETS = FOLDERS.flatMap((folder) =>
  ['A', 'B'].flatMap((key) => [[], [{ slug: 'top' }]].map((tags) => ({ ...folder, key, tags }))),
);

const placeFields = {
  environment: fc.constantFrom<object | string>('dev', { $ne: 'dev' }, { $in: ['dev', 'prod'] }, { $glob: 'p*' }),
  secretPath: fc.constantFrom<object | string>('/', { $ne: '/app' }, { $in: [] }, { $glob: '/app/**' }),
};
const ownFields = {
  secretName: fc.constantFrom<object | string>('A', { $ne: 'A' }, { $glob: '*' }),
  secretTags: fc.constantFrom<object | string>({ $in: ['top'] }, { $ne: 'top' }),
};

const rulesWith = (fields: Record<string, fc.Arbitrary<object | string>>): fc.Arbitrary<Rule[]> =>
  fc.array(
    fc
      .tuple(
        fc.option(fc.record(fields, { requiredKeys: [] }), { nil: undefined }),
        fc.boolean(),
        fc.constantFrom('read', 'describeSecret', 'readValue', ['describeSecret', 'readValue']),
      )
      .map(([conditions, inverted, action]) => secrets(conditions as Rule['conditions'], inverted, action)),
    { maxLength: 5 },
  );

const seenIn = (rules: readonly Rule[], folder: (typeof FOLDERS)[number]): boolean =>
  SECRETS.filter(({ environment, path }) => environment === folder.environment && path === folder.path).some((secret) =>
    SIGHT.every((action) => can(abilityOf(rules), action, fieldsOf(secret))),
  );

describe('the folders that a scan is bound to', () => {
  test('have every secret that rules show, whatever the rules', () => {
    fc.assert(
      fc.property(rulesWith({ ...placeFields, ...ownFields }), fc.constantFrom(...FOLDERS), (rules, folder) => {
        fc.pre(seenIn(rules, folder));
        expect(folderTest(abilityOf(rules), SIGHT)(folder)).toBe(true);
      }),
      { numRuns: rounds(500) },
    );
  });

  test('are no others, where rules look at nothing but environment and path', () => {
    fc.assert(
      fc.property(rulesWith(placeFields), fc.constantFrom(...FOLDERS), (rules, folder) => {
        expect(folderTest(abilityOf(rules), SIGHT)(folder)).toBe(seenIn(rules, folder));
      }),
      { numRuns: rounds(500) },
    );
  });

  test.each<[string, Rule[], string[]]>([
    ['a place and a name', [secrets({ environment: 'dev', secretName: 'A' })], ['dev']],
    ['a name only', [secrets({ secretName: 'A' })], ['dev', 'prod']],
    [
      'a tag that forbids in one place',
      [secrets(), secrets({ environment: 'prod', secretTags: 'top' }, true)],
      ['dev', 'prod'],
    ],
    [
      'a name that allows in a forbidden place',
      [secrets(), secrets({ environment: 'prod' }, true), secrets({ secretName: 'A' })],
      ['dev', 'prod'],
    ],
    ['a place that is forbidden last', [secrets({ secretName: 'A' }), secrets({ environment: 'prod' }, true)], ['dev']],
  ])('follow from rules about %s', (_what, rules, environments) => {
    const test = folderTest(abilityOf(rules), SIGHT);
    expect(['dev', 'prod'].filter((environment) => test({ environment, path: '/' }))).toEqual(environments);
  });

  test('are all alike where no rule about what is asked looks at places', () => {
    const ability = abilityOf([
      secrets({ secretName: 'A' }, false, 'describeSecret'),
      secrets({ secretPath: '/' }, false, 'readValue'),
      { subject: 'secret-imports', action: 'read', conditions: { environment: 'dev' } },
    ]);
    expect([
      dependsOnLocation(ability, ['secrets:describeSecret']),
      dependsOnLocation(ability, SIGHT),
      dependsOnLocation(ability, ['secret-imports:read']),
      dependsOnLocation(ability, ['secret-folders:read']),
    ]).toEqual([false, true, true, false]);
  });
});
