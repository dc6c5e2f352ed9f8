import { type ClassType, ID, Resolver } from 'type-graphql';
import * as z from 'zod';
import type { Context } from '../../../kernel/context.js';
import { creation, oneNamed } from '../../../kernel/graphql/creation.js';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { inputType } from '../../../kernel/graphql/inputs.js';
import { Node } from '../../../kernel/graphql/node.js';
import { hiddenField, objectType, orNull } from '../../../kernel/graphql/object-types.js';
import { mutation, nested, query } from '../../../kernel/graphql/operations.js';
import { connectionOf } from '../../../kernel/graphql/page.js';
import { relations, relationTo } from '../../../kernel/graphql/relations.js';
import type { CountedConnectionOf } from '../../../kernel/paging.js';
import { bodyOf, type Data, paging, routesAt } from '../../../rest/route.js';
import {
  CreateOrganizationPayload,
  comparedRole,
  Identity,
  MemberType,
  organizationRelationOf,
  roleToInput,
  UserType,
  usersByIds,
  withRole,
} from '../organizations/public.js';
import { TOKEN_AUTH, UNIVERSAL_AUTH } from './auth-configuration.service.js';
import { AuthMethodEnum } from './auth-method.js';
import { ClientSecretType } from './client-secret.resolver.js';
import { configurationsOf, identitiesByIds, toIdentityView } from './identity.reader.js';
import {
  CreateIdentity,
  ListIdentities,
  ListProjectIdentities,
  Metadata,
  OneIdentity,
  UpdateIdentity,
} from './identity.rules.js';
import type { IdentityService } from './identity.service.js';
import { findIdentities } from './identity.sql.js';
import { KubernetesAuthType } from './kubernetes-auth.resolver.js';
import { KUBERNETES_AUTH } from './kubernetes-auth.service.js';
import { OidcAuthType } from './oidc-auth.resolver.js';
import { OIDC_AUTH } from './oidc-auth.service.js';
import { TokenAuthType } from './token-auth.resolver.js';
import { UniversalAuthType } from './universal-auth.resolver.js';

const MetadataType = objectType('IdentityMetadata', 'A key and a value in the metadata of a machine identity.', {
  key: [String, 'Key, for example `team`.'],
  value: [String, 'Value of the key.'],
});

inputType('IdentityMetadataInput', Metadata);

export const IdentityType = objectType(
  'Identity',
  'A machine identity: a service or a pipeline that calls the API with its own tokens.',
  {
    id: [ID, 'ID of the machine identity.'],
    name: [String, 'Display name of the identity.'],
    organizationId: [ID, 'ID of the organization that owns the identity.'],
    roleSlug: [String, 'Slug of the role of the identity in that organization.'],
    /** Not in the schema: whether that membership has not ended. */
    isMember: hiddenField<boolean>(),
    projectId: [orNull(ID), 'ID of the project that owns the identity. Null for an identity of the organization.'],
    metadata: [[MetadataType], 'Metadata that permission rules can refer to, as `{{identity.metadata.KEY}}`.'],
    hasTokenAuth: [
      Boolean,
      'Whether token authentication is attached, so that tokens can be created for the identity.',
    ],
    hasUniversalAuth: [Boolean, 'Whether universal authentication is attached, so that the identity can log in.'],
    hasOidcAuth: [Boolean, 'Whether OIDC authentication is attached.'],
    hasKubernetesAuth: [Boolean, 'Whether Kubernetes authentication is attached.'],
    authMethods: [[AuthMethodEnum], 'Authentication methods attached to the identity.'],
    isInstallationAdmin: [
      Boolean,
      'Whether the identity is the admin of the installation. Only that identity itself can change it.',
    ],
    hasDeleteProtection: [Boolean, 'Whether deleting the identity is refused until this is set to false.'],
    createdAt: [DateTime, 'When the identity was created.'],
    updatedAt: [DateTime, 'When the identity was last changed.'],
  },
  { implements: Node },
);
export type IdentityType = InstanceType<typeof IdentityType>;

