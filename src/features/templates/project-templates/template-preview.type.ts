import { Field, ID, ObjectType, registerEnumType } from 'type-graphql';
import { TemplateEnvironmentType, TemplateRoleType, TemplateType, toRoles, toTemplateType } from './template.type.js';
import type { PreviewedMember, PreviewedSkip, TemplatePreview } from './template-preview.js';

export const MemberKindEnum = {
  USER: 'user',
  GROUP: 'group',
  IDENTITY: 'identity',
  PROJECT_IDENTITY: 'project-identity',
} as const;
registerEnumType(MemberKindEnum, {
  name: 'ProjectTemplateMemberKind',
  description: 'Kinds of members of a project template.',
  valuesConfig: {
    USER: { description: 'A user.' },
    GROUP: { description: 'A group.' },
    IDENTITY: { description: 'A machine identity of the organization.' },
    PROJECT_IDENTITY: { description: 'A machine identity owned by the project.' },
  },
});

const SkipReasonEnum = { GONE: 'gone', ENDED: 'ended' } as const;
registerEnumType(SkipReasonEnum, {
  name: 'ProjectTemplateSkipReason',
  description: 'Why new projects skip a member of their template.',
  valuesConfig: {
    GONE: { description: 'It was removed from the organization, or deleted.' },
    ENDED: { description: 'Its membership of the organization has expired.' },
  },
});

@ObjectType('ProjectTemplatePreviewMember', {
  description: 'A member that a new project would have.',
  simpleResolvers: true,
})
class PreviewMemberType {
  @Field(() => MemberKindEnum, { description: 'Kind of the member.' })
  memberKind!: PreviewedMember['memberKind'];

  @Field(() => String, {
    nullable: true,
    description: 'Username, slug of the group, or name of the machine identity. Null if you cannot read it.',
  })
  name!: string | null;

  @Field(() => Boolean, { description: 'Whether this is you. The creator of a project becomes its admin.' })
  isCaller!: boolean;

  @Field(() => [String], { description: 'Slugs of its roles in the project.' })
  roles!: readonly string[];
}

@ObjectType('ProjectTemplateSkippedMember', {
  description: 'A member of the template that a new project would skip.',
  simpleResolvers: true,
})
class SkippedMemberType {
  @Field(() => MemberKindEnum, { description: 'Kind of the member.' })
  memberKind!: PreviewedSkip['memberKind'];

  @Field(() => ID, {
    nullable: true,
    description: 'ID of the user, group or machine identity. Null if you cannot read such members.',
  })
  memberId!: string | null;

  @Field(() => [String], { description: 'Slugs of the roles that it would have.' })
  roles!: readonly string[];

  @Field(() => SkipReasonEnum, { description: 'Why it would be skipped.' })
  reason!: PreviewedSkip['reason'];
}

@ObjectType('ProjectTemplatePreview', {
  description: 'Preview of a project that you would create from a template now.',
  simpleResolvers: true,
})
export class PreviewType {
  @Field(() => TemplateType, { description: 'The project template.' })
  projectTemplate!: TemplateType;

  @Field(() => [TemplateEnvironmentType], {
    description: 'Environments of the project, by position. If the template leaves them open, the default ones.',
  })
  environments!: readonly TemplateEnvironmentType[];

  @Field(() => [TemplateRoleType], {
    description: 'Roles of the project: the built-in ones, then those of the template.',
  })
  roles!: readonly TemplateRoleType[];

  @Field(() => [PreviewMemberType], { description: 'Members of the project, you first.' })
  members!: readonly PreviewMemberType[];

  @Field(() => [SkippedMemberType], { description: 'Members of the template that would be skipped.' })
  skipped!: readonly SkippedMemberType[];
}

/** Converts a preview to its GraphQL type. */
export const toPreviewType = ({ template, ...preview }: TemplatePreview): PreviewType => ({
  ...preview,
  projectTemplate: toTemplateType(template),
  roles: toRoles(template.roles),
});
