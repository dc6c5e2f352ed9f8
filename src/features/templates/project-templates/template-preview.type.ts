import { ID } from 'type-graphql';
import { enumType } from '../../../kernel/graphql/enums.js';
import { objectType, orNull } from '../../../kernel/graphql/object-types.js';
import { TemplateEnvironmentType, TemplateRoleType, TemplateType, toRoles, toTemplateType } from './template.type.js';
import type { TemplatePreview } from './template-preview.js';

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
