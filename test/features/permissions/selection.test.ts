import { type FieldChange, matchesOtherResources } from '../../../src/features/identity/permissions/selection.js';
import type { Rule } from '../../../src/kernel/authz/ability.js';
import { type Conditions, compileConditions } from '../../../src/kernel/authz/conditions.js';
import fc from '../../kit/properties.js';

const slug = fc.constantFrom('dev', 'prod', 'd', 'x');
const path = fc.constantFrom('/', '/a', '/a/b', '/b');
const onText = (text: fc.Arbitrary<string>) =>
  fc.oneof(
    text,
    fc.record({ $ne: text }),
    fc.record({ $in: fc.array(text, { maxLength: 2 }) }),
    fc.record({ $glob: fc.constantFrom('d*', '/a/**', '**', '/*') }),
  );
const conditions: fc.Arbitrary<Conditions> = fc.record(
  {
    environment: onText(slug),
    secretPath: onText(path),
    secretName: onText(slug),
    secretTags: fc.record({ $in: fc.array(slug, { maxLength: 2 }) }),
  },
  { requiredKeys: [] },
) as fc.Arbitrary<Conditions>;
const thing = fc.record({
  environment: slug,
  secretPath: path,
  secretName: slug,
  secretTags: fc.array(slug, { maxLength: 2 }),
});
const change = fc.oneof(
  fc.record({ before: fc.record({ environment: slug }), after: fc.record({ environment: slug }) }),
  fc.record({
    before: fc.record({ environment: slug, secretPath: path }),
    after: fc.record({ environment: slug, secretPath: path }),
  }),
);
const about = (given: Omit<FieldChange, 'subject'>): FieldChange => ({ subject: 'secrets', ...given });

describe('whether rules select other things after a change', () => {
  test('is denied only where each rule fits each thing as it did, whatever else the thing is', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(conditions, { maxLength: 3 }), thing, change, async (given, other, renamed) => {
        const rules = given.map((each): Rule => ({ subject: 'secrets', action: 'readValue', conditions: each }));
        if (await matchesOtherResources(rules, [about(renamed)])) return;
        for (const each of given) {
          const fits = compileConditions(each);
          expect(fits({ ...other, ...renamed.after })).toBe(fits({ ...other, ...renamed.before }));
        }
      }),
    );
  });

  test('is denied of tags only where each rule fits each thing as it did, whatever other tags it has', async () => {
    await fc.assert(
      fc.asyncProperty(conditions, thing, slug, fc.option(slug), async (given, other, from, to) => {
        const renamed = { before: { secretTags: [from] }, after: { secretTags: to === null ? [] : [to] } };
        if (
          await matchesOtherResources(
            [{ subject: 'secrets', action: 'readValue', conditions: given }],
            [about(renamed)],
          )
        )
          return;
        const fits = compileConditions(given);
        const tagged = (tags: readonly string[]) => fits({ ...other, secretTags: [...other.secretTags, ...tags] });
        expect(tagged(renamed.after.secretTags)).toBe(tagged(renamed.before.secretTags));
      }),
    );
  });

  test('is not affirmed by rules about other subjects, about other fields, or without conditions', async () => {
    const rules: Rule[] = [
      { subject: 'secret-folders', action: 'read', conditions: { environment: 'dev' } },
      { subject: 'secrets', action: 'readValue', conditions: { secretName: 'dev' } },
      { subject: 'secrets', action: 'readValue' },
    ];
    const renamed = about({ before: { environment: 'dev' }, after: { environment: 'prod' } });
    expect(await matchesOtherResources(rules, [renamed])).toBe(false);
    expect(await matchesOtherResources(rules, [{ ...renamed, subject: 'secret-folders' }])).toBe(true);
  });
});
