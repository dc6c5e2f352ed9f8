import { Extensions, ID, Int, Resolver } from 'type-graphql';
import type { AnonymousContext, Context } from '../../../kernel/context.js';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { PUBLIC } from '../../../kernel/graphql/gate/root-fields.js';
import { argsType, inputType } from '../../../kernel/graphql/inputs.js';
import { CREATES_CREDENTIAL } from '../../../kernel/graphql/limited-operations.js';
import { Node } from '../../../kernel/graphql/node.js';
import { objectType, orNull } from '../../../kernel/graphql/object-types.js';
import { mutation, nested, query } from '../../../kernel/graphql/operations.js';
import { connectionOf } from '../../../kernel/graphql/page.js';
import { relations, relationTo } from '../../../kernel/graphql/relations.js';
import type { CountedConnectionOf } from '../../../kernel/paging.js';
import {
  AuthMethodEnum,
  accountRelations,
  ClientSecretType,
  clientSecretsByIds,
  IdentityType,
} from '../identities/public.js';
import { OrganizationType, organizationsByIds } from '../organizations/public.js';
import {
  CreatePersonalToken,
  CreateToken,
  ListOfIdentity,
  ListPersonalTokens,
  ListTokens,
  OneToken,
  RenameToken,
  RevokeTokens,
  TokenValue,
} from './access-token.rules.js';
import type { AccessTokenService } from './access-token.service.js';
import type { TokenHolderService } from './token-holder.service.js';
import type { IssuedToken } from './token-issuing.js';
import type { TokenListService } from './token-list.service.js';
import type { TokenRevocationService } from './token-revocation.service.js';

const SessionClaimValueType = objectType('SessionClaimValue', 'A claim that a token keeps of its login.', {
  key: [String, 'Key under which it is kept.'],
  value: [String, 'The claim as text; items of a list are joined by commas.'],
});

export const AccessTokenType = objectType(
  'AccessToken',
  'An access token of a machine identity or a user. The token itself is not stored and not returned.',
  {
    id: [ID, 'ID of the token. It is not the token itself.'],
    identityId: [orNull(ID), 'ID of the machine identity; null for a personal token.'],
    userId: [orNull(ID), 'ID of the user; null for the token of a machine identity.'],
    createdAt: [DateTime, 'When the token was created.'],
    updatedAt: [DateTime, 'When the token was last renamed, renewed or revoked.'],
    authMethod: [AuthMethodEnum, 'How the token was created.'],
    ttlSeconds: [Int, 'Lifetime in seconds from the creation or the last renewal; 0 for no limit.'],
    maxTtlSeconds: [Int, 'Maximum lifetime in seconds from the creation, including renewals; 0 for no limit.'],
    useCount: [
      Int,
      'Number of uses, including the uses handed to tokens that it created for the same holder. Exact for a token ' +
        'with a use limit; otherwise up to a minute late. At most 2,147,483,647.',
    ],
    useLimit: [Int, 'Maximum number of uses; 0 for no limit.'],
    lastUsedAt: [
      orNull(DateTime),
      'When the token was last used. Exact for a token with a use limit; otherwise up to a minute late.',
    ],
    lastRenewedAt: [orNull(DateTime), 'When the token was last renewed.'],
    isRevoked: [Boolean, 'Whether the token was revoked.'],
    clientSecretId: [
      orNull(ID),
      'ID of the client secret that the identity logged in with; null for a token created in another way.',
    ],
    sessionClaims: [
      [SessionClaimValueType],
      'Claims of the token with which the identity logged in, ordered by key: those that its OIDC authentication keeps, or namespace and name of the Kubernetes service account. Permissions can use them. A claim of over 255 characters, or a list with an item that has a comma, is not kept. Empty for a token created in another way.',
    ],
    name: [orNull(String), 'Name of the token, for example `deploy pipeline`.'],
    periodSeconds: [Int, 'Renewal period in seconds. Always 0: a renewal extends the lifetime by the TTL.'],
    subOrganizationId: [
      orNull(ID),
      'ID of the sub-organization that the token is scoped to; null for a token of the root organization.',
    ],
    expiresAt: [orNull(DateTime), 'When the token expires unless it is renewed; null if it never expires.'],
    makerTokenId: [
      orNull(ID),
      'ID of the token of the same holder that created it; null for a token created in another way. The creating ' +
        'token limits its lifetime and uses, and its revocation also revokes this one.',
    ],
  },
  { implements: Node },
);
export type AccessTokenType = InstanceType<typeof AccessTokenType>;

const AccessTokenConnection = connectionOf(AccessTokenType, 'AccessToken', 'latest change first, then ID');

const HeldAccessTokenInput = inputType('HeldAccessTokenInput', TokenValue);

