import type { Context } from '../../../kernel/context.js';
import { haveSameKey, keyIdOf } from '../../../kernel/crypto/seal.js';
import type { SealedTable as TableOfSeals } from '../../../kernel/crypto/sealed-table.js';
import { SealedText } from '../../../kernel/crypto/sealed-text.js';
import type { Sealer } from '../../../kernel/crypto/sealer.js';
import { runTogether, type SharedRun } from '../../../kernel/database/batched.js';
import { emOf, queryOf } from '../../../kernel/database/database.js';
import { AppError } from '../../../kernel/errors.js';
import { Project, type ProjectAccess } from '../../projects/public.js';
import type { StoredEntry } from '../entities/secret.entity.js';
import type { SecretRecord } from './find-secrets.js';
import {
  parseReferences,
  type Reference,
  type ReferenceTarget,
  type Rename,
  rewriteReferences,
} from './reference.rules.js';
import { MAX_VALUE_BYTES } from './secret.rules.js';
import { personalDigest, secretDigest } from './secret-states.js';

/**
 * Purposes of the seals of rows. A secret and its history differ, so that nobody with write access to the database can
 * put a version back as the secret. Both were once sealed for `secret`, which is not accepted any more.
 */
const TABLES = { current: 'secret:current', version: 'secret_version', personal: 'personal_secret' } as const;
type SealedTable = (typeof TABLES)[keyof typeof TABLES];

/** The tables that secrets are sealed in. */
export const SEALED_SECRETS: readonly TableOfSeals[] = [
  {
    table: 'secret',
    place: TABLES.current,
    rowId: 'id',
    columns: { value: 'version', comment: 'version', metadata: 'version' },
    digest: secretDigest,
  },
  {
    table: 'secret_version',
    place: TABLES.version,
    rowId: 'secret_id',
    part: 'version',
    columns: { value: 'version', comment: 'version', metadata: 'version' },
  },
  {
    table: 'personal_secret',
    place: TABLES.personal,
    rowId: 'id',
    columns: { value: 'version', comment: 'version' },
    digest: personalDigest,
  },
];

/** A metadata entry in plaintext. */
export interface MetadataEntry {
  readonly key: string;
  readonly value: SealedText;
  readonly isEncrypted: boolean;
}

/** The sealed parts of a secret, in plaintext. */
export interface SecretPlaintext {
  readonly value: SealedText;
  /** Null when there is none. */
  readonly comment: SealedText | null;
  readonly metadata: readonly MetadataEntry[];
}

/** The sealed columns of a row. */
interface SealedContents {
  readonly valueSealed: Buffer;
  readonly commentSealed: Buffer | null;
  readonly metadataSealed: Buffer | null;
}

/** The sealed parts of a secret, as stored. */
export interface SealedSecret extends SealedContents {
  readonly metadata: readonly StoredEntry[];
  /** Equal for equal values of one project; null for the empty one. */
  readonly valueDigest: Buffer | null;
  /** The references of its value, each once. */
  readonly references: readonly ReferenceTarget[];
  /** The same contents, sealed for the history. */
  readonly versionSealed: SealedContents;
}

/** Seals secrets of a project, and computes digests that are the same in all projects of its organization. */
export interface SecretSealer {
  readonly ofProject: Sealer;
  readonly ofOrganization: Sealer;
}

/** A part of a secret with its own seal. */
export type SealedPart = 'value' | 'comment' | 'metadata';

/**
 * Maximum number of seals of one secret: its value, its comment, its encrypted metadata, each for itself and for its
 * version.
 */
const SEALS_PER_SECRET = 6;

/** A sealer for this many secrets of a project. Each attempt of a transaction needs a new one. */
export async function sealerFor(
  ctx: Context,
  { organizationId, projectId }: Pick<ProjectAccess, 'organizationId' | 'projectId'>,
  secrets: number,
): Promise<SecretSealer> {
  const ofOrganization = await ctx.keyring.sealer(queryOf(ctx), { organizationId, projectId: null });
  const ofProject = await ctx.keyring.sealer(queryOf(ctx), { organizationId, projectId });
  await ofProject.reserve(secrets * SEALS_PER_SECRET).catch(async (error: unknown) => {
    // A project that is deleted meanwhile takes its keys with it: it is not found, rather than unreadable.
    throw (await exists(ctx, projectId)) ? error : new AppError('PROJECT_NOT_FOUND');
  });
  return { ofProject, ofOrganization };
}

const exists = async (ctx: Context, projectId: string): Promise<boolean> =>
  (await emOf(ctx).count(Project, { id: projectId })) > 0;

type SealedColumns = Partial<Readonly<Record<'valueSealed' | 'commentSealed' | 'metadataSealed', Buffer | null>>> & {
  readonly personal?: Omit<SealedColumns, 'personal'> | undefined;
};

