import { Int, Resolver } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { enumType } from '../../../kernel/graphql/enums.js';
import { objectType, orNull } from '../../../kernel/graphql/object-types.js';
import { mutation } from '../../../kernel/graphql/operations.js';
import { ProjectType, toProjectType } from '../../projects/public.js';
import { CopyProject, copyPart } from './project-copy.rules.js';
import type { ProjectCopy, ProjectCopyService } from './project-copy.service.js';

const PartEnum = enumType(
  'ProjectCopyPart',
  'Part of a project that can be copied.',
  {
    settings: 'Settings and description. The slug, the name and the encryption keys are new.',
    environments: 'Environments, in their order.',
    folders: 'Folders and imports.',
    roles: 'Custom roles.',
    members:
      'Users, groups and machine identities with their roles, privileges and terms. You become an admin in any case.',
    tags: 'Tags of secrets.',
    'secret-keys':
      'Shared secrets without values: keys, comments, metadata, reminders to members of the copy, and with `TAGS` their tags.',
    'secret-values':
      'Shared secrets with values. References and imports in the copy use the copied secrets. Histories and personal values are not copied.',
  },
  copyPart,
);

const SkipReasonEnum = enumType('ProjectCopySkipReason', 'Why something is left out of the copy of a project.', {
  'not-readable':
    'You cannot read this part or some of it, and what you cannot read is left out. All members are left out unless ' +
    'you can read all members, groups, roles and tags.',
  'value-not-readable': 'You cannot read the values. The copies of the secrets have empty values.',
  'folder-left-out': 'Imports from or into a folder that is not copied.',
  'owned-by-project': 'Machine identities that belong to the copied project.',
  'membership-ended': 'Members whose roles and privileges, or whose membership of the organization, have ended.',
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

const CopyPayload = objectType(
  'CopyProjectPayload',
  'Result of `copyProject`: the new project, and what was copied and left out.',
  {
    project: [orNull(ProjectType), 'The new project; null for a preview.'],
    counts: [CountsType, 'Sizes of the parts that were copied, or would be.'],
    skipped: [[SkipType], 'Items of the selected parts that are left out.'],
  },
);
type CopyPayload = InstanceType<typeof CopyPayload>;

/** Converts a copy to its API type. */
const toCopyPayload = ({ project, ...outcome }: ProjectCopy): CopyPayload => ({
  project: project && toProjectType(project),
  ...outcome,
});

@Resolver()
export class ProjectCopyResolver {
  constructor(private readonly service: ProjectCopyService) {}

  @mutation(
    CopyProject,
    CopyPayload,
    'Creates a project from the parts of another one that you select, as far as you can read them. You become its admin.',
  )
  async copyProject(ctx: Context, input: object): Promise<CopyPayload> {
    return toCopyPayload(await this.service.copy(ctx, input));
  }
}
