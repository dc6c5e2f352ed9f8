import {
  type Attributes,
  patternViolation,
  withAttributes,
} from '../../../src/features/identity/permissions/attributes.js';
import { Permissions } from '../../../src/features/identity/permissions/permission.rules.js';
import { projectRights, rulesAsText } from '../../../src/features/identity/permissions/rights.js';
import { matchesOtherResources } from '../../../src/features/identity/permissions/selection.js';
import { readStoredRules } from '../../../src/features/identity/permissions/stored-rules.js';
import { can, type Rule } from '../../../src/kernel/authz/ability.js';
import type { Conditions } from '../../../src/kernel/authz/conditions.js';
import { compileGlob } from '../../../src/kernel/authz/glob.js';
import fc from '../../kit/properties.js';
import { rounds } from '../../kit/scope.js';

const TEAM = '{{identity.metadata.team}}';
const on = (conditions: Conditions, inverted = false): Rule => ({
  subject: 'secrets',
  action: ['edit'],
  ...(inverted ? { inverted } : {}),
  conditions,
});
const filled = (condition: Conditions[string], attributes: Attributes) =>
  withAttributes([on({ environment: condition })], attributes).map(({ conditions }) => conditions?.environment);
const secret = { environment: 'dev', secretPath: '/', secretName: 'A', secretTags: ['x'] };
const mayEdit = (stored: readonly Rule[], attributes: object, fields = {}) =>
  can(
    projectRights({
      roles: ['own'],
      storedRules: [rulesAsText(JSON.stringify(stored))],
      attributes: JSON.stringify(attributes),
    }).ability,
    'secrets:edit',
    { ...secret, ...fields },
  );

/** Whatever a directory may hold, and what patterns and names of attributes are made of. */
const value = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        '*',
        '**',
        '?',
        '{',
        '}',
        '{{',
        '}}',
        ',',
        '[',
        ']',
        '^',
        '!',
        '\\',
        '/',
        '(',
        ')',
        '|',
        '-',
        '$',
      ),
      fc.constantFrom('{{identity.name}}', '{{identity.id}}', 'dev', 'a', 'É', '日本', '😀', ' ', 'e\u0301'),
      fc.string({ maxLength: 3, unit: 'binary' }).filter((text) => text.isWellFormed()),
    ),
    { minLength: 1, maxLength: 6 },
  )
  .map((parts) => parts.join(''))
  .filter((text) => text !== '');

