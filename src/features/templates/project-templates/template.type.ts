import { ID, Int } from 'type-graphql';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { enumType } from '../../../kernel/graphql/enums.js';
import { enumOfRule, inputType } from '../../../kernel/graphql/inputs.js';
import { Node } from '../../../kernel/graphql/node.js';
import { type Fields, objectType, orNull } from '../../../kernel/graphql/object-types.js';
import { connectionOf } from '../../../kernel/graphql/page.js';
import {
  builtInProjectRoles,
  PermissionRuleType,
  PermissionType,
  toRuleForms,
} from '../../identity/permissions/public.js';
import { ProjectKindEnum } from '../../projects/public.js';
import type { VersionRow } from './template.queries.js';
import {
  EnvironmentInput,
  GroupInput,
  IdentityInput,
  newTemplateKind,
  OwnIdentityInput,
  RoleInput,
  type TemplateRole,
  templateKind,
  UserInput,
} from './template.rules.js';
import { shownLists, type TemplateView } from './template.view.js';
import type { TemplatePreview } from './template-preview.js';

enumOfRule(templateKind, ProjectKindEnum);
enumOfRule(newTemplateKind, ProjectKindEnum);
inputType('ProjectTemplateRoleInput', RoleInput);
inputType('ProjectTemplateEnvironmentInput', EnvironmentInput);
inputType('ProjectTemplateUserInput', UserInput);
inputType('ProjectTemplateGroupInput', GroupInput);
inputType('ProjectTemplateIdentityInput', IdentityInput);
inputType('ProjectTemplateManagedIdentityInput', OwnIdentityInput);

const TemplateRoleType = objectType('ProjectTemplateRole', 'A role of projects created from a template.', {
  name: [String, 'Name of the role.'],
  slug: [String, 'Slug of the role, used in the member lists of the template.'],
  isBuiltIn: [Boolean, 'Whether the role is built in. Built-in roles cannot be changed.'],
  permissions: [[PermissionType], 'Permissions of the role, with one action each.'],
  rules: [[PermissionRuleType], 'Permission rules of the role as they were given, with one or more actions each.'],
});
type TemplateRoleType = InstanceType<typeof TemplateRoleType>;

const TemplateEnvironmentType = objectType(
  'ProjectTemplateEnvironment',
  'An environment of projects created from a template.',
  {
    name: [String, 'Name of the environment.'],
    slug: [String, 'Slug of the environment, for example `prod`.'],
    position: [Int, 'Position of the environment, from 1.'],
  },
);

const ROLES = 'Slugs of its roles in the project.';

export const TemplateUserType = objectType(
  'ProjectTemplateUser',
  'A user who becomes a member of projects created from a template.',
  {
    userId: [ID, 'ID of the user.'],
    username: [String, 'Current username.'],
    roles: [[String], ROLES],
  },
);
export type TemplateUserType = InstanceType<typeof TemplateUserType>;

export const TemplateGroupType = objectType(
  'ProjectTemplateGroup',
  'A group that becomes a member of projects created from a template.',
  {
    groupId: [ID, 'ID of the group.'],
    groupSlug: [String, 'Current slug of the group, for example `platform-team`.'],
    roles: [[String], ROLES],
  },
);
export type TemplateGroupType = InstanceType<typeof TemplateGroupType>;

export const TemplateIdentityType = objectType(
  'ProjectTemplateIdentity',
  'A machine identity of the organization that becomes a member of projects created from a template.',
  {
    identityId: [ID, 'ID of the machine identity.'],
    identityName: [String, 'Current name of the machine identity.'],
    roles: [[String], ROLES],
  },
);
export type TemplateIdentityType = InstanceType<typeof TemplateIdentityType>;

const TemplateOwnIdentityType = objectType(
  'ProjectTemplateManagedIdentity',
  'A machine identity that is created in each project created from a template.',
  {
    name: [String, 'Name of the machine identity.'],
    roles: [[String], ROLES],
  },
);

/** The common content of templates and their versions. */
const templateContent = {
  name: [String, 'Name of the template, unique in the organization. Projects refer to the template by it.'],
  description: [String, 'Description of the template.'],
  roles: [[TemplateRoleType], 'Roles of the projects: built-in roles first, then custom ones.'],
  environments: [
    orNull([TemplateEnvironmentType]),
    'Environments of the projects, by position. Null leaves them to whoever creates a project.',
  ],
  users: [
    orNull([TemplateUserType]),
    'Users who become members of the projects. Users who left the organization are not listed. Null for a built-in template.',
  ],
  groups: [
    orNull([TemplateGroupType]),
    'Groups that become members of the projects. Deleted groups are not listed. Null for a built-in template.',
  ],
  identities: [
    orNull([TemplateIdentityType]),
    'Machine identities that become members of the projects. Deleted identities are not listed. Null for a built-in template.',
  ],
  projectManagedIdentities: [
    orNull([TemplateOwnIdentityType]),
    'Machine identities that are created in each project. Null if there are none.',
  ],
} as const satisfies Fields;

