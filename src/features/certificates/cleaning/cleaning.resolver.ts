import { Resolver } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { mutation, query } from '../../../kernel/graphql/operations.js';
import { ProjectOfCleaning, UpdateCleaning } from './cleaning.rules.js';
import type { CleaningService } from './cleaning.service.js';
import { CleaningType } from './cleaning.type.js';

@Resolver(() => CleaningType)
export class CleaningResolver {
  constructor(private readonly service: CleaningService) {}

  @query(CleaningType, ProjectOfCleaning, 'Setting for the deletion of expired certificates of a project.')
  certificateCleaning(ctx: Context, args: object): Promise<CleaningType> {
    return this.service.get(ctx, args);
  }

  @mutation(
    UpdateCleaning,
    { certificateCleaning: [CleaningType, 'The updated setting.'] },
    'Sets whether and when expired certificates of a project are deleted automatically. Requires `delete` on `certificates`.',
  )
  async updateCertificateCleaning(ctx: Context, input: object): Promise<{ certificateCleaning: CleaningType }> {
    return { certificateCleaning: await this.service.update(ctx, input) };
  }
}
