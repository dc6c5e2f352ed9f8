import { Resolver } from 'type-graphql';
import type { Context } from '../../../../kernel/context.js';
import { linked } from '../../../../kernel/database/batched.js';
import { nested } from '../../../../kernel/graphql/operations.js';
import { configurationsOf } from '../identity.relations.js';
import { IdentityType } from '../identity.type.js';
import { IdentityUniversalAuth } from '../universal-auth.entity.js';
import { UniversalAuthType } from './universal-auth.type.js';
import { toUniversalAuthView } from './universal-auth.view.js';

const universalAuthsOf = configurationsOf(IdentityUniversalAuth, toUniversalAuthView);

@Resolver(() => IdentityType)
export class IdentityUniversalAuthResolver {
  @nested(UniversalAuthType, 'Settings of universal authentication. Null if it is not attached.')
  universalAuth({ id, hasUniversalAuth }: IdentityType, ctx: Context): Promise<UniversalAuthType | null> {
    return linked(ctx, universalAuthsOf, hasUniversalAuth ? id : null);
  }
}
