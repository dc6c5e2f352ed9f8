import { CONDITION_FIELDS, PROJECT_ACTIONS } from '../../../src/features/identity/permissions/actions.js';
import {
  OrganizationPermissions,
  Permissions,
  toRules,
} from '../../../src/features/identity/permissions/permission.rules.js';
import { readStoredRules } from '../../../src/features/identity/permissions/stored-rules.js';
import { violationsOf } from '../../../src/kernel/validation.js';
import fc from '../../kit/properties.js';

/** Faults as `path CODE`. */
function violations(permissions: unknown, rules: typeof Permissions = Permissions): string[] {
  const parsed = rules.safeParse(permissions, { reportInput: true });
  return parsed.success ? [] : violationsOf(parsed.error, 'permissions').map(({ path, code }) => `${path} ${code}`);
}
const on = (conditions: unknown, subject = 'secrets') => [{ subject, action: 'edit', conditions }];

const some = <T>(shape: Record<string, fc.Arbitrary<T>>): fc.Arbitrary<Partial<Record<string, T>>> =>
  fc.record(shape, { requiredKeys: [] }).filter((given) => Object.keys(given).length > 0);

/** Operators of a field with operands that it may have. */
function conditionOf(field: string, operators: readonly string[]) {
  const text = fc.constantFrom('dev', 'prod', 'A', 'x y').map((word) => (field === 'secretPath' ? `/${word}` : word));
  const operand = (operator: string): fc.Arbitrary<unknown> => {
    if (operator === '$in') return fc.array(text, { minLength: 1, maxLength: 3 });
    return operator === '$glob' ? fc.constantFrom('**', '/a/**') : text;
  };
  return some(Object.fromEntries(operators.map((operator) => [operator, operand(operator)])));
}

/** A permission in the form in which it is stored. */
const permission = fc.constantFrom(...Object.entries(PROJECT_ACTIONS)).chain(([subject, actions]) => {
  const named = (actions as readonly string[]).filter((action) => subject !== 'secrets' || action !== 'read');
  const fields = Object.entries(CONDITION_FIELDS[subject] ?? {});
  const conditions = some(
    Object.fromEntries(fields.map(([field, operators]) => [field, conditionOf(field, operators)])),
  );
  return fc.record(
    {
      subject: fc.constant(subject),
      action: fc.subarray(named, { minLength: 1 }),
      inverted: fc.constant(true),
      ...(fields.length === 0 ? {} : { conditions }),
    },
    { requiredKeys: ['subject', 'action'] },
  );
});

