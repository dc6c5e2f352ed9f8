import * as z from 'zod';
import type { Rule } from '../../../kernel/authz/ability.js';
import { canonicalJson } from '../../../kernel/canonical-json.js';
import { enumType } from '../../../kernel/graphql/enums.js';
import { enumOfRule, inputOfRule, inputType } from '../../../kernel/graphql/inputs.js';
import { objectType, orNull, typedAs } from '../../../kernel/graphql/object-types.js';
import type { ORGANIZATION_ACTIONS, PROJECT_ACTIONS } from './actions.js';
import { OrganizationPermissions, Permissions, type PermissionsInput, toRules } from './permission.rules.js';
import 'reflect-metadata';
import { Field, InputType, ObjectType } from 'type-graphql';
import type { ConditionOperators, Conditions } from '../../../kernel/authz/conditions.js';

const IS = 'Equal to this string. Cannot be combined with another operator.';
const EQ = { nullable: true, deprecationReason: 'Use `is`. REST writes this operator as `$eq`.' } as const;

/** A condition on a string field. In output the operators that are not set are null. */
@ObjectType('PermissionTextCondition', {
  description: 'Condition on a string. The string must match all given operators.',
  simpleResolvers: true,
})
@InputType('PermissionTextConditionInput', {
  description: 'Condition on a string. The string must match all given operators.',
})
class TextConditionType {
  @Field(() => String, { nullable: true, description: IS })
  is?: string | null;

  @Field(() => String, { ...EQ, description: 'Equal to this string.' })
  eq?: string | null;

  @Field(() => String, { nullable: true, description: 'Different from this string.' })
  ne?: string | null;

  @Field(() => [String], { nullable: true, description: 'One of these strings, 1 to 100.' })
  in?: readonly string[] | null;

  @Field(() => String, {
    nullable: true,
    description:
      'Matches this glob pattern, for example `/payments/**`, `DB_*` or `{staging,prod}`: `*` does not match slashes, `**` does.',
  })
  glob?: string | null;
}

/** As `TextConditionType`, without patterns. */
@ObjectType('PermissionWordCondition', {
  description: 'Condition on a keyword. The keyword must match all given operators.',
  simpleResolvers: true,
})
@InputType('PermissionWordConditionInput', {
  description: 'Condition on a keyword. The keyword must match all given operators.',
})
class WordConditionType {
  @Field(() => String, { nullable: true, description: IS })
  is?: string | null;

  @Field(() => String, { ...EQ, description: 'Equal to this keyword.' })
  eq?: string | null;

  @Field(() => String, { nullable: true, description: 'Different from this keyword.' })
  ne?: string | null;

  @Field(() => [String], { nullable: true, description: 'One of these keywords, 1 to 100.' })
  in?: readonly string[] | null;
}

/** A condition on a list field. */
@ObjectType('PermissionListCondition', {
  description: 'Condition on a list of keywords.',
  simpleResolvers: true,
})
@InputType('PermissionListConditionInput', { description: 'Condition on a list of keywords.' })
class ListConditionType {
  @Field(() => [String], { nullable: true, description: 'The list contains at least one of these keywords, 1 to 100.' })
  in?: readonly string[] | null;
}

const MATCHING_ALL = 'Resources that a rule applies to: those that match all given fields.';

/** Conditions of a rule, by field; null for fields without a condition. */
@ObjectType('PermissionConditions', { description: MATCHING_ALL, simpleResolvers: true })
@InputType('PermissionConditionsInput', {
  description: `${MATCHING_ALL} Few subjects support conditions, each on some of these fields. A string can name attributes of the caller: \`{{identity.id}}\`, \`{{identity.metadata.KEY}}\`, and what its session came with: \`{{identity.auth.oidc.claims.KEY}}\`, \`{{identity.auth.kubernetes.namespace}}\`, \`{{identity.auth.kubernetes.name}}\`. Where the caller lacks one, an allowing rule does not apply, and a denying one applies whatever its value.`,
})
class ConditionsType {
  @Field(() => TextConditionType, { nullable: true, description: 'Slug of the environment, for example `staging`.' })
  environment?: TextConditionType | null;

  @Field(() => TextConditionType, { nullable: true, description: 'Path of the folder, for example `/payments/eu`.' })
  secretPath?: TextConditionType | null;

  @Field(() => TextConditionType, { nullable: true, description: 'Key of the secret, for example `DB_PASSWORD`.' })
  secretName?: TextConditionType | null;

  @Field(() => ListConditionType, { nullable: true, description: 'Slugs of the tags of the secret.' })
  secretTags?: ListConditionType | null;

