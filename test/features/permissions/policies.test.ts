import { isDeepStrictEqual } from 'node:util';
import { explain, type RightsOrigins } from '../../../src/features/identity/permissions/explanation.js';
import { projectRights, rulesAsText, type StoredRights } from '../../../src/features/identity/permissions/rights.js';
import { can, type Rule } from '../../../src/kernel/authz/ability.js';
import type { Fields } from '../../../src/kernel/authz/conditions.js';
import fc from '../../kit/properties.js';
import { rounds } from '../../kit/scope.js';
import {
  ACTIONS,
  type By,
  decide,
  orderOf,
  type Policy,
  policy,
  privilegesNow,
  slugsOf,
  storedRule,
  thing,
} from './policies.js';

const asStored = (rules: readonly unknown[]) => rulesAsText(JSON.stringify(rules));

/** What the database has of a policy. */
function rowsOf(held: Policy): StoredRights & RightsOrigins {
  const slugs = slugsOf(held);
  const own = slugs.filter((slug, at) => slugs.lastIndexOf(slug) === at && slug in held.roles);
  const storedRules = own.map((slug) => asStored(held.roles[slug]?.map(storedRule) ?? []));
  const privileges = privilegesNow(held).map((each) => asStored(each.rules.map(storedRule)));
  const { id, name, team } = held.attributes;
  const attributes = { id, 'metadata.name': name, ...(team === undefined ? {} : { 'metadata.team': team }) };
  return {
    roles: slugs,
    storedRules: own.length === 0 ? null : storedRules,
    privileges: privileges.length === 0 ? null : privileges,
    attributes: JSON.stringify(attributes),
    memberships: slugs.map((role, at) => ({ role, membershipId: `m${at}`, groupId: null })),
    ownRoles: own.map((slug) => ({ id: `id of ${slug}`, slug })),
    ownPrivileges: privileges.map((_, at) => ({ id: `p${at}`, slug: `privilege-${at}`, membershipId: 'm0' })),
  };
}

/** What an explanation names, in the words of the model. */
const namedBy = (origin: ReturnType<typeof explain>['decidedBy']): By => {
  if (origin === null) return null;
  const { origin: from } = origin;
  return from.kind === 'role' ? { role: from.slug } : { privilege: Number(from.privilegeId.slice(1)) };
};

test('policies decide as they read: later rules win, groups follow on direct roles, privileges on all', () => {
  let [allowed, denied] = [0, 0];
  fc.assert(
    fc.property(policy, fc.array(thing, { minLength: 2, maxLength: 3 }), (held, things) => {
      const row = rowsOf(held);
      const rights = projectRights(row);
      const violations: object[] = [];
      for (const of of [null, ...things]) {
        for (const action of ACTIONS) {
          const fields = (of ?? undefined) as Fields | undefined;
          const expected = decide(held, action, of);
          const explained = explain(rights, row, `secrets:${action}`, fields);
          const found = { isAllowed: explained.isAllowed, by: namedBy(explained.decidedBy) };
          if (
            can(rights.ability, `secrets:${action}`, fields) !== expected.isAllowed ||
            !isDeepStrictEqual(found, expected)
          )
            violations.push({ of, action, expected, found });
          if (expected.isAllowed) allowed += 1;
          else if (expected.by !== null) denied += 1;
        }
      }
      expect(violations).toEqual([]);
    }),
    { numRuns: rounds(10_000) },
  );
  // Neither side of the comparison is empty.
  expect(Math.min(allowed, denied)).toBeGreaterThan(rounds(10_000));
});

test('the rule that an explanation names is the one without which another decides, or nobody', () => {
  fc.assert(
    fc.property(policy, thing, fc.constantFrom(...ACTIONS), (held, of, action) => {
      const row = rowsOf(held);
      const rights = projectRights(row);
      const fields = of as unknown as Fields;
      const { isAllowed, decidedBy } = explain(rights, row, `secrets:${action}`, fields);
      if (decidedBy === null) return expect(isAllowed).toBe(false);
      const rules = rights.ability.rules as unknown as Rule[];
      const at = rules.indexOf(decidedBy.rule);
      const without = (left: readonly Rule[]) => {
        const rest = projectRights({ roles: ['own'], storedRules: [asStored(left)] });
        const ownRoles = [{ id: 'own', slug: 'own' }];
        return explain(rest, { memberships: [], ownRoles, ownPrivileges: [] }, `secrets:${action}`, fields);
      };
      // None of the later ones fits, so that it is this one which decides, and it decides as it says.
      expect(without(rules.slice(at + 1)).decidedBy).toBeNull();
      expect(without(rules.slice(at)).isAllowed).toBe(isAllowed);
      const next = without(rules.toSpliced(at, 1));
      if (next.isAllowed === isAllowed)
        expect(next.decidedBy === null ? !isAllowed : (next.decidedBy.rule.inverted ?? false) !== isAllowed).toBe(true);
    }),
    { numRuns: rounds(2_000) },
  );
});

test('an explanation names every membership that gives the role, and the role or privilege itself', () => {
  const rule = (action: string, inverted = false) => ({ subject: 'secrets', action: [action], inverted });
  const held = {
    roles: ['viewer', 'own', 'own', 'viewer'],
    storedRules: [asStored([rule('edit')])],
    privileges: [asStored([rule('create')]), asStored([rule('readValue', true)])],
  };
  const origins: RightsOrigins = {
    memberships: [
      { role: 'viewer', membershipId: 'direct', groupId: null },
      { role: 'own', membershipId: 'direct', groupId: null },
      { role: 'own', membershipId: 'first', groupId: 'developers' },
      { role: 'viewer', membershipId: 'second', groupId: 'everybody' },
    ],
    ownRoles: [{ id: 'role-1', slug: 'own' }],
    ownPrivileges: [
      { id: 'privilege-1', slug: 'create', membershipId: 'direct' },
      { id: 'privilege-2', slug: 'hidden', membershipId: 'direct' },
    ],
  };
  const originOf = (action: 'describeSecret' | 'edit' | 'create' | 'readValue' | 'delete') => {
    const { isAllowed, decidedBy } = explain(projectRights(held), origins, `secrets:${action}`);
    return [isAllowed, decidedBy?.origin ?? null];
  };
  const direct = { membershipId: 'direct', groupId: null };
  expect(originOf('describeSecret')).toEqual([
    true,
    { kind: 'role', roleId: null, slug: 'viewer', through: [direct, { membershipId: 'second', groupId: 'everybody' }] },
  ]);
  expect(originOf('edit')).toEqual([
    true,
    {
      kind: 'role',
      roleId: 'role-1',
      slug: 'own',
      through: [direct, { membershipId: 'first', groupId: 'developers' }],
    },
  ]);
  const privilege = { kind: 'privilege', membershipId: 'direct' };
  expect(originOf('create')).toEqual([true, { ...privilege, privilegeId: 'privilege-1', slug: 'create' }]);
  expect(originOf('readValue')).toEqual([false, { ...privilege, privilegeId: 'privilege-2', slug: 'hidden' }]);
  expect(originOf('delete')).toEqual([false, null]);
});

test('a policy of the model has rules of every origin', () => {
  const origins = new Set(
    fc.sample(policy, 200).flatMap((held) => orderOf(held).map(({ by }) => ('role' in by ? by.role : 'privilege'))),
  );
  expect(origins).toEqual(new Set(['admin', 'member', 'no-access', 'viewer', 'r0', 'r1', 'r2', 'privilege']));
});