describe('permissions', () => {
  test.each([
    ['none', []],
    ['one action', [{ subject: 'role', action: 'read' }]],
    ['several actions', [{ subject: 'tags', action: ['read', 'edit'], inverted: true }]],
    ['nothing in particular', [{ subject: 'tags', action: ['read'], inverted: null, conditions: null }]],
    ['no conditions of a subject without fields', on({}, 'tags')],
    [
      'every field',
      on({ environment: 'dev', secretPath: '/', secretName: 'A', secretTags: { $in: ['a'] }, eventType: 'x' }),
    ],
    ['every operator', on({ environment: { $eq: 'dev', $ne: 'prod', $in: ['dev', 'x'], $glob: 'd*' } })],
    ['paths', on({ secretPath: { $in: ['/', '/a/b'], $ne: '/x', $glob: '{/a,/b}/**' } })],
    ['any path', on({ secretPath: { $glob: '**/a' } })],
    ['folders', on({ environment: 'dev', secretPath: '/a' }, 'secret-folders')],
    ['people', on({ username: { $glob: '*@example.org' }, role: { $in: ['viewer'] }, subject: 'tags' }, 'member')],
    ['machines', on({ identityId: 'a', role: 'viewer', action: { $ne: 'delete' } }, 'identity')],
    ['groups', on({ groupSlug: { $glob: 'team-*' } }, 'groups')],
    ['connections', on({ connectionId: { $in: ['a'] } }, 'secret-rotation')],
    ['certificates', on({ commonName: { $glob: '*.example.org' } }, 'certificates')],
    ['profiles', on({ slug: 'web' }, 'certificate-profiles')],
    [
      'attributes of the caller',
      on({
        environment: '{{identity.metadata.name}}',
        secretPath: { $glob: '/{{ identity.metadata.team-1 }}/**', $ne: '/{{identity.id}}' },
        secretTags: { $in: ['{{identity.metadata.tag}}'] },
      }),
    ],
    ['a hundred rules', Array.from({ length: 100 }, () => ({ subject: 'tags', action: 'read' }))],
  ])('may be %s', (_, permissions) => {
    expect(violations(permissions)).toEqual([]);
  });

  test.each([
    ['no list', 'all', ['permissions INVALID_TYPE']],
    ['an unknown subject', [{ subject: 'all', action: 'read' }], ['permissions[0].subject INVALID_VALUE']],
    ['no subject', [{ action: 'read' }], ['permissions[0].subject MISSING']],
    [
      'an action of another subject',
      [{ subject: 'tags', action: 'readValue' }],
      ['permissions[0].action INVALID_VALUE'],
    ],
    ['an unknown action', [{ subject: 'tags', action: ['read', 'fly'] }], ['permissions[0].action[1] INVALID_VALUE']],
    ['no action', [{ subject: 'tags', action: [] }], ['permissions[0].action TOO_SMALL']],
    ['an action twice', [{ subject: 'tags', action: ['read', 'read'] }], ['permissions[0].action INVALID']],
    ['an unknown key', [{ subject: 'tags', action: 'read', allow: true }], ['permissions[0] UNKNOWN_KEY']],
    [
      'read beside a newer action',
      [{ subject: 'secrets', action: ['read', 'readValue'] }],
      ['permissions[0].action READ_MIXED'],
    ],
    ['a condition of no field', on({ owner: 'me' }), ['permissions[0].conditions UNKNOWN_KEY']],
    [
      'conditions of a subject without fields',
      on({ environment: 'dev' }, 'tags'),
      ['permissions[0].conditions UNKNOWN_KEY'],
    ],
    [
      'a field of secrets on folders',
      on({ secretName: 'A' }, 'secret-folders'),
      ['permissions[0].conditions UNKNOWN_KEY'],
    ],
    [
      'an unknown operator',
      on({ environment: { $regex: '.' } }),
      ['permissions[0].conditions.environment UNKNOWN_KEY', 'permissions[0].conditions.environment INVALID'],
    ],
    ['no operator', on({ environment: {} }), ['permissions[0].conditions.environment INVALID']],
    ['an empty choice', on({ secretTags: { $in: [] } }), ['permissions[0].conditions.secretTags.$in TOO_SMALL']],
    ['a plain tag', on({ secretTags: 'a' }), ['permissions[0].conditions.secretTags INVALID_TYPE']],
    [
      'a pattern of tags',
      on({ secretTags: { $glob: '*' } }),
      ['permissions[0].conditions.secretTags UNKNOWN_KEY', 'permissions[0].conditions.secretTags INVALID'],
    ],
    ['a path without a slash', on({ secretPath: 'a' }), ['permissions[0].conditions.secretPath INVALID']],
    [
      'one path without a slash',
      on({ secretPath: { $in: ['/a', 'b'] } }),
      ['permissions[0].conditions.secretPath.$in[1] INVALID'],
    ],
    [
      'a pattern of no path',
      on({ secretPath: { $glob: 'a/**' } }),
      ['permissions[0].conditions.secretPath.$glob INVALID'],
    ],
    [
      'a hostile pattern',
      on({ secretName: { $glob: '(a+)+b' } }),
      ['permissions[0].conditions.secretName.$glob INVALID_GLOB'],
    ],
    [
      'too many wildcards',
      on({ secretName: { $glob: '*a'.repeat(11) } }),
      ['permissions[0].conditions.secretName.$glob INVALID_GLOB'],
    ],
    [
      'a long pattern',
      on({ secretName: { $glob: 'a'.repeat(256) } }),
      ['permissions[0].conditions.secretName.$glob TOO_BIG'],
    ],
    [
      'an attribute that no caller has',
      on({
        environment: '{{identity.age}}',
        secretName: { $in: ['a', '{{user.id}}'], $glob: '{{identity.metadata}}' },
      }),
      [
        'permissions[0].conditions.environment UNKNOWN_ATTRIBUTE',
        'permissions[0].conditions.secretName.$in[1] UNKNOWN_ATTRIBUTE',
        'permissions[0].conditions.secretName.$glob UNKNOWN_ATTRIBUTE',
      ],
    ],
    [
      'half of an attribute',
      on({ environment: 'a{{identity.id}', secretName: '{{identity.id}}{{' }),
      [
        'permissions[0].conditions.environment UNKNOWN_ATTRIBUTE',
        'permissions[0].conditions.secretName UNKNOWN_ATTRIBUTE',
      ],
    ],
    [
      'too many rules',
      Array.from({ length: 101 }, () => ({ subject: 'tags', action: 'read' })),
      ['permissions TOO_BIG'],
    ],
    [
      'more than 32 KiB',
      Array.from({ length: 20 }, () => on({ secretPath: `/${'a'.repeat(1_900)}` })[0]),
      ['permissions TOO_BIG'],
    ],
  ])('are not %s', (_, permissions, expected) => {
    expect(violations(permissions)).toEqual(expected);
  });

  test('name all their faults at once', () => {
    const permissions = [
      { subject: 'secrets', action: ['read', 'readValue'], conditions: { secretPath: 'a', environment: { $in: [] } } },
      { subject: 'tags', action: 'fly', inverted: 'yes' },
    ];
    expect(violations(permissions).sort()).toEqual(
      [
        'permissions[0].action READ_MIXED',
        'permissions[0].conditions.environment.$in TOO_SMALL',
        'permissions[0].conditions.secretPath INVALID',
        'permissions[1].action INVALID_VALUE',
        'permissions[1].inverted INVALID_TYPE',
      ].sort(),
    );
  });

  test('name attributes of the longest key where a slug is compared, whose length is that of the rest', () => {
    const attribute = `{{identity.metadata.${'k'.repeat(64)}}}`;
    for (const fits of [attribute, `team-${attribute}`, `${'x'.repeat(63)}${attribute}`, 'x'.repeat(64)])
      expect(violations(on({ environment: { $in: [fits] } }))).toEqual([]);
    for (const tooLong of [
      'x'.repeat(65),
      `${'x'.repeat(64)}${attribute}`,
      'x'.repeat(151),
      `{{identity.id}}`.repeat(11),
    ])
      expect(violations(on({ environment: { $eq: tooLong } }))).toEqual([
        'permissions[0].conditions.environment.$eq TOO_BIG',
      ]);
  });

  test('lose a slash at the end of a path, with which it would fit no folder', () => {
    const parsed = Permissions.parse(on({ secretPath: { $in: ['/a/', '/'], $glob: '/a/*/' } }));
    expect(toRules(parsed)[0]?.conditions).toEqual({ secretPath: { $in: ['/a', '/'], $glob: '/a/*' } });
  });

  test('that are accepted are read back from the store as they were given', () => {
    fc.assert(
      fc.property(fc.array(permission, { maxLength: 5 }), (permissions) => {
        expect(violations(permissions)).toEqual([]);
        const stored: unknown = JSON.parse(JSON.stringify(toRules(Permissions.parse(permissions))));
        expect(readStoredRules(stored)).toEqual(permissions);
      }),
    );
  });
});

