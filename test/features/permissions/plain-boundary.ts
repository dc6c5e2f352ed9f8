// The boundary as a plain evaluator that compares each rule with each: what the real one is compared with.

import { abilityOf, GRANT, withAssignments } from '../../../src/features/permissions/ability.js';
import { namesAttributes, withAttributes } from '../../../src/features/permissions/attributes.js';
import { type Ability, type Action, type Rule, rulesOf } from '../../../src/kernel/authz/ability.js';
import { type ConditionOperators, type Conditions, compileConditions } from '../../../src/kernel/authz/conditions.js';

/** One action of one rule. */
interface Atom {
  readonly action: Action;
  readonly inverted: boolean;
  readonly conditions: Conditions | undefined;
}

/**
 * What rules would allow that an ability does not: nothing, for whoever may hand them on. Exact for rules without
 * conditions. Of conditions it compares what can be compared, and where it cannot tell it says that they go beyond: so of
 * attributes, which are those of whoever will have the rules.
 *
 * @param given in order, as their holder would have them
 */
export function rightsBeyond(own: Ability, given: readonly Rule[]): Action[] {
  // One's own attributes are filled in; a name that were left would mean another's.
  const mine = byAction(withAttributes(rulesOf(own), {}).map(withAssignments));
  const named = rulesOf(abilityOf(given));
  const names = new Set(byAction(named).keys());
  const beyond = [...byAction(named.map(withAssignments))].flatMap(([action, atoms]) =>
    atoms.every((atom, at) => atom.inverted || isCovered(atom, atoms.slice(at + 1), mine.get(action) ?? []))
      ? []
      : [names.has(action) ? action : (action.replace(/:.*$/, `:${GRANT}`) as Action)],
  );
  return [...new Set(beyond)];
}

/**
 * What a change of a role would give away that an ability does not allow: what the role allowed before and allows after it,
 * and what it does not forbid any more, since its holders may have that of other roles.
 */
export function rightsBeyondChange(own: Ability, before: readonly Rule[], after: readonly Rule[]): Action[] {
  const kept = byAction(rulesOf(abilityOf(after)));
  const lifted = [...byAction(rulesOf(abilityOf(before)))].flatMap(([action, atoms]) =>
    atoms.filter(
      ({ inverted, conditions }) =>
        inverted && !kept.get(action)?.some((atom) => atom.inverted && implies(conditions, atom.conditions)),
    ),
  );
  return [
    ...new Set([
      ...rightsBeyond(own, before),
      ...rightsBeyond(own, after),
      ...lifted.flatMap(({ action, conditions }) => {
        const [subject = '', verb = ''] = action.split(':');
        return rightsBeyond(own, [{ subject, action: verb, ...(conditions === undefined ? {} : { conditions }) }]);
      }),
    ]),
  ];
}

function byAction(rules: readonly Rule[]): ReadonlyMap<Action, readonly Atom[]> {
  const atoms = rules.flatMap(({ subject, action, inverted = false, conditions }) =>
    [action].flat().map((verb): Atom => ({ action: `${subject}:${verb}` as Action, inverted, conditions })),
  );
  return Map.groupBy(atoms, ({ action }) => action);
}

/**
 * Whether everything that a rule allows, in spite of the rules after it, is allowed by one's own rules: one of them allows at
 * least as much, and what one's own forbid after it is not touched, or forbidden after the given rule as well.
 */
function isCovered({ conditions }: Atom, after: readonly Atom[], own: readonly Atom[]): boolean {
  return own.some(
    (mine, at) =>
      !mine.inverted &&
      implies(conditions, mine.conditions) &&
      own
        .slice(at + 1)
        .filter(({ inverted }) => inverted)
        .every(
          (forbidding) =>
            excludes(conditions, forbidding.conditions) ||
            after.some(({ inverted, conditions: kept }) => inverted && implies(forbidding.conditions, kept)),
        ),
  );
}

/** Whether whatever fits the narrow conditions fits the wide ones too. */
function implies(narrow: Conditions | undefined, wide: Conditions | undefined): boolean {
  if (wide === undefined) return true;
  return Object.entries(wide).every(([field, condition]) => {
    const mine = operatorsOf(narrow?.[field]);
    // Only of the same holder, as when its role changes, equal names mean equal values, and a missing one the same.
    if (namesAttributes(condition) || namesAttributes(mine))
      return JSON.stringify(operatorsOf(condition)) === JSON.stringify(mine);
    const values = valuesOf(field, narrow);
    if (values !== undefined) return values.every((value) => holds(field, condition, value));
    return Object.entries(operatorsOf(condition)).every(
      ([name, operand]) => JSON.stringify(mine[name as keyof ConditionOperators]) === JSON.stringify(operand),
    );
  });
}

/** Whether nothing can fit both. Told by fields of one value; of several tags, one may fit here and one there. */
function excludes(one: Conditions | undefined, other: Conditions | undefined): boolean {
  if (one === undefined || other === undefined) return false;
  const fields = Object.keys(one).filter(
    (field) => field in other && field !== 'secretTags' && !namesAttributes([one[field], other[field]]),
  );
  return fields.some((field) => hasNoneOf(field, one, other) || hasNoneOf(field, other, one));
}

const hasNoneOf = (field: string, one: Conditions, other: Conditions): boolean =>
  valuesOf(field, one)?.every((value) => !holds(field, other[field] as Conditions[string], value)) ?? false;

const operatorsOf = (condition: Conditions[string] | undefined): ConditionOperators =>
  typeof condition === 'string' ? { $eq: condition } : (condition ?? {});

/** The only values of a field that fit, where conditions name them. */
function valuesOf(field: string, conditions: Conditions | undefined): readonly string[] | undefined {
  const condition = conditions?.[field];
  const { $eq, $in } = operatorsOf(condition);
  const named = $eq === undefined ? $in : [$eq];
  return condition === undefined ? undefined : named?.filter((value) => holds(field, condition, value));
}

const holds = (field: string, condition: Conditions[string], value: string): boolean =>
  compileConditions({ [field]: condition })({ [field]: value });
