import { Field, Int, ObjectType } from 'type-graphql';
import { enumType } from '../../../kernel/graphql/enums.js';
import { type FileFormat, fileFormat, type ImportMode, type ImportOutcome, importMode } from './transfer.rules.js';
import type { ExportedFile, ImportReport } from './transfer.service.js';
import type { WarningReason } from './transfer-format.rules.js';

enumType<FileFormat>(
  'SecretFileFormat',
  'Format of a file of secrets.',
  {
    dotenv: 'Lines of `KEY=value`, as the npm package `dotenv`, Docker Compose and python-dotenv read them alike.',
    json: 'One flat JSON object whose values are strings.',
    yaml: 'One flat YAML map. Scalars are read as strings as written: `8080` becomes the string `8080`.',
  },
  fileFormat,
);

enumType<ImportMode>(
  'ImportSecretsMode',
  'What an import does with secrets that the folder already has.',
  {
    'create-only': 'Reject the whole import.',
    overwrite: 'Replace the value and, if the file has one, the comment.',
    'skip-existing': 'Keep the secret of the folder.',
  },
  importMode,
);

const ImportOutcomeEnum = enumType<ImportOutcome>(
  'ImportSecretsOutcome',
  'Outcome of the import for a secret of the file.',
  {
    created: 'The secret was created.',
    changed: 'The secret existed and was updated. Also returned for every existing secret whose value you cannot read.',
    unchanged: 'The secret existed with the same value and comment.',
    skipped: 'The secret existed and was kept.',
  },
);

const ImportWarningReasonEnum = enumType<WarningReason>(
  'ImportWarningReason',
  'How other readers of the file differ.',
  {
    VARIABLE: 'Other readers replace variables in the value. Here `$NAME` is text, and `${NAME}` is a reference.',
    NOT_FOR_SHELL: 'A shell that sources the file reads the line differently.',
  },
);

@ObjectType({ description: 'How other readers of the file differ in one line.', simpleResolvers: true })
export class ImportWarning {
  @Field(() => ImportWarningReasonEnum, { description: 'What kind of difference it is.' })
  reason!: WarningReason;

  @Field(() => String, { description: 'The difference in words.' })
  message!: string;
}

@ObjectType({ description: 'A secret of the imported file.', simpleResolvers: true })
export class ImportedSecret {
  @Field(() => String, { description: 'Key of the secret, for example `DB_PASSWORD`.' })
  secretKey!: string;

  @Field(() => Int, { description: 'Line of the key in the file, from 1.' })
  line!: number;

  @Field(() => ImportOutcomeEnum, { description: 'Outcome of the import for the secret.' })
  outcome!: ImportOutcome;

  @Field(() => String, {
    nullable: true,
    description: 'Its value, as read from the file. Only in a preview (`dryRun`); null otherwise.',
  })
  previewedValue!: string | null;

  @Field(() => [ImportWarning], { description: 'How other readers of the file would read the line differently.' })
  warnings!: readonly ImportWarning[];
}

@ObjectType({
  description: 'Result of `importSecrets`: what the import did or, with `dryRun`, would do.',
  simpleResolvers: true,
})
export class ImportSecretsPayload {
  @Field(() => [ImportedSecret], { description: 'The secrets of the file, in the order of the file.' })
  secrets!: readonly ImportedSecret[];

  @Field(() => Int, { description: 'Number of created secrets.' })
  created!: number;

  @Field(() => Int, { description: 'Number of updated secrets.' })
  changed!: number;

  @Field(() => Int, { description: 'Number of secrets that already had the same value and comment.' })
  unchanged!: number;

  @Field(() => Int, { description: 'Number of existing secrets that were kept.' })
  skipped!: number;

  @Field(() => Boolean, { description: 'Whether this was a preview that changed nothing.' })
  dryRun!: boolean;
}

/** Converts a report to its API type. Values of the file are decrypted for its sender only here. */
export const toImportSecretsPayload = ({ secrets, counts, isDryRun }: ImportReport): ImportSecretsPayload => ({
  secrets: secrets.map((secret) => ({
    ...secret,
    previewedValue: secret.previewedValue?.reveal() ?? null,
  })),
  ...counts,
  dryRun: isDryRun,
});

@ObjectType({ description: 'The secrets of a folder as a file.', simpleResolvers: true })
export class ExportedSecrets {
  @Field(() => String, { description: 'Content of the file.' })
  content!: string;

  @Field(() => Int, { description: 'Number of secrets in the file.' })
  count!: number;

  @Field(() => Int, {
    description:
      'IDs of secrets that the file leaves out, because you cannot read their values or they cannot be decrypted.',
  })
  omitted!: number;

  @Field(() => Int, { description: 'References in the values that could not be expanded, if expansion was requested.' })
  unresolvedReferences!: number;
}

/** Decrypts a file for its reader. Only here, as the last step before the response. */
export const toExportedSecrets = ({ content, ...about }: ExportedFile): ExportedSecrets => ({
  ...about,
  content: content.reveal(),
});
