import type { Transaction } from '../../../kernel/context.js';
import { SealedText } from '../../../kernel/crypto/sealed-text.js';
import type { Sealer } from '../../../kernel/crypto/sealer.js';
import { AppError } from '../../../kernel/errors.js';
import { distinctIds, newId } from '../../../kernel/ids.js';
import type { ProjectAccess } from '../../projects/public.js';
import type { TagRow } from '../tags/public.js';
import type { SecretRecord } from './find-secrets.js';
import type { Rename } from './reference.rules.js';
import type { NewSecret, SecretChange } from './secret.rules.js';
import type { SecretView } from './secret.view.js';
import {
  openSecretComment,
  openSecretMetadata,
  openSecretValue,
  renamedIn,
  type SecretPlaintext,
  type SecretSealer,
  sealSecret,
} from './secret-sealing.js';
import { digestOf } from './secret-states.js';
import type { Attributes, SecretRow, Written } from './secret-writes.js';

/** A row whose contents are sealed for its ID and version. Needs `SecretSealer` with seals reserved. */
export function sealedRow(sealer: SecretSealer, attributes: Attributes, clear: SecretPlaintext): SecretRow {
  const sealed = { ...attributes, ...sealSecret(sealer, attributes, clear) };
  return { ...sealed, clear, digest: digestOf(sealed) };
}

/** The unsealed fields of a secret, as the start of its next version. */
export const nextAttributes = (record: SecretRecord): Attributes => ({
  id: record.id,
  environmentId: record.environmentId,
  folderId: record.folderId,
  key: record.key,
  version: record.version + 1,
  skipMultilineEncoding: record.skipMultilineEncoding,
  reminderNote: record.reminderNote,
  reminderRepeatDays: record.reminderRepeatDays,
  reminderRecipientIds: record.reminderRecipientIds,
  rotationId: record.rotationId,
  tagIds: record.tags.map(({ id }) => id),
});

/**
 * The row of a new secret.
 *
 * @param rename how references in its value change by renames in the same write; null: no changes
 * @throws SECRET_REFERENCED, REFERENCES_TOO_LONG
 */
export function newRow(
  sealer: SecretSealer,
  { environmentId, folderId }: { environmentId: string; folderId: string },
  { secret, rename }: { secret: NewSecret; rename: Rename | null },
): SecretRow {
  const attributes: Attributes = {
    id: newId(),
    environmentId,
    folderId,
    key: secret.secretKey,
    version: 1,
    skipMultilineEncoding: secret.skipMultilineEncoding ?? false,
    reminderNote: secret.secretReminderNote ?? null,
    reminderRepeatDays: secret.secretReminderRepeatDays ?? null,
    reminderRecipientIds: distinctIds(secret.secretReminderRecipients),
    rotationId: null,
    tagIds: distinctIds(secret.tagIds),
  };
  return sealedRow(sealer, attributes, {
    value: valueAfter(new SealedText(secret.secretValue), rename),
    comment: commentOf(secret.secretComment),
    metadata: entriesOf(secret.secretMetadata),
  });
}

/** A change of a secret. */
interface Changing {
  readonly record: SecretRecord;
  readonly change: Omit<SecretChange, 'secretKey'>;
  /** As for `newRow`. */
  readonly rename: Rename | null;
  /** Whether the caller may read the value. */
  readonly readsValue: boolean;
  /**
   * Whether it knows the value after the change: otherwise one that would become too long is not an error, but keeps its
   * references.
   */
  readonly isShown: boolean;
}

/** A secret after a change, before it is sealed. */
export interface NextState {
  readonly attributes: Attributes;
  readonly clear: SecretPlaintext;
  /** As in `SecretRow`. */
  readonly renewsAge: boolean;
}

/**
 * The row after a change.
 *
 * @throws as `nextState`
 */
export function nextRow(sealer: SecretSealer, opener: Sealer, changing: Changing): SecretRow {
  const { attributes, clear, renewsAge } = nextState(opener, changing);
  return { ...sealedRow(sealer, attributes, clear), renewsAge };
}

