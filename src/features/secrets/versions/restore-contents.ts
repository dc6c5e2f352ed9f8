import { openedOrNull } from '../../../kernel/crypto/sealed-text.js';
import type { Sealer } from '../../../kernel/crypto/sealer.js';
import type { ProjectAccess } from '../../projects/public.js';
import type { SecretRecord } from '../core/find-secrets.js';
import { nextAttributes, sealedRow } from '../core/next-version.js';
import type { SecretPlaintext, SecretSealer } from '../core/secret-sealing.js';
import { openedSecret } from '../core/secret-sealing.js';
import type { SecretRow } from '../core/secret-writes.js';
import { type Comparable, type Difference, differencesBetween } from './version.rules.js';
import type { VersionRow } from './version.sql.js';

/** The contents of a secret or a version, as the project would require them today. @throws SEALED_VALUE_INVALID */
export function openContents(
  opener: Sealer,
  { enforceEncryptedSecretMetadata }: Pick<ProjectAccess, 'enforceEncryptedSecretMetadata'>,
  record: SecretRecord,
  open: typeof openedSecret = openedSecret,
): SecretPlaintext {
  const clear = open(opener, record);
  if (!enforceEncryptedSecretMetadata) return clear;
  return { ...clear, metadata: clear.metadata.map((entry) => ({ ...entry, isEncrypted: true })) };
}

/** Target of the contents of a version: a row and its next version. */
type RestoredTo = Pick<SecretRow, 'id' | 'version' | 'environmentId' | 'folderId'>;

/** The row with the contents of a version, with those of its tags that still exist. */
export const restoredRow = (
  sealer: SecretSealer,
  { record, clear }: { record: VersionRow; clear: SecretPlaintext },
  target: RestoredTo,
): SecretRow => sealedRow(sealer, { ...nextAttributes(record), ...target }, clear);

/** Deleted tags of a version. */
export const deletedTagIds = ({ tagIds, tags }: VersionRow): string[] =>
  tagIds.filter((id) => !tags.some((tag) => tag.id === id));

const CONTENTS: ReadonlySet<Difference> = new Set(['VALUE', 'COMMENT', 'METADATA', 'TAGS', 'SETTINGS']);

/**
 * True when a secret already has the contents of a version. A secret that cannot be decrypted has not, and the restore
 * repairs it.
 */
export function hasContents(
  opener: Sealer,
  present: SecretRecord,
  { record, clear }: { record: VersionRow; clear: SecretPlaintext },
): boolean {
  const opened = openedOrNull(() => openedSecret(opener, present));
  if (opened === null) return false;
  const differences = differencesBetween(
    { record: comparable(present), clear: opened },
    { record: comparable(record), clear },
  );
  return !differences.some((part) => CONTENTS.has(part));
}

const comparable = (record: SecretRecord): Comparable => ({ ...record, tagIds: record.tags.map(({ id }) => id) });
