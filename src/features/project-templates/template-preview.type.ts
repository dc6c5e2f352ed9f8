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
  description: 'Whom a project template names.',
  valuesConfig: {
    USER: { description: 'A person.' },
    GROUP: { description: 'A group.' },
    IDENTITY: { description: 'A machine identity of the organization.' },
    PROJECT_IDENTITY: { description: 'A machine identity that is made for the project.' },
  },
});

const SkipReasonEnum = { GONE: 'gone', ENDED: 'ended' } as const;
registerEnumType(SkipReasonEnum, {
  name: 'ProjectTemplateSkipReason',
  description: 'Why a member of a project template is left out of new projects.',
  valuesConfig: {
    GONE: { description: 'It has left the organization, or was deleted.' },
    ENDED: { description: 'Its membership of the organization has ended.' },
  },
});

@ObjectType('ProjectTemplatePreviewMember', {
  description: 'Who would be a member of a new project.',
  simpleResolvers: true,
})
class PreviewMemberType {
  @Field(() => MemberKindEnum, { description: 'What it is.' })
  memberKind!: PreviewedMember['memberKind'];

  @Field(() => String, {
    nullable: true,
    description: 'Username, slug of the group, or name of the machine identity; null where you may not read these.',
  })
  name!: string | null;

  @Field(() => Boolean, { description: 'It is you: whoever makes a project is an admin of it.' })
  isCaller!: boolean;

  @Field(() => [String], { description: 'Slugs of its roles in the project.' })
  roles!: readonly string[];
}

@ObjectType('ProjectTemplateSkippedMember', {
  description: 'Whom the template names, and who would be left out of a new project.',
  simpleResolvers: true,
})
class SkippedMemberType {
  @Field(() => MemberKindEnum, { description: 'What it is, or was.' })
  memberKind!: PreviewedSkip['memberKind'];

  @Field(() => ID, { nullable: true, description: 'Its id; null where you may not read such members.' })
  memberId!: string | null;

  @Field(() => [String], { description: 'Slugs of the roles that it would have.' })
  roles!: readonly string[];

  @Field(() => SkipReasonEnum, { description: 'Why it would be left out.' })
  reason!: PreviewedSkip['reason'];
}

@ObjectType('ProjectTemplatePreview', {
  description: 'What a project would get that you make from a template now.',
  simpleResolvers: true,
})
export class PreviewType {
  @Field(() => TemplateType, { description: 'The template.' })
  projectTemplate!: TemplateType;

  @Field(() => [TemplateEnvironmentType], {
    description: 'Its environments, by position. Where the template leaves them open: the default ones.',
  })
  environments!: readonly TemplateEnvironmentType[];

  @Field(() => [TemplateRoleType], { description: 'Its roles: the built-in ones, then those of the template.' })
  roles!: readonly TemplateRoleType[];

  @Field(() => [PreviewMemberType], { description: 'Its members: you first.' })
  members!: readonly PreviewMemberType[];

  @Field(() => [SkippedMemberType], { description: 'Who would be left out.' })
  skipped!: readonly SkippedMemberType[];
}

/** A preview as the API shows it. */
export const toPreviewType = ({ template, ...preview }: TemplatePreview): PreviewType => ({
  ...preview,
  projectTemplate: toTemplateType(template),
  roles: toRoles(template.roles),
});
