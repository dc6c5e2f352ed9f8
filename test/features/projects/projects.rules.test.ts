import { builtInRoleId, PROJECT_ROLES } from '../../../src/features/identity/permissions/built-in-roles.js';
import { CreateProject, projectSlugFor, UpdateProject } from '../../../src/features/projects/core/project.rules.js';
import { RoleSlugs } from '../../../src/features/projects/members/membership.rules.js';
import { slugText } from '../../../src/kernel/value-rules.js';
import fc from '../../kit/properties.js';

describe('a slug made from a name', () => {
  test('is a valid slug of 5 to 36 characters that ends in the suffix, whatever the name', () => {
    const suffix = fc.stringMatching(/^[a-z0-9]{4}$/);
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 80 }), suffix, (name, letters) => {
        const slug = projectSlugFor(name, letters);
        expect(slugText(5, 36).safeParse(slug).success).toBe(true);
        expect(slug.endsWith(`-${letters}`)).toBe(true);
      }),
    );
  });

  test.each([
    ['Web Shop', 'web-shop-ab12'],
    ['  --Ünïcode__Wörld!! ', 'unicode-world-ab12'],
    ['日本', 'project-ab12'],
    ['a'.repeat(64), `${'a'.repeat(31)}-ab12`],
    [`${'a'.repeat(30)} tail`, `${'a'.repeat(30)}-ab12`],
  ])('of %j is %j', (name, slug) => {
    expect(projectSlugFor(name, 'ab12')).toBe(slug);
  });
});

describe('the input of createProject', () => {
  test('takes names of 1 to 64 characters after trimming, and fills in the defaults', () => {
    expect(CreateProject.parse({ name: `  ${'n'.repeat(64)} ` })).toEqual({
      name: 'n'.repeat(64),
      template: 'default',
      type: 'secret-manager',
      shouldCreateDefaultEnvs: true,
      hasDeleteProtection: false,
    });
    for (const name of ['', '   ', 'n'.repeat(65)]) {
      expect(CreateProject.safeParse({ name }).success).toBe(false);
    }
  });

  test.each([
    ['abcd', false],
    ['abcde', true],
    ['a'.repeat(36), true],
    ['a'.repeat(37), false],
    ['two-words', true],
    ['Two-words', false],
    ['two--words', false],
    ['two_words', false],
    ['-words', false],
    ['words-', false],
  ])('judges the slug %j: %j', (slug, isValid) => {
    expect(CreateProject.safeParse({ name: 'n', slug }).success).toBe(isValid);
  });

  test('names every fault at once, a misspelt key too', () => {
    const violations = CreateProject.safeParse({
      name: '',
      slug: 'A',
      type: 'x',
      template: '',
      description: 'd'.repeat(1025),
      shouldCreateDefaultEnvs: 'true',
      hasDeleteProtection: 1,
      kmsKeyID: 'x',
    }).error?.issues;
    const places = (violations ?? []).map(({ path }) => path.join('.'));
    expect([...new Set(places)].sort()).toEqual(
      ['', 'description', 'hasDeleteProtection', 'name', 'shouldCreateDefaultEnvs', 'slug', 'template', 'type'].sort(),
    );
  });
});

describe('the changes of a project', () => {
  test.each([
    [{}, true],
    [{ description: null }, true],
    [{ name: null }, false],
    [{ hasDeleteProtection: null }, false],
    [{ pitVersionLimit: 1 }, true],
    [{ pitVersionLimit: 100 }, true],
    [{ pitVersionLimit: 0 }, false],
    [{ pitVersionLimit: 101 }, false],
    [{ pitVersionLimit: 1.5 }, false],
    [{ slug: 'a' }, true],
    [{ slug: 'a'.repeat(64) }, true],
    [{ slug: 'a'.repeat(65) }, false],
    [{ secretDetectionIgnoreValues: null }, true],
    [{ secretDetectionIgnoreValues: ['a'] }, true],
    [{ secretDetectionIgnoreValues: [''] }, false],
    [{ version: 2 }, false],
  ])('%j: %j', (changes, isValid) => {
    expect(UpdateProject.safeParse({ id: 'any', ...changes }).success).toBe(isValid);
  });
});

test('roles of members are 1 to 10 slugs, each once', () => {
  const ten = Array.from({ length: 10 }, (_, index) => `role-${index}`);
  for (const roles of [['admin'], [...PROJECT_ROLES], ten]) expect(RoleSlugs.safeParse(roles).success).toBe(true);
  for (const roles of [[], ['Owner'], ['viewer', 'viewer'], [...ten, 'admin']]) {
    expect(RoleSlugs.safeParse(roles).success).toBe(false);
  }
});

test('ids of built-in roles are UUIDs, the same for one project and role, and different for any other', () => {
  fc.assert(
    fc.property(fc.uuid(), fc.uuid(), (one, other) => {
      const ids = [one, other].flatMap((project) => PROJECT_ROLES.map((role) => builtInRoleId(project, role)));
      expect(ids.every((id) => /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(id))).toBe(
        true,
      );
      expect(new Set(ids).size).toBe(one === other ? PROJECT_ROLES.length : 2 * PROJECT_ROLES.length);
      expect(builtInRoleId(one, 'admin')).toBe(ids[0]);
    }),
  );
});
