import { Field, ID, Int, ObjectType } from 'type-graphql';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { enumOfRule, inputType } from '../../../kernel/graphql/inputs.js';
import { Node } from '../../../kernel/graphql/node.js';
import { connectionOf, countedConnectionOf } from '../../../kernel/graphql/page.js';
import {
  builtInProjectRoles,
  inBothForms,
  PermissionRuleType,
  PermissionType,
} from '../../identity/permissions/public.js';
import { type ProjectKind, ProjectKindEnum } from '../../projects/public.js';
import type { VersionRow } from './template.queries.js';
import {
  GivenEnvironment,
  GivenGroup,
  GivenIdentity,
  GivenOwnIdentity,
  GivenRole,
  GivenUser,
  newTemplateKind,
  type TemplateRole,
  templateKind,
} from './template.rules.js';
import { shownLists, type TemplateView } from './template.view.js';

enumOfRule(templateKind, ProjectKindEnum);
enumOfRule(newTemplateKind, ProjectKindEnum);
inputType('ProjectTemplateRoleInput', GivenRole);
inputType('ProjectTemplateEnvironmentInput', GivenEnvironment);
inputType('ProjectTemplateUserInput', GivenUser);
inputType('ProjectTemplateGroupInput', GivenGroup);
inputType('ProjectTemplateIdentityInput', GivenIdentity);
inputType('ProjectTemplateManagedIdentityInput', GivenOwnIdentity);

@ObjectType('ProjectTemplateRole', {
  description: 'A role of projects created from a template.',
  simpleResolvers: true,
})
export class TemplateRoleType {
  @Field(() => String, { description: 'Name of the role.' })
  name!: string;

  @Field(() => String, { description: 'Slug of the role, used in the member lists of the template.' })
  slug!: string;

  @Field(() => Boolean, { description: 'Whether the role is built in. Built-in roles cannot be changed.' })
  isBuiltIn!: boolean;

  @Field(() => [PermissionType], { description: 'Permissions of the role, with one action each.' })
  permissions!: PermissionType[];

  @Field(() => [PermissionRuleType], {
    description: 'Permission rules of the role as they were given, with one or more actions each.',
  })
  rules!: PermissionRuleType[];
}

@ObjectType('ProjectTemplateEnvironment', {
  description: 'An environment of projects created from a template.',
  simpleResolvers: true,
})
export class TemplateEnvironmentType {
  @Field(() => String, { description: 'Name of the environment.' })
  name!: string;

  @Field(() => String, { description: 'Slug of the environment, for example `prod`.' })
  slug!: string;

  @Field(() => Int, { description: 'Position of the environment, from 1.' })
  position!: number;
}

const ROLES = 'Slugs of its roles in the project.';

@ObjectType('ProjectTemplateUser', {
  description: 'A user who becomes a member of projects created from a template.',
  simpleResolvers: true,
})
export class TemplateUserType {
  @Field(() => ID, { description: 'ID of the user.' })
  userId!: string;

  @Field(() => String, { description: 'Current username.' })
  username!: string;

  @Field(() => [String], { description: ROLES })
  roles!: readonly string[];
}

@ObjectType('ProjectTemplateGroup', {
  description: 'A group that becomes a member of projects created from a template.',
  simpleResolvers: true,
})
export class TemplateGroupType {
  @Field(() => ID, { description: 'ID of the group.' })
  groupId!: string;

  @Field(() => String, { description: 'Current slug of the group, for example `platform-team`.' })
  groupSlug!: string;

  @Field(() => [String], { description: ROLES })
  roles!: readonly string[];
}

@ObjectType('ProjectTemplateIdentity', {
  description: 'A machine identity of the organization that becomes a member of projects created from a template.',
  simpleResolvers: true,
})
export class TemplateIdentityType {
  @Field(() => ID, { description: 'ID of the machine identity.' })
  identityId!: string;

  @Field(() => String, { description: 'Current name of the machine identity.' })
  identityName!: string;

  @Field(() => [String], { description: ROLES })
  roles!: readonly string[];
}

@ObjectType('ProjectTemplateManagedIdentity', {
  description: 'A machine identity that is created in each project created from a template.',
  simpleResolvers: true,
})
export class TemplateOwnIdentityType {
  @Field(() => String, { description: 'Name of the machine identity.' })
  name!: string;

  @Field(() => [String], { description: ROLES })
  roles!: readonly string[];
}