describe('attributes of the caller in a rule', () => {
  test.each<[string, Conditions[string], Conditions[string]]>([
    ['as a plain text', '{{identity.name}}', 'ann'],
    ['between other texts', 'a-{{identity.name}}-{{ identity.id }}', 'a-ann-7'],
    ['of the metadata', { $eq: TEAM }, { $eq: 'core' }],
    ['that must not be', { $ne: '{{identity.name}}' }, { $ne: 'ann' }],
    ['in a list', { $in: ['dev', '{{identity.id}}'] }, { $in: ['dev', '7'] }],
    ['in a pattern', { $glob: `/${TEAM}/**` }, { $glob: '/\\core/**' }],
    ['as a choice of a pattern', { $glob: `{a,{{identity.name}}}` }, { $glob: '{a,\\ann}' }],
  ])('stand for their values: %s', (_, given, expected) => {
    expect(filled(given, { id: '7', name: 'ann', 'metadata.team': 'core' })).toEqual([expected]);
  });

  test('leave rules without names as they are', () => {
    const rules = [on({ environment: 'dev' }), { subject: 'tags', action: ['read'] }];
    expect(withAttributes(rules, {})).toEqual(rules);
  });

  test.each([
    ['missing', {}],
    ['empty', { 'metadata.team': '' }],
    ['without a value', { 'metadata.team': null as unknown as string }],
    ['of the prototype', Object.create({ 'metadata.team': 'core' }) as Attributes],
    ['one that names another', { 'metadata.team': '{{identity.name}}', name: 'dev' }],
  ])('that are %s allow nothing, and forbid whatever the condition would have selected', (_, attributes) => {
    for (const condition of [TEAM, { $eq: TEAM }, { $ne: TEAM }, { $in: ['dev', TEAM] }]) {
      const conditions = { environment: condition, secretName: 'A' };
      expect(withAttributes([on(conditions)], attributes)).toEqual([]);
      expect(withAttributes([on(conditions, true)], attributes)).toEqual([on({ secretName: 'A' }, true)]);
      expect(withAttributes([on({ environment: condition }, true)], attributes)).toEqual([
        { subject: 'secrets', action: ['edit'], inverted: true },
      ]);
    }
  });

  test('that are missing forbid also what is asked of no secret in particular', () => {
    const rules = [{ subject: 'secrets', action: ['edit'] }, on({ environment: TEAM }, true)];
    const { ability } = projectRights({
      roles: ['own'],
      storedRules: [rulesAsText(JSON.stringify(rules))],
      attributes: null,
    });
    expect(can(ability, 'secrets:edit')).toBe(false);
  });

  test('that nobody has, and braces that name none, fail closed', () => {
    for (const text of ['{{identity.email}}', '{{user.name}}', '{{', '{{identity.name', '{{identity. name}}', '{{{{']) {
      expect(filled(text, { id: '7', name: 'ann' })).toEqual([]);
    }
  });

  test('are matched as they are, whatever they hold, and never widen a rule', () => {
    fc.assert(
      fc.property(value, value, (name, other) => {
        for (const condition of ['{{identity.name}}', { $eq: '{{identity.name}}' }, { $in: ['{{identity.name}}'] }]) {
          const rules = [on({ environment: condition })];
          expect(mayEdit(rules, { name }, { environment: name })).toBe(!name.includes('{{'));
          if (other !== name) expect(mayEdit(rules, { name }, { environment: other })).toBe(false);
        }
      }),
      { numRuns: rounds(1_000) },
    );
  });

  test('stand for themselves in a pattern, whatever they hold', () => {
    fc.assert(
      fc.property(value, value, (name, other) => {
        const rules = [on({ secretPath: { $glob: '/x/{{identity.name}}/*' } })];
        const isAllowed = (secretPath: string) => mayEdit(rules, { name }, { secretPath });
        expect(isAllowed(`/x/${name}/y`)).toBe(true);
        expect(isAllowed(`/x/${name}`)).toBe(false);
        expect(isAllowed(`/x/${name}/y/z`)).toBe(false);
        expect(isAllowed(`/x/${other}/y`)).toBe(other === name);
      }),
      { numRuns: rounds(1_000) },
    );
  });

  test('are no part of a class, and no backslash before them frees what they hold', () => {
    for (const pattern of [`[${TEAM}]`, `[a-${TEAM}]`, `\\${TEAM}`, `${TEAM}\\`, `{${TEAM}}`, `(${TEAM})`]) {
      expect(patternViolation(pattern)).not.toBeNull();
      const rule = on({ secretName: { $glob: pattern } });
      expect(readStoredRules([rule, { ...rule, inverted: true }])).toEqual([
        { subject: 'secrets', action: ['edit'], inverted: true },
      ]);
      for (const team of ['*', '^a', 'a', '{a,b}'])
        expect(filled({ $glob: pattern }, { 'metadata.team': team })).toEqual([]);
      const given = Permissions.safeParse([rule]);
      expect(given.error?.issues[0]).toMatchObject({ params: { code: 'INVALID_GLOB' } });
    }
  });

  test('make no pattern that is too long: it would fit nothing, and forbid nothing', () => {
    const team = '*'.repeat(200);
    const rule = on({ secretPath: { $glob: `/${TEAM}` } });
    expect(typeof compileGlob('\\*'.repeat(200))).toBe('string');
    expect(mayEdit([rule], { 'metadata.team': team }, { secretPath: `/${team}` })).toBe(false);
    const everything = { subject: 'secrets', action: ['edit'] };
    expect(mayEdit([everything, { ...rule, inverted: true }], { 'metadata.team': team })).toBe(false);
  });

  test('may be named by whoever makes a role, also in patterns', () => {
    const conditions = {
      environment: { $in: [TEAM, 'dev'] },
      secretPath: { $glob: `/${TEAM}/{a,{{identity.id}}}/**` },
      secretTags: { $in: [TEAM] },
    };
    expect(Permissions.safeParse([on(conditions)]).success).toBe(true);
    expect(readStoredRules([on(conditions)])).toEqual([on(conditions)]);
  });

  test('make a rename a change of what rules select, since some holder may have the name', async () => {
    const change = { subject: 'secrets', before: { environment: 'dev' }, after: { environment: 'test' } };
    expect(await matchesOtherResources([on({ environment: TEAM })], [change])).toBe(true);
    expect(await matchesOtherResources([on({ environment: { $glob: `${TEAM}*` } })], [change])).toBe(true);
    expect(await matchesOtherResources([on({ secretPath: { $glob: `/${TEAM}` } })], [change])).toBe(false);
    expect(await matchesOtherResources([on({ environment: TEAM })], [{ ...change, after: change.before }])).toBe(false);
    expect(await matchesOtherResources([{ ...on({ environment: TEAM }), subject: 'secret-folders' }], [change])).toBe(
      false,
    );
  });
});
