import { mustSucceed } from '../../../kit/caller.js';
import fc from '../../../kit/properties.js';
import { callerWithRules, type GivenRule } from '../../../kit/rules.js';
import { rounds } from '../../../kit/scope.js';
import { useSharedStrongroom } from '../../../kit/strongroom.js';
import { type Place, seedPlaces } from './places.js';

const strongroom = useSharedStrongroom();

const ENVIRONMENTS = ['dev', 'prod'];
const PATHS = ['/', '/app', '/app/eu', '/db'];
const KEYS = ['DB_PASS', 'DB_URL', 'KEY', 'API.KEY'];
const TAGS = ['cold', 'hot'];
const FIELDS = { environment: ENVIRONMENTS, secretPath: PATHS, secretName: KEYS } as const;

/** Patterns, and what they mean in other words. */
const GLOBS: Readonly<Record<keyof typeof FIELDS, readonly (readonly [string, RegExp])[]>> = {
  environment: [
    ['*', /^/],
    ['{dev,staging}', /^dev$/],
    ['p?od', /^prod$/],
  ],
  secretPath: [
    ['/**', /^/],
    ['/app/**', /^\/app/],
    ['/*', /^\/[^/]+$/],
    ['/{app,db}', /^\/(app|db)$/],
    ['**/eu', /\/eu$/],
  ],
  secretName: [
    ['DB_*', /^DB_/],
    ['*KEY', /KEY$/],
    ['[^D]*', /^[^D]/],
    ['*_*_*', /_.*_/],
  ],
};

type Condition = string | Readonly<Record<string, string | readonly string[]>>;
type Conditions = Readonly<Record<string, Condition>>;

const conditionOf = (field: keyof typeof FIELDS): fc.Arbitrary<Condition> => {
  const word = fc.constantFrom(...FIELDS[field]);
  const operators = {
    $eq: word,
    $ne: word,
    $in: fc.subarray([...FIELDS[field]], { minLength: 1 }),
    $glob: fc.constantFrom(...GLOBS[field].map(([pattern]) => pattern)),
  };
  const one = fc
    .constantFrom(...(Object.keys(operators) as (keyof typeof operators)[]))
    .chain((name) => operators[name].map((operand): Condition => ({ [name]: operand })));
  const some = fc
    .record(operators, { requiredKeys: [] })
    .filter((given) => Object.keys(given).length > 0) as fc.Arbitrary<Condition>;
  return fc.oneof({ weight: 2, arbitrary: word }, { weight: 4, arbitrary: one }, { weight: 1, arbitrary: some });
};

const conditions = fc.record(
  {
    environment: conditionOf('environment'),
    secretPath: conditionOf('secretPath'),
    secretName: conditionOf('secretName'),
    secretTags: fc.subarray(TAGS, { minLength: 1 }).map((choice) => ({ $in: choice })),
  },
  { requiredKeys: [] },
) as fc.Arbitrary<Conditions>;

const rule = fc
  .record(
    {
      subject: fc.constant('secrets'),
      action: fc.constantFrom('read', 'readValue', 'describeSecret', ['describeSecret', 'readValue'], ['edit']),
      inverted: fc.boolean(),
      conditions,
    },
    { requiredKeys: ['subject', 'action'] },
  )
  .map((given) => given as GivenRule);

/** What one rule says, in the plainest words. */
function applies(given: GivenRule, verb: string, place: Place): boolean {
  const verbs = [given.action].flat().flatMap((each) => (each === 'read' ? ['describeSecret', 'readValue'] : [each]));
  const values: Readonly<Record<string, string>> = {
    environment: place.environment,
    secretPath: place.path,
    secretName: place.key,
  };
  return (
    verbs.includes(verb) &&
    Object.entries((given.conditions ?? {}) as Conditions).every(([field, condition]) => {
      if (typeof condition === 'string') return values[field] === condition;
      if (field === 'secretTags') return place.tags.some((tag) => condition.$in?.includes(tag));
      const value = values[field] as string;
      const meaning = GLOBS[field as keyof typeof GLOBS].find(([pattern]) => pattern === condition.$glob)?.[1];
      return (
        (condition.$eq === undefined || condition.$eq === value) &&
        condition.$ne !== value &&
        (condition.$in === undefined || condition.$in.includes(value)) &&
        (meaning === undefined || meaning.test(value))
      );
    })
  );
}

/** The last rule that applies decides. */
const allows = (rules: readonly GivenRule[], verb: string, place: Place): boolean => {
  const last = rules.findLast((given) => applies(given, verb, place));
  return last !== undefined && last.inverted !== true;
};

const places: readonly Place[] = ENVIRONMENTS.flatMap((environment) =>
  PATHS.flatMap((path, row) =>
    [...KEYS].sort().map((key, column) => ({
      environment,
      path,
      key,
      tags: TAGS.filter((_, bit) => (((row * KEYS.length + column) >> bit) & 1) === 1),
    })),
  ),
);

test('whatever the rules, lists and single reads show what the rules say, and no more', async () => {
  const { admin, project } = await strongroom.seed.project();
  await seedPlaces(admin, project.id, places);
  const { caller, change } = await callerWithRules(strongroom, admin, project.id);
  const query = (environment: string, more: object) =>
    new URLSearchParams({ projectId: project.id, environment, ...more }).toString();

  await fc.assert(
    fc.asyncProperty(
      fc.array(rule, { minLength: 1, maxLength: 6 }),
      fc.constantFrom(...places),
      async (rules, single) => {
        await change(...rules);
        const shown = (place: Place) => ({
          secretPath: place.path,
          secretKey: place.key,
          secretValue: allows(rules, 'readValue', place)
            ? `${place.environment} ${place.path} ${place.key}`
            : '<hidden>',
        });
        for (const environment of ENVIRONMENTS) {
          const reply = await caller.get(`/api/v4/secrets?${query(environment, { recursive: 'true' })}`);
          if (reply.status === 403) {
            expect(places.filter((place) => allows(rules, 'describeSecret', place))).toEqual([]);
            continue;
          }
          const listed = mustSucceed(reply).body.secrets.map((secret: Record<string, unknown>) => ({
            secretPath: secret.secretPath,
            secretKey: secret.secretKey,
            secretValue: secret.secretValue,
          }));
          const expected = places.filter(
            (place) => place.environment === environment && allows(rules, 'describeSecret', place),
          );
          expect(listed).toEqual(expected.map(shown));
        }
        const reply = await caller.get(
          `/api/v4/secrets/${single.key}?${query(single.environment, { secretPath: single.path })}`,
        );
        if (allows(rules, 'describeSecret', single))
          expect(mustSucceed(reply).body.secret).toMatchObject(shown(single));
        else expect([403, 404]).toContain(reply.status);
      },
    ),
    { numRuns: rounds(60) },
  );
});
