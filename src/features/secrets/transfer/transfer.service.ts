import type { AuditEvent } from '../../../kernel/audit/audit-record.js';
import { authorize } from '../../../kernel/authz/ability.js';
import type { Context, Transaction } from '../../../kernel/context.js';
import { SealedText } from '../../../kernel/crypto/sealed-text.js';
import { inTransaction } from '../../../kernel/database/in-transaction.js';
import { AppError } from '../../../kernel/errors.js';
import { parse, validationFailed } from '../../../kernel/validation.js';
import type { ProjectReader } from '../../projects/public.js';
import type { SecretRecord } from '../core/find-secrets.js';
import { lockRecords } from '../core/locked-secrets.js';
import type { PathOf, SecretChange } from '../core/secret.rules.js';
import { type ImportView, type SecretView, SecretViewer } from '../core/secret.view.js';
import { openerFor } from '../core/secret-sealing.js';
import { takenKeys } from '../core/secret-writes.js';
import { refuseTakenKeys, subjectOf } from '../core/write-checks.js';
import { loadWriteTarget, lockTargetFolders, type WriteTarget } from '../core/write-target.js';
import type { SecretListingService } from '../reading/secret-listing.service.js';
import { authorizeReferences } from '../references/reference-writes.js';
import { byPrecedence, type SecretLocation } from '../scope/location.rules.js';
import { findScope } from '../scope/scope.sql.js';
import { fieldsOf, Visibility } from '../scope/visibility.rules.js';
import type { SecretService } from '../writing/secret.service.js';
import {
  countOutcomes,
  ExportSecrets,
  effectiveSecrets,
  type FileFormat,
  fileViolations,
  type ImportMode,
  type ImportOutcome,
  ImportSecrets,
  inexpressibleViolations,
  parseFile,
  positionInFile,
  printFile,
} from './transfer.rules.js';
import type { Entry, Inexpressible, Warning } from './transfer-format.rules.js';

/** Result of an import or its preview: each secret of the file, in order. */
export interface ImportReport {
  readonly secrets: readonly ImportedEntry[];
  readonly counts: Readonly<Record<ImportOutcome, number>>;
  readonly isDryRun: boolean;
}

/** A secret of an imported file. */
interface ImportedEntry extends Pick<Entry, 'line'> {
  readonly secretKey: string;
  readonly outcome: ImportOutcome;
  readonly warnings: readonly Warning[];
  /** The value as read from the file: only in a preview. */
  readonly previewedValue: SealedText | null;
}

/** Secrets of a folder as a file. */
export interface ExportedFile {
  readonly content: SealedText;
  readonly count: number;
  /** Secrets whose values the caller may not read, or that cannot be decrypted. */
  readonly omitted: number;
  /** References in them that could not be expanded. */
  readonly unresolvedReferences: number;
}

interface Import {
  readonly place: SecretLocation;
  readonly format: FileFormat;
  readonly entries: readonly Entry[];
  readonly mode: ImportMode;
  readonly isDryRun: boolean;
}

/** Maximum number of retries of an import that found a key to be free which another caller then took. */
const ATTEMPTS = 3;

/** Imports and exports files of secrets. */
export class SecretTransferService {
  constructor(
    private readonly projects: ProjectReader,
    private readonly secrets: SecretService,
    private readonly listing: SecretListingService,
  ) {}

