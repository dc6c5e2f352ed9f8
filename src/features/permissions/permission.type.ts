import { Field, InputType, ObjectType } from 'type-graphql';
import { enumType } from '../../kernel/graphql/enums.js';
import type { ORGANIZATION_ACTIONS, PROJECT_ACTIONS } from './actions.js';
import { ConditionsType } from './condition.type.js';

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
  member: 'Memberships of people.',
  identity: 'Memberships of machine identities, and identities that the project owns.',
  groups: 'Memberships of groups.',
  role: 'Roles of the project.',
  'secret-folders': 'Folders.',
  'secret-imports': 'Imports of folders.',
  secrets: 'Secrets.',
  'secret-rollback': 'Earlier states of folders.',
  commits: 'Changes of folders.',
  'secret-rotation': 'Rotations of credentials.',
  'app-connections': 'Connections of the project to outside systems.',
  'secret-approval': 'Approval of changes.',
  'secret-syncs': 'Copies of secrets in outside systems.',
  'dynamic-secrets': 'Credentials that are made for each use.',
  'service-tokens': 'Service tokens.',
  integrations: 'Integrations.',
  webhooks: 'Webhooks.',
  'ip-allowlist': 'Addresses from which the project may be used.',
  'audit-logs': 'The audit trail of the project.',
  'certificate-authorities': 'Certificate authorities.',
  certificates: 'Certificates.',
  'certificate-profiles': 'What certificates may be issued, and how.',
  'pki-alerts': 'Alerts about certificates.',
};

const ORGANIZATION_SUBJECTS: Readonly<Record<OrganizationPermissionSubject, string>> = {
  organization: 'The organization itself.',
  'sub-organization': 'Sub-organizations.',
  settings: 'Settings of the organization.',
  workspace: 'Projects.',
  project: 'Creation of projects; the same as `workspace` with `create`.',
  'project-templates': 'Templates of projects.',
  role: 'Roles of the organization.',
  member: 'Users and memberships of people.',
  identity: 'Machine identities.',
  groups: 'Groups.',
  'app-connections': 'Connections of the organization to outside systems.',
  kms: 'Keys that secrets are encrypted with.',
  'audit-logs': 'The audit trail of the organization.',
  jobs: 'Background work for the organization.',
};

const ACTIONS: Readonly<Record<PermissionAction, string>> = {
  read: 'To read. Of secrets: to know of them and to read their values.',
  create: 'To make.',
  edit: 'To change.',
  delete: 'To delete.',
  'grant-privileges': 'To give roles and privileges: `assign-role` and `assign-additional-privileges` together.',
  'assign-role': 'To give a role, and to take it away.',
  'assign-additional-privileges': 'To give rules to a single member.',
  'assume-privileges': 'To act with the rights of another.',
  'revoke-auth': 'To take away a way to log in.',
  'create-token': 'To make access tokens.',
  'get-token': 'To read about access tokens.',
  'delete-token': 'To revoke access tokens.',
  'perform-rollback': 'To bring back an earlier state.',
  'read-generated-credentials': 'To read what was generated.',
  'rotate-secrets': 'To rotate now.',
  'read-app-connections': 'To read connections.',
  'create-app-connections': 'To make connections.',
  'edit-app-connections': 'To change connections.',
  'delete-app-connections': 'To delete connections.',
  'connect-app-connections': 'To use connections.',
  'sync-secrets': 'To copy secrets to an outside system.',
  'import-secrets': 'To copy secrets from an outside system.',
  'remove-secrets': 'To delete copies in an outside system.',
  'read-root-credential': 'To read how credentials are made.',
  'create-root-credential': 'To set up how credentials are made.',
  'edit-root-credential': 'To change how credentials are made.',
  'delete-root-credential': 'To end the making of credentials.',
  lease: 'To have a credential made.',
  'read-private-key': 'To read a private key.',
  'issue-cert': 'To have a certificate issued.',
  rescue:
    'To become an admin, for a time, of a project that has none any more, and to give rights in project templates.',
  'add-members': 'To add people to a group.',
  'remove-members': 'To take people out of a group.',
  'add-identities': 'To add machine identities to a group.',
  'remove-identities': 'To take machine identities out of a group.',
  connect: 'To use connections.',
  describeSecret: 'To know of a secret, not of its value.',
  readValue: 'To read the value of a secret.',
};

