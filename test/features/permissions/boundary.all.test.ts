import { abilityOf } from '../../../src/features/identity/permissions/ability.js';
import { withAttributes } from '../../../src/features/identity/permissions/attributes.js';
import { rightsBeyond, rightsBeyondChange, rightsGained } from '../../../src/features/identity/permissions/boundary.js';
import { builtInProjectRoles } from '../../../src/features/identity/permissions/built-in-roles.js';
import { can, type Rule } from '../../../src/kernel/authz/ability.js';
import type { Conditions, Fields } from '../../../src/kernel/authz/conditions.js';
import fc from '../../kit/properties.js';
import { rounds } from '../../kit/scope.js';
import * as plain from './plain-boundary.js';

const ENVIRONMENTS = ['dev', 'prod', 'prod-eu'];
const NAMES = ['A', 'AB', 'B'];
const TAGS = ['x', 'y'];
const THINGS: readonly Fields[] = ENVIRONMENTS.flatMap((environment) =>
  NAMES.flatMap((secretName) =>
    [[], ['x'], ['y'], TAGS].map((secretTags) => ({ environment, secretName, secretTags, secretPath: '/' })),
  ),
);

const onText = (words: readonly string[], globs: readonly string[]) =>
  fc.oneof(
    fc.constantFrom(...words),
    fc.record(
      {
        $eq: fc.constantFrom(...words),
        $ne: fc.constantFrom(...words),
        $in: fc.subarray([...words], { minLength: 1 }),
        $glob: fc.constantFrom(...globs),
      },
      { requiredKeys: [] },
    ),
  );
const conditions = fc.record(
  {
    environment: onText(ENVIRONMENTS, ['prod*', '*']),
    secretName: onText(NAMES, ['A*', '?']),
    secretTags: fc.record({ $in: fc.subarray(TAGS, { minLength: 1 }) }),
  },
  { requiredKeys: [] },
) as fc.Arbitrary<Conditions>;
const rule = fc
  .record({
    subject: fc.constant('secrets'),
    action: fc.constantFrom(['edit'], ['edit', 'readValue'], ['read']),
    inverted: fc.boolean(),
    conditions: fc.option(conditions, { nil: undefined }),
  })
  .map(({ conditions: given, ...rest }): Rule => ({ ...rest, ...(given === undefined ? {} : { conditions: given }) }));
const rules = fc.array(rule, { maxLength: 4 });
const ACTIONS = ['secrets:edit', 'secrets:readValue', 'secrets:describeSecret'] as const;

const allowed = (given: readonly Rule[]) => {
  const ability = abilityOf(given);
  return ACTIONS.flatMap((action) =>
    THINGS.filter((thing) => can(ability, action, thing)).map((thing) => JSON.stringify([action, thing])),
  );
};
/** Without fields it is asked whether there is any secret of which it is allowed. */
const allowedAtAll = (given: readonly Rule[]) => [
  ...allowed(given),
  ...ACTIONS.filter((action) => can(abilityOf(given), action)),
];
const gained = (before: readonly string[], after: readonly string[]) => after.filter((one) => !before.includes(one));

