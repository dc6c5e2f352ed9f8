import type { Rule } from '../../../kernel/authz/ability.js';
import type { ConditionOperators, Conditions } from '../../../kernel/authz/conditions.js';
import { compileGlob } from '../../../kernel/authz/glob.js';

/**
 * Attributes of the caller that conditions can name: `{{identity.id}}`, `{{identity.metadata.team}}`, and what its session came
 * with: `{{identity.auth.oidc.claims.repository}}`, `{{identity.auth.kubernetes.namespace}}`. Not its name: a rename would change
 * its rights.
 */
const ATTRIBUTE =
  /\{\{\s*identity\.(?:id|metadata\.[^{}\s]+|auth\.oidc\.claims\.[^{}\s]+|auth\.kubernetes\.(?:namespace|name))\s*\}\}/g;

/** Maximum length of metadata keys, and of keys of kept claims. */
export const MAX_METADATA_KEY = 64;
/** Maximum length of a claim that tokens keep. */
export const MAX_KEPT_CLAIM = 255;
/** Maximum length of an attribute name in a text, without blanks. */
export const LONGEST_ATTRIBUTE = '{{identity.auth.oidc.claims.}}'.length + MAX_METADATA_KEY;

/** A text with a letter instead of each attribute: the shape of the pattern once they are filled in. */
export const withPlaceholders = (text: string): string => text.replace(ATTRIBUTE, 'x');

/** Whether every name between `{{` and `}}` is an attribute that a caller can have. */
export const namesKnownAttributes = (text: string): boolean => !withPlaceholders(text).includes('{{');

/** The attributes of a caller that rules can name: `id`, `metadata.<key>`, and `auth.…` of its session. */
export type Attributes = Readonly<Record<string, string>>;

/**
 * In attributes: the session may be any. What rules name of it stays a name in them, so that such conditions are equal to those
 * with the same name, and exceed all others.
 */
export const ANY_SESSION = '{"auth":"any"}';
const isOfAnySession = (attributes: Attributes): boolean => attributes.auth === 'any';

/** In attributes: the session may be the one that allows most. What rules name of it allows as if it matched, and forbids nothing. */
export const BEST_SESSION = '{"auth":"best"}';
/** Whether rules, or a part of them, name what a session came with. Not by their JSON, in which blanks are written otherwise. */
export const namesSession = (part: unknown): boolean =>
  typeof part === 'string'
    ? /\{\{\s*identity\.auth\./u.test(part)
    : typeof part === 'object' && part !== null && Object.values(part).some(namesSession);

/**
 * SQL of the attributes of a user or identity, as JSON text.
 *
 * @param member SQL of its ID, which may be of a table with any name but `holder`
 */
export const attributesOf = (member: string): string => `coalesce(
  (select jsonb_build_object('id', holder.id) || coalesce(
     (select jsonb_object_agg('metadata.' || (entry ->> 'key'), entry ->> 'value')
      from jsonb_array_elements(holder.metadata) entry where entry ->> 'key' is not null), '{}')
   from identity holder where holder.id = ${member}),
  (select jsonb_build_object('id', holder.id) from app_user holder where holder.id = ${member}))::text`;

/** SQL of the attributes that the session of a token adds, as JSON text; null for none. @param token SQL of its row */
export const sessionAttributesOf = (token: string): string => `case when ${token}.session_claims is not null then
  (select jsonb_object_agg(case ${token}.auth_method when 'oidc-auth' then 'auth.oidc.claims.' else 'auth.kubernetes.' end || claim.key, claim.value)
   from jsonb_each_text(${token}.session_claims) claim)::text end`;

/** Attributes of a member with those of its session. @param attributes null: rules name none @param session null: adds none */
export const withSession = (attributes: string | null, session: string | null): string | null =>
  attributes === null || session === null
    ? attributes
    : JSON.stringify({ ...(JSON.parse(attributes) as Attributes), ...(JSON.parse(session) as Attributes) });

/**
 * SQL of the attributes of a member in any of its sessions, where the rules of a row name any; null otherwise.
 *
 * @param row SQL of a row with rules
 */
export const attributesNamedIn = (row: string, member: string): string =>
  `case when strpos(${row}.permissions::text, '{{') > 0 then (${attributesOf(member)}::jsonb || '${ANY_SESSION}')::text end`;

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
const isOfSession = (name: string): boolean => name.startsWith('auth.');

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
    if (attributes.auth === 'best' && namesSession(rule.conditions)) return withAttributes(atBest(rule), attributes);
    const filled = Object.entries(rule.conditions).map(([field, condition]) => [field, fill(condition, attributes)]);
    const known = filled.filter(([, condition]) => condition !== null);
    if (known.length < filled.length && rule.inverted !== true) return [];
    const { conditions: _, ...everything } = rule;
    // Without conditions it also forbids what is checked without a resource.
    if (known.length === 0) return [everything];
    const conditions = Object.fromEntries(known) as Conditions;
    if (namesSession(rule.conditions)) rememberWithoutSession(conditions, rule, attributes);
    return [{ ...everything, conditions }];
  });

