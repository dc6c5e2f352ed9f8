import { Field, ID, Int, ObjectType } from 'type-graphql';
import { DateTime } from '../../kernel/graphql/date-time.js';
import { inputOfRule } from '../../kernel/graphql/inputs.js';
import { Node } from '../../kernel/graphql/node.js';
import { countedConnectionOf } from '../../kernel/graphql/page.js';
import {
  OrganizationPermissionInput,
  OrganizationPermissions,
  OrganizationPermissionType,
} from '../permissions/public.js';

inputOfRule(OrganizationPermissions.element, OrganizationPermissionInput);

/** What the API shows of a role. */
@ObjectType('OrganizationRole', {
  implements: Node,
  description:
    'A role that users, machine identities and groups can have in an organization. Projects have roles of their own.',
  simpleResolvers: true,
})
export class OrganizationRoleType extends Node {
  @Field(() => ID, { description: 'ID of the organization.' })
  organizationId!: string;

  @Field(() => String, { description: 'What memberships name it by; unique in the organization.' })
  slug!: string;

  @Field(() => String, { description: 'What people call it.' })
  name!: string;

  @Field(() => String, { description: 'What its holders may do, in a sentence.' })
  description!: string;

  @Field(() => [OrganizationPermissionType], {
    description: 'What its holders may do, as rules. Later rules win over earlier ones.',
  })
  permissions!: readonly OrganizationPermissionType[];

  @Field(() => Int, { description: 'Rises with every change; built-in roles stay at 1.' })
  version!: number;

  @Field(() => DateTime, { description: 'When it was made; of a built-in role, when the organization was.' })
  createdAt!: Date;

  @Field(() => DateTime, { description: 'When it was last changed; of a built-in role, when the organization was.' })
  updatedAt!: Date;
}

export const OrganizationRoleConnection = countedConnectionOf(
  OrganizationRoleType,
  'OrganizationRole',
  'those that the organization made by slug, then the built-in ones, admin first',
);
