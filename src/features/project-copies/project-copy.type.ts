import { Field, Int, ObjectType, registerEnumType } from 'type-graphql';
import { enumOfRule } from '../../kernel/graphql/inputs.js';
import { ProjectType, toProjectType } from '../projects/public.js';
import type { Skip } from './copy-plan.js';
import { copyPart } from './project-copy.rules.js';
import type { CopyCounts, ProjectCopy } from './project-copy.service.js';

const PartEnum = {
  SETTINGS: 'settings',
  ENVIRONMENTS: 'environments',
  FOLDERS: 'folders',
  ROLES: 'roles',
  MEMBERS: 'members',
  TAGS: 'tags',
  SECRET_KEYS: 'secret-keys',
  SECRET_VALUES: 'secret-values',
} as const;
registerEnumType(PartEnum, {
  name: 'ProjectCopyPart',
  description: 'What of a project can be copied.',
  valuesConfig: {
    SETTINGS: { description: 'Settings and description. Slug, name and keys for encryption are new.' },
    ENVIRONMENTS: { description: 'Environments in their order.' },
    FOLDERS: { description: 'Folders and imports.' },
    ROLES: { description: 'Roles that are not built in.' },
    MEMBERS: {
      description:
        'Users, groups and machine identities with roles, privileges and terms. You are an admin in any case.',
    },
    TAGS: { description: 'Tags.' },
    SECRET_KEYS: {
      description:
        'Shared secrets without values: keys, comments, metadata, reminders to members of the copy, and with `TAGS` their tags.',
    },
    SECRET_VALUES: {
      description:
        'The same with values. References and imports lead to the copies. Histories and personal values stay.',
    },
  },
});
enumOfRule(copyPart, PartEnum);

const SkipReasonEnum = {
  NOT_READABLE: 'not-readable',
  VALUE_NOT_READABLE: 'value-not-readable',
  FOLDER_LEFT_OUT: 'folder-left-out',
  OWNED_BY_PROJECT: 'owned-by-project',
  MEMBERSHIP_ENDED: 'membership-ended',
} as const;
registerEnumType(SkipReasonEnum, {
  name: 'ProjectCopySkipReason',
  description: 'Why something is not in the copy of a project.',
  valuesConfig: {
    NOT_READABLE: {
      description:
        'You may not read this part, or not all of it: what you may not read is left out. Of members all are, if you may not read all members, groups, roles and tags.',
    },
    VALUE_NOT_READABLE: { description: 'You may not read the values: the copies of the secrets have empty ones.' },
    FOLDER_LEFT_OUT: { description: 'Imports one of whose folders is not copied.' },
    OWNED_BY_PROJECT: { description: 'Machine identities that the copied project owns.' },
    MEMBERSHIP_ENDED: {
      description: 'Members whose roles and privileges, or whose membership of the organization, have ended.',
    },
  },
});

@ObjectType('ProjectCopySkip', { description: 'What is left out of the copy of a project.', simpleResolvers: true })
class SkipType {
  @Field(() => PartEnum, { description: 'The part that it belongs to.' })
  part!: Skip['part'];

  @Field(() => SkipReasonEnum, { description: 'Why it is left out.' })
  reason!: Skip['reason'];

  @Field(() => Int, {
    nullable: true,
    description: 'How many; null for what you may not read, where there may be nothing at all.',
  })
  count!: number | null;
}

@ObjectType('ProjectCopyCounts', { description: 'How much a copy of a project has.', simpleResolvers: true })
class CountsType implements CopyCounts {
  @Field(() => Int, { description: 'Environments.' })
  environments!: number;

  @Field(() => Int, { description: 'Folders, without the root folders.' })
  folders!: number;

  @Field(() => Int, { description: 'Imports.' })
  imports!: number;

  @Field(() => Int, { description: 'Roles.' })
  roles!: number;

  @Field(() => Int, { description: 'Members beside you.' })
  members!: number;

  @Field(() => Int, { description: 'Additional privileges of members.' })
  privileges!: number;

  @Field(() => Int, { description: 'Tags.' })
  tags!: number;

  @Field(() => Int, { description: 'Secrets.' })
  secrets!: number;

  @Field(() => Int, { description: 'Secrets with their values.' })
  values!: number;
}

@ObjectType('CopyProjectPayload', {
  description: 'The copy of a project, and what of it is copied and what is not.',
  simpleResolvers: true,
})
export class CopyPayload {
  @Field(() => ProjectType, { nullable: true, description: 'The new project; null for a dry run.' })
  project!: ProjectType | null;

  @Field(() => CountsType, { description: 'How much of the project was copied, or would be.' })
  counts!: CountsType;

  @Field(() => [SkipType], { description: 'What of the chosen parts is left out.' })
  skipped!: readonly SkipType[];
}

/** A copy as the API shows it. */
export const toCopyPayload = ({ project, ...outcome }: ProjectCopy): CopyPayload => ({
  project: project && toProjectType(project),
  ...outcome,
});