  @Field(() => WordConditionType, { nullable: true, description: 'Kind of the event, for events about secrets.' })
  eventType?: WordConditionType | null;

  @Field(() => TextConditionType, { nullable: true, description: 'Username of the person.' })
  username?: TextConditionType | null;

  @Field(() => TextConditionType, { nullable: true, description: 'ID of the machine identity.' })
  identityId?: TextConditionType | null;

  @Field(() => TextConditionType, { nullable: true, description: 'Slug of the group.' })
  groupSlug?: TextConditionType | null;

  @Field(() => TextConditionType, { nullable: true, description: 'Slug of the role that is assigned or revoked.' })
  role?: TextConditionType | null;

  @Field(() => WordConditionType, {
    nullable: true,
    description:
      'For a privilege that is assigned or revoked: the subject of each of its rules, for example `secrets`.',
  })
  subject?: WordConditionType | null;

  @Field(() => WordConditionType, {
    nullable: true,
    description:
      'For a privilege that is assigned or revoked: the actions of each of its rules, for example `readValue`.',
  })
  action?: WordConditionType | null;

  @Field(() => WordConditionType, { nullable: true, description: 'ID of the app connection.' })
  connectionId?: WordConditionType | null;

  @Field(() => TextConditionType, { nullable: true, description: 'Common name of the certificate.' })
  commonName?: TextConditionType | null;

  @Field(() => TextConditionType, { nullable: true, description: 'Slug of the certificate profile.' })
  slug?: TextConditionType | null;
}

/**
 * Conditions in the form of GraphQL. A plain string of a rule becomes `is`, so that the two forms can be converted into
 * each other.
 */
export const toConditionsType = (conditions: Conditions | null | undefined): ConditionsType | null =>
  conditions == null
    ? null
    : Object.fromEntries(
        Object.entries(conditions).map(([field, condition]) => [
          field,
          typeof condition === 'string' ? { is: condition } : withoutSigns(condition),
        ]),
      );

const withoutSigns = ({ $eq: eq, $ne: ne, $in: values, $glob: glob }: ConditionOperators): TextConditionType => ({
  ...(eq === undefined ? {} : { eq }),
  ...(ne === undefined ? {} : { ne }),
  ...(values === undefined ? {} : { in: values }),
  ...(glob === undefined ? {} : { glob }),
});

/**
 * Conditions in the form of rules and REST: a plain string, or `$eq`, `$ne`, `$in` and `$glob` by field. Not validated
 * here: an `is` with other operators is kept, and no rule accepts it.
 */
export const fromConditionsType = (
  conditions: ConditionsType | null | undefined,
): Record<string, string | Record<string, unknown>> | null =>
  conditions == null
    ? null
    : Object.fromEntries(
        Object.entries(conditions).flatMap(([field, condition]: [string, TextConditionType | null | undefined]) =>
          condition == null ? [] : [[field, withSigns(condition)]],
        ),
      );

function withSigns(condition: TextConditionType): string | Record<string, unknown> {
  const given = Object.entries(condition).filter(([, operand]) => operand != null);
  if (given.length === 1 && typeof condition.is === 'string') return condition.is;
  return Object.fromEntries(given.map(([name, operand]) => [name === 'is' ? name : `$${name}`, operand]));
}

type PermissionSubject = keyof typeof PROJECT_ACTIONS;
type OrganizationPermissionSubject = keyof typeof ORGANIZATION_ACTIONS;
type PermissionAction =
  | (typeof PROJECT_ACTIONS)[PermissionSubject][number]
  | (typeof ORGANIZATION_ACTIONS)[OrganizationPermissionSubject][number];

const SUBJECTS: Readonly<Record<PermissionSubject, string>> = {
  workspace: 'The project itself.',
  settings: 'Settings of the project.',
  environments: 'Environments.',
  tags: 'Tags.',
  member: 'Memberships of users.',
  identity: 'Memberships of machine identities, and identities that the project owns.',
  groups: 'Memberships of groups.',
  role: 'Roles of the project.',
  'secret-folders': 'Folders.',
  'secret-imports': 'Imports of folders.',
  secrets: 'Secrets.',
  'secret-rollback': 'Restoring earlier states of folders.',
  commits: 'History of folders.',
  'secret-rotation': 'Secret rotations.',
  'app-connections': 'App connections of the project.',
  'secret-approval': 'Approval of changes.',
  'secret-syncs': 'Synchronization of secrets to external systems.',
  'dynamic-secrets': 'Credentials that are generated on demand.',
  'service-tokens': 'Service tokens of the project.',
  integrations: 'Integrations.',
  webhooks: 'Webhooks.',
  'ip-allowlist': 'IP addresses from which the project can be used.',
  'audit-logs': 'The audit trail of the project.',
  'certificate-authorities': 'Certificate authorities of the project.',
  certificates: 'Certificates.',
  'certificate-profiles': 'Certificate profiles: rules for issuing certificates.',
  'pki-alerts': 'Alerts about certificates.',
};