describe('rights to be given', () => {
  test('are never called within bounds when they allow one thing more', () => {
    fc.assert(
      fc.property(rules, rules, (own, given) => {
        if (rightsBeyond(abilityOf(own), given).length === 0) expect(gained(allowed(own), allowed(given))).toEqual([]);
      }),
      { numRuns: rounds(2_000) },
    );
  });

  test('are within bounds where their holder has them anyway, and never when they allow more than that', () => {
    fc.assert(
      fc.property(rules, rules, rules, (own, held, given) => {
        expect(rightsBeyond(abilityOf([]), held, abilityOf(held))).toEqual([]);
        if (rightsBeyond(abilityOf(own), given, abilityOf(held)).length === 0)
          expect(gained([own, held].flatMap(allowedAtAll), allowedAtAll(given))).toEqual([]);
      }),
      { numRuns: rounds(2_000) },
    );
  });

  test('are within bounds when they are the own ones, or a part of them that conditions cut out', () => {
    fc.assert(
      fc.property(rules, conditions, (own, narrow) => {
        expect(rightsBeyond(abilityOf(own), own)).toEqual([]);
        const everything = { subject: 'secrets', action: ['edit', 'readValue'] };
        expect(rightsBeyond(abilityOf([everything]), [{ ...everything, conditions: narrow }])).toEqual([]);
      }),
    );
  });

  test('are compared by what they are about', () => {
    const all = { subject: 'secrets', action: ['edit'] };
    const on = (environment: Conditions[string], inverted = false): Rule => ({
      ...all,
      ...(inverted ? { inverted } : {}),
      conditions: { environment },
    });
    const isWithin = (own: readonly Rule[], ...given: readonly Rule[]) =>
      rightsBeyond(abilityOf(own), given).length === 0;

    expect(isWithin([on({ $glob: 'prod*' })], on('prod-eu'))).toBe(true);
    expect(isWithin([on({ $glob: 'prod*' })], on({ $in: ['prod', 'dev'] }))).toBe(false);
    expect(isWithin([on({ $in: ['dev', 'prod'] })], on({ $in: ['prod'] }))).toBe(true);
    expect(isWithin([on('dev')], all)).toBe(false);
    const withoutProd = [all, on('prod', true)];
    expect(isWithin(withoutProd, on('dev'))).toBe(true);
    expect(isWithin(withoutProd, all)).toBe(false);
    expect(isWithin(withoutProd, all, on({ $glob: 'prod*' }, true))).toBe(true);
    expect(isWithin(withoutProd, on('prod', true), all)).toBe(false);
    expect(isWithin([], on('prod'), { ...all, inverted: true })).toBe(true);
    const withoutDev = [all, on('dev', true)];
    expect(rightsBeyond(abilityOf([on('prod')]), withoutDev, abilityOf(withoutProd))).toEqual([]);
    expect(rightsBeyond(abilityOf([on('dev')]), withoutDev, abilityOf(withoutProd))).toEqual(['secrets:edit']);
  });

  test('of built-in roles go beyond those of every lesser one', () => {
    const [admin, member, viewer, nobody] = builtInProjectRoles().map(({ rules: given }) => given);
    const order = [nobody, viewer, member, admin] as (readonly Rule[])[];
    for (const [mine, own] of order.entries()) {
      for (const [theirs, given] of order.entries()) {
        expect([mine, theirs, rightsBeyond(abilityOf(own), given).length > 0]).toEqual([mine, theirs, theirs > mine]);
      }
    }
  });
});

/** Every assignment of the attributes of a small universe: values of fields, one that is none, empty and missing. */
const HOLDERS = [...ENVIRONMENTS, 'A', 'x', 'zz', '', undefined].flatMap((name) =>
  ['A', 'prod', 'y', '', undefined].map((team) => ({
    id: 'dev',
    ...(name === undefined ? {} : { name }),
    ...(team === undefined ? {} : { 'metadata.team': team }),
  })),
);
const NAME = '{{identity.name}}';
const TEAM = '{{identity.metadata.team}}';
const onNamed = (words: readonly string[]) =>
  onText([...words, NAME, TEAM, '{{identity.id}}'], ['prod*', '*', NAME, `${NAME}*`, `{${TEAM},A}`]);
const namedConditions = fc.record(
  {
    environment: onNamed(ENVIRONMENTS),
    secretName: onNamed(NAMES),
    secretTags: fc.record({ $in: fc.subarray([...TAGS, NAME, TEAM], { minLength: 1 }) }),
  },
  { requiredKeys: [] },
) as fc.Arbitrary<Conditions>;
const namedRule = fc
  .tuple(rule, fc.option(namedConditions, { nil: undefined }))
  .map(
    ([{ conditions: _, ...rest }, given]): Rule => ({ ...rest, ...(given === undefined ? {} : { conditions: given }) }),
  );
const namedRules = fc.array(fc.oneof(namedRule, rule), { maxLength: 4 });
const allowedTo = (given: readonly Rule[], holder: (typeof HOLDERS)[number]) =>
  allowedAtAll(withAttributes(given, holder));
const everyHolderGains = (own: readonly Rule[], gainedBy: (holder: (typeof HOLDERS)[number]) => readonly string[]) => {
  const mine = [...allowed(own), ...ACTIONS.filter((action) => can(abilityOf(own), action))];
  return HOLDERS.flatMap((holder) => gained(mine, gainedBy(holder)));
};

