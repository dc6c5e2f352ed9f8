import { Field, ID, ObjectType } from 'type-graphql';
import { DateTime } from '../../kernel/graphql/date-time.js';
import { Node } from '../../kernel/graphql/node.js';
import { connectionOf } from '../../kernel/graphql/page.js';

/** What the API shows of a rescue. */
@ObjectType('ProjectRescue', {
  implements: Node,
  description: 'Somebody of the organization became an admin of a project that had none any more, for a time.',
  simpleResolvers: true,
})
export class ProjectRescueType extends Node {
  @Field(() => ID, { description: 'ID of the organization.' })
  organizationId!: string;

  @Field(() => ID, { description: 'ID of the project.' })
  projectId!: string;

  @Field(() => String, { nullable: true, description: 'What people call the project; null for one that was deleted.' })
  projectName!: string | null;

  @Field(() => String, { description: 'Why, in the words of who did it.' })
  reason!: string;

  @Field(() => DateTime, { description: 'Since when it is an admin.' })
  createdAt!: Date;

  @Field(() => DateTime, { description: 'Until when it is, or was, an admin by this.' })
  endsAt!: Date;

  @Field(() => Boolean, { description: 'It has not ended.' })
  isActive!: boolean;

  /** For the nested user and identity. */
  userId!: string | null;
  identityId!: string | null;
}

export const ProjectRescueConnection = connectionOf(ProjectRescueType, 'ProjectRescue', 'newest first');

/** What the API shows of a project to somebody who need not be a member. */
@ObjectType('ProjectWithoutAdmin', {
  description: 'A project without a usable admin, which `rescueProject` can rescue.',
  simpleResolvers: true,
})
export class ProjectWithoutAdminType {
  @Field(() => ID, { description: 'ID of the project.' })
  projectId!: string;

  @Field(() => String, { description: 'What people call it.' })
  name!: string;

  @Field(() => String, { description: 'What paths and filters name it by.' })
  slug!: string;
}

export const ProjectWithoutAdminConnection = connectionOf(
  ProjectWithoutAdminType,
  'ProjectWithoutAdmin',
  'name, then ID',
);