const ORGANIZATION_SUBJECTS: Readonly<Record<OrganizationPermissionSubject, string>> = {
  organization: 'The organization itself.',
  'sub-organization': 'Sub-organizations.',
  settings: 'Settings of the organization.',
  workspace: 'Projects.',
  project: 'Creation of projects; the same as `workspace` with `create`.',
  'project-templates': 'Project templates.',
  role: 'Roles of the organization.',
  member: 'Users and their memberships.',
  identity: 'Machine identities of the organization.',
  groups: 'Groups.',
  'app-connections': 'App connections of the organization.',
  kms: 'Encryption keys of the organization.',
  'audit-logs': 'The audit trail of the organization.',
  jobs: 'Background jobs of the organization.',
};

const ACTIONS: Readonly<Record<PermissionAction, string>> = {
  read: 'Read the resource. For secrets: see them and read their values.',
  create: 'Create the resource.',
  edit: 'Change the resource.',
  delete: 'Delete the resource.',
  'grant-privileges':
    'Assign and revoke roles and privileges: `assign-role` and `assign-additional-privileges` together.',
  'assign-role': 'Assign and revoke a role.',
  'assign-additional-privileges': 'Assign and revoke additional privileges of a single member.',
  'assume-privileges': 'Act with the permissions of another member.',
  'revoke-auth': 'Remove an authentication method.',
  'create-token': 'Create access tokens.',
  'get-token': 'Read access tokens, without the tokens themselves.',
  'delete-token': 'Revoke access tokens.',
  'perform-rollback': 'Restore an earlier state.',
  'read-generated-credentials': 'Read generated credentials.',
  'rotate-secrets': 'Start a rotation manually.',
  'read-app-connections': 'Read connections.',
  'create-app-connections': 'Create connections.',
  'edit-app-connections': 'Change connections.',
  'delete-app-connections': 'Delete connections.',
  'connect-app-connections': 'Use connections.',
  'sync-secrets': 'Copy secrets to an external system.',
  'import-secrets': 'Copy secrets from an external system.',
  'remove-secrets': 'Delete copies in an external system.',
  'read-root-credential': 'Read the configuration of dynamic secrets.',
  'create-root-credential': 'Create the configuration of dynamic secrets.',
  'edit-root-credential': 'Change the configuration of dynamic secrets.',
  'delete-root-credential': 'Delete the configuration of dynamic secrets.',
  lease: 'Generate a credential.',
  'read-private-key': 'Read a private key.',
  'issue-cert': 'Issue certificates.',
  list: 'List all projects of the organization with their settings, including those that you have no access to.',
  rescue:
    'Become a temporary admin of a project without admins, and assign permissions in project templates and, with `assign-role`, in all projects.',
  'add-members': 'Add users to a group.',
  'remove-members': 'Remove users from a group.',
  'add-identities': 'Add machine identities to a group.',
  'remove-identities': 'Remove machine identities from a group.',
  connect: 'Use connections.',
  describeSecret: 'See a secret, without its value.',
  readValue: 'Read the value of a secret.',
};

/** GraphQL names of the subjects of rules. */
export const PermissionSubjectEnum = enumType(
  'PermissionSubject',
  'Subject of a permission rule of a project.',
  SUBJECTS,
);

/** As `PermissionSubjectEnum`, of rules of an organization. */
export const OrganizationPermissionSubjectEnum = enumType(
  'OrganizationPermissionSubject',
  'Subject of a permission rule of an organization.',
  ORGANIZATION_SUBJECTS,
);

/** GraphQL names of the actions of rules. */
export const PermissionActionEnum = enumType(
  'PermissionAction',
  'Action of a permission rule. Each subject supports some of these.',
  ACTIONS,
);

const MATCHING_OR_ALL = 'Resources that the rule applies to; null for all of them.';

/** One permission: one action on one subject. */
export const PermissionType = objectType(
  'Permission',
  'A permission of a project role: allows or forbids one action on a subject.',
  {
    subject: [typedAs<string>(PermissionSubjectEnum), 'Subject of the permission.'],
    action: [typedAs<string>(PermissionActionEnum), 'Action of the permission.'],
    inverted: [
      Boolean,
      'Whether the permission forbids the action instead of allowing it. Later permissions override earlier ones.',
    ],
    conditions: [orNull(ConditionsType), MATCHING_OR_ALL],
  },
);
export type PermissionType = InstanceType<typeof PermissionType>;

