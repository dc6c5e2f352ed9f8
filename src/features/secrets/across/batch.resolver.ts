import { Resolver } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { mutation } from '../../../kernel/graphql/operations.js';
import { ReplaceValue, UpdateSecretsById } from './batch.rules.js';
import { ReplaceValuePayload, toReplacePayload, toUpdatePayload, UpdateSecretsByIdPayload } from './batch.type.js';
import type { ReplaceValueService } from './replace-value.service.js';
import type { UpdateByIdService } from './update-by-id.service.js';

@Resolver()
export class SecretBatchResolver {
  constructor(
    private readonly updates: UpdateByIdService,
    private readonly replacing: ReplaceValueService,
  ) {}

  @mutation(
    UpdateSecretsById,
    UpdateSecretsByIdPayload,
    'Updates shared secrets of any folders, environments and projects, or previews the changes. Either all changes are applied or none.',
  )
  async updateSecretsById(ctx: Context, input: object): Promise<UpdateSecretsByIdPayload> {
    return toUpdatePayload(await this.updates.update(ctx, input));
  }

  @mutation(
    ReplaceValue,
    ReplaceValuePayload,
    'Replaces a value in every shared secret that has it and that you can read and edit, at most 500. Either all ' +
      'are changed or none. Values that only reference such a secret are not changed.',
  )
  async replaceValue(ctx: Context, input: object): Promise<ReplaceValuePayload> {
    return toReplacePayload(await this.replacing.replace(ctx, input));
  }
}
