import { Arg, Ctx, Mutation, Resolver } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { Input } from '../../../kernel/graphql/inputs.js';
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
    description:
      'Restores the contents of an old version of a secret, as a new version. A deleted secret is created again with its ID.',
  })
  async restoreSecret(@Ctx() ctx: Context, @Input(RestoreSecretInput) input: object): Promise<RestoreSecretPayload> {
    return toRestoreSecretPayload(await this.secrets.restore(ctx, input));
  }

  @Mutation(() => RestoreSecretsPayload, {
    description:
      'Restores the secrets of a folder or an environment to a point in time, all or nothing. You must be able to see ' +
      'all secrets that exist now or existed then.',
  })
  async restoreSecrets(
    @Ctx() ctx: Context,
    @Arg('input', () => RestoreSecretsInput, { description: 'The folder and the point in time.' })
    input: RestoreSecretsInput,
  ): Promise<RestoreSecretsPayload> {
    return toRestoreSecretsPayload(await this.states.restore(ctx, input));
  }
}
