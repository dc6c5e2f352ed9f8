import type { Rule } from '../../../kernel/authz/ability.js';
import type { ConditionOperators, Conditions } from '../../../kernel/authz/conditions.js';
import { compileGlob } from '../../../kernel/authz/glob.js';

/**
 * Attributes of the caller that conditions can name: `{{identity.id}}`, `{{identity.metadata.team}}`. Not its name: a
 * rename would change its rights.
 */
const ATTRIBUTE = /\{\{\s*identity\.(?:id|metadata\.[^{}\s]+)\s*\}\}/g;

/** Maximum length of metadata keys. */
export const MAX_METADATA_KEY = 64;
/** Maximum length of an attribute name in a text, without blanks. */
export const LONGEST_ATTRIBUTE = '{{identity.metadata.}}'.length + MAX_METADATA_KEY;

/** A text with a letter instead of each attribute: the shape of the pattern once they are filled in. */
export const withPlaceholders = (text: string): string => text.replace(ATTRIBUTE, 'x');

/** Whether every name between `{{` and `}}` is an attribute that a caller can have. */
export const namesKnownAttributes = (text: string): boolean => !withPlaceholders(text).includes('{{');

/** The attributes of a caller that rules can name: `id`, and `metadata.<key>`. */
export type Attributes = Readonly<Record<string, string>>;

/** SQL of the attributes of a user or identity, as JSON text. @param member SQL of its ID */
export const attributesOf = (member: string): string => `coalesce(
  (select jsonb_build_object('id', i.id) || coalesce(
     (select jsonb_object_agg('metadata.' || (entry ->> 'key'), entry ->> 'value')
      from jsonb_array_elements(i.metadata) entry where entry ->> 'key' is not null), '{}')
   from identity i where i.id = ${member}),
  (select jsonb_build_object('id', u.id) from app_user u where u.id = ${member}))::text`;

/** The same where the rules of a row name any; null otherwise. @param row SQL of a row with rules */
export const attributesNamedIn = (row: string, member: string): string =>
  `case when strpos(${row}.permissions::text, '{{') > 0 then ${attributesOf(member)} end`;

/** The attributes of an identity with this metadata, as JSON text. */
export const attributesWith = (
  id: string,
  metadata: readonly { readonly key: string; readonly value: string }[],
): string =>
  JSON.stringify({ id, ...Object.fromEntries(metadata.map(({ key, value }) => [`metadata.${key}`, value])) });

/** `{{identity.metadata.team}}` */
const NAMED = /\{\{\s*identity\.([^{}\s]+)\s*\}\}/gu;
/** The same in a pattern, where a backslash escapes the next character. */
const NAMED_IN_PATTERN = new RegExp(`\\\\.|${NAMED.source}`, 'gsu');

/** Whether a condition, or a part of one, names attributes of the caller. */
export const namesAttributes = (condition: unknown): boolean => JSON.stringify(condition ?? null).includes('{{');

/** Why a pattern is invalid, whatever the values of its attributes; null for a valid one. */
export function patternViolation(pattern: string): string | null {
  const compiled = compileGlob(inPattern(pattern, () => 'x'));
  return typeof compiled === 'string' ? compiled : null;
}

/**
 * Rules with the values of the caller's attributes filled in. A missing or empty attribute never widens rights: a rule
 * that allows is left out, and one that forbids forbids whatever the condition would have selected.
 */
export const withAttributes = (rules: readonly Rule[], attributes: Attributes): Rule[] =>
  rules.flatMap((rule) => {
    if (rule.conditions === undefined || !namesAttributes(rule.conditions)) return [rule];
    const filled = Object.entries(rule.conditions).map(([field, condition]) => [field, fill(condition, attributes)]);
    const known = filled.filter(([, condition]) => condition !== null);
    if (known.length < filled.length && rule.inverted !== true) return [];
    const { conditions: _, ...everything } = rule;
    // Without conditions it also forbids what is checked without a resource.
    return [known.length === 0 ? everything : { ...everything, conditions: Object.fromEntries(known) as Conditions }];
  });

/** Returns the value of an attribute; an empty one for an unknown attribute. */
type ValueFor = (name: string) => string;

/** Null when an attribute is missing or empty. */
function fill(condition: Conditions[string], attributes: Attributes): Conditions[string] | null {
  const valueFor: ValueFor = (name) => attributeOf(attributes, name);
  if (typeof condition === 'string') return fillText(condition, valueFor);
  const filled: [string, string | readonly string[] | null][] = Object.entries(condition as ConditionOperators).map(
    ([name, operand]: [string, string | readonly string[]]) => [name, fillOperand(name, operand, valueFor)],
  );
  return filled.some(([, operand]) => operand === null) ? null : (Object.fromEntries(filled) as ConditionOperators);
}

/** The database returns null for a metadata entry without a value. */
function attributeOf(attributes: Attributes, name: string): string {
  const value: unknown = Object.hasOwn(attributes, name) ? attributes[name] : '';
  return typeof value === 'string' ? value : '';
}

function fillOperand(
  name: string,
  operand: string | readonly string[],
  valueFor: ValueFor,
): string | readonly string[] | null {
  if (typeof operand === 'string')
    return name === '$glob' ? fillPattern(operand, valueFor) : fillText(operand, valueFor);
  const entries = operand.map((entry) => fillText(entry, valueFor));
  return entries.some((entry) => entry === null) ? null : (entries as string[]);
}

/** Null also where a value contains `{{`: nothing is filled in twice. */
function fillText(text: string, valueFor: ValueFor): string | null {
  let isKnown = true;
  const filled = text.replace(NAMED, (_, name: string) => {
    const value = valueFor(name);
    isKnown &&= value !== '';
    return value;
  });
  return isKnown && !namesAttributes(filled) ? filled : null;
}

/**
 * The value of an attribute is matched literally. Null also for an invalid pattern after filling in, for example one
 * that is too long.
 */
function fillPattern(pattern: string, valueFor: ValueFor): string | null {
  let isKnown = true;
  const filled = inPattern(pattern, (name) => {
    const value = valueFor(name);
    isKnown &&= value !== '';
    return value;
  });
  return isKnown && typeof compileGlob(filled) !== 'string' ? filled : null;
}

const inPattern = (pattern: string, valueFor: ValueFor): string =>
  pattern.replace(NAMED_IN_PATTERN, (escaped: string, name: string | undefined) =>
    name === undefined ? escaped : literally(valueFor(name)),
  );

/** The first character is always escaped: inside `[` and `]`, where nothing is literal, the pattern becomes invalid. */
const literally = (value: string): string => value.replace(/^.|[^\p{L}\p{N}]/gsu, '\\$&');
