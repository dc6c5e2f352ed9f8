import { PROJECT_ACTIONS } from '../../../src/features/identity/permissions/actions.js';
import { PROJECT_ROLES } from '../../../src/features/identity/permissions/built-in-roles.js';
import { projectRights, rulesAsText, rulesOfRoles } from '../../../src/features/identity/permissions/rights.js';
import { readStoredRules } from '../../../src/features/identity/permissions/stored-rules.js';
import { can, type Rule } from '../../../src/kernel/authz/ability.js';
import fc from '../../kit/properties.js';

const rightsOf = (slugs: readonly string[], ...stored: readonly unknown[]) =>
  projectRights({
    roles: slugs,
    storedRules: stored.length === 0 ? null : stored.map((rules) => rulesAsText(JSON.stringify(rules))),
  });
const dev = { environment: 'dev', secretPath: '/', secretName: 'A', secretTags: [] };
const prod = { ...dev, environment: 'prod' };

describe('rights', () => {
  test('have equal fingerprints where the rules are, and others otherwise', () => {
    const slugs = fc.subarray(['admin', 'member', 'viewer'], { minLength: 1 });
    fc.assert(
      fc.property(slugs, slugs, (one, other) => {
        const isEqual = [...one].sort().join() === [...other].sort().join();
        const [first, second] = [rightsOf(one), rightsOf([...other].reverse())];
        expect(first.fingerprint === second.fingerprint).toBe(isEqual);
        expect(first.fingerprint).toMatch(/^[\w-]{43}$/);
      }),
    );
    const rule = { subject: 'secrets', action: ['edit'], conditions: { environment: 'dev' } };
    const prints = [[], [rule], [rule, rule], [{ ...rule, inverted: true }], [{ ...rule, conditions: {} }]].map(
      (rules) => rightsOf(['viewer', 'own'], rules).fingerprint,
    );
    expect(new Set(prints).size).toBe(prints.length);
    expect(rightsOf(['no-access', 'own'], [rule]).fingerprint).toBe(rightsOf(['other'], [rule]).fingerprint);
  });

  test('are those of the built-in roles first, and then of the others as they are named', () => {
    const forbids = [{ subject: 'secrets', action: ['edit'], inverted: true, conditions: { environment: 'prod' } }];
    const allows = [{ subject: 'secrets', action: ['edit'] }];
    const mayEdit = (slugs: readonly string[], ...stored: readonly unknown[]) =>
      [dev, prod].map((fields) => can(rightsOf(slugs, ...stored).ability, 'secrets:edit', fields));

    expect(mayEdit(['forbids', 'member'], forbids)).toEqual([true, false]);
    expect(mayEdit(['forbids', 'allows'], forbids, allows)).toEqual([true, true]);
    expect(mayEdit(['allows', 'forbids'], allows, forbids)).toEqual([true, false]);
    expect(mayEdit(['unknown'])).toEqual([false, false]);
    expect(rulesOfRoles(['own', 'viewer', 'admin'], [forbids]).at(-1)).toEqual(forbids[0]);
  });

  test('take patterns with attributes in them, and none that gets too long with these', () => {
    const rules = [
      { subject: 'secrets', action: ['edit'], conditions: { secretName: { $glob: '{{identity.metadata.team}}_*' } } },
    ];
    const [allows, forbids] = [[rules], [[{ ...rules[0], inverted: true }]]];
    const mayEdit = (stored: unknown, team: string, role = 'no-access') =>
      ['web_A', 'A'].map((secretName) =>
        can(
          projectRights({
            roles: [role, 'own'],
            storedRules: (stored as unknown[]).map((list) => rulesAsText(JSON.stringify(list))),
            attributes: JSON.stringify({ 'metadata.team': team }),
          }).ability,
          'secrets:edit',
          { ...dev, secretName },
        ),
      );

    expect(mayEdit(allows, 'web')).toEqual([true, false]);
    expect(mayEdit(allows, '*')).toEqual([false, false]);
    expect(mayEdit(allows, '-'.repeat(200))).toEqual([false, false]);
    expect(mayEdit(forbids, 'web', 'member')).toEqual([false, true]);
    expect(mayEdit(forbids, '-'.repeat(200), 'member')).toEqual([false, false]);
  });

  test('are kept as long as there is room, which rules that are not stored do not take', () => {
    const name = 'x'.repeat(20_000);
    const stored = (index: number) => [
      { subject: 'secrets', action: ['readValue'], conditions: { secretName: { $in: [`${name}${index}`] } } },
    ];
    const keptOf = (index: number) => {
      const rules = JSON.stringify(stored(index));
      return projectRights({ roles: ['own'], storedRules: [{ digest: `digest-${index}`, rules }] });
    };
    const first = keptOf(0);
    expect(keptOf(0)).toBe(first);

    for (let index = 1; index < 2_000; index += 1) rightsOf(['own'], stored(index));
    expect(keptOf(0)).toBe(first);

    for (let index = 1; index < 2_000; index += 1) keptOf(index);
    const again = keptOf(0);
    expect(again).not.toBe(first);
    expect(again.fingerprint).toBe(first.fingerprint);
  });
});

