import { Arg, Ctx, ID, Mutation, Query, Resolver } from 'type-graphql';
import type { Context } from '../../kernel/context.js';
import type { FileFormat } from './transfer.rules.js';
import type { SecretTransferService } from './transfer.service.js';
import {
  ExportedSecrets,
  ImportSecretsInput,
  ImportSecretsPayload,
  SecretFileFormatEnum,
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
    @Arg('projectId', () => ID, { description: 'The project.' }) projectId: string,
    @Arg('environment', () => String, { description: 'Slug of the environment.' }) environment: string,
    @Arg('secretPath', () => String, { description: 'Path of the folder.', defaultValue: '/' }) secretPath: string,
    @Arg('format', () => SecretFileFormatEnum, { description: 'The form of the file.' }) format: FileFormat,
    @Arg('includeComments', () => Boolean, {
      description: 'Comments of secrets as lines above them. JSON has no place for them.',
      defaultValue: false,
    })
    includeComments: boolean,
  ): Promise<ExportedSecrets> {
    const place = { projectId, environment, secretPath };
    return toExportedSecrets(await this.service.export(ctx, { ...place, format, includeComments }));
  }
}
