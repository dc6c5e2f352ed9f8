import { type ClassType, Extensions, ID, Resolver } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { creation, oneNamed } from '../../../kernel/graphql/creation.js';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { CREATES_CREDENTIAL } from '../../../kernel/graphql/limited-operations.js';
import { Node } from '../../../kernel/graphql/node.js';
import { objectType, orNull } from '../../../kernel/graphql/object-types.js';
import { mutation, query } from '../../../kernel/graphql/operations.js';
import { connectionOf } from '../../../kernel/graphql/page.js';
import { relations, relationTo } from '../../../kernel/graphql/relations.js';
import type { CountedConnectionOf } from '../../../kernel/paging.js';
import { Organization } from './core/organization.entity.js';
import { organizationsByIds } from './organization.reader.js';
import {
  CreateOrganization,
  CreateSubOrganization,
  DeleteOrganization,
  GetOrganization,
  ListOrganizations,
  UpdateOrganization,
} from './organization.rules.js';
import type { OrganizationService } from './organization.service.js';

export const OrganizationType = objectType(
  'Organization',
  'A tenant (root organization), or a part of one (sub-organization). Every other resource belongs to exactly one organization.',
  {
    id: [ID, 'ID of the organization.'],
    name: [String, 'Display name, 1 to 64 characters.'],
    slug: [
      String,
      'Slug, for example `web-shop`. Unique among root organizations, or among the sub-organizations of one root organization.',
    ],
    parentId: [orNull(ID), 'ID of the root organization of a sub-organization. Null for a root organization.'],
    allowedEmailDomains: [
      [String],
      'Domains that the organization may send email to, in lowercase ASCII. Empty: a sub-organization uses the list of its root organization, and a root organization allows all domains.',
    ],
    createdAt: [DateTime, 'When the organization was created.'],
    updatedAt: [DateTime, 'When the organization was last changed.'],
  },
  { implements: Node },
);
export type OrganizationType = InstanceType<typeof OrganizationType>;

const OrganizationConnection = connectionOf(OrganizationType, 'Organization', 'root first, then name and ID');

export const CreateOrganizationPayload = objectType('CreateOrganizationPayload', 'Result of `createOrganization`.', {
  organization: [OrganizationType, 'The created organization.'],
  identityId: [ID, 'ID of the machine identity that is the first admin of the organization.'],
  accessToken: [String, 'Access token of the first admin. It is shown only once, because only its hash is stored.'],
});
export type CreateOrganizationPayload = InstanceType<typeof CreateOrganizationPayload>;

@Resolver(() => OrganizationType)
export class OrganizationResolver {
  constructor(private readonly service: OrganizationService) {}

  @query(
    OrganizationType,
    GetOrganization,
    'Returns an organization that your token can see. Default: the organization of your token.',
  )
  organization(ctx: Context, args: object): Promise<OrganizationType> {
    return this.service.get(ctx, args);
  }

  @query(
    OrganizationConnection,
    ListOrganizations,
    'Lists your root organization, then the sub-organizations that your token can see, by name.',
  )
  organizations(ctx: Context, args: object): Promise<CountedConnectionOf<OrganizationType>> {
    return this.service.list(ctx, args);
  }

  @Extensions(CREATES_CREDENTIAL)
  @mutation(
    CreateOrganization,
    CreateOrganizationPayload,
    'Creates a root organization and its first admin. Only the admin of the installation can do this.',
  )
  createOrganization(ctx: Context, input: object): Promise<CreateOrganizationPayload> {
    return this.service.create(ctx, input);
  }

  @creation(
    CreateSubOrganization,
    { organization: [OrganizationType, 'The created sub-organization.'] },
    'Creates a sub-organization of your root organization. You become its admin.',
    {
      find: async (organizations: OrganizationResolver, ctx, { slug }) =>
        slug == null
          ? null
          : oneNamed(ctx, Organization, { parentId: ctx.organizationId, slug }, (id) =>
              organizations.organization(ctx, { id }),
            ),
      taken: 'ORGANIZATION_SLUG_TAKEN',
      compare: {},
    },
  )
  async createSubOrganization(ctx: Context, input: object): Promise<{ organization: OrganizationType }> {
    return { organization: await this.service.createSub(ctx, input) };
  }

  @mutation(
    UpdateOrganization,
    { organization: [OrganizationType, 'The updated organization.'] },
    'Changes the name or the slug of an organization, or the domains that it may send email to.',
  )
  async updateOrganization(ctx: Context, input: object): Promise<{ organization: OrganizationType }> {
    return { organization: await this.service.update(ctx, input) };
  }

  @mutation(
    DeleteOrganization,
    { organization: [OrganizationType, 'The deleted organization.'] },
    'Deletes an organization with all its members and tokens. It must not have projects or sub-organizations.',
  )
  async deleteOrganization(ctx: Context, input: object): Promise<{ organization: OrganizationType }> {
    return { organization: await this.service.delete(ctx, input) };
  }
}

/** Gives a type with an `organizationId` the organization itself. */
export const organizationRelationOf = (type: ClassType<{ readonly organizationId: string }>): object =>
  relations(type, {
    organization: relationTo(
      OrganizationType,
      'The organization. Null, with the error PERMISSION_DENIED, if you do not have permission to read it.',
      organizationsByIds,
      ({ organizationId }) => organizationId,
    ),
  });

/** What organizations lead to. */
export const organizationRelations = (): object =>
  relations(OrganizationType, {
    parent: relationTo(
      OrganizationType,
      'Root organization of a sub-organization. Null for a root organization, and if your token cannot see it.',
      organizationsByIds,
      ({ parentId }) => parentId,
    ),
  });