/** A template as the API shows it. */
export const TemplateType = objectType(
  'ProjectTemplate',
  'A template that projects are created from. It defines their environments, roles and members.',
  {
    ...templateContent,
    organizationId: [ID, 'ID of the organization.'],
    type: [ProjectKindEnum, 'Type of the projects.'],
    isBuiltIn: [Boolean, 'Whether it is a built-in template, named `default`, which cannot be changed.'],
    version: [Int, 'Version of the template. Increments with every change; always 1 for a built-in template.'],
    createdAt: [DateTime, 'When the template was created. For a built-in template, when the organization was created.'],
    updatedAt: [DateTime, 'When the template was last changed.'],
  },
  { implements: Node },
);
export type TemplateType = InstanceType<typeof TemplateType>;

export const TemplateConnection = connectionOf(
  TemplateType,
  'ProjectTemplate',
  'built-in templates by type, then the others by name',
);

/** A version as the API shows it. */
export const TemplateVersionType = objectType(
  'ProjectTemplateVersion',
  'A version of a project template: its content after one change.',
  {
    ...templateContent,
    projectTemplateId: [ID, 'ID of the project template.'],
    version: [Int, 'Version number, from 1.'],
    userId: [orNull(ID), 'ID of the user who created the version. Null for a machine identity.'],
    identityId: [orNull(ID), 'ID of the machine identity that created the version. Null for a user.'],
    createdAt: [DateTime, 'When the version was created.'],
  },
  { implements: Node },
);
export type TemplateVersionType = InstanceType<typeof TemplateVersionType>;

export const TemplateVersionConnection = connectionOf(
  TemplateVersionType,
  'ProjectTemplateVersion',
  'version number, newest first',
);

/** Built-in roles, then those of a template. Built-in roles list each action separately, in the form that requests accept. */
function toRoles(own: readonly TemplateRole[]): TemplateRoleType[] {
  const builtIn = builtInProjectRoles().map(({ name, slug, rules }) => {
    const { permissions } = toRuleForms(rules);
    return {
      name,
      slug,
      isBuiltIn: true,
      permissions,
      rules: permissions.map((one) => ({ ...one, action: [one.action] })),
    };
  });
  return [...builtIn, ...own.map(({ name, slug, rules }) => ({ name, slug, isBuiltIn: false, ...toRuleForms(rules) }))];
}

/** Converts a template to its GraphQL type. */
export const toTemplateType = (template: TemplateView): TemplateType => ({
  ...template,
  roles: toRoles(template.roles),
});

/** Converts a version to its GraphQL type. */
export const toVersionType = ({ templateId, actorKind, actorId, ...row }: VersionRow): TemplateVersionType => ({
  ...row,
  ...shownLists(row),
  roles: toRoles(row.roles),
  projectTemplateId: templateId,
  userId: actorKind === 'user' ? actorId : null,
  identityId: actorKind === 'identity' ? actorId : null,
});

export const MemberKindEnum = enumType('ProjectTemplateMemberKind', 'Kinds of members of a project template.', {
  user: 'A user.',
  group: 'A group.',
  identity: 'A machine identity of the organization.',
  'project-identity': 'A machine identity owned by the project.',
});

const SkipReasonEnum = enumType('ProjectTemplateSkipReason', 'Why new projects skip a member of their template.', {
  gone: 'It was removed from the organization, or deleted.',
  ended: 'Its membership of the organization has expired.',
});

const PreviewMemberType = objectType('ProjectTemplatePreviewMember', 'A member that a new project would have.', {
  memberKind: [MemberKindEnum, 'Kind of the member.'],
  name: [orNull(String), 'Username, slug of the group, or name of the machine identity. Null if you cannot read it.'],
  isCaller: [Boolean, 'Whether this is you. The creator of a project becomes its admin.'],
  roles: [[String], 'Slugs of its roles in the project.'],
});

const SkippedMemberType = objectType(
  'ProjectTemplateSkippedMember',
  'A member of the template that a new project would skip.',
  {
    memberKind: [MemberKindEnum, 'Kind of the member.'],
    memberId: [orNull(ID), 'ID of the user, group or machine identity. Null if you cannot read such members.'],
    roles: [[String], 'Slugs of the roles that it would have.'],
    reason: [SkipReasonEnum, 'Why it would be skipped.'],
  },
);

export const PreviewType = objectType(
  'ProjectTemplatePreview',
  'Preview of a project that you would create from a template now.',
  {
    projectTemplate: [TemplateType, 'The project template.'],
    environments: [
      [TemplateEnvironmentType],
      'Environments of the project, by position. If the template leaves them open, the default ones.',
    ],
    roles: [[TemplateRoleType], 'Roles of the project: the built-in ones, then those of the template.'],
    members: [[PreviewMemberType], 'Members of the project, you first.'],
    skipped: [[SkippedMemberType], 'Members of the template that would be skipped.'],
  },
);
export type PreviewType = InstanceType<typeof PreviewType>;

/** Converts a preview to its GraphQL type. */
export const toPreviewType = ({ template, ...preview }: TemplatePreview): PreviewType => ({
  ...preview,
  projectTemplate: toTemplateType(template),
  roles: toRoles(template.roles),
});