  /**
   * Imports the secrets of a file into a folder, all or nothing. A preview does the same, and then rolls it back.
   *
   * Whether a secret already has the value is reported to callers who may read it; for others it counts as changed.
   *
   * @param raw place, `format`, `content`, `mode`, `dryRun`; the rules are `ImportSecrets`
   * @throws VALIDATION_FAILED, PROJECT_NOT_FOUND, ENVIRONMENT_NOT_FOUND, FOLDER_NOT_FOUND, PERMISSION_DENIED,
   * SECRET_KEY_TAKEN, CONCURRENT_CHANGE, SEALED_VALUE_INVALID, AUDIT_UNAVAILABLE; violations of the file are at
   * `content[line]`
   */
  async import(ctx: Context, raw: unknown): Promise<ImportReport> {
    const { format, content, mode, dryRun: isDryRun, ...place } = parse(ImportSecrets, raw);
    const file = parseFile(format, content);
    if (file.violations.length > 0) throw validationFailed(fileViolations(file));
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#import(ctx, { place, format, entries: file.entries, mode, isDryRun });
      } catch (error) {
        const isRace = error instanceof AppError && error.code === 'SECRET_KEY_TAKEN' && error.details === undefined;
        if (!isRace || attempt === ATTEMPTS) throw error;
      }
    }
  }

  /**
   * Secrets of a folder as a file, by key; with `includeImports` also those that are effective there by import. Those
   * whose values the caller may not read are left out and counted, and nothing else replaces them; a personal value
   * replaces the shared one.
   *
   * @param raw place, `format` and what is to be in the file; the rules are `ExportSecrets`
   * @throws VALIDATION_FAILED, PROJECT_NOT_FOUND, PERMISSION_DENIED, ENVIRONMENT_NOT_FOUND, FOLDER_NOT_FOUND,
   * NOT_EXPRESSIBLE, AUDIT_UNAVAILABLE
   */
  async export(ctx: Context, raw: unknown): Promise<ExportedFile> {
    const { format, includeComments, ...asked } = parse(ExportSecrets, raw);
    const { file, effective, readable } = await this.listing.listFor(ctx, asked, async (page) => {
      const imported = page.imports.length === 0 ? [] : await inOrderOfPrecedence(ctx, asked, page.imports);
      const effective = effectiveSecrets([page.nodes, ...imported]);
      const readable = effective.filter(({ secretValue }) => secretValue !== null);
      const file = await printSecrets(readable, {
        format,
        includeComments,
        isExpanded: asked.expandSecretReferences,
      });
      return { shown: { file, effective, readable }, views: 'inexpressible' in file ? [] : readable };
    });
    if ('inexpressible' in file) {
      throw new AppError('NOT_EXPRESSIBLE', undefined, {
        details: inexpressibleViolations(file.inexpressible, readable),
      });
    }
    return {
      content: file.content,
      count: readable.length,
      omitted: effective.length - readable.length,
      unresolvedReferences: readable.reduce((sum, { referenceIssues }) => sum + referenceIssues.length, 0),
    };
  }

  async #import(ctx: Context, given: Import): Promise<ImportReport> {
    const work = (tx: Transaction): Promise<Imported> => this.#write(tx, given);
    const { report, event, isWritten } = given.isDryRun ? await rehearsed(ctx, work) : await inTransaction(ctx, work);
    if (!isWritten || given.isDryRun) await ctx.auditTrail.recordRead(ctx, event);
    return report;
  }

  async #write(tx: Transaction, { place, format, entries, mode, isDryRun }: Import): Promise<Imported> {
    const pathOf = (index: number): string => positionInFile(entries[index] as Entry);
    const target = await loadWriteTarget(tx, this.projects, { place, pathOf }, 'secrets:create');
    await lockTargetFolders(tx, [target]);
    const { outcomeOf, records = [] } = await OUTCOMES[mode](tx, target, entries);
    const secrets = entries.map(
      (entry): Decided => ({
        entry,
        secretKey: entry.key,
        line: entry.line,
        outcome: outcomeOf(entry),
        warnings: entry.warnings ?? [],
        previewedValue: isDryRun ? new SealedText(entry.value) : null,
      }),
    );
    const counts = countOutcomes(secrets.map(({ outcome }) => outcome));
    const facts = { format, mode, ...counts };
    const written = secrets.filter(({ outcome }) => outcome === 'created' || outcome === 'changed');
    if (written.length > 0) {
      const ofWritten: PathOf = (index) => positionInFile((written[index] as Decided).entry);
      await this.secrets.put(
        tx,
        { ...target, pathOf: ofWritten },
        {
          secrets: written.map(({ entry }) => toChange(entry)),
          records,
          action: 'secret:import',
          facts,
        },
      );
    }
    return {
      report: { secrets: secrets.map(({ entry: _, ...reported }) => reported), counts, isDryRun },
      event: {
        action: isDryRun ? 'secret:import-dry-run' : 'secret:import',
        projectId: target.project.projectId,
        facts: { environmentId: target.environmentId, folderId: target.folderId, ...facts },
      },
      isWritten: written.length > 0,
    };
  }
}

interface Decided extends ImportedEntry {
  readonly entry: Entry;
}

interface Imported {
  readonly report: ImportReport;
  /** The audit record, unless the change wrote its own. */
  readonly event: AuditEvent;
  readonly isWritten: boolean;
}

/** A file without a comment above a secret keeps the comment of the secret. */
const toChange = ({ key, value, comment }: Entry): SecretChange => ({
  secretKey: key,
  secretValue: value,
  ...(comment === undefined ? {} : { secretComment: comment }),
});

/** Runs the change, rolls it back, and returns its result. Never called inside of a transaction. */
async function rehearsed<T>(ctx: Context, work: (tx: Transaction) => Promise<T>): Promise<T> {
  const takeBack = new Error('taken back');
  let result: T | undefined;
  const run = inTransaction(ctx, async (tx) => {
    result = await work(tx);
    throw takeBack;
  });
  await run.catch((error: unknown) => {
    if (error !== takeBack) throw error;
  });
  return result as T;
}

