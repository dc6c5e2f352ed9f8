import { abilityOf } from '../../../src/features/identity/permissions/ability.js';
import { can, type Rule } from '../../../src/kernel/authz/ability.js';

test('the older action read of secrets is both newer ones, in its place among the rules', () => {
  const grant = { subject: 'secrets', action: ['edit', 'read'] };
  const actions = ['secrets:describeSecret', 'secrets:readValue', 'secrets:edit'] as const;
  const allowed = (...rules: readonly Rule[]) => actions.map((action) => can(abilityOf(rules), action, {}));

  expect(allowed(grant)).toEqual([true, true, true]);
  const without = { subject: 'secrets', action: 'readValue', inverted: true };
  expect(allowed(grant, without)).toEqual([true, false, true]);
  expect(allowed(without, grant)).toEqual([true, true, true]);
  expect(allowed(grant, { ...without, action: 'read' })).toEqual([false, false, true]);
});
