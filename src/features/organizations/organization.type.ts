import { Field, ID, InputType, ObjectType } from 'type-graphql';
import { DateTime } from '../../kernel/graphql/date-time.js';
import { Node } from '../../kernel/graphql/node.js';
import { connectionOf } from '../../kernel/graphql/page.js';

@ObjectType('Organization', {
  implements: Node,
  description: 'A tenant, or a part of one. Everything else belongs to exactly one organization.',
  simpleResolvers: true,
})
export class OrganizationType {
  @Field(() => ID, { description: 'Identifies the organization.' })
  id!: string;

  @Field(() => String, { description: 'What people call it, 1 to 64 characters.' })
  name!: string;

  @Field(() => String, { description: 'Lower-case words joined by hyphens, as `web-shop`, unique among its like.' })
  slug!: string;

  @Field(() => ID, { nullable: true, description: 'The root organization above it; null for a root organization.' })
  parentId!: string | null;

  @Field(() => [String], {
    description:
      'Domains at which people may get mails, in lower case, as ASCII. Empty: as the root organization has it, and any for a root organization.',
  })
  allowedEmailDomains!: readonly string[];

  @Field(() => DateTime, { description: 'When it was made.' })
  createdAt!: Date;

  @Field(() => DateTime, { description: 'When it was last changed.' })
  updatedAt!: Date;
}

export const OrganizationConnection = connectionOf(OrganizationType, 'Organization', 'root first, then name and ID');

@InputType({ description: 'A new root organization.' })
export class CreateOrganizationInput {
  @Field(() => String, { description: 'What people call it, 1 to 64 characters.' })
  name!: string;

  @Field(() => String, {
    nullable: true,
    description:
      'Lower-case words joined by hyphens, as `web-shop`; made from the name and four random characters when absent.',
  })
  slug?: string | null;
}

@ObjectType({ description: 'The new organization and the access of its first admin.' })
export class CreateOrganizationPayload {
  @Field(() => OrganizationType, { description: 'The new organization.' })
  organization!: OrganizationType;

  @Field(() => ID, { description: 'The machine identity that is its first admin.' })
  identityId!: string;

  @Field(() => String, { description: 'A bearer token of that identity. Shown this once: only a hash of it is kept.' })
  accessToken!: string;
}

@InputType({ description: 'A new sub-organization of the current root organization.' })
export class CreateSubOrganizationInput extends CreateOrganizationInput {}

@ObjectType({ description: 'The new sub-organization; its maker is an admin of it.' })
export class CreateSubOrganizationPayload {
  @Field(() => OrganizationType, { description: 'The new sub-organization.' })
  organization!: OrganizationType;
}

@InputType({ description: 'Which organization to delete.' })
export class DeleteOrganizationInput {
  @Field(() => ID, { description: 'The organization to delete. It must hold no projects and no sub-organizations.' })
  id!: string;
}

@ObjectType({ description: 'The organization as it was.' })
export class DeleteOrganizationPayload {
  @Field(() => OrganizationType, { description: 'The deleted organization.' })
  organization!: OrganizationType;
}
