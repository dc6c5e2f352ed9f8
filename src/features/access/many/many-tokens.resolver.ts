import { Resolver } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { argsType } from '../../../kernel/graphql/inputs.js';
import { mutation, nested, query } from '../../../kernel/graphql/operations.js';
import type { CountedConnectionOf } from '../../../kernel/paging.js';
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
    'The tokens that you may read, newest change first: of your organization’s machine identities and of those of your projects, of users if you may change members, and your own if you are a user.',
  )
  accessTokens(ctx: Context, args: object): Promise<CountedConnectionOf<AccessTokenType>> {
    return this.lists.list(ctx, args);
  }

  @query(
    AccessTokenConnection,
    ListPersonalTokens,
    'The personal access tokens of a user, newest change first: your own, or as an admin of the organization anyone’s.',
  )
  personalAccessTokens(ctx: Context, args: object): Promise<CountedConnectionOf<AccessTokenType>> {
    return this.lists.listPersonal(ctx, args);
  }

  @mutation(
    RevokeTokens,
    RevokeAccessTokensPayload,
    'Revokes up to 1,000 tokens and what they made for their own holders, all or none, at once and for good. Those that were revoked before are left out, and of those that are not named by their ids the one that you use with those it was made from.',
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
    'Its tokens that still pass, newest change first; null if you may not read them. All tokens: `accessTokens` at the root.',
  )
  async accessTokens({ id }: IdentityType, ctx: Context): Promise<readonly AccessTokenType[] | null> {
    return (await this.lists.listOfIdentity(ctx, id))?.nodes ?? null;
  }

  @nested(AccessTokenConnection, 'As `accessTokens`, in pages.', TokenPageArgs)
  accessTokenConnection(
    { id }: IdentityType,
    ctx: Context,
    page: object,
  ): Promise<CountedConnectionOf<AccessTokenType> | null> {
    return this.lists.listOfIdentity(ctx, id, page);
  }
}