describe('permissions of an organization', () => {
  const organization = (permissions: unknown): string[] =>
    violations(permissions, OrganizationPermissions as unknown as typeof Permissions);

  test('have subjects, actions and fields of their own', () => {
    const permissions = [
      { subject: 'workspace', action: ['create', 'rescue'] },
      { subject: 'groups', action: 'add-members', conditions: { groupSlug: { $glob: 'team-*' } } },
      {
        subject: 'app-connections',
        action: ['connect'],
        conditions: { connectionId: '{{identity.metadata.connection}}' },
      },
      { subject: 'identity', action: 'assign-role', conditions: { role: 'member' }, inverted: true },
    ];
    expect(organization(permissions)).toEqual([]);
  });

  test('do not have those of projects', () => {
    const permissions = [
      { subject: 'secrets', action: 'readValue' },
      { subject: 'workspace', action: 'edit' },
      { subject: 'role', action: 'read', conditions: { slug: 'a' } },
      { subject: 'groups', action: 'read', conditions: { groupSlug: { $regex: '.' } } },
    ];
    expect(organization(permissions)).toEqual([
      'permissions[0].subject INVALID_VALUE',
      'permissions[1].action INVALID_VALUE',
      'permissions[2].conditions UNKNOWN_KEY',
      'permissions[3].conditions.groupSlug UNKNOWN_KEY',
      'permissions[3].conditions.groupSlug INVALID',
    ]);
  });
});