describe('rights with attributes of whoever will have them', () => {
  test('are never called within bounds when they allow any holder one thing more', () => {
    let within = 0;
    fc.assert(
      fc.property(rules, namedRules, (own, given) => {
        if (rightsBeyond(abilityOf(own), given).length > 0) return;
        if (JSON.stringify(given).includes('{{')) within += 1;
        expect(everyHolderGains(own, (holder) => allowedTo(given, holder))).toEqual([]);
      }),
      { numRuns: rounds(3_000) },
    );
    expect(within).toBeGreaterThan(rounds(100));
  });

  test('are within bounds only where one has no condition of that field oneself', () => {
    const all = { subject: 'secrets', action: ['edit'] };
    const on = (conditions: Conditions, inverted = false): Rule => ({
      ...all,
      ...(inverted ? { inverted } : {}),
      conditions,
    });
    const isWithin = (own: readonly Rule[], ...given: readonly Rule[]) =>
      rightsBeyond(abilityOf(own), given).length === 0;
    for (const condition of [NAME, { $eq: NAME }, { $in: [NAME] }, { $glob: `${NAME}*` }, { $ne: NAME }]) {
      const named = { environment: condition, secretName: 'A' };
      expect(isWithin([all], on(named))).toBe(true);
      expect(isWithin([on({ secretName: 'A' })], on(named))).toBe(true);
      expect(isWithin([on({ environment: { $ne: 'prod' } })], on(named))).toBe(false);
      expect(isWithin([on({ environment: { $glob: '**' } })], on(named))).toBe(false);
      expect(isWithin([on({ environment: NAME })], on(named))).toBe(false);
      expect(isWithin([all, on({ environment: 'prod' }, true)], on(named))).toBe(false);
      expect(isWithin([all, on({ environment: 'prod' }, true)], all, on(named, true))).toBe(false);
      expect(isWithin([all, on({ secretName: 'B' }, true)], on(named))).toBe(true);
    }
  });

  test('stay within bounds when a role changes elsewhere, and not when it forbids another value', () => {
    const everything = abilityOf([{ subject: 'tags', action: ['read'] }]);
    const forbids = (environment: Conditions[string]): Rule => ({
      subject: 'secrets',
      action: ['edit'],
      inverted: true,
      conditions: { environment },
    });
    const change = (before: Rule, ...after: Rule[]) => rightsBeyondChange(everything, [before], after);
    expect(change(forbids(NAME), forbids(NAME), { subject: 'tags', action: ['read'] })).toEqual([]);
    expect(change(forbids(NAME), forbids({ $eq: NAME }))).toEqual([]);
    expect(change(forbids(NAME), forbids(TEAM))).toEqual(['secrets:edit']);
    expect(change(forbids('dev'), forbids({ $in: ['dev', NAME] }))).toEqual(['secrets:edit']);
    // Of a holder without a name the one before forbids all, the one after not.
    expect(change(forbids({ $eq: NAME, $glob: 'p*' }), forbids({ $glob: 'p*' }))).toEqual(['secrets:edit']);
  });

  test('of a role that changes never give any of its holders what the changer does not have', () => {
    fc.assert(
      fc.property(rules, namedRules, namedRules, namedRules, namedRules, (own, before, after, earlier, later) => {
        if (rightsBeyondChange(abilityOf(own), before, after).length > 0) return;
        for (const holder of HOLDERS) {
          const held = (role: readonly Rule[]) => allowed(withAttributes([...earlier, ...role, ...later], holder));
          expect(gained(allowed(own), gained(held(before), held(after)))).toEqual([]);
        }
      }),
      { numRuns: rounds(1_500) },
    );
  });
});

test('a change of a role never gives to its holders, whatever else they have, what the changer does not have', () => {
  fc.assert(
    fc.property(rules, rules, rules, rules, rules, (own, before, after, earlier, later) => {
      if (rightsBeyondChange(abilityOf(own), before, after).length > 0) return;
      const held = (role: readonly Rule[]) => allowed([...earlier, ...role, ...later]);
      expect(gained(allowed(own), gained(held(before), held(after)))).toEqual([]);
    }),
    { numRuns: rounds(2_000) },
  );
});

describe('rights that a change of rules gives its holder', () => {
  test('are never missed, whatever else the holder has, before or after these rules', () => {
    let without = 0;
    fc.assert(
      fc.property(namedRules, fc.option(namedRules, { nil: null }), rules, (before, other, rest) => {
        const after = other ?? before.filter(({ inverted }, at) => inverted || at % 2 === 0);
        if (rightsGained([{ before, after, hasMore: true }]).length > 0) return;
        if (JSON.stringify(before) !== JSON.stringify(after)) without += 1;
        for (const holder of HOLDERS) {
          for (const all of [(own: readonly Rule[]) => [...rest, ...own], (own: readonly Rule[]) => [...own, ...rest]])
            expect(gained(allowedTo(all(before), holder), allowedTo(all(after), holder))).toEqual([]);
        }
      }),
      { numRuns: rounds(400) },
    );
    expect(without).toBeGreaterThan(rounds(20));
  });

  test('are none where rules stay, where some that allow go, and where more is forbidden', () => {
    fc.assert(
      fc.property(namedRules, namedRules, (before, more) => {
        const forbidding = more.map((rule) => ({ ...rule, inverted: true }));
        for (const after of [before, [...before, ...forbidding]])
          expect(rightsGained([{ before, after, hasMore: true }])).toEqual([]);
        const fewer = before.filter(({ inverted }, at) => inverted || at !== 0);
        expect(rightsGained([{ before, after: fewer, hasMore: true }])).toEqual([]);
      }),
      { numRuns: rounds(400) },
    );
  });
});

