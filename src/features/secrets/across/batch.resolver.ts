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
    'Changes shared secrets of any folders, environments and projects, all or none, or shows what would change.',
  )
  async updateSecretsById(ctx: Context, input: object): Promise<UpdateSecretsByIdPayload> {
    return toUpdatePayload(await this.updates.update(ctx, input));
  }

  @mutation(
    ReplaceValue,
    ReplaceValuePayload,
    'Replaces a value in all shared secrets that have it and that you may read and edit, all or none; at most 500. Other values that refer to it by name are not changed.',
  )
  async replaceValue(ctx: Context, input: object): Promise<ReplaceValuePayload> {
    return toReplacePayload(await this.replacing.replace(ctx, input));
  }
}
