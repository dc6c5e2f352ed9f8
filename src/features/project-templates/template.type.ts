import { Field, ID, Int, ObjectType } from 'type-graphql';
import type { Rule } from '../../kernel/authz/ability.js';
import { DateTime } from '../../kernel/graphql/date-time.js';
import { enumOfRule, inputOfRule, inputType } from '../../kernel/graphql/inputs.js';
import { Node } from '../../kernel/graphql/node.js';
import { connectionOf, countedConnectionOf } from '../../kernel/graphql/page.js';
import {
  builtInProjectRoles,
  PermissionInput,
  PermissionRuleType,
  PermissionType,
  toShownRules,
} from '../permissions/public.js';
import { type ProjectKind, ProjectKindEnum } from '../projects/public.js';
import type { VersionRow } from './template.queries.js';
import {
  GivenEnvironment,
  GivenGroup,
  GivenIdentity,
  GivenOwnIdentity,
  GivenRole,
  GivenUser,
  newTemplateKind,
  permission,
  type TemplateRole,
  templateKind,
} from './template.rules.js';
import { shownLists, type TemplateView } from './template.view.js';

enumOfRule(templateKind, ProjectKindEnum);
enumOfRule(newTemplateKind, ProjectKindEnum);
inputOfRule(permission, PermissionInput);
inputType('ProjectTemplateRoleInput', GivenRole);
inputType('ProjectTemplateEnvironmentInput', GivenEnvironment);
inputType('ProjectTemplateUserInput', GivenUser);
inputType('ProjectTemplateGroupInput', GivenGroup);
inputType('ProjectTemplateIdentityInput', GivenIdentity);
inputType('ProjectTemplateManagedIdentityInput', GivenOwnIdentity);

@ObjectType('ProjectTemplateRole', { description: 'A role of projects made from a template.', simpleResolvers: true })
export class TemplateRoleType {
  @Field(() => String, { description: 'What people call it.' })
  name!: string;

  @Field(() => String, { description: 'What the lists of the template name it by.' })
  slug!: string;

  @Field(() => Boolean, { description: 'Every project has it; it cannot be changed.' })
  isBuiltIn!: boolean;

  @Field(() => [PermissionType], { description: 'What its holders may do, each action by itself.' })
  permissions!: PermissionType[];

  @Field(() => [PermissionRuleType], { description: 'The same as rules of several actions, as they were given.' })
  rules!: PermissionRuleType[];
}

@ObjectType('ProjectTemplateEnvironment', {
  description: 'An environment of projects made from a template.',
  simpleResolvers: true,
})
export class TemplateEnvironmentType {
  @Field(() => String, { description: 'What people call it.' })
  name!: string;

  @Field(() => String, { description: 'What programs name it by.' })
  slug!: string;

  @Field(() => Int, { description: 'Its place among them, from 1.' })
  position!: number;
}

const ROLES = 'Slugs of its roles in the project.';

@ObjectType('ProjectTemplateUser', {
  description: 'A user who joins projects made from a template.',
  simpleResolvers: true,
})
export class TemplateUserType {
  @Field(() => ID, { description: 'ID of the user.' })
  userId!: string;

  @Field(() => String, { description: 'Its username at present.' })
  username!: string;

  @Field(() => [String], { description: ROLES })
  roles!: readonly string[];
}

@ObjectType('ProjectTemplateGroup', {
  description: 'A group that joins projects made from a template.',
  simpleResolvers: true,
})
export class TemplateGroupType {
  @Field(() => ID, { description: 'ID of the group.' })
  groupId!: string;

  @Field(() => String, { description: 'Its slug at present.' })
  groupSlug!: string;

  @Field(() => [String], { description: ROLES })
  roles!: readonly string[];
}

@ObjectType('ProjectTemplateIdentity', {
  description: 'A machine identity of the organization that joins projects made from a template.',
  simpleResolvers: true,
})
export class TemplateIdentityType {
  @Field(() => ID, { description: 'ID of the machine identity.' })
  identityId!: string;

  @Field(() => String, { description: 'Its name at present.' })
  identityName!: string;

  @Field(() => [String], { description: ROLES })
  roles!: readonly string[];
}

@ObjectType('ProjectTemplateManagedIdentity', {
  description: 'A machine identity that is made for each project made from a template.',
  simpleResolvers: true,
})
export class TemplateOwnIdentityType {
  @Field(() => String, { description: 'What people call it.' })
  name!: string;

  @Field(() => [String], { description: ROLES })
  roles!: readonly string[];
}

/** What a template and each of its versions say. */
@ObjectType({ simpleResolvers: true })
abstract class TemplateContentType extends Node {
  @Field(() => String, { description: 'What people and requests call it; unique in the organization.' })
  name!: string;

  @Field(() => String, { description: 'What it is for.' })
  description!: string;