describe('the comparison of rules', () => {
  const many = fc.array(fc.oneof(namedRule, rule), { maxLength: 8 });
  const sorted = (actions: readonly string[]) => [...actions].sort();

  test('decides as one that compares each rule with each', () => {
    fc.assert(
      fc.property(many, many, (own, given) => {
        const ability = abilityOf(own);
        expect(sorted(rightsBeyond(ability, given))).toEqual(sorted(plain.rightsBeyond(ability, given)));
        const both = [...own, ...given];
        expect(sorted(rightsBeyond(abilityOf(both), given))).toEqual(
          sorted(plain.rightsBeyond(abilityOf(both), given)),
        );
      }),
      { numRuns: rounds(600) },
    );
  });

  test('decides about what is held anyway, and about one holder, as one that compares each rule with each', () => {
    fc.assert(
      fc.property(many, many, many, fc.boolean(), (own, given, held, hasMore) => {
        const [ability, had] = [abilityOf(own), abilityOf(held)];
        expect(sorted(rightsBeyond(ability, given, had))).toEqual(sorted(plain.rightsBeyond(ability, given, had)));
        const change = [{ before: held, after: given, hasMore }];
        expect(sorted(rightsGained(change))).toEqual(sorted(plain.rightsGained(change)));
      }),
      { numRuns: rounds(600) },
    );
  });

  test('decides about changes as one that compares each rule with each', () => {
    fc.assert(
      fc.property(rules, many, many, (own, before, after) => {
        const ability = abilityOf(own);
        expect(sorted(rightsBeyondChange(ability, before, after))).toEqual(
          sorted(plain.rightsBeyondChange(ability, before, after)),
        );
      }),
      { numRuns: rounds(400) },
    );
  });

  const on = (conditions: Conditions, inverted = false): Rule => ({
    subject: 'secrets',
    action: ['readValue', 'edit'],
    ...(inverted ? { inverted } : {}),
    conditions,
  });
  const values = (name: string, from: number, count: number) => ({
    $in: Array.from({ length: count }, (_, at) => `${name}${from + at}`),
  });
  const thousand = Array.from({ length: 1_000 }, (_, at) =>
    at % 2 === 0 ? on({ secretName: values('V', at * 20, 20) }) : on({ secretPath: values('/p', at * 20, 20) }, true),
  );

  test('takes ten roles of a hundred rules each, with as many of others', () => {
    const allowing = thousand.map(({ conditions }) => on(conditions as Conditions));
    expect(rightsBeyond(abilityOf(thousand), thousand)).toEqual([]);
    expect(rightsBeyond(abilityOf(thousand), allowing)).toEqual(['secrets:readValue', 'secrets:edit']);
    const narrower = allowing.map((_, at) => on({ secretName: `V${at * 20 + (at % 20)}`, environment: 'dev' }));
    const names = Array.from({ length: 1_000 }, (_, at) => on({ secretName: values('V', at * 20, 20) }));
    expect(rightsBeyond(abilityOf(names), narrower)).toEqual([]);
    expect(rightsBeyondChange(abilityOf(names), names, narrower)).toEqual([]);
  });

  test('refuses what it cannot compare in bounded steps', () => {
    const shared = values('V', 0, 100).$in;
    const last = values('Y', 0, 1_000).$in;
    const names = (...others: readonly string[]) => on({ secretName: { $in: [...shared, ...others] } });
    const own = [...last.map((name) => names(`X${name}`)), names(...last)];
    expect(rightsBeyond(abilityOf(own), [names('Y0')])).toEqual([]);
    const given = last.map((name) => names(name));
    expect(() => rightsBeyond(abilityOf(own), given)).toThrow('too many conditions');
    expect(() => rightsGained([{ before: own, after: given, hasMore: false }])).toThrow('too many conditions');
  });
});