/** Rules as their holder would have them in no session, by the conditions that they have in one. */
const inNoSession = new WeakMap<Conditions, readonly Rule[]>();

function rememberWithoutSession(conditions: Conditions, rule: Rule, attributes: Attributes): void {
  const others = Object.entries(attributes).filter(([name]) => !isOfSession(name));
  if (others.length === Object.keys(attributes).length) return;
  inNoSession.set(conditions, withAttributes([rule], Object.fromEntries(others)));
}

/**
 * Rules of a caller without what its session came with: it ends, and what it hands on would last. What such rules allow is left out, and
 * what they forbid is forbidden as to a token of the same identity that came with nothing.
 */
export const withoutSession = (rules: readonly Rule[]): Rule[] =>
  rules.flatMap((rule) => {
    const others = rule.conditions && inNoSession.get(rule.conditions);
    if (others === undefined) return [rule];
    const { conditions: _, ...everything } = rule;
    return others.map(({ conditions }) => (conditions === undefined ? everything : { ...everything, conditions }));
  });

function atBest({ conditions, ...rule }: Rule): Rule[] {
  if (rule.inverted === true) return [];
  const others = Object.entries(conditions ?? {}).filter(([, condition]) => !namesSession(condition));
  return [others.length === 0 ? rule : { ...rule, conditions: Object.fromEntries(others) as Conditions }];
}

/** Returns the value of an attribute; an empty one for an unknown attribute, and null for one that stays a name. */
type ValueFor = (name: string) => string | null;

/** Null when an attribute is missing or empty. */
function fill(condition: Conditions[string], attributes: Attributes): Conditions[string] | null {
  const valueFor: ValueFor = (name) =>
    isOfAnySession(attributes) && isOfSession(name) ? null : attributeOf(attributes, name);
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
  let [isKnown, hasNames] = [true, false];
  const filled = text.replace(NAMED, (named, name: string) => {
    const value = valueFor(name);
    isKnown &&= value !== '';
    hasNames ||= value === null;
    return value ?? named;
  });
  return isKnown && !namesAttributes(hasNames ? withPlaceholders(filled) : filled) ? filled : null;
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
  return isKnown && patternViolation(filled) === null ? filled : null;
}

const inPattern = (pattern: string, valueFor: ValueFor): string =>
  pattern.replace(NAMED_IN_PATTERN, (whole: string, name: string | undefined) => {
    const value = name === undefined ? null : valueFor(name);
    return value === null ? whole : literally(value);
  });

/** The first character is always escaped: inside `[` and `]`, where nothing is literal, the pattern becomes invalid. */
const literally = (value: string): string => value.replace(/^.|[^\p{L}\p{N}]/gsu, '\\$&');
