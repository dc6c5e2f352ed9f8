import { abilityOf } from '../../../src/features/identity/permissions/ability.js';
import { mayAssign, mayAssignTo } from '../../../src/features/identity/permissions/assignment.js';
import { rightsBeyond } from '../../../src/features/identity/permissions/boundary.js';
import type { Rule } from '../../../src/kernel/authz/ability.js';
import type { Conditions } from '../../../src/kernel/authz/conditions.js';

const READS: readonly Rule[] = [{ subject: 'secrets', action: ['describeSecret', 'readValue'] }];
const ALICE = { subject: 'member', fields: { username: 'alice' } } as const;
const ROBOT = { subject: 'identity', fields: { identityId: 'robot' } } as const;

const rule = (subject: string, action: string, conditions?: Conditions, inverted = false): Rule => ({
  subject,
  action,
  inverted,
  ...(conditions === undefined ? {} : { conditions }),
});
const mayGive = (own: readonly Rule[], role = 'reader', rules = READS, to: typeof ALICE | typeof ROBOT = ROBOT) =>
  mayAssign(abilityOf(own), to, { verb: 'assign-role', role, rules });

describe('handing roles on', () => {
  test('takes a rule for it on members of the kind', () => {
    expect(mayGive([])).toBe(false);
    expect(mayGive([rule('identity', 'assign-role')])).toBe(true);
    expect(mayGive([rule('member', 'assign-role')])).toBe(false);
    expect(mayGive([rule('identity', 'assign-additional-privileges')])).toBe(false);
    expect(mayGive([rule('identity', 'edit')])).toBe(false);
  });

  test.each<[string, Conditions, boolean, boolean?]>([
    ['its role', { role: 'reader' }, true],
    ['another role', { role: 'writer' }, false],
    ['a pattern of roles', { role: { $glob: 'read*' } }, true],
    ['the member', { identityId: 'robot' }, true],
    ['another member', { identityId: 'other' }, false],
    ['the member and the role', { identityId: 'robot', role: 'reader' }, true],
    ['the subject of all that the role allows', { subject: 'secrets' }, true],
    ['another subject', { subject: 'tags' }, false],
    ['all actions of the role', { action: { $in: ['describeSecret', 'readValue'] } }, true],
    // One action that is forbidden is enough.
    ['one of its two actions', { action: 'describeSecret' }, false, false],
    ['the older word for both', { subject: 'secrets', action: 'read' }, true],
    ['any action but reading', { action: { $ne: 'read' } }, false],
  ])(
    'is judged by conditions on %s, of rules that allow and of rules that forbid',
    (_, conditions, may, otherwise = !may) => {
      const allowing = rule('identity', 'assign-role');
      expect(mayGive([{ ...allowing, conditions }])).toBe(may);
      expect(mayGive([allowing, { ...allowing, conditions, inverted: true }])).toBe(otherwise);
    },
  );

  test('asks for every action that a role allows, not for those that it forbids', () => {
    const own = [rule('identity', 'assign-role', { subject: 'secrets' })];
    expect(mayGive(own, 'x', [...READS, rule('tags', 'read')])).toBe(false);
    expect(mayGive(own, 'x', [...READS, rule('tags', 'read', undefined, true)])).toBe(true);
    expect(mayGive(own, 'x', [])).toBe(false);
    expect(mayGive([rule('identity', 'assign-role', { role: 'x' })], 'x', [])).toBe(true);
  });

  test('is part of grant-privileges, which stands for both assignments in its place among the rules', () => {
    const grant = rule('identity', 'grant-privileges');
    const given = { verb: 'assign-additional-privileges', rules: READS } as const;
    expect(mayGive([grant])).toBe(true);
    expect(mayAssign(abilityOf([grant]), ROBOT, given)).toBe(true);
    expect(mayGive([grant, rule('identity', 'assign-role', { role: 'reader' }, true)])).toBe(false);
    expect(mayGive([rule('identity', 'assign-role'), { ...grant, inverted: true }])).toBe(false);
    const handsOn = [rule('identity', 'grant-privileges')];
    const notAssigning = [
      rule('identity', 'assign-role'),
      rule('identity', 'assign-role', { action: 'assign-role' }, true),
    ];
    expect(mayGive(notAssigning, 'x', handsOn)).toBe(false);
  });

  test('is told apart by member before anything of it is looked up', () => {
    const own = abilityOf([rule('member', 'assign-role', { username: { $glob: 'al*' }, role: 'reader' })]);
    expect(mayAssignTo(own, ALICE, 'assign-role')).toBe(true);
    expect(mayAssignTo(own, { subject: 'member', fields: { username: 'bob' } }, 'assign-role')).toBe(false);
    expect(mayAssignTo(own, { subject: 'member', fields: {} }, 'assign-role')).toBe(false);
    expect(mayAssignTo(own, ALICE, 'assign-additional-privileges')).toBe(false);
    expect(mayAssignTo(own, ROBOT, 'assign-role')).toBe(false);
  });
});

describe('the boundary of assignments', () => {
  const grant = rule('identity', 'grant-privileges');

  test('takes grant-privileges for both', () => {
    const both = rule('identity', 'assign-role');
    expect(rightsBeyond(abilityOf([grant]), [both, rule('identity', 'assign-additional-privileges')])).toEqual([]);
    expect(rightsBeyond(abilityOf([both]), [grant])).toEqual(['identity:grant-privileges']);
  });

  test('does not give by grant-privileges what is forbidden by its own name', () => {
    const own = [grant, rule('identity', 'assign-role', undefined, true)];
    expect(rightsBeyond(abilityOf(own), [grant])).toEqual(['identity:grant-privileges']);
  });
});