/**
 * A secret after a change. Only what is kept is decrypted, so that a broken part can be repaired by writing it.
 *
 * @throws SECRET_REFERENCED, REFERENCES_TOO_LONG, SEALED_VALUE_INVALID
 */
export function nextState(opener: Sealer, { record, change, rename, readsValue, isShown }: Changing): NextState {
  const kept = nextAttributes(record);
  const { secretValue, secretComment, secretMetadata, tagIds, secretReminderRecipients } = change;
  const attributes: Attributes = {
    ...kept,
    key: change.newSecretKey ?? kept.key,
    skipMultilineEncoding: given(change.skipMultilineEncoding, kept.skipMultilineEncoding) ?? false,
    reminderNote: given(change.secretReminderNote, kept.reminderNote),
    reminderRepeatDays: given(change.secretReminderRepeatDays, kept.reminderRepeatDays),
    reminderRecipientIds:
      secretReminderRecipients === undefined ? kept.reminderRecipientIds : distinctIds(secretReminderRecipients),
    tagIds: tagIds === undefined ? kept.tagIds : distinctIds(tagIds),
  };
  const clear: SecretPlaintext = {
    value: valueAfter(
      secretValue === undefined ? openSecretValue(opener, record) : new SealedText(secretValue),
      record.rotationId === null ? rename : null,
      isShown,
    ),
    comment: secretComment === undefined ? openSecretComment(opener, record) : commentOf(secretComment),
    metadata: secretMetadata === undefined ? openSecretMetadata(opener, record) : entriesOf(secretMetadata),
  };
  return { attributes, clear, renewsAge: secretValue !== undefined && !readsValue };
}

/** Location and tags of written rows: what a response needs and the rows do not have. */
interface Surroundings {
  readonly project: ProjectAccess;
  readonly environment: string;
  readonly path: string;
  readonly tags: readonly TagRow[];
}

type Times = Pick<Written, 'createdAt' | 'updatedAt'>;

/** The times of a row that is not written yet. */
export const NO_TIMES: Times = { createdAt: new Date(Number.NaN), updatedAt: new Date(Number.NaN) };

/** Views of rows that were not written when they were made. */
export function withStoredTimes(views: readonly SecretView[], written: readonly Written[]): SecretView[] {
  const times = new Map(written.map(({ id, createdAt, updatedAt }): [string, Times] => [id, { createdAt, updatedAt }]));
  return views.map((view) => ({ ...view, ...times.get(view.id) }));
}

/** The record of a row that the caller has just written: nothing has to be read again for the response. */
export const writtenRecord = (
  tx: Transaction,
  row: SecretRow,
  { createdAt, updatedAt }: Times,
  { project, environment, path, tags }: Surroundings,
): SecretRecord & Pick<SecretRow, 'clear'> => ({
  ...row,
  organizationId: project.organizationId,
  projectId: project.projectId,
  environment,
  path,
  actorKind: tx.actor.kind,
  actorId: tx.actor.id,
  actorName: tx.actor.name,
  membershipId: project.membershipId,
  createdAt,
  updatedAt,
  tags,
});

function valueAfter(value: SealedText, rename: Rename | null, isShown = true): SealedText {
  const renamed = rename === null ? value : renamedIn(value, rename);
  if (renamed === null && isShown) throw new AppError('REFERENCES_TOO_LONG');
  return renamed ?? value;
}

/** Absent keeps, null clears. */
const given = <T>(value: T | null | undefined, kept: T | null): T | null => (value === undefined ? kept : value);

const commentOf = (text: string | null | undefined): SealedText | null => (text ? new SealedText(text) : null);

const entriesOf = (entries: NewSecret['secretMetadata']): SecretPlaintext['metadata'] =>
  (entries ?? []).map(({ key, value, isEncrypted }) => ({
    key,
    value: new SealedText(value ?? ''),
    isEncrypted: isEncrypted ?? false,
  }));
