import { Arg, Ctx, Mutation, Resolver } from 'type-graphql';
import type { Context } from '../../kernel/context.js';
import { Input } from '../../kernel/graphql/inputs.js';
import type { RestoreService } from './restore.service.js';
import {
  RestoreSecretInput,
  RestoreSecretPayload,
  RestoreSecretsInput,
  RestoreSecretsPayload,
  toRestoreSecretPayload,
  toRestoreSecretsPayload,
} from './restore.type.js';
import type { StateRestoreService } from './restore-state.service.js';

@Resolver(() => RestoreSecretPayload)
export class RestoreResolver {
  constructor(
    private readonly secrets: RestoreService,
    private readonly states: StateRestoreService,
  ) {}

  @Mutation(() => RestoreSecretPayload, {
    description: 'Gives a secret the contents of an old version, as a new version. A deleted secret comes back.',
  })
  async restoreSecret(@Ctx() ctx: Context, @Input(RestoreSecretInput) input: object): Promise<RestoreSecretPayload> {
    return toRestoreSecretPayload(await this.secrets.restore(ctx, input));
  }

  @Mutation(() => RestoreSecretsPayload, {
    description:
      'Makes the secrets of a folder or an environment what they were at a moment, all or none. The caller must know of all that is or was there.',
  })
  async restoreSecrets(
    @Ctx() ctx: Context,
    @Arg('input', () => RestoreSecretsInput, { description: 'What and when.' }) input: RestoreSecretsInput,
  ): Promise<RestoreSecretsPayload> {
    return toRestoreSecretsPayload(await this.states.restore(ctx, input));
  }
}
