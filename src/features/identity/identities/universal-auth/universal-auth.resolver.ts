import { Resolver } from 'type-graphql';
import type { Context } from '../../../../kernel/context.js';
import { mutation, query } from '../../../../kernel/graphql/operations.js';
import { AttachUniversalAuth, OneUniversalAuth, UpdateUniversalAuth } from './universal-auth.rules.js';
import type { UniversalAuthService } from './universal-auth.service.js';
import { UniversalAuthType } from './universal-auth.type.js';

@Resolver(() => UniversalAuthType)
export class UniversalAuthResolver {
  constructor(private readonly service: UniversalAuthService) {}

  @query(UniversalAuthType, OneUniversalAuth, 'Returns the settings of universal authentication of a machine identity.')
  identityUniversalAuth(ctx: Context, args: object): Promise<UniversalAuthType> {
    return this.service.get(ctx, args);
  }

  @mutation(
    AttachUniversalAuth,
    { universalAuth: [UniversalAuthType, 'The settings of the attached universal authentication.'] },
    'Attaches universal authentication to a machine identity, which gets a client ID.',
  )
  async attachUniversalAuth(ctx: Context, input: object): Promise<{ universalAuth: UniversalAuthType }> {
    return { universalAuth: await this.service.attach(ctx, input) };
  }

  @mutation(
    UpdateUniversalAuth,
    { universalAuth: [UniversalAuthType, 'The updated settings.'] },
    'Changes the settings of universal authentication of a machine identity.',
  )
  async updateUniversalAuth(ctx: Context, input: object): Promise<{ universalAuth: UniversalAuthType }> {
    return { universalAuth: await this.service.update(ctx, input) };
  }

  @mutation(
    OneUniversalAuth,
    { universalAuth: [UniversalAuthType, 'The settings of the removed universal authentication.'] },
    'Removes universal authentication from a machine identity. Its client secrets and the tokens issued with them are revoked immediately.',
  )
  async removeUniversalAuth(ctx: Context, input: object): Promise<{ universalAuth: UniversalAuthType }> {
    return { universalAuth: await this.service.remove(ctx, input) };
  }
}
