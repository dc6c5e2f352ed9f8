import { Resolver } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { mutation, query } from '../../../kernel/graphql/operations.js';
import { ExportSecrets, ImportSecrets } from './transfer.rules.js';
import type { SecretTransferService } from './transfer.service.js';
import { ExportedSecrets, ImportSecretsPayload, toExportedSecrets, toImportSecretsPayload } from './transfer.type.js';

@Resolver()
export class SecretTransferResolver {
  constructor(private readonly service: SecretTransferService) {}

  @mutation(
    ImportSecrets,
    ImportSecretsPayload,
    'Imports the secrets of a file into a folder. Either all are imported or none.',
  )
  async importSecrets(ctx: Context, input: object): Promise<ImportSecretsPayload> {
    return toImportSecretsPayload(await this.service.import(ctx, input));
  }

  @query(
    ExportedSecrets,
    ExportSecrets,
    'Exports the secrets of a folder as a file, ordered by key. Your personal values replace the shared ones.',
  )
  async exportSecrets(ctx: Context, args: object): Promise<ExportedSecrets> {
    return toExportedSecrets(await this.service.export(ctx, args));
  }
}
