// The comparison as it is meant: each rule with each. What the service does must decide the same in fewer steps.

import { abilityOf, GRANT_ACTION, withAssignments } from '../../../src/features/identity/permissions/ability.js';
import { namesAttributes, withAttributes } from '../../../src/features/identity/permissions/attributes.js';
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
 * @param held what their holder may do anyway: that is nobody's to give
 */
export function rightsBeyond(own: Ability, given: readonly Rule[], held: Ability = abilityOf([])): Action[] {
  return notCovered(given, atomsOf(own), atomsOf(held));
}

// Attributes are filled in; a name that were left would mean another's.
const atomsOf = (ability: Ability): Atoms => byAction(withAttributes(rulesOf(ability), {}).map(withAssignments));

/**
 * What a change of a role would give away that an ability does not allow: what the role allowed before and allows after it,
 * and what it does not forbid any more, since its holders may have that of other roles.
 */
export function rightsBeyondChange(own: Ability, before: readonly Rule[], after: readonly Rule[]): Action[] {
  return [
    ...new Set([
      ...rightsBeyond(own, before),
      ...rightsBeyond(own, after),
      ...liftedBetween(before, after).flatMap(({ action, conditions }) => {
        const [subject = '', verb = ''] = action.split(':');
        return rightsBeyond(own, [{ subject, action: verb, ...(conditions === undefined ? {} : { conditions }) }]);
      }),
    ]),
  ];
}

/** The rules of one holder, before and after a change. */
export interface ChangedRules {
  readonly before: readonly Rule[];
  readonly after: readonly Rule[];
  /** Whether it may have other rights, which the rules before took back: without them, nothing is lifted. */
  readonly hasMore: boolean;
}

/**
 * What holders of rules may do after changes that they could not before: what the rules allow anew, and what they do not forbid
 * any more. As careful as `rightsBeyond`, but for attributes: those of one holder stay what they are.
 */
export function rightsGained(changes: readonly ChangedRules[]): Action[] {
  const gained = changes.flatMap(({ before, after, hasMore }) => {
    const [had, has] = [before, after].map((rules) => rulesOf(abilityOf(rules))) as [Rule[], Rule[]];
    const lifted = hasMore ? liftedBetween(had, has) : [];
    const mine = byAction(had.map(withAssignments));
    return [...notCovered(has, mine), ...lifted.map(({ action }) => action)];
  });
  return [...new Set(gained)];
}

function notCovered(given: readonly Rule[], mine: Atoms, had: Atoms = new Map()): Action[] {
  const named = rulesOf(abilityOf(given));
  const names = new Set(byAction(named).keys());
  const beyond = [...byAction(named.map(withAssignments))].flatMap(([action, atoms]) =>
    atoms.every(
      (atom, at) =>
        atom.inverted || isCovered(atom, atoms.slice(at + 1), { own: mine.get(action), held: had.get(action) }),
    )
      ? []
      : [names.has(action) ? action : (action.replace(/:.*$/, `:${GRANT_ACTION}`) as Action)],
  );
  return [...new Set(beyond)];
}

/** What rules forbid before a change and not after it. */
function liftedBetween(before: readonly Rule[], after: readonly Rule[]): Atom[] {
  const kept = byAction(rulesOf(abilityOf(after)));
  return [...byAction(rulesOf(abilityOf(before)))].flatMap(([action, atoms]) =>
    atoms.filter(
      ({ inverted, conditions }) =>
        inverted && !kept.get(action)?.some((atom) => atom.inverted && implies(conditions, atom.conditions)),
    ),
  );
}

type Atoms = ReadonlyMap<Action, readonly Atom[]>;

function byAction(rules: readonly Rule[]): Atoms {
  const atoms = rules.flatMap(({ subject, action, inverted = false, conditions }) =>
    [action].flat().map((verb): Atom => ({ action: `${subject}:${verb}` as Action, inverted, conditions })),
  );
  return Map.groupBy(atoms, ({ action }) => action);
}

/** Whether everything that a rule allows, in spite of the rules after it, is allowed by one's own rules or held before. */
function isCovered(
  atom: Atom,
  after: readonly Atom[],
  { own = [], held = [] }: { readonly own?: readonly Atom[] | undefined; readonly held?: readonly Atom[] | undefined },
): boolean {
  const isOwn = (given: Atom): boolean => forbiddenOf(given, after, own).some((forbidden) => forbidden.length === 0);
  // With conditions it would not forbid what is asked without naming a resource.
  const isForbiddenAtAll = after.some(({ inverted, conditions }) => inverted && conditions === undefined);
  if (isForbiddenAtAll || isOwn(atom)) return true;
  // Of what is held but for some of it, only that is given.
  return forbiddenOf(atom, after, held).some((forbidden) => forbidden.every(isOwn));
}

/**
 * For each of some rules that allows at least as much as a given one: what those after it forbid of that. What is not touched,
 * or is forbidden after the given rule as well, is not in it.
 */
const forbiddenOf = ({ conditions }: Atom, after: readonly Atom[], rules: readonly Atom[]): Atom[][] =>
  rules.flatMap((allowing, at) => {
    if (allowing.inverted || !implies(conditions, allowing.conditions)) return [];
    const touched = rules
      .slice(at + 1)
      .filter((rule) => rule.inverted && !excludes(conditions, rule.conditions) && !isForbidden(rule, after));
    return [touched];
  });

/** Whether one of some rules forbids all that another is about. */
const isForbidden = ({ conditions }: Atom, rules: readonly Atom[]): boolean =>
  rules.some(({ inverted, conditions: forbidden }) => inverted && implies(conditions, forbidden));

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
