import { Resolver } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { mutation } from '../../../kernel/graphql/operations.js';
import { RestoreSecret } from '../versions/version.rules.js';
import type { RestoreService } from './restore.service.js';
import {
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

  @mutation(
    RestoreSecret,
    RestoreSecretPayload,
    'Restores the contents of an old version of a secret, as a new version. A deleted secret is created again with its ID.',
  )
  async restoreSecret(ctx: Context, input: object): Promise<RestoreSecretPayload> {
    return toRestoreSecretPayload(await this.secrets.restore(ctx, input));
  }

  @mutation(
    RestoreSecretsInput,
    RestoreSecretsPayload,
    'Restores the secrets of a folder or an environment to a point in time, all or nothing. You must be able to see ' +
      'all secrets that exist now or existed then.',
  )
  async restoreSecrets(ctx: Context, input: object): Promise<RestoreSecretsPayload> {
    return toRestoreSecretsPayload(await this.states.restore(ctx, input));
  }
}