/** The common content of templates and their versions. */
@ObjectType({ simpleResolvers: true })
abstract class TemplateContentType extends Node {
  @Field(() => String, {
    description: 'Name of the template, unique in the organization. Projects refer to the template by it.',
  })
  name!: string;

  @Field(() => String, { description: 'Description of the template.' })
  description!: string;

  @Field(() => [TemplateRoleType], { description: 'Roles of the projects: built-in roles first, then custom ones.' })
  roles!: TemplateRoleType[];

  @Field(() => [TemplateEnvironmentType], {
    nullable: true,
    description: 'Environments of the projects, by position. Null leaves them to whoever creates a project.',
  })
  environments!: readonly TemplateEnvironmentType[] | null;

  @Field(() => [TemplateUserType], {
    nullable: true,
    description:
      'Users who become members of the projects. Users who left the organization are not listed. Null for a built-in template.',
  })
  users!: readonly TemplateUserType[] | null;

  @Field(() => [TemplateGroupType], {
    nullable: true,
    description:
      'Groups that become members of the projects. Deleted groups are not listed. Null for a built-in template.',
  })
  groups!: readonly TemplateGroupType[] | null;

  @Field(() => [TemplateIdentityType], {
    nullable: true,
    description:
      'Machine identities that become members of the projects. Deleted identities are not listed. Null for a built-in template.',
  })
  identities!: readonly TemplateIdentityType[] | null;

  @Field(() => [TemplateOwnIdentityType], {
    nullable: true,
    description: 'Machine identities that are created in each project. Null if there are none.',
  })
  projectManagedIdentities!: readonly TemplateOwnIdentityType[] | null;
}

/** A template as the API shows it. */
@ObjectType('ProjectTemplate', {
  implements: Node,
  description: 'A template that projects are created from. It defines their environments, roles and members.',
  simpleResolvers: true,
})
export class TemplateType extends TemplateContentType {
  @Field(() => ID, { description: 'ID of the organization.' })
  organizationId!: string;

  @Field(() => ProjectKindEnum, { description: 'Type of the projects.' })
  type!: ProjectKind;

  @Field(() => Boolean, { description: 'Whether it is a built-in template, named `default`, which cannot be changed.' })
  isBuiltIn!: boolean;

  @Field(() => Int, {
    description: 'Version of the template. Increments with every change; always 1 for a built-in template.',
  })
  version!: number;

  @Field(() => DateTime, {
    description: 'When the template was created. For a built-in template, when the organization was created.',
  })
  createdAt!: Date;

  @Field(() => DateTime, { description: 'When the template was last changed.' })
  updatedAt!: Date;
}

export const TemplateConnection = countedConnectionOf(
  TemplateType,
  'ProjectTemplate',
  'built-in templates by type, then the others by name',
);

/** A version as the API shows it. */
@ObjectType('ProjectTemplateVersion', {
  implements: Node,
  description: 'A version of a project template: its content after one change.',
  simpleResolvers: true,
})
export class TemplateVersionType extends TemplateContentType {
  @Field(() => ID, { description: 'ID of the project template.' })
  projectTemplateId!: string;

  @Field(() => Int, { description: 'Version number, from 1.' })
  version!: number;

  @Field(() => ID, {
    nullable: true,
    description: 'ID of the user who created the version. Null for a machine identity.',
  })
  userId!: string | null;

  @Field(() => ID, {
    nullable: true,
    description: 'ID of the machine identity that created the version. Null for a user.',
  })
  identityId!: string | null;

  @Field(() => DateTime, { description: 'When the version was created.' })
  createdAt!: Date;
}

export const TemplateVersionConnection = connectionOf(
  TemplateVersionType,
  'ProjectTemplateVersion',
  'version number, newest first',
);

/** Built-in roles, then those of a template. Built-in roles list each action separately, in the form that requests accept. */
export function toRoles(own: readonly TemplateRole[]): TemplateRoleType[] {
  const builtIn = builtInProjectRoles().map(({ name, slug, rules }) => {
    const { permissions } = inBothForms(rules);
    return {
      name,
      slug,
      isBuiltIn: true,
      permissions,
      rules: permissions.map((one) => ({ ...one, action: [one.action] })),
    };
  });
  return [...builtIn, ...own.map(({ name, slug, rules }) => ({ name, slug, isBuiltIn: false, ...inBothForms(rules) }))];
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