describe('stored rules', () => {
  const everything = Object.entries(PROJECT_ACTIONS).map(([subject, action]) => ({ subject, action, inverted: true }));

  test('are taken as they are when they can be read', () => {
    const rules = [
      { subject: 'secrets', action: ['readValue', 'edit'], conditions: { secretTags: { $in: ['a'] } } },
      { subject: 'secret-folders', action: ['read'], inverted: true, conditions: { secretPath: { $glob: '/a/**' } } },
      { subject: 'tags', action: ['read'] },
    ];
    expect(readStoredRules(rules)).toEqual(rules);
  });

  test.each([
    ['an unknown operator', { conditions: { environment: { $regex: '.' } } }],
    ['one unknown operator among others', { conditions: { environment: { $eq: 'dev', $all: ['x'] } } }],
    ['an operator that the field does not have', { conditions: { secretTags: { $glob: '*' } } }],
    ['an unknown field', { conditions: { secretOwner: 'me' } }],
    ['a field of another subject', { subject: 'secret-folders', conditions: { secretName: 'A' } }],
    ['conditions of a subject without fields', { subject: 'tags', conditions: { environment: 'dev' } }],
    ['no operator', { conditions: { environment: {} } }],
    ['an operand of the wrong kind', { conditions: { environment: { $in: 'dev' } } }],
    ['another operand of the wrong kind', { conditions: { environment: { $eq: 1 } } }],
    ['a pattern that is none', { conditions: { secretPath: { $glob: '(/a)' } } }],
    ['conditions that are none', { conditions: 'dev' }],
  ])('with %s allow nothing, or forbid without conditions', (_, change) => {
    const rule = { subject: 'secrets', action: ['edit'], ...change };
    expect(readStoredRules([rule])).toEqual([]);
    expect(readStoredRules([{ ...rule, inverted: true }])).toEqual([
      { subject: rule.subject, action: ['edit'], inverted: true },
    ]);
  });

  test('allow only actions that there are, and forbid all when it is unclear which', () => {
    expect(readStoredRules([{ subject: 'tags', action: ['read', 'fly'] }])).toEqual([
      { subject: 'tags', action: ['read'] },
    ]);
    for (const action of [['fly'], 'manage', [], null, { read: true }]) {
      expect(readStoredRules([{ subject: 'tags', action }])).toEqual([]);
    }
    expect(readStoredRules([{ subject: 'tags', action: 7, inverted: true }])).toEqual([
      { subject: 'tags', action: PROJECT_ACTIONS.tags, inverted: true },
    ]);
    for (const subject of ['all', 'toString', '__proto__']) {
      expect(readStoredRules([{ subject, action: 'manage' }])).toEqual([]);
      expect(readStoredRules([{ subject, action: 'manage', inverted: true }])).toEqual([]);
    }
    for (const broken of [
      null,
      'x',
      7,
      {},
      [null],
      ['x'],
      [{ action: ['read'], inverted: true }],
      [{ inverted: 'no' }],
    ]) {
      expect(readStoredRules(broken)).toEqual(everything);
    }
  });

  test('of any shape never allow what readable ones would not, and never throw', () => {
    const rule = fc.record(
      {
        subject: fc.oneof(fc.constantFrom('secrets', 'tags', 'all'), fc.jsonValue()),
        action: fc.oneof(fc.constantFrom('edit', 'manage', ['edit', 'create']), fc.jsonValue()),
        inverted: fc.oneof(fc.boolean(), fc.jsonValue()),
        conditions: fc.oneof(
          fc.dictionary(
            fc.constantFrom('environment', 'secretTags', 'x'),
            fc.oneof(fc.constant('dev'), fc.jsonValue()),
          ),
          fc.jsonValue(),
        ),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.oneof(fc.array(rule, { maxLength: 4 }), fc.jsonValue()), (stored) => {
        const { ability } = rightsOf(['own'], stored);
        const isAllowed = can(ability, 'secrets:edit', dev);
        const allowing = (Array.isArray(stored) ? stored : []).some(
          (each) =>
            (each as unknown as Rule | null)?.subject === 'secrets' &&
            [(each as unknown as Rule).action].flat().includes('edit'),
        );
        if (isAllowed) expect(allowing).toBe(true);
        expect(can(rightsOf(['viewer', 'own'], stored).ability, 'secrets:delete', dev)).toBe(false);
      }),
    );
  });

  test('of no role change what the built-in ones are', () => {
    for (const slug of PROJECT_ROLES) expect(rightsOf([slug]).fingerprint).toBe(rightsOf([slug], []).fingerprint);
  });
});