/** What an import does with its entries. */
interface Decision {
  readonly outcomeOf: (entry: Entry) => ImportOutcome;
  /** The secrets that it changes, locked. Absent: it only creates. */
  readonly records?: Iterable<SecretRecord>;
}

/** @param target its folder is locked @throws PERMISSION_DENIED, SECRET_KEY_TAKEN */
type Decide = (tx: Transaction, target: WriteTarget, entries: readonly Entry[]) => Promise<Decision>;

/**
 * The outcomes of the entries, by mode. Rights are checked for each of them, whatever its outcome: the check must not
 * depend on what exists. Conflicts are named, even where the caller may not see them: the key is taken.
 */
const OUTCOMES: Readonly<Record<ImportMode, Decide>> = {
  'create-only': async (tx, target, entries) => {
    authorizeNew(target, entries);
    await refuseTakenKeys(tx, target, keysOf(entries));
    return { outcomeOf: () => 'created' };
  },

  'skip-existing': async (tx, target, entries) => {
    authorizeNew(target, entries);
    const taken = await takenKeys(tx, target.folderId, keysOf(entries));
    return { outcomeOf: ({ key }) => (taken.has(key) ? 'skipped' : 'created') };
  },

  overwrite: async (tx, target, entries) => {
    const { project, pathOf } = target;
    const records = await lockRecords(tx, target, keysOf(entries));
    for (const record of records.values()) authorize(project, 'secrets:edit', fieldsOf(record));
    const places = entries.flatMap(({ key }, index) => (records.has(key) ? [] : [index]));
    const missing = entries.filter(({ key }) => !records.has(key));
    authorizeNew(target, missing);
    const ofMissing: PathOf = (index, field) => pathOf(places[index] as number, field);
    await refuseTakenKeys(tx, { ...target, pathOf: ofMissing }, keysOf(missing));
    const opener = await openerFor(tx, project, [...records.values()]);
    const viewer = new SecretViewer(opener, new Visibility(project.ability), true);
    const outcomeOf = (entry: Entry): ImportOutcome => {
      const record = records.get(entry.key);
      if (record === undefined) return 'created';
      return hasAlready(viewer.view(record), entry) ? 'unchanged' : 'changed';
    };
    return { outcomeOf, records: records.values() };
  },
};

const keysOf = (entries: readonly Entry[]): string[] => entries.map(({ key }) => key);

/** @throws PERMISSION_DENIED */
function authorizeNew({ project, place }: WriteTarget, entries: readonly Entry[]): void {
  for (const { key } of entries) authorize(project, 'secrets:create', fieldsOf(subjectOf(place, key, [])));
  const { environment, secretPath: path } = place;
  const values = entries.map((entry) => ({
    environment,
    path,
    value: new SealedText(entry.value),
    at: positionInFile(entry),
  }));
  authorizeReferences(project, values);
}

/** A list has imports nearest first, which is not the lookup order of keys. */
async function inOrderOfPrecedence(
  ctx: Context,
  place: SecretLocation,
  imports: readonly ImportView[],
): Promise<(readonly SecretView[])[]> {
  const scope = await findScope(ctx, place, { recursive: false, includeImports: true });
  const byFolder = new Map(imports.map(({ folderId, secrets }) => [folderId, secrets]));
  return scope === undefined ? [] : byPrecedence(scope.folders, scope.baseId).flatMap((id) => [byFolder.get(id) ?? []]);
}

/** A file of secrets, or what its format cannot represent. */
type SealedFile = { readonly content: SealedText } | { readonly inexpressible: readonly Inexpressible[] };

/** Writes secrets into a file, in order. The caller leaves out those without a value. */
async function printSecrets(
  secrets: readonly SecretView[],
  { format, includeComments, isExpanded }: { format: FileFormat; includeComments: boolean; isExpanded: boolean },
): Promise<SealedFile> {
  const printed = await printFile(
    format,
    secrets.map(({ secretKey, secretValue, secretComment, isRotatedSecret, referenceIssues }) => ({
      key: secretKey,
      value: secretValue?.reveal() ?? '',
      comment: includeComments ? secretComment?.reveal() : undefined,
      isFinal: isRotatedSecret || (isExpanded && referenceIssues.length === 0),
    })),
  );
  return 'text' in printed ? { content: new SealedText(printed.text) } : printed;
}

/**
 * Whether the secret has the value of the file and, where the file has one, the comment: as far as the caller may read
 * both.
 */
const hasAlready = ({ secretValue, secretComment }: SecretView, { value, comment }: Entry): boolean =>
  secretValue?.reveal() === value && (comment === undefined || secretComment?.reveal() === comment);