export const CreateAccessTokenPayload = objectType(
  'CreateAccessTokenPayload',
  'A new access token. The token itself is returned only once.',
  {
    accessToken: [String, 'The token. Send it as `Authorization: Bearer ...`.'],
    expiresIn: [Int, 'Seconds until the token expires; 0 if it never expires.'],
    accessTokenMaxTTL: [Int, 'Maximum lifetime in seconds, including renewals; 0 for no limit.'],
    tokenType: [String, 'Always `Bearer`.'],
    tokenData: [AccessTokenType, 'The stored fields of the token.'],
  },
);
export type CreateAccessTokenPayload = InstanceType<typeof CreateAccessTokenPayload>;

const RenewAccessTokenPayload = objectType('RenewAccessTokenPayload', 'Result of `renewAccessToken`.', {
  accessToken: [String, 'The token, which is unchanged.'],
  expiresIn: [Int, 'Seconds until the token expires; 0 if it never expires.'],
  accessTokenMaxTTL: [Int, 'Maximum lifetime in seconds from the creation, including renewals; 0 for no limit.'],
  tokenType: [String, 'Always `Bearer`.'],
});
type RenewAccessTokenPayload = InstanceType<typeof RenewAccessTokenPayload>;

const RevokeAccessTokenPayload = objectType('RevokeAccessTokenPayload', 'Result of `revokeAccessToken`.', {
  token: [AccessTokenType, 'The revoked token.'],
  message: [String, 'Message for people.'],
});
type RevokeAccessTokenPayload = InstanceType<typeof RevokeAccessTokenPayload>;

const RevokeAccessTokensPayload = objectType(
  'RevokeAccessTokensPayload',
  'Result of `revokeAccessTokens`: the tokens that were revoked or, with `dryRun`, would be.',
  {
    isDryRun: [Boolean, 'Whether this was a preview that changed nothing.'],
    tokens: [
      [AccessTokenType],
      'The revoked tokens, without those that were revoked before: the selected ones, in the order of their IDs or of ' +
        '`accessTokens`, then the tokens that they created for the same holders. In a preview, the unchanged tokens.',
    ],
    hasMore: [Boolean, 'Whether more tokens match than the 1,000 of one call. Call again for the next ones.'],
  },
);
type RevokeAccessTokensPayload = InstanceType<typeof RevokeAccessTokensPayload>;

const RevokeHeldAccessTokenPayload = objectType('RevokeHeldAccessTokenPayload', 'Result of `revokeOwnAccessToken`.', {
  accessTokenId: [ID, 'ID of the token.'],
  message: [String, 'Message for people.'],
});
type RevokeHeldAccessTokenPayload = InstanceType<typeof RevokeHeldAccessTokenPayload>;

/** How a token is sent. */
const TOKEN_TYPE = 'Bearer';

/** A new token in the form of the API. */
export const toIssuedPayload = ({ accessToken, tokenData }: IssuedToken): CreateAccessTokenPayload => ({
  accessToken,
  expiresIn: tokenData.ttlSeconds,
  accessTokenMaxTTL: tokenData.maxTtlSeconds,
  tokenType: TOKEN_TYPE,
  tokenData,
});

const message = 'The token was revoked.';

@Resolver(() => AccessTokenType)
export class AccessTokenResolver {
  constructor(
    private readonly service: AccessTokenService,
    private readonly holders: TokenHolderService,
  ) {}

  @query(AccessTokenType, OneToken, 'Returns an access token by ID, without the token itself.')
  accessToken(ctx: Context, args: object): Promise<AccessTokenType> {
    return this.service.get(ctx, args);
  }

  @Extensions(CREATES_CREDENTIAL)
  @mutation(
    CreateToken,
    CreateAccessTokenPayload,
    'Creates an access token for a machine identity according to its token-auth configuration. The token is ' +
      'returned only once. A token for your own identity is limited to the remaining lifetime and uses of your token, ' +
      'takes its uses from it, and is revoked with it.',
  )
  async createAccessToken(ctx: Context, input: object): Promise<CreateAccessTokenPayload> {
    return toIssuedPayload(await this.service.create(ctx, input));
  }

  @Extensions(CREATES_CREDENTIAL)
  @mutation(
    CreatePersonalToken,
    CreateAccessTokenPayload,
    'Creates an access token for a user. The token is returned only once. Users create their own tokens; an admin ' +
      'of the organization can create tokens for any user, for example the first one. A token for yourself is limited ' +
      'to the remaining lifetime and uses of your token, takes its uses from it, and is revoked with it.',
  )
  async createPersonalAccessToken(ctx: Context, input: object): Promise<CreateAccessTokenPayload> {
    return toIssuedPayload(await this.service.createPersonal(ctx, input));
  }

