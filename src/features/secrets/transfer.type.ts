import { Field, Int, ObjectType, registerEnumType } from 'type-graphql';
import { enumOfRule } from '../../kernel/graphql/inputs.js';
import { fileFormat, type ImportOutcome, importMode } from './transfer.rules.js';
import type { ExportedFile, ImportReport } from './transfer.service.js';

/** GraphQL's names of the forms of files. */
export const SecretFileFormatEnum = { DOTENV: 'dotenv', JSON: 'json', YAML: 'yaml' } as const;
registerEnumType(SecretFileFormatEnum, {
  name: 'SecretFileFormat',
  description: 'The form of a file of secrets.',
  valuesConfig: {
    DOTENV: { description: 'Lines `KEY=value`, as the npm package `dotenv` reads them.' },
    JSON: { description: 'One flat object of texts.' },
    YAML: { description: 'One flat map; scalars are the text that stands there.' },
  },
});
enumOfRule(fileFormat, SecretFileFormatEnum);

/** GraphQL's names of what secrets that are there do to an import. */
export const ImportSecretsModeEnum = {
  CREATE_ONLY: 'create-only',
  OVERWRITE: 'overwrite',
  SKIP_EXISTING: 'skip-existing',
} as const;
registerEnumType(ImportSecretsModeEnum, {
  name: 'ImportSecretsMode',
  description: 'What becomes of secrets of the folder that the file names as well.',
  valuesConfig: {
    CREATE_ONLY: { description: 'With any of them the whole import is refused.' },
    OVERWRITE: { description: 'They get the value of the file and, where it has one, the comment.' },
    SKIP_EXISTING: { description: 'They stay as they are.' },
  },
});
enumOfRule(importMode, ImportSecretsModeEnum);

/** GraphQL's names of what becomes of secrets of a file. */
export const ImportSecretsOutcomeEnum = {
  CREATED: 'created',
  CHANGED: 'changed',
  UNCHANGED: 'unchanged',
  SKIPPED: 'skipped',
} as const;
registerEnumType(ImportSecretsOutcomeEnum, {
  name: 'ImportSecretsOutcome',
  description: 'What became of a secret of the file.',
  valuesConfig: {
    CREATED: { description: 'It is new.' },
    CHANGED: {
      description: 'It was there and is written anew. So are those whose values you may not read, whatever they are.',
    },
    UNCHANGED: { description: 'It was there, with the same value and comment.' },
    SKIPPED: { description: 'It was there and stays as it is.' },
  },
});

@ObjectType({ description: 'What became of a secret of the file.', simpleResolvers: true })
export class ImportedSecret {
  @Field(() => String, { description: 'Its key.' })
  secretKey!: string;

  @Field(() => Int, { description: 'Where the key stands in the file, from 1.' })
  line!: number;

  @Field(() => ImportSecretsOutcomeEnum, { description: 'What became of it.' })
  outcome!: ImportOutcome;
}

@ObjectType({ description: 'What the import did or, as a dry run, would do.', simpleResolvers: true })
export class ImportSecretsPayload {
  @Field(() => [ImportedSecret], { description: 'The secrets of the file, in its order.' })
  secrets!: readonly ImportedSecret[];

  @Field(() => Int, { description: 'How many are new.' })
  created!: number;

  @Field(() => Int, { description: 'How many are written anew.' })
  changed!: number;

  @Field(() => Int, { description: 'How many are the same already.' })
  unchanged!: number;

  @Field(() => Int, { description: 'How many stay as they are.' })
  skipped!: number;

  @Field(() => Boolean, { description: 'Nothing was changed.' })
  dryRun!: boolean;
}

/** A report as the API shows it. */
export const toImportSecretsPayload = ({ secrets, counts, isDryRun }: ImportReport): ImportSecretsPayload => ({
  secrets,
  ...counts,
  dryRun: isDryRun,
});

@ObjectType({ description: 'Secrets of a folder as a file.', simpleResolvers: true })
export class ExportedSecrets {
  @Field(() => String, { description: 'The file.' })
  content!: string;

  @Field(() => Int, { description: 'How many secrets it holds.' })
  count!: number;

  @Field(() => Int, {
    description: 'Secrets that it does not hold, because you may not read their values or they cannot be decrypted.',
  })
  omitted!: number;

  @Field(() => Int, { description: 'References in its values that were to be expanded and stay as they stand.' })
  unresolvedReferences!: number;
}

/** Opens a file for its reader. Here, as the last step before the answer, and nowhere else. */
export const toExportedSecrets = ({ content, ...about }: ExportedFile): ExportedSecrets => ({
  ...about,
  content: content.reveal(),
});
