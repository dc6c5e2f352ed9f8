import { Field, ID, ObjectType } from 'type-graphql';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { Node } from '../../../kernel/graphql/node.js';
import { connectionOf } from '../../../kernel/graphql/page.js';

@ObjectType('Organization', {
  implements: Node,
  description:
    'A tenant (root organization), or a part of one (sub-organization). Every other resource belongs to exactly one organization.',
  simpleResolvers: true,
})
export class OrganizationType {
  @Field(() => ID, { description: 'ID of the organization.' })
  id!: string;

  @Field(() => String, { description: 'Display name, 1 to 64 characters.' })
  name!: string;

  @Field(() => String, {
    description:
      'Slug, for example `web-shop`. Unique among root organizations, or among the sub-organizations of one root organization.',
  })
  slug!: string;

  @Field(() => ID, {
    nullable: true,
    description: 'ID of the root organization of a sub-organization. Null for a root organization.',
  })
  parentId!: string | null;

  @Field(() => [String], {
    description:
      'Domains that the organization may send email to, in lowercase ASCII. Empty: a sub-organization uses the list of its root organization, and a root organization allows all domains.',
  })
  allowedEmailDomains!: readonly string[];

  @Field(() => DateTime, { description: 'When the organization was created.' })
  createdAt!: Date;

  @Field(() => DateTime, { description: 'When the organization was last changed.' })
  updatedAt!: Date;
}

export const OrganizationConnection = connectionOf(OrganizationType, 'Organization', 'root first, then name and ID');

@ObjectType({ description: 'Result of `createOrganization`.' })
export class CreateOrganizationPayload {
  @Field(() => OrganizationType, { description: 'The created organization.' })
  organization!: OrganizationType;

  @Field(() => ID, { description: 'ID of the machine identity that is the first admin of the organization.' })
  identityId!: string;

  @Field(() => String, {
    description: 'Access token of the first admin. It is shown only once, because only its hash is stored.',
  })
  accessToken!: string;
}