const IdentityConnection = connectionOf(IdentityType, 'Identity', 'name, then ID');

@Resolver(() => IdentityType)
export class IdentityResolver {
  constructor(private readonly service: IdentityService) {}

  @query(IdentityType, OneIdentity, 'Returns a machine identity of your organization.')
  identity(ctx: Context, args: object): Promise<IdentityType> {
    return this.service.get(ctx, args);
  }

  @query(IdentityConnection, ListIdentities, 'Lists the machine identities of your organization, by name.')
  identities(ctx: Context, args: object): Promise<CountedConnectionOf<IdentityType>> {
    return this.service.list(ctx, args);
  }

  @query(IdentityConnection, ListProjectIdentities, 'Lists the machine identities that a project owns, by name.')
  projectIdentities(ctx: Context, args: object): Promise<CountedConnectionOf<IdentityType>> {
    return this.service.listOfProject(ctx, args);
  }

  @creation(
    CreateIdentity,
    { identity: [IdentityType, 'The created identity.'] },
    'Creates a machine identity. Attach an authentication method to it, so that it can get access tokens.',
    {
      find: (identities: IdentityResolver, ctx, { name, projectId }) =>
        oneNamed(ctx, Identity, { organizationId: ctx.organizationId, projectId: projectId ?? null, name }, (id) =>
          identities.identity(ctx, { id }),
        ),
      compare: { roleSlug: comparedRole },
    },
  )
  async createIdentity(ctx: Context, input: object): Promise<{ identity: IdentityType }> {
    return { identity: await this.service.create(ctx, input) };
  }

  @mutation(
    UpdateIdentity,
    { identity: [IdentityType, 'The updated identity.'] },
    'Changes the name, role, metadata or delete protection of a machine identity.',
  )
  async updateIdentity(ctx: Context, input: object): Promise<{ identity: IdentityType }> {
    return { identity: await this.service.update(ctx, input) };
  }

  @mutation(
    OneIdentity,
    { identity: [IdentityType, 'The deleted identity.'] },
    'Deletes a machine identity with all memberships and tokens. Refused while it has delete protection.',
  )
  async deleteIdentity(ctx: Context, input: object): Promise<{ identity: IdentityType }> {
    return { identity: await this.service.delete(ctx, input) };
  }
}

/** The IDs of what is a user or a machine identity: one of them is null, and both for other kinds. */
export const accountIds = (kind: string | null, id: string | null) => ({
  userId: kind === 'user' ? id : null,
  identityId: kind === 'identity' ? id : null,
});

/** The fields `user` and `identity` of what leads to one of them. */
export const accountRelations = <R>(
  user: string,
  identity: string,
  idsOf: (root: R) => { readonly userId: string | null; readonly identityId: string | null },
) => ({
  user: relationTo(UserType, user, usersByIds, (root: R) => idsOf(root).userId),
  identity: relationTo(IdentityType, identity, identitiesByIds, (root: R) => idsOf(root).identityId),
});

/** Gives a type with an `identityId` the machine identity itself. */
export const identityRelationOf = (type: ClassType<{ readonly identityId: string | null }>): object =>
  relations(type, {
    identity: relationTo(
      IdentityType,
      'The machine identity. Null if you do not have permission to read it.',
      identitiesByIds,
      ({ identityId }) => identityId,
    ),
  });

@Resolver(() => CreateOrganizationPayload)
class FirstAdminResolver {
  @nested(IdentityType, 'The identity as a resource. Null if it was just deleted.')
  async identity({ organization, identityId }: CreateOrganizationPayload, ctx: Context): Promise<IdentityType | null> {
    // It is in another organization than the caller, who made it just now.
    const [row] = await findIdentities(ctx, { organizationId: organization.id, ids: [identityId] });
    return row === undefined ? null : toIdentityView(row);
  }
}