  @mutation(RenameToken, { token: [AccessTokenType, 'The updated token.'] }, 'Renames an access token.')
  async renameAccessToken(ctx: Context, input: object): Promise<{ token: AccessTokenType }> {
    return { token: await this.service.rename(ctx, input) };
  }

  @mutation(
    OneToken,
    RevokeAccessTokenPayload,
    'Revokes an access token permanently, with the tokens that it created for the same holder.',
  )
  async revokeAccessToken(ctx: Context, input: object): Promise<RevokeAccessTokenPayload> {
    return { token: await this.service.revoke(ctx, input), message };
  }

  @Extensions(PUBLIC)
  @mutation(
    HeldAccessTokenInput,
    RenewAccessTokenPayload,
    'Extends the lifetime of your access token by another TTL. Needs no Authorization header and does not count as a use.',
  )
  async renewAccessToken(ctx: Context | AnonymousContext, input: object): Promise<RenewAccessTokenPayload> {
    return { ...(await this.holders.renew(ctx, input)), tokenType: TOKEN_TYPE };
  }

  @Extensions(PUBLIC)
  @mutation(
    HeldAccessTokenInput,
    RevokeHeldAccessTokenPayload,
    'Revokes your access token, with the tokens that it created for the same identity or user. Needs no ' +
      'Authorization header and does not count as a use.',
  )
  async revokeHeldAccessToken(ctx: Context | AnonymousContext, input: object): Promise<RevokeHeldAccessTokenPayload> {
    return { accessTokenId: await this.holders.revoke(ctx, input), message };
  }
}

@Resolver()
export class ManyTokensResolver {
  constructor(
    private readonly lists: TokenListService,
    private readonly revocations: TokenRevocationService,
  ) {}

  @query(
    AccessTokenConnection,
    ListTokens,
    'Lists the access tokens that you can read, latest change first: those of machine identities of your ' +
      'organization and of your projects, those of users if you can edit members, and your own if you are a user.',
  )
  accessTokens(ctx: Context, args: object): Promise<CountedConnectionOf<AccessTokenType>> {
    return this.lists.list(ctx, args);
  }

  @query(
    AccessTokenConnection,
    ListPersonalTokens,
    'Lists the personal access tokens of a user, latest change first. You can list your own, and as an admin of the organization those of any user.',
  )
  personalAccessTokens(ctx: Context, args: object): Promise<CountedConnectionOf<AccessTokenType>> {
    return this.lists.listPersonal(ctx, args);
  }

  @mutation(
    RevokeTokens,
    RevokeAccessTokensPayload,
    'Revokes up to 1,000 access tokens permanently, with the tokens that they created for the same holders. Either ' +
      'all are revoked or none. Tokens that were already revoked are left out. Unless tokens are selected by ID, your ' +
      'own token and the tokens that it was created from are left out too.',
  )
  revokeAccessTokens(ctx: Context, input: object): Promise<RevokeAccessTokensPayload> {
    return this.revocations.revoke(ctx, input);
  }
}

const TokenPageArgs = argsType(ListOfIdentity);

@Resolver(() => IdentityType)
export class IdentityTokensResolver {
  constructor(private readonly lists: TokenListService) {}

  @nested(
    AccessTokenConnection,
    'The valid tokens of the identity, latest change first; null if you cannot read them. For all tokens use the query `accessTokens`.',
    TokenPageArgs,
  )
  accessTokens({ id }: IdentityType, ctx: Context, page: object): Promise<CountedConnectionOf<AccessTokenType> | null> {
    return this.lists.listOfIdentity(ctx, id, page);
  }
}

/** What access tokens lead to. */
export const accessTokenRelations = (service: AccessTokenService): object =>
  relations(AccessTokenType, {
    ...accountRelations<AccessTokenType>(
      'The user; null for the token of a machine identity, and if you cannot read it.',
      'The machine identity; null for a personal token, and if you cannot read it.',
      (ids) => ids,
    ),
    subOrganization: relationTo(
      OrganizationType,
      'The sub-organization; null for a token of the root organization, and if you cannot read it.',
      organizationsByIds,
      ({ subOrganizationId }) => subOrganizationId,
    ),
    makerToken: relationTo(
      AccessTokenType,
      'The token that created it; null for a token created in another way, and if you cannot read it.',
      service.byIds,
      ({ makerTokenId }) => makerTokenId,
    ),
    clientSecret: relationTo(
      ClientSecretType,
      'The client secret; null for a token created in another way, and if you cannot read it.',
      clientSecretsByIds,
      ({ clientSecretId }) => clientSecretId,
    ),
  });
