import { Resolver } from 'type-graphql';
import type { Context } from '../../../../kernel/context.js';
import { linked } from '../../../../kernel/database/batched.js';
import { nested } from '../../../../kernel/graphql/operations.js';
import { configurationsOf } from '../identity.relations.js';
import { IdentityType } from '../identity.type.js';
import { IdentityTokenAuth } from '../token-auth.entity.js';
import { toTokenAuthView } from '../token-auth.view.js';
import { TokenAuthType } from './token-auth.type.js';

const tokenAuthsOf = configurationsOf(IdentityTokenAuth, toTokenAuthView);

@Resolver(() => IdentityType)
export class IdentityTokenAuthResolver {
  @nested(TokenAuthType, 'Settings of token authentication. Null if it is not attached.')
  tokenAuth({ id, hasTokenAuth }: IdentityType, ctx: Context): Promise<TokenAuthType | null> {
    return linked(ctx, tokenAuthsOf, hasTokenAuth ? id : null);
  }
}
