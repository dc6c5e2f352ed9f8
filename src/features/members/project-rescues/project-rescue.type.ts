import { ID } from 'type-graphql';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { Node } from '../../../kernel/graphql/node.js';
import { hidden, objectType, orNull } from '../../../kernel/graphql/object-types.js';
import { connectionOf } from '../../../kernel/graphql/page.js';

/** API type of a rescue. */
export const ProjectRescueType = objectType(
  'ProjectRescue',
  'A rescue of a project: a member of the organization became a temporary admin of a project without an admin.',
  {
    organizationId: [ID, 'ID of the organization.'],
    projectId: [ID, 'ID of the project.'],
    projectName: [orNull(String), 'Name of the project; null if it was deleted.'],
    reason: [String, 'Reason for the rescue, as entered.'],
    createdAt: [DateTime, 'When the rescue started.'],
    endsAt: [DateTime, 'When the rescue ends or ended.'],
    isActive: [Boolean, 'Whether the rescue has not ended.'],
    /** For the nested user and identity. */
    userId: hidden<string | null>(),
    identityId: hidden<string | null>(),
  },
  { implements: Node },
);
export type ProjectRescueType = InstanceType<typeof ProjectRescueType>;

export const ProjectRescueConnection = connectionOf(ProjectRescueType, 'ProjectRescue', 'newest first');

/** API type of a project for callers who need not be members. */
export const ProjectWithoutAdminType = objectType(
  'ProjectWithoutAdmin',
  'A project without a usable admin, which `rescueProject` can rescue.',
  {
    projectId: [ID, 'ID of the project.'],
    name: [String, 'Name of the project.'],
    slug: [String, 'Slug of the project, for example `web-shop`.'],
  },
);
export type ProjectWithoutAdminType = InstanceType<typeof ProjectWithoutAdminType>;

export const ProjectWithoutAdminConnection = connectionOf(
  ProjectWithoutAdminType,
  'ProjectWithoutAdmin',
  'name, then ID',
);
