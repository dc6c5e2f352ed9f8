import type { Rule } from '../../../kernel/authz/ability.js';
import type { Conditions } from '../../../kernel/authz/conditions.js';
import { conditionalActions, PROJECT_VOCABULARY, type Vocabulary } from './actions.js';
import { patternViolation } from './attributes.js';

const forbidEverything = ({ actions }: Vocabulary): readonly Rule[] =>
  Object.entries(actions).map(([subject, action]) => ({ subject, action, inverted: true }));

/**
 * The rules of a role as stored. What this version cannot read never widens rights: a rule that allows then allows
 * nothing, and one that forbids forbids everything that it could mean.
 *
 * @param stored the list of rules, `{ subject, action, inverted?, conditions? }`, as read from the database
 */
export const readStoredRules = (stored: unknown, words: Vocabulary = PROJECT_VOCABULARY): readonly Rule[] =>
  Array.isArray(stored) ? stored.flatMap((rule) => readRule(rule, words)) : forbidEverything(words);

/**
 * The same from JSON text, since JSON has a null of its own: rules that are `null` cannot be read.
 *
 * @param text null: there is no such role, which allows nothing and forbids nothing
 */
export const readRulesText = (text: string | null, words: Vocabulary): readonly Rule[] =>
  text === null ? [] : readStoredRules(JSON.parse(text), words);

function readRule(stored: unknown, words: Vocabulary): readonly Rule[] {
  // Whether it forbids is unknown, so it is taken to.
  if (typeof stored !== 'object' || stored === null) return forbidEverything(words);
  const { subject, action, inverted = false, conditions = null } = stored as Partial<Record<keyof Rule, unknown>>;
  const rule = { subject, action, conditions };
  return inverted === false ? readGrant(rule, words) : readProhibition(rule, words);
}

interface StoredRule {
  readonly subject: unknown;
  readonly action: unknown;
  readonly conditions: unknown;
}

function readGrant({ subject, action, conditions }: StoredRule, words: Vocabulary): readonly Rule[] {
  if (!isSubject(subject, words)) return [];
  if (!areUsable(words.fields[subject], conditions)) return [];
  const usable = given(conditions);
  const possible = 'conditions' in usable ? conditionalActions(words, subject) : words.actions[subject];
  const known = actionsOf(action)?.filter((verb) => possible?.includes(verb)) ?? [];
  return known.length === 0 ? [] : [{ subject, action: known, ...usable }];
}

function readProhibition({ subject, action, conditions }: StoredRule, words: Vocabulary): readonly Rule[] {
  if (typeof subject !== 'string') return forbidEverything(words);
  if (!isSubject(subject, words)) return [];
  const forbidden = actionsOf(action) ?? (words.actions[subject] as readonly string[]);
  const usable = areUsable(words.fields[subject], conditions) ? given(conditions) : {};
  const isAsked = (verb: string): boolean =>
    !('conditions' in usable) || conditionalActions(words, subject).includes(verb);
  const { asked = [], others = [] } = Object.groupBy(forbidden, (verb) => (isAsked(verb) ? 'asked' : 'others'));
  return [
    ...(others.length === 0 ? [] : [{ subject, action: others, inverted: true }]),
    ...(asked.length === 0 ? [] : [{ subject, action: asked, inverted: true, ...usable }]),
  ];
}

const isSubject = (subject: unknown, { actions }: Vocabulary): subject is string =>
  typeof subject === 'string' && Object.hasOwn(actions, subject);

/** Undefined for anything but an action or a list of actions. */
function actionsOf(action: unknown): readonly string[] | undefined {
  const actions: unknown[] = [action].flat();
  return actions.length > 0 && actions.every((verb) => typeof verb === 'string') ? (actions as string[]) : undefined;
}

const given = (conditions: unknown): { conditions?: Conditions } =>
  conditions === null || Object.keys(conditions as Conditions).length === 0
    ? {}
    : { conditions: conditions as Conditions };

/** Whether conditions use only fields of the subject and known operators, each with a valid operand. */
function areUsable(fields: Readonly<Record<string, readonly string[]>> = {}, conditions: unknown): boolean {
  if (conditions === null) return true;
  if (typeof conditions !== 'object' || Array.isArray(conditions)) return false;
  return Object.entries(conditions as object).every(([field, condition]) => {
    const known = Object.hasOwn(fields, field) ? (fields[field] as readonly string[]) : [];
    const operators: unknown = typeof condition === 'string' ? { $eq: condition } : condition;
    if (typeof operators !== 'object' || operators === null || Array.isArray(operators)) return false;
    const entries = Object.entries(operators);
    return entries.length > 0 && entries.every(([name, operand]) => known.includes(name) && isOperand(name, operand));
  });
}

function isOperand(operator: string, operand: unknown): boolean {
  if (operator === '$in') return Array.isArray(operand) && operand.every((entry) => typeof entry === 'string');
  if (typeof operand !== 'string') return false;
  return operator !== '$glob' || patternViolation(operand) === null;
}
