import { Int, Resolver } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { enumType } from '../../../kernel/graphql/enums.js';
import { objectType, orNull } from '../../../kernel/graphql/object-types.js';
import { mutation, query } from '../../../kernel/graphql/operations.js';
import { queryBoolean, routesAt } from '../../../rest/route.js';
import { EXAMPLE_PLACE, PLACE_ERRORS, SECRETS, unresolvedReferences } from '../scope/secret.reply.js';
import {
  ExportSecrets,
  type FileFormat,
  fileFormat,
  type ImportMode,
  type ImportOutcome,
  ImportSecrets,
  importMode,
} from './transfer.rules.js';
import type { ExportedFile, ImportReport, SecretTransferService } from './transfer.service.js';
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

const ImportWarning = objectType('ImportWarning', 'How other readers of the file differ in one line.', {
  reason: [ImportWarningReasonEnum, 'What kind of difference it is.'],
  message: [String, 'The difference in words.'],
});

const ImportedSecret = objectType('ImportedSecret', 'A secret of the imported file.', {
  secretKey: [String, 'Key of the secret, for example `DB_PASSWORD`.'],
  line: [Int, 'Line of the key in the file, from 1.'],
  outcome: [ImportOutcomeEnum, 'Outcome of the import for the secret.'],
  previewedValue: [orNull(String), 'Its value, as read from the file. Only in a preview (`dryRun`); null otherwise.'],
  warnings: [[ImportWarning], 'How other readers of the file would read the line differently.'],
});

const ImportSecretsPayload = objectType(
  'ImportSecretsPayload',
  'Result of `importSecrets`: what the import did or, with `dryRun`, would do.',
  {
    secrets: [[ImportedSecret], 'The secrets of the file, in the order of the file.'],
    created: [Int, 'Number of created secrets.'],
    changed: [Int, 'Number of updated secrets.'],
    unchanged: [Int, 'Number of secrets that already had the same value and comment.'],
    skipped: [Int, 'Number of existing secrets that were kept.'],
    isDryRun: [Boolean, 'Whether this was a preview that changed nothing.'],
  },
);
type ImportSecretsPayload = InstanceType<typeof ImportSecretsPayload>;

/** Converts a report to its API type. Values of the file are decrypted for its sender only here. */
const toImportSecretsPayload = ({ secrets, counts, isDryRun }: ImportReport): ImportSecretsPayload => ({
  secrets: secrets.map((secret) => ({
    ...secret,
    previewedValue: secret.previewedValue?.reveal() ?? null,
  })),
  ...counts,
  isDryRun,
});

const ExportedSecrets = objectType('ExportedSecrets', 'The secrets of a folder as a file.', {
  content: [String, 'Content of the file.'],
  count: [Int, 'Number of secrets in the file.'],
  omitted: [
    Int,
    'IDs of secrets that the file leaves out, because you cannot read their values or they cannot be decrypted.',
  ],
  unresolvedReferences: [Int, 'References in the values that could not be expanded, if expansion was requested.'],
});
type ExportedSecrets = InstanceType<typeof ExportedSecrets>;

/** Decrypts a file for its reader. Only here, as the last step before the response. */
const toExportedSecrets = ({ content, ...about }: ExportedFile): ExportedSecrets => ({
  ...about,
  content: content.reveal(),
});

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

const at = routesAt(SECRETS, { errors: PLACE_ERRORS });

/** Files of secrets, in and out. */
export const transferRoutes = [
  at.post('/import', 'Import secrets from a file, all or nothing', {
    sensitive: true,
    field: 'importSecrets',
    select: '* dryRun: isDryRun',
    body: ImportSecrets,
    chosenBy: ['format', 'content'],
    errors: ['SECRET_KEY_TAKEN', 'ROTATED_SECRET', 'CONCURRENT_CHANGE', 'SEALED_VALUE_INVALID'],
    example: {
      ...EXAMPLE_PLACE,
      format: 'dotenv',
      content: '# of the shop\nDB_PASSWORD="correct horse"\n',
      mode: 'create-only',
      dryRun: true,
    },
  }),
  at.get('/export', 'Export the secrets of a folder as a file', {
    sensitive: true,
    field: 'exportSecrets',
    as: null,
    // A header has them.
    show: ({ unresolvedReferences: _header, ...file }) => file,
    query: ExportSecrets.omit({ includeImports: true }).extend({
      expandSecretReferences: queryBoolean(false),
      include_imports: queryBoolean(false).meta({ description: 'Whether to include imported secrets.' }),
      includeComments: queryBoolean(false),
    }),
    words: { include_imports: 'includeImports' },
    chosenBy: ['format', 'includeComments'],
    headers: [unresolvedReferences(({ exportSecrets }) => exportSecrets.unresolvedReferences)],
  }),
];