/** Resolvers of what identities lead to, and of what leads to them. */
export const identityRelations = (): object[] => [
  organizationRelationOf(IdentityType),
  relations(MemberType, {
    identity: relationTo(
      IdentityType,
      'The machine identity. Null for a user, and for an identity that another organization owns.',
      identitiesByIds,
      ({ memberKind, memberId }) => (memberKind === 'identity' ? memberId : null),
    ),
  }),
  relations(IdentityType, {
    tokenAuth: relationTo(
      TokenAuthType,
      'Settings of token authentication. Null if it is not attached.',
      configurationsOf(TOKEN_AUTH),
      ({ id, hasTokenAuth }) => (hasTokenAuth ? id : null),
    ),
    universalAuth: relationTo(
      UniversalAuthType,
      'Settings of universal authentication. Null if it is not attached.',
      configurationsOf(UNIVERSAL_AUTH),
      ({ id, hasUniversalAuth }) => (hasUniversalAuth ? id : null),
    ),
    oidcAuth: relationTo(
      OidcAuthType,
      'Settings of OIDC authentication. Null if it is not attached.',
      configurationsOf(OIDC_AUTH),
      ({ id, hasOidcAuth }) => (hasOidcAuth ? id : null),
    ),
    kubernetesAuth: relationTo(
      KubernetesAuthType,
      'Settings of Kubernetes authentication. Null if it is not attached.',
      configurationsOf(KUBERNETES_AUTH),
      ({ id, hasKubernetesAuth }) => (hasKubernetesAuth ? id : null),
    ),
  }),
  identityRelationOf(TokenAuthType),
  identityRelationOf(ClientSecretType),
  new FirstAdminResolver(),
];

const identities = routesAt('/api/v1/identities', {
  select: 'id name organizationId projectId role: roleSlug metadata *',
});

/** A machine identity, which stands in itself as a member of the organization, too: clients read the one or the other. */
const asMember = ({ identity }: Data): Data => {
  const { id, name, authMethods, hasDeleteProtection, createdAt, updatedAt, organizationId } = identity;
  return {
    identity: {
      ...identity,
      orgId: organizationId,
      identity: { id, name, authMethods, hasDeleteProtection, createdAt, updatedAt },
    },
  };
};

/** Machine identities. */
export const identityRoutes = [
  identities.post('', 'Create a machine identity', {
    field: 'createIdentity',
    body: withRole(CreateIdentity),
    input: roleToInput,
    errors: ['ORGANIZATION_NOT_FOUND', 'PROJECT_NOT_FOUND', 'ROLE_NOT_FOUND'],
    example: { name: 'deploy pipeline', organizationId: '9f1c6f5e-7c1b-4a53-9d0a-5f0a6d6c2b11', role: 'member' },
  }),
  identities.get('', 'List the machine identities of the organization', {
    field: 'identities',
    query: z.strictObject({
      orgId: z.string().optional().meta({ description: 'ID of your organization. Any other is 404.' }),
      ...paging,
    }),
    words: { orgId: 'organizationId' },
    errors: ['ORGANIZATION_NOT_FOUND'],
  }),
  identities.get('/{identityId}', 'Get a machine identity', {
    field: 'identity',
    reply: asMember,
    errors: ['IDENTITY_NOT_FOUND'],
  }),
  identities.get('/details', 'Get the organization of your token', {
    operationId: 'getIdentityDetails',
    field: 'viewer',
    select: 'organization { id name slug }',
    reply: ({ viewer: { organization } }) => ({ identityDetails: { organization } }),
  }),
  identities.patch('/{identityId}', 'Update a machine identity', {
    field: 'updateIdentity',
    body: withRole(bodyOf(UpdateIdentity, 'id')),
    input: roleToInput,
    errors: ['IDENTITY_NOT_FOUND', 'ROLE_NOT_FOUND', 'MEMBERSHIP_NOT_FOUND', 'LAST_ADMIN'],
    example: { name: 'release pipeline', role: 'no-access' },
  }),
  identities.delete('/{identityId}', 'Delete a machine identity', {
    field: 'deleteIdentity',
    errors: ['IDENTITY_NOT_FOUND', 'DELETE_PROTECTED', 'LAST_ADMIN'],
  }),
];
