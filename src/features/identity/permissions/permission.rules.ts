import * as z from 'zod';
import type { Rule } from '../../../kernel/authz/ability.js';
import type { Conditions } from '../../../kernel/authz/conditions.js';
import { MAX_GLOB } from '../../../kernel/authz/glob.js';
import { EVEN_IF_INVALID } from '../../../kernel/validation.js';
import { conditionalActions, ORGANIZATION_VOCABULARY, PROJECT_VOCABULARY, type Vocabulary } from './actions.js';
import { LONGEST_ATTRIBUTE, namesKnownAttributes, patternViolation, withPlaceholders } from './attributes.js';
import './permissions.errors.js';

const MAX_RULES = 100;
const MAX_CHOICES = 100;
/** The same limit as for the lists of a template. */
const MAX_BYTES = 32_768;
/** Maximum lengths of a path, a key, a name and a slug. */
const LENGTHS: Readonly<Record<string, number>> = {
  secretPath: 2_000,
  secretName: 255,
  username: 255,
  commonName: 255,
};
const MAX_SLUG = 64;

const START = 'must start with /';

const UNKNOWN_ATTRIBUTE = {
  error:
    'must contain only {{identity.id}}, {{identity.metadata.KEY}}, {{identity.auth.oidc.claims.KEY}}, {{identity.auth.kubernetes.namespace}} or {{identity.auth.kubernetes.name}} between {{ and }}',
  params: { code: 'UNKNOWN_ATTRIBUTE' },
};

/** A path as it is stored: with a trailing slash it would match none. */
const withoutTrailingSlash = (path: string): string => (path.length > 1 ? path.replace(/\/$/, '') : path);

/** A slug, or a string that becomes one with attributes filled in: their names do not count towards its length. */
const slugText = z
  .string()
  .min(1)
  .max(MAX_SLUG + LONGEST_ATTRIBUTE)
  .refine((text) => text.length > MAX_SLUG + LONGEST_ATTRIBUTE || withPlaceholders(text).length <= MAX_SLUG, {
    error: `must be at most ${MAX_SLUG} characters`,
    params: { code: 'TOO_BIG' },
  });

function literalOf(field: string) {
  const max = LENGTHS[field];
  const text = (max === undefined ? slugText : z.string().min(1).max(max)).refine(
    namesKnownAttributes,
    UNKNOWN_ATTRIBUTE,
  );
  return field === 'secretPath'
    ? text.overwrite(withoutTrailingSlash).refine((path) => path.startsWith('/'), { error: START })
    : text;
}