/** GraphQL's names of what a rule can be about. */
export const PermissionSubjectEnum = enumType('PermissionSubject', 'What a rule of a role is about.', SUBJECTS);

/** As `PermissionSubjectEnum`, of rules of an organization. */
export const OrganizationPermissionSubjectEnum = enumType(
  'OrganizationPermissionSubject',
  'What a rule of a role of an organization is about.',
  ORGANIZATION_SUBJECTS,
);

/** GraphQL's names of what a rule can allow or forbid. */
export const PermissionActionEnum = enumType(
  'PermissionAction',
  'What a rule of a role allows or forbids. Each subject has some of these.',
  ACTIONS,
);

const CONDITIONS = 'Which resources it holds for; null: all of them.';

/** One permission: one action on one subject. */
@ObjectType('Permission', { description: 'Allows, or forbids, one action on one subject.', simpleResolvers: true })
export class PermissionType {
  @Field(() => PermissionSubjectEnum, { description: 'What it is about.' })
  subject!: string;

  @Field(() => PermissionActionEnum, { description: 'What may be done.' })
  action!: string;

  @Field(() => Boolean, { description: 'True: it forbids instead. Later permissions win over earlier ones.' })
  inverted!: boolean;

  @Field(() => ConditionsType, { nullable: true, description: CONDITIONS })
  conditions!: ConditionsType | null;
}

/** A permission with all its actions. */
@ObjectType('PermissionRule', {
  description: 'Allows, or forbids, some actions on one subject.',
  simpleResolvers: true,
})
export class PermissionRuleType {
  @Field(() => PermissionSubjectEnum, { description: 'What it is about.' })
  subject!: string;

  @Field(() => [PermissionActionEnum], { description: 'What may be done.' })
  action!: string[];

  @Field(() => Boolean, { description: 'True: it forbids instead. Later rules win over earlier ones.' })
  inverted!: boolean;

  @Field(() => ConditionsType, { nullable: true, description: CONDITIONS })
  conditions!: ConditionsType | null;
}

@InputType({ description: 'A rule of a role. Later rules win over earlier ones.' })
export class PermissionInput {
  @Field(() => PermissionSubjectEnum, { description: 'What it is about.' })
  subject!: string;

  @Field(() => [PermissionActionEnum], { description: 'What may be done: one action or several of the subject.' })
  action!: string[];

  @Field(() => Boolean, { nullable: true, description: 'True: it forbids instead.' })
  inverted?: boolean | null;

  @Field(() => ConditionsType, {
    nullable: true,
    description: 'Which resources it holds for. All of them when absent.',
  })
  conditions?: ConditionsType | null;
}

/** Of an organization. */
@ObjectType('OrganizationPermission', {
  description: 'Allows, or forbids, some actions on one subject in an organization.',
  simpleResolvers: true,
})
export class OrganizationPermissionType {
  @Field(() => OrganizationPermissionSubjectEnum, { description: 'What it is about.' })
  subject!: string;

  @Field(() => [PermissionActionEnum], { description: 'What may be done.' })
  action!: string[];

  @Field(() => Boolean, { description: 'True: it forbids instead. Later permissions win over earlier ones.' })
  inverted!: boolean;

  @Field(() => ConditionsType, { nullable: true, description: CONDITIONS })
  conditions!: ConditionsType | null;
}

@InputType({ description: 'A rule of a role of an organization. Later rules win over earlier ones.' })
export class OrganizationPermissionInput {
  @Field(() => OrganizationPermissionSubjectEnum, { description: 'What it is about.' })
  subject!: string;

  @Field(() => [PermissionActionEnum], { description: 'What may be done: one action or several of the subject.' })
  action!: string[];

  @Field(() => Boolean, { nullable: true, description: 'True: it forbids instead.' })
  inverted?: boolean | null;

  @Field(() => ConditionsType, {
    nullable: true,
    description:
      'Which resources it holds for. All of them when absent. Of `MEMBER` and `IDENTITY` with `ASSIGN_ROLE` alone.',
  })
  conditions?: ConditionsType | null;
}