/**
 * Decrypts these rows of a project, with keys that another node may have created meanwhile. All projects of a request
 * share one statement.
 */
export const openerFor = (
  ctx: Context,
  { projectId }: Pick<ProjectAccess, 'projectId'>,
  records: readonly SealedColumns[],
): Promise<Sealer> => runTogether(ctx, openers, { projectId, keyIds: keyIdsOf(records) });

const openers: SharedRun<{ projectId: string; keyIds: ReadonlySet<string | null> }, Sealer> = async (ctx, wanted) => {
  const keyIds = new Map<string, Set<string | null>>();
  for (const { projectId, keyIds: own } of wanted)
    keyIds.set(projectId, new Set([...(keyIds.get(projectId) ?? []), ...own]));
  const sealers = await ctx.keyring.sealers(queryOf(ctx), ctx.organizationId, keyIds);
  return wanted.map(({ projectId }) => sealers.get(projectId) as Sealer);
};

/** The keys that rows are sealed with. */
function keyIdsOf(records: readonly SealedColumns[]): ReadonlySet<string | null> {
  const keyIds = new Set<string | null>();
  let last: Buffer | null = null;
  const add = (sealed: Buffer | null | undefined): void => {
    // Most are sealed with the same key, and comparing is much less work than reading its ID.
    if (sealed == null || (last !== null && haveSameKey(sealed, last))) return;
    keyIds.add(keyIdOf(sealed));
    last = sealed;
  };
  for (const { valueSealed, commentSealed, metadataSealed, personal } of records) {
    add(valueSealed);
    add(commentSealed);
    add(metadataSealed);
    add(personal?.valueSealed);
    add(personal?.commentSealed);
  }
  return keyIds;
}

/** Decrypts rows of many projects of the caller's organization, by project, in one statement at most. */
export function openersFor(
  ctx: Context,
  records: readonly (SealedColumns & { readonly projectId: string })[],
): Promise<ReadonlyMap<string, Sealer>> {
  const byProject = Map.groupBy(records, ({ projectId }) => projectId);
  const keyIds = new Map([...byProject].map(([projectId, rows]) => [projectId, keyIdsOf(rows)]));
  return ctx.keyring.sealers(queryOf(ctx), ctx.organizationId, keyIds);
}

/**
 * Seals a secret for its row at one version, and again for that version in its history: neither can be decrypted
 * elsewhere. The value of one that a rotation writes has no references.
 */
export function sealSecret(
  { ofProject, ofOrganization }: SecretSealer,
  row: RowVersion & { readonly rotationId: string | null },
  { value, comment, metadata }: SecretPlaintext,
): SealedSecret {
  const encrypted = metadata.filter(({ isEncrypted }) => isEncrypted);
  const sealed = encrypted.length === 0 ? null : listed(encrypted);
  const text = value.reveal();
  const contentsFor = (table: SealedTable): SealedContents => {
    const seal = (column: SealedPart, part: SealedText): Buffer =>
      ofProject.seal({ table, column, rowId: row.id, rowVersion: row.version }, part);
    return {
      valueSealed: seal('value', value),
      commentSealed: comment === null ? null : seal('comment', comment),
      metadataSealed: sealed === null ? null : seal('metadata', sealed),
    };
  };
  return {
    ...contentsFor(TABLES.current),
    versionSealed: contentsFor(TABLES.version),
    valueDigest: digestOf({ ofProject, ofOrganization }, value),
    references: row.rotationId === null ? parseReferences(text).references : [],
    metadata: metadata.map((entry) =>
      entry.isEncrypted ? { key: entry.key, isEncrypted: true } : { key: entry.key, value: entry.value.reveal() },
    ),
  };
}

/**
 * The same for equal values of one project only. With the keys of the projects it can be converted to a digest that is
 * the same for equal values of the organization. Null for the empty value: all empty values are equal, and none is
 * confidential.
 */
export function digestOf({ ofProject, ofOrganization }: SecretSealer, value: SealedText): Buffer | null {
  const text = value.reveal();
  return text === '' ? null : ofProject.blind(ofOrganization.digest(text));
}

/** A row at one version. */
interface RowVersion {
  readonly id: string;
  readonly version: number;
}

/** Rows of a secret and of its history have the same shape; only those of the history can be deletions. */
const tableOf = (row: RowVersion): SealedTable => ('isDeletion' in row ? TABLES.version : TABLES.current);

/** Decrypts one part. @throws SEALED_VALUE_INVALID when it was not sealed for this row and version */
const open = (sealer: Sealer, row: RowVersion, column: SealedPart, sealed: Buffer): SealedText =>
  sealer.openOften({ table: tableOf(row), column, rowId: row.id, rowVersion: row.version }, sealed);

