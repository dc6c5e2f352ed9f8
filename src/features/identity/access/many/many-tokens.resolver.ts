import { Resolver } from 'type-graphql';
import type { Context } from '../../../../kernel/context.js';
import { argsType } from '../../../../kernel/graphql/inputs.js';
import { mutation, nested, query } from '../../../../kernel/graphql/operations.js';
import type { CountedConnectionOf } from '../../../../kernel/paging.js';
import { IdentityType } from '../../identities/public.js';
import { ListOfIdentity, ListPersonalTokens, ListTokens, RevokeTokens } from '../access-token.rules.js';
import { AccessTokenConnection, AccessTokenType, RevokeAccessTokensPayload } from '../access-token.type.js';
import type { TokenListService } from './token-list.service.js';
import type { TokenRevocationService } from './token-revocation.service.js';

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
    [AccessTokenType],
    'The valid tokens of the identity, latest change first; null if you cannot read them. For all tokens use the query `accessTokens`.',
  )
  async accessTokens({ id }: IdentityType, ctx: Context): Promise<readonly AccessTokenType[] | null> {
    return (await this.lists.listOfIdentity(ctx, id))?.nodes ?? null;
  }

  @nested(AccessTokenConnection, 'The same as `accessTokens`, with pagination.', TokenPageArgs)
  accessTokenConnection(
    { id }: IdentityType,
    ctx: Context,
    page: object,
  ): Promise<CountedConnectionOf<AccessTokenType> | null> {
    return this.lists.listOfIdentity(ctx, id, page);
  }
}
