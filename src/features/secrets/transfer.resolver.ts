import { Arg, Args, Ctx, Mutation, Query, Resolver } from 'type-graphql';
import type { Context } from '../../kernel/context.js';
import type { SecretTransferService } from './transfer.service.js';
import {
  ExportedSecrets,
  ExportSecretsArgs,
  ImportSecretsInput,
  ImportSecretsPayload,
  toExportedSecrets,
  toImportSecretsPayload,
} from './transfer.type.js';

@Resolver()
export class SecretTransferResolver {
  constructor(private readonly service: SecretTransferService) {}

  @Mutation(() => ImportSecretsPayload, { description: 'Takes the secrets of a file into a folder, all or none.' })
  async importSecrets(
    @Ctx() ctx: Context,
    @Arg('input', () => ImportSecretsInput, { description: 'The file, and where it goes.' }) input: ImportSecretsInput,
  ): Promise<ImportSecretsPayload> {
    return toImportSecretsPayload(await this.service.import(ctx, input));
  }

  @Query(() => ExportedSecrets, {
    description: 'Secrets of one folder as a file, by key. A value of your own stands in place of the shared one.',
  })
  async exportSecrets(
    @Ctx() ctx: Context,
    @Args(() => ExportSecretsArgs) args: ExportSecretsArgs,
  ): Promise<ExportedSecrets> {
    return toExportedSecrets(await this.service.export(ctx, args));
  }
}