/** The value of a secret of which only these columns were read. @throws SEALED_VALUE_INVALID */
export const openValueOf = (sealer: Sealer, secret: RowVersion, valueSealed: Buffer): SealedText =>
  open(sealer, secret, 'value', valueSealed);

/** The value of a row that was read with values. @throws SEALED_VALUE_INVALID */
export function openSecretValue(sealer: Sealer, record: SecretRecord): SealedText {
  if (record.valueSealed == null) throw new Error('the row was read without its value');
  return open(sealer, record, 'value', record.valueSealed);
}

/** The comment; null when there is none. @throws SEALED_VALUE_INVALID */
export const openSecretComment = (sealer: Sealer, record: SecretRecord): SealedText | null =>
  record.commentSealed === null ? null : open(sealer, record, 'comment', record.commentSealed);

/** The unsealed part of a row can be edited without the key. @returns null when it is not a list of entries any more */
export const storedEntries = ({ metadata }: { readonly metadata: unknown }): readonly StoredEntry[] | null =>
  Array.isArray(metadata) && metadata.every(isStoredEntry) ? metadata : null;

const isStoredEntry = (entry: Partial<Record<string, unknown>> | null): boolean =>
  typeof entry?.key === 'string' && ('value' in entry ? typeof entry.value === 'string' : entry.isEncrypted === true);

/**
 * All metadata, including encrypted entries.
 *
 * @throws SEALED_VALUE_INVALID also when the unsealed part names other entries than were sealed
 */
export function openSecretMetadata(sealer: Sealer, record: SecretRecord): MetadataEntry[] {
  const entries = storedEntries(record);
  const sealed = record.metadataSealed === null ? [] : encryptedPairs(sealer, record, record.metadataSealed);
  const named = (entries ?? []).filter((entry) => !('value' in entry));
  const isWhole = named.length === sealed.length && named.every(({ key }, at) => key === sealed[at]?.[0]);
  if (entries === null || !isWhole) throw new AppError('SEALED_VALUE_INVALID');
  const values = sealed.map(([, value]) => new SealedText(value)).values();
  return entries.map((entry) =>
    'value' in entry
      ? { key: entry.key, value: new SealedText(entry.value), isEncrypted: false }
      : { key: entry.key, value: values.next().value as SealedText, isEncrypted: true },
  );
}

/** The sealed fields of a secret, in plaintext. @throws SEALED_VALUE_INVALID */
export const openedSecret = (opener: Sealer, record: SecretRecord): SecretPlaintext => ({
  value: openSecretValue(opener, record),
  comment: openSecretComment(opener, record),
  metadata: openSecretMetadata(opener, record),
});

/**
 * The encrypted entries of a secret are sealed together, in order, each with its key: no value can be decrypted under
 * another.
 */
const listed = (entries: SecretPlaintext['metadata']): SealedText =>
  new SealedText(JSON.stringify(entries.map(({ key, value }) => [key, value.reveal()])));

const encryptedPairs = (sealer: Sealer, record: SecretRecord, sealed: Buffer): [key: string, value: string][] =>
  JSON.parse(open(sealer, record, 'metadata', sealed).reveal()) as [string, string][];

/** A value with other names in its references; null when it would exceed the maximum size of a value. */
export function renamedIn(value: SealedText, rename: Rename): SealedText | null {
  const text = rewriteReferences(value.reveal(), rename, MAX_VALUE_BYTES);
  return text === null ? null : new SealedText(text);
}

/** The references of a value. */
export const referencesIn = (value: SealedText): readonly Reference[] => parseReferences(value.reveal()).references;

/** Seals the fields of a personal secret, for one row at one version. Takes two seals at most. */
export function sealPersonal(
  sealer: SecretSealer,
  row: RowVersion,
  { value, comment }: Omit<SecretPlaintext, 'metadata'>,
): Pick<SealedSecret, 'valueSealed' | 'commentSealed' | 'valueDigest'> {
  const { ofProject } = sealer;
  const seal = (column: SealedPart, text: SealedText): Buffer =>
    ofProject.seal({ table: TABLES.personal, column, rowId: row.id, rowVersion: row.version }, text);
  return {
    valueSealed: seal('value', value),
    commentSealed: comment === null ? null : seal('comment', comment),
    valueDigest: digestOf(sealer, value),
  };
}

/** Value or comment of a personal secret. @throws SEALED_VALUE_INVALID */
export const openPersonal = (
  sealer: Sealer,
  { id, version }: RowVersion,
  column: 'value' | 'comment',
  sealed: Buffer,
): SealedText => sealer.open({ table: TABLES.personal, column, rowId: id, rowVersion: version }, sealed);