function globOf(field: string) {
  const pattern = z
    .string()
    .min(1)
    .max(MAX_GLOB)
    .superRefine((text, issues) => {
      if (!namesKnownAttributes(text))
        return issues.addIssue({ code: 'custom', message: UNKNOWN_ATTRIBUTE.error, params: UNKNOWN_ATTRIBUTE.params });
      const violation = text.length > MAX_GLOB || text === '' ? null : patternViolation(text);
      if (violation !== null) issues.addIssue({ code: 'custom', message: violation, params: { code: 'INVALID_GLOB' } });
    });
  // Any other pattern can match no path, and a rule that forbids would forbid nothing.
  return field === 'secretPath'
    ? pattern
        .overwrite(withoutTrailingSlash)
        .refine((text) => /^(\/|\*\*|\{)/.test(text), { error: 'must start with / or **' })
    : pattern;
}

function operatorsOf(field: string, operators: readonly string[]) {
  const shape = {
    $eq: literalOf(field).optional(),
    $ne: literalOf(field).optional(),
    $in: z.array(literalOf(field)).min(1).max(MAX_CHOICES).optional(),
    $glob: globOf(field).optional(),
  };
  const known = Object.entries(shape).filter(([name]) => operators.includes(name));
  const objects = z
    .strictObject(Object.fromEntries(known))
    .refine((given) => Object.values(given).some((operand) => operand !== undefined), {
      error: `must have one of ${operators.join(', ')}`,
    });
  return operators.includes('$eq') ? z.union([literalOf(field), objects]) : objects;
}

/** Messages for a field that the subject does not have: in GraphQL one list of fields serves all subjects. */
const reportedFields = (fields: readonly string[]): string =>
  fields.length === 0
    ? 'must be absent: rules on this subject have no conditions'
    : `must be ${fields.join(' or ')} on this subject`;

const conditionsOf = (fields: Vocabulary['fields'][string] = {}) =>
  z
    .strictObject(
      Object.fromEntries(
        Object.entries(fields).map(([field, operators]) => [field, operatorsOf(field, operators).optional()]),
      ),
      { error: ({ code }) => (code === 'unrecognized_keys' ? reportedFields(Object.keys(fields)) : undefined) },
    )
    .nullish();

const isEachOnce = (actions: readonly string[]): boolean => new Set(actions).size === actions.length;

/** The older `read` means the two newer ones together: next to them it would be misleading. */
const isUnmixed = (actions: readonly string[]): boolean =>
  !actions.includes('read') || !actions.some((action) => action === 'describeSecret' || action === 'readValue');

function permissionOf(subject: string, words: Vocabulary) {
  const actions = words.actions[subject] ?? [];
  const conditional = conditionalActions(words, subject);
  const areAsked = ({ action, conditions }: { action: string | readonly string[]; conditions?: unknown }): boolean =>
    conditions == null ||
    Object.keys(conditions).length === 0 ||
    [action].flat().every((verb) => conditional.includes(verb));
  const action = z.enum(actions as [string, ...string[]]);
  const list = z
    .array(action)
    .min(1)
    .max(actions.length)
    .refine(isEachOnce, { ...EVEN_IF_INVALID, error: 'must not repeat an action' });
  return z
    .strictObject({
      subject: z.literal(subject),
      action: z.union([
        subject === 'secrets'
          ? list.refine(isUnmixed, {
              ...EVEN_IF_INVALID,
              error: 'must not combine read with describeSecret or readValue: read means both',
              params: { code: 'READ_MIXED' },
            })
          : list,
        action,
      ]),
      inverted: z.boolean().nullish(),
      conditions: conditionsOf(words.fields[subject]),
    })
    .refine(areAsked, {
      path: ['conditions'],
      error: `must be absent unless every action of the rule is ${conditional.join(' or ')}`,
    });
}

type PermissionOfSubject = ReturnType<typeof permissionOf>;

const isShortEnough = (rules: unknown): boolean => Buffer.byteLength(JSON.stringify(rules)) <= MAX_BYTES;

const permissionsOf = (words: Vocabulary) =>
  z
    .array(
      z.discriminatedUnion(
        'subject',
        Object.keys(words.actions).map((subject) => permissionOf(subject, words)) as unknown as [PermissionOfSubject],
      ),
    )
    .max(MAX_RULES)
    .refine(isShortEnough, {
      ...EVEN_IF_INVALID,
      error: `must be at most ${MAX_BYTES} bytes`,
      params: { code: 'TOO_BIG' },
    });

/**
 * The rules of a role of a project as callers write them: known subjects and actions, and conditions on fields of the
 * subject. An action may be a single string. Up to 100 rules and 32 KiB.
 */
export const Permissions = permissionsOf(PROJECT_VOCABULARY);

/** As `Permissions`, for a role of an organization. */
export const OrganizationPermissions = permissionsOf(ORGANIZATION_VOCABULARY);

/** Permissions that `Permissions` accepts. */
export type PermissionsInput = z.output<typeof Permissions>;

/** The rules as stored: actions in a list, and no empty fields. */
export const toRules = (permissions: PermissionsInput): Rule[] =>
  permissions.map(({ subject, action, inverted, conditions }) => ({
    subject,
    action: [action].flat(),
    ...(inverted === true ? { inverted } : {}),
    ...(conditions == null || Object.keys(conditions).length === 0 ? {} : { conditions: conditions as Conditions }),
  }));
