import { Int, registerEnumType } from 'type-graphql';
import { enumOfRule } from '../../../kernel/graphql/inputs.js';
import { objectType, orNull } from '../../../kernel/graphql/object-types.js';
import { ProjectType, toProjectType } from '../../projects/public.js';
import { copyPart } from './project-copy.rules.js';
import type { ProjectCopy } from './project-copy.service.js';

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
  description: 'Part of a project that can be copied.',
  valuesConfig: {
    SETTINGS: { description: 'Settings and description. The slug, the name and the encryption keys are new.' },
    ENVIRONMENTS: { description: 'Environments, in their order.' },
    FOLDERS: { description: 'Folders and imports.' },
    ROLES: { description: 'Custom roles.' },
    MEMBERS: {
      description:
        'Users, groups and machine identities with their roles, privileges and terms. You become an admin in any case.',
    },
    TAGS: { description: 'Tags of secrets.' },
    SECRET_KEYS: {
      description:
        'Shared secrets without values: keys, comments, metadata, reminders to members of the copy, and with `TAGS` their tags.',
    },
    SECRET_VALUES: {
      description:
        'Shared secrets with values. References and imports in the copy use the copied secrets. Histories and personal values are not copied.',
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
  description: 'Why something is left out of the copy of a project.',
  valuesConfig: {
    NOT_READABLE: {
      description:
        'You cannot read this part or some of it, and what you cannot read is left out. All members are left out unless ' +
        'you can read all members, groups, roles and tags.',
    },
    VALUE_NOT_READABLE: { description: 'You cannot read the values. The copies of the secrets have empty values.' },
    FOLDER_LEFT_OUT: { description: 'Imports from or into a folder that is not copied.' },
    OWNED_BY_PROJECT: { description: 'Machine identities that belong to the copied project.' },
    MEMBERSHIP_ENDED: {
      description: 'Members whose roles and privileges, or whose membership of the organization, have ended.',
    },
  },
});

const SkipType = objectType('ProjectCopySkip', 'Something that is left out of the copy of a project.', {
  part: [PartEnum, 'Part that it belongs to.'],
  reason: [SkipReasonEnum, 'Why it is left out.'],
  count: [orNull(Int), 'Number of items; null for what you cannot read, which may be nothing at all.'],
});

const CountsType = objectType('ProjectCopyCounts', 'Sizes of the parts of a copy.', {
  environments: [Int, 'Number of environments.'],
  folders: [Int, 'Number of folders, without root folders.'],
  imports: [Int, 'Number of imports.'],
  roles: [Int, 'Number of roles.'],
  members: [Int, 'Number of members besides you.'],
  privileges: [Int, 'Number of additional privileges of members.'],
  tags: [Int, 'Number of tags.'],
  secrets: [Int, 'Number of secrets.'],
  values: [Int, 'Number of secrets that are copied with their values.'],
});

export const CopyPayload = objectType(
  'CopyProjectPayload',
  'Result of `copyProject`: the new project, and what was copied and left out.',
  {
    project: [orNull(ProjectType), 'The new project; null for a preview.'],
    counts: [CountsType, 'Sizes of the parts that were copied, or would be.'],
    skipped: [[SkipType], 'Items of the selected parts that are left out.'],
  },
);
export type CopyPayload = InstanceType<typeof CopyPayload>;

/** Converts a copy to its API type. */
export const toCopyPayload = ({ project, ...outcome }: ProjectCopy): CopyPayload => ({
  project: project && toProjectType(project),
  ...outcome,
});
