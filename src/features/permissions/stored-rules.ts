import type { Rule } from '../../kernel/authz/ability.js';
import type { Conditions } from '../../kernel/authz/conditions.js';
import { compileGlob } from '../../kernel/authz/glob.js';
import { CONDITION_FIELDS, PROJECT_ACTIONS } from './actions.js';

const ACTIONS: Readonly<Record<string, readonly string[]>> = PROJECT_ACTIONS;
const FORBID_EVERYTHING: readonly Rule[] = Object.entries(ACTIONS).map(([subject, action]) => ({
  subject,
  action,
  inverted: true,
}));

/**
 * The rules of a project role as they are stored. Whatever this version cannot read never widens rights: a rule that allows
 * then allows nothing, and one that forbids forbids everything that it could have meant.
 *
 * @param stored the list of rules, `{ subject, action, inverted?, conditions? }`, as the database gave it
 */
export const readStoredRules = (stored: unknown): readonly Rule[] =>
  Array.isArray(stored) ? stored.flatMap(readRule) : FORBID_EVERYTHING;

function readRule(stored: unknown): readonly Rule[] {
  // Without knowing whether it forbids, it has to be taken to.
  if (typeof stored !== 'object' || stored === null) return FORBID_EVERYTHING;
  const { subject, action, inverted = false, conditions = null } = stored as Partial<Record<keyof Rule, unknown>>;
  return inverted === false ? readGrant(subject, action, conditions) : readProhibition(subject, action, conditions);
}

function readGrant(subject: unknown, action: unknown, conditions: unknown): readonly Rule[] {
  if (!isSubject(subject)) return [];
  const known = actionsOf(action)?.filter((verb) => ACTIONS[subject]?.includes(verb)) ?? [];
  if (known.length === 0 || !areUsable(subject, conditions)) return [];
  return [{ subject, action: known, ...given(conditions) }];
}

function readProhibition(subject: unknown, action: unknown, conditions: unknown): readonly Rule[] {
  if (typeof subject !== 'string') return FORBID_EVERYTHING;
  if (!isSubject(subject)) return [];
  const forbidden = actionsOf(action) ?? (ACTIONS[subject] as readonly string[]);
  return [{ subject, action: forbidden, inverted: true, ...(areUsable(subject, conditions) ? given(conditions) : {}) }];
}

const isSubject = (subject: unknown): subject is string =>
  typeof subject === 'string' && Object.hasOwn(ACTIONS, subject);

/** Undefined for what is no action and no list of actions. */
function actionsOf(action: unknown): readonly string[] | undefined {
  const actions: unknown[] = [action].flat();
  return actions.length > 0 && actions.every((verb) => typeof verb === 'string') ? (actions as string[]) : undefined;
}

const given = (conditions: unknown): { conditions?: Conditions } =>
  conditions === null || Object.keys(conditions as Conditions).length === 0
    ? {}
    : { conditions: conditions as Conditions };

/** Whether conditions look at fields of the subject only, by operators that are known, each with an operand of its kind. */
function areUsable(subject: string, conditions: unknown): boolean {
  if (conditions === null) return true;
  if (typeof conditions !== 'object' || Array.isArray(conditions)) return false;
  const fields = CONDITION_FIELDS[subject] ?? {};
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
  return operator !== '$glob' || typeof compileGlob(operand) !== 'string';
}
