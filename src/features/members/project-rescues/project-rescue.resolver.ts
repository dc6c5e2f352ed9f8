import { ID, Resolver } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { Node } from '../../../kernel/graphql/node.js';
import { hiddenField, objectType, orNull } from '../../../kernel/graphql/object-types.js';
import { mutation, query } from '../../../kernel/graphql/operations.js';
import { connectionOf } from '../../../kernel/graphql/page.js';
import { relations } from '../../../kernel/graphql/relations.js';
import type { CountedConnectionOf } from '../../../kernel/paging.js';
import { accountRelations } from '../../identity/identities/public.js';
import { organizationRelationOf } from '../../identity/organizations/public.js';
import { type ProjectRelations, projectRelationOf } from '../../projects/public.js';
import {
  ListProjectRescues,
  ListProjectsWithoutAdmin,
  OneProjectRescue,
  RescueProject,
} from './project-rescue.rules.js';
import type { ProjectRescueService } from './project-rescue.service.js';

/** API type of a rescue. */
const ProjectRescueType = objectType(
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
    userId: hiddenField<string | null>(),
    identityId: hiddenField<string | null>(),
  },
  { implements: Node },
);
type ProjectRescueType = InstanceType<typeof ProjectRescueType>;

const ProjectRescueConnection = connectionOf(ProjectRescueType, 'ProjectRescue', 'newest first');

/** API type of a project for callers who need not be members. */
const ProjectWithoutAdminType = objectType(
  'ProjectWithoutAdmin',
  'A project without a usable admin, which `rescueProject` can rescue.',
  {
    projectId: [ID, 'ID of the project.'],
    name: [String, 'Name of the project.'],
    slug: [String, 'Slug of the project, for example `web-shop`.'],
  },
);
type ProjectWithoutAdminType = InstanceType<typeof ProjectWithoutAdminType>;

const ProjectWithoutAdminConnection = connectionOf(ProjectWithoutAdminType, 'ProjectWithoutAdmin', 'name, then ID');

@Resolver(() => ProjectRescueType)
export class ProjectRescueResolver {
  constructor(private readonly service: ProjectRescueService) {}

  @query(
    ProjectRescueConnection,
    ListProjectRescues,
    'Lists the rescues of projects of your organization, newest first.',
  )
  projectRescues(ctx: Context, args: object): Promise<CountedConnectionOf<ProjectRescueType>> {
    return this.service.list(ctx, args);
  }

  @query(ProjectRescueType, OneProjectRescue, 'Returns a rescue of a project by ID.')
  projectRescue(ctx: Context, args: object): Promise<ProjectRescueType> {
    return this.service.get(ctx, args);
  }

  @query(
    ProjectWithoutAdminConnection,
    ListProjectsWithoutAdmin,
    'Lists the projects of your organization that need `rescueProject`: no permanent admin with a valid token or ' +
      'client secret can manage their members, and no rescue is active.',
  )
  projectsWithoutAdmin(ctx: Context, args: object): Promise<CountedConnectionOf<ProjectWithoutAdminType>> {
    return this.service.listWithoutAdmin(ctx, args);
  }

  @mutation(
    RescueProject,
    { rescue: [ProjectRescueType, 'The new rescue.'] },
    'Makes you a temporary admin of a project without an admin, so that you can appoint a permanent one. If you are ' +
      'already an admin for a shorter time, the rescue replaces that term, and you are no longer an admin when it ' +
      'ends. If your term as an admin ends later, even if it has not started, the rescue is rejected.',
  )
  async rescueProject(ctx: Context, input: object): Promise<{ rescue: ProjectRescueType }> {
    return { rescue: await this.service.rescue(ctx, input) };
  }

  @mutation(
    OneProjectRescue,
    { rescue: [ProjectRescueType, 'The ended rescue.'] },
    'Ends a rescue early, your own or that of a colleague. Admins who were appointed stay.',
  )
  async revokeProjectRescue(ctx: Context, input: object): Promise<{ rescue: ProjectRescueType }> {
    return { rescue: await this.service.revoke(ctx, input) };
  }
}

/** What rescues lead to. */
export const rescueRelations = (projects: ProjectRelations): object[] => [
  organizationRelationOf(ProjectRescueType),
  ...[ProjectRescueType, ProjectWithoutAdminType].map((type) => projectRelationOf(type, projects)),
  relations(ProjectRescueType, {
    ...accountRelations<ProjectRescueType>(
      'The user who became an admin; null for a machine identity, and when you cannot read users of your organization.',
      'The machine identity that became an admin; null for a user, and when you cannot read identities of your organization.',
      (ids) => ids,
    ),
  }),
];