  @Field(() => [TemplateRoleType], { description: 'Roles of the projects: the built-in ones, then its own.' })
  roles!: TemplateRoleType[];

  @Field(() => [TemplateEnvironmentType], {
    nullable: true,
    description: 'Environments of the projects, by position; null leaves them to whoever makes a project.',
  })
  environments!: readonly TemplateEnvironmentType[] | null;

  @Field(() => [TemplateUserType], {
    nullable: true,
    description: 'Users who join the projects and are still in the organization; null for a built-in template.',
  })
  users!: readonly TemplateUserType[] | null;

  @Field(() => [TemplateGroupType], {
    nullable: true,
    description: 'Groups that join the projects and are still there; null for a built-in template.',
  })
  groups!: readonly TemplateGroupType[] | null;

  @Field(() => [TemplateIdentityType], {
    nullable: true,
    description: 'Machine identities that join the projects and are still there; null for a built-in template.',
  })
  identities!: readonly TemplateIdentityType[] | null;

  @Field(() => [TemplateOwnIdentityType], {
    nullable: true,
    description: 'Machine identities that are made for each project; null for none.',
  })
  projectManagedIdentities!: readonly TemplateOwnIdentityType[] | null;
}

/** What the API shows of a template. Source: specification, Project template. */
@ObjectType('ProjectTemplate', {
  implements: Node,
  description: 'What projects are made from: their environments, roles and members.',
  simpleResolvers: true,
})
export class TemplateType extends TemplateContentType {
  @Field(() => ID, { description: 'ID of the organization.' })
  organizationId!: string;

  @Field(() => ProjectKindEnum, { description: 'What the projects are for.' })
  type!: ProjectKind;

  @Field(() => Boolean, { description: 'It is one of the templates `default`, which cannot be changed.' })
  isBuiltIn!: boolean;

  @Field(() => Int, { description: 'Rises with every change; that of a built-in template stays at 1.' })
  version!: number;

  @Field(() => DateTime, { description: 'When it was made; of a built-in template, when the organization was.' })
  createdAt!: Date;

  @Field(() => DateTime, { description: 'When it was last changed.' })
  updatedAt!: Date;
}

export const TemplateConnection = countedConnectionOf(
  TemplateType,
  'ProjectTemplate',
  'the built-in ones by type, then the others by name',
);

/** What the API shows of a version. */
@ObjectType('ProjectTemplateVersion', {
  implements: Node,
  description: 'A project template as one change left it.',
  simpleResolvers: true,
})
export class TemplateVersionType extends TemplateContentType {
  @Field(() => ID, { description: 'ID of the template.' })
  projectTemplateId!: string;

  @Field(() => Int, { description: 'Number of the version, from 1.' })
  version!: number;

  @Field(() => ID, { nullable: true, description: 'The user who changed it; null for a machine identity.' })
  userId!: string | null;

  @Field(() => ID, { nullable: true, description: 'The machine identity that changed it; null for a user.' })
  identityId!: string | null;

  @Field(() => DateTime, { description: 'When it was changed.' })
  createdAt!: Date;
}

export const TemplateVersionConnection = connectionOf(
  TemplateVersionType,
  'ProjectTemplateVersion',
  'version, newest first',
);

/** Rules as they were given, and each action by itself. */
function toPermissions(given: readonly Rule[]): Pick<TemplateRoleType, 'rules' | 'permissions'> {
  const rules = toShownRules(given);
  return {
    rules,
    permissions: rules.flatMap(({ action, ...rest }) => action.map((verb) => ({ ...rest, action: verb }))),
  };
}

/** The built-in roles, then those of a template. Of a built-in one each action stands by itself, as requests can repeat it. */
export function toRoles(own: readonly TemplateRole[]): TemplateRoleType[] {
  const builtIn = builtInProjectRoles().map(({ name, slug, rules }) => {
    const { permissions } = toPermissions(rules);
    return {
      name,
      slug,
      isBuiltIn: true,
      permissions,
      rules: permissions.map((one) => ({ ...one, action: [one.action] })),
    };
  });
  return [
    ...builtIn,
    ...own.map(({ name, slug, rules }) => ({ name, slug, isBuiltIn: false, ...toPermissions(rules) })),
  ];
}

/** A template as the API shows it. */
export const toTemplateType = (template: TemplateView): TemplateType => ({
  ...template,
  roles: toRoles(template.roles),
});

/** A version as the API shows it. */
export const toVersionType = ({ templateId, actorKind, actorId, ...row }: VersionRow): TemplateVersionType => ({
  ...row,
  ...shownLists(row),
  roles: toRoles(row.roles),
  projectTemplateId: templateId,
  userId: actorKind === 'user' ? actorId : null,
  identityId: actorKind === 'identity' ? actorId : null,
});