/** A permission with all its actions. */
const ruleTypeOf = (name: string, owner: string, subjects: Readonly<Record<string, string>>) =>
  objectType(name, `A permission rule of ${owner}: allows or forbids actions on a subject.`, {
    subject: [subjects, 'Subject of the rule.'],
    action: [typedAs<string[]>([PermissionActionEnum]), 'Actions of the rule.'],
    inverted: [
      Boolean,
      'Whether the rule forbids the actions instead of allowing them. Later rules override earlier ones.',
    ],
    conditions: [orNull(ConditionsType), MATCHING_OR_ALL],
  });

export const PermissionRuleType = ruleTypeOf('PermissionRule', 'a project', PermissionSubjectEnum);
export type PermissionRuleType = InstanceType<typeof PermissionRuleType>;
export const OrganizationPermissionType = ruleTypeOf(
  'OrganizationPermission',
  'an organization',
  OrganizationPermissionSubjectEnum,
);
export type OrganizationPermissionType = InstanceType<typeof OrganizationPermissionType>;

const KNOWN_ACTIONS: ReadonlySet<string> = new Set(Object.values(PermissionActionEnum));

/** Converts rules to their API type. Actions that this version does not know are left out. */
export const toShownRules = (rules: readonly Rule[]): PermissionRuleType[] =>
  rules.map(({ subject, action, inverted = false, conditions }) => ({
    subject,
    action: [action].flat().filter((verb) => KNOWN_ACTIONS.has(verb)),
    inverted,
    conditions: toConditionsType(conditions),
  }));

/** Rules as a text that is the same for the same rules: what roles are compared by. */
export const shownRulesText = (shown: readonly object[]): string => canonicalJson(shown);

/** The same of an input. */
export const permissionsText = (given: PermissionsInput): string => shownRulesText(toShownRules(toRules(given)));

interface BothForms {
  readonly rules: readonly PermissionRuleType[];
  readonly permissions: readonly PermissionType[];
}
/** A role is shown wherever a response leads to it: its rules are converted once. */
const converted = new WeakMap<readonly Rule[], BothForms>();

/** Rules in both forms of the API: with several actions each, and with one. */
export function toRuleForms(given: readonly Rule[]): BothForms {
  const known = converted.get(given);
  if (known !== undefined) return known;
  const rules = toShownRules(given);
  const permissions = rules.flatMap(({ action, ...rest }) => action.map((verb) => ({ ...rest, action: verb })));
  const forms = { rules, permissions };
  converted.set(given, forms);
  return forms;
}

const conditions = z.custom<ConditionsType>();
inputOfRule(conditions, ConditionsType);

/** Rules of an input for permissions: what they mean is checked by the rules of their subject. */
const inputRules = (owner: string, subjects: Readonly<Record<string, string>>, onlyFor = '') => {
  const subject = z.enum(Object.values(subjects));
  const action = z.enum(Object.values(PermissionActionEnum));
  enumOfRule(subject, subjects);
  enumOfRule(action, PermissionActionEnum);
  return z
    .strictObject({
      subject: subject.meta({ description: 'Subject of the rule.' }),
      action: z.array(action).meta({ description: 'One or several actions of the subject.' }),
      inverted: z
        .boolean()
        .nullish()
        .meta({ description: 'Whether the rule forbids the actions instead of allowing them.' }),
      conditions: conditions
        .nullish()
        .meta({ description: `Resources that the rule applies to. All of them when absent.${onlyFor}` }),
    })
    .meta({ description: `A permission rule of ${owner}. Later rules override earlier ones.` });
};

inputOfRule(Permissions.element, inputType('PermissionInput', inputRules('a project', PermissionSubjectEnum)));
inputOfRule(
  OrganizationPermissions.element,
  inputType(
    'OrganizationPermissionInput',
    inputRules(
      'an organization',
      OrganizationPermissionSubjectEnum,
      ' Supported only for `ASSIGN_ROLE` on `MEMBER` and `IDENTITY`.',
    ),
  ),
);

/** A GraphQL input with its permissions in the form of the rules of inputs. */
export function withPermissions(input: object): object {
  const { permissions, ...rest } = input as { readonly permissions?: readonly Conditional[] | null };
  if (permissions == null) return input;
  return {
    ...rest,
    permissions: permissions.map(({ conditions: given, ...rule }) => ({
      ...rule,
      ...(given === undefined ? {} : { conditions: fromConditionsType(given) }),
    })),
  };
}

interface Conditional {
  readonly conditions?: ConditionsType | null;
}
