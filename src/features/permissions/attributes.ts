import type { Rule } from '../../kernel/authz/ability.js';
import type { ConditionOperators, Conditions } from '../../kernel/authz/conditions.js';

/** What rules can name of a caller: `id`, `name`, and `metadata.<key>`. */
export type Attributes = Readonly<Record<string, string>>;

/** SQL for the attributes of a user or identity, as JSON text. @param member SQL for its id */
export const attributesOf = (member: string): string => `coalesce(
  (select jsonb_build_object('id', i.id, 'name', i.name) || coalesce(
     (select jsonb_object_agg('metadata.' || (entry ->> 'key'), entry ->> 'value') from jsonb_array_elements(i.metadata) entry), '{}')
   from identity i where i.id = ${member}),
  (select jsonb_build_object('id', u.id, 'name', u.username) from app_user u where u.id = ${member}))::text`;

/** `{{identity.metadata.team}}` */
const NAMED = /\{\{\s*identity\.([^{}\s]+)\s*\}\}/g;

/** Whether a text names attributes of the caller. */
export const namesAttributes = (text: string): boolean => text.includes('{{');

/**
 * Rules with the caller's own attributes in the place of their names. One that is missing or empty never widens rights: a rule
 * that allows is left out, and one that forbids forbids whatever the condition would have selected.
 */
export const withAttributes = (rules: readonly Rule[], attributes: Attributes): Rule[] =>
  rules.flatMap((rule) => {
    if (rule.conditions === undefined || !namesAttributes(JSON.stringify(rule.conditions))) return [rule];
    const filled = Object.entries(rule.conditions).map(([field, condition]) => [field, fill(condition, attributes)]);
    const known = filled.filter(([, condition]) => condition !== null);
    if (known.length < filled.length && rule.inverted !== true) return [];
    return [{ ...rule, conditions: Object.fromEntries(known) as Conditions }];
  });

/** Null when an attribute is missing or empty. */
function fill(condition: Conditions[string], attributes: Attributes): Conditions[string] | null {
  if (typeof condition === 'string') return fillIn(condition, attributes);
  const filled: [string, string | readonly string[] | null][] = Object.entries(condition as ConditionOperators).map(
    ([name, operand]: [string, string | readonly string[]]) => [name, fillOperand(name, operand, attributes)],
  );
  return filled.some(([, operand]) => operand === null) ? null : (Object.fromEntries(filled) as ConditionOperators);
}

function fillOperand(
  name: string,
  operand: string | readonly string[],
  attributes: Attributes,
): string | readonly string[] | null {
  if (typeof operand === 'string') return fillIn(operand, attributes, name === '$glob' ? literally : undefined);
  const entries = operand.map((entry) => fillIn(entry, attributes));
  return entries.some((entry) => entry === null) ? null : (entries as string[]);
}

function fillIn(text: string, attributes: Attributes, written = (value: string): string => value): string | null {
  let isKnown = true;
  const filled = text.replace(NAMED, (_, name: string) => {
    const value = Object.hasOwn(attributes, name) ? (attributes[name] as string) : '';
    if (value === '') isKnown = false;
    return written(value);
  });
  return isKnown && !namesAttributes(filled) ? filled : null;
}

/** In a pattern an attribute stands for itself alone. */
const literally = (value: string): string => value.replace(/[^\p{L}\p{N}]/gu, '\\$&');
