import { Field, ID, Int, ObjectType } from 'type-graphql';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { Node } from '../../../kernel/graphql/node.js';
import { countedConnectionOf } from '../../../kernel/graphql/page.js';
import { OrganizationPermissionType } from '../../identity/permissions/public.js';

/** What the API shows of a role. */
@ObjectType('OrganizationRole', {
  implements: Node,
  description: 'A role of users, machine identities and groups in an organization. Projects have separate roles.',
  simpleResolvers: true,
})
export class OrganizationRoleType extends Node {
  @Field(() => ID, { description: 'ID of the organization.' })
  organizationId!: string;

  @Field(() => String, { description: 'Slug of the role, unique in the organization, for example `admin`.' })
  slug!: string;

  @Field(() => String, { description: 'Display name of the role.' })
  name!: string;

  @Field(() => String, { description: 'Description of the role.' })
  description!: string;

  @Field(() => [OrganizationPermissionType], {
    description: 'Permission rules of the role. A later rule overrides an earlier one.',
  })
  permissions!: readonly OrganizationPermissionType[];

  @Field(() => Int, { description: 'Version of the role. Increments with every change; 1 for built-in roles.' })
  version!: number;

  @Field(() => DateTime, {
    description: 'When the role was created; for a built-in role, when the organization was created.',
  })
  createdAt!: Date;

  @Field(() => DateTime, {
    description: 'When the role was last changed; for a built-in role, when the organization was last changed.',
  })
  updatedAt!: Date;
}

export const OrganizationRoleConnection = countedConnectionOf(
  OrganizationRoleType,
  'OrganizationRole',
  'custom roles by slug, then built-in roles, admin first',
);
