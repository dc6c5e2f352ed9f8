import { Field, ID, ObjectType } from 'type-graphql';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { Node } from '../../../kernel/graphql/node.js';
import { connectionOf } from '../../../kernel/graphql/page.js';

/** API type of a rescue. */
@ObjectType('ProjectRescue', {
  implements: Node,
  description:
    'A rescue of a project: a member of the organization became a temporary admin of a project without an admin.',
  simpleResolvers: true,
})
export class ProjectRescueType extends Node {
  @Field(() => ID, { description: 'ID of the organization.' })
  organizationId!: string;

  @Field(() => ID, { description: 'ID of the project.' })
  projectId!: string;

  @Field(() => String, { nullable: true, description: 'Name of the project; null if it was deleted.' })
  projectName!: string | null;

  @Field(() => String, { description: 'Reason for the rescue, as entered.' })
  reason!: string;

  @Field(() => DateTime, { description: 'When the rescue started.' })
  createdAt!: Date;

  @Field(() => DateTime, { description: 'When the rescue ends or ended.' })
  endsAt!: Date;

  @Field(() => Boolean, { description: 'Whether the rescue has not ended.' })
  isActive!: boolean;

  /** For the nested user and identity. */
  userId!: string | null;
  identityId!: string | null;
}

export const ProjectRescueConnection = connectionOf(ProjectRescueType, 'ProjectRescue', 'newest first');

/** API type of a project for callers who need not be members. */
@ObjectType('ProjectWithoutAdmin', {
  description: 'A project without a usable admin, which `rescueProject` can rescue.',
  simpleResolvers: true,
})
export class ProjectWithoutAdminType {
  @Field(() => ID, { description: 'ID of the project.' })
  projectId!: string;

  @Field(() => String, { description: 'Name of the project.' })
  name!: string;

  @Field(() => String, { description: 'Slug of the project, for example `web-shop`.' })
  slug!: string;
}

export const ProjectWithoutAdminConnection = connectionOf(
  ProjectWithoutAdminType,
  'ProjectWithoutAdmin',
  'name, then ID',
);
