import { SealedText } from '../../../kernel/crypto/sealed-text.js';
import type { Sealer } from '../../../kernel/crypto/sealer.js';
import { AppError } from '../../../kernel/errors.js';
import { BY_NAME, type ListOrder } from '../../../kernel/list-order.js';
import type { Counted, CursorKey, Page } from '../../../kernel/paging.js';
import { valuesOf } from '../scope/list-conditions.sql.js';
import type { Visibility } from '../scope/visibility.rules.js';
import type { TagRow } from '../tags/public.js';
import type { OwnRecord, SecretRecord } from './find-secrets.js';
import type { ReferenceIssue } from './reference.rules.js';
import type { SecretKind } from './secret.rules.js';
import {
  openPersonal,
  openSecretComment,
  openSecretMetadata,
  openSecretValue,
  type SealedPart,
  type SecretPlaintext,
  storedEntries,
} from './secret-sealing.js';

/** Who wrote a secret last. */
export interface ActorView {
  readonly actorId: string | null;
  readonly actorType: 'identity' | 'user' | 'platform';
  readonly name: string | null;
  readonly membershipId: string | null;
  readonly groupId: string | null;
}

/** A secret as a caller sees it: null for what is withheld. */
export interface SecretView {
  readonly id: string;
  readonly projectId: string;
  readonly environmentId: string;
  readonly environmentSlug: string;
  readonly folderId: string;
  readonly secretPath: string;
  readonly version: number;
  readonly type: SecretKind;
  readonly secretKey: string;
  readonly secretValue: SealedText | null;
  readonly isSecretValueHidden: boolean;
  /** Undefined when there is none. */
  readonly secretComment: SealedText | null | undefined;
  readonly secretReminderNote: string | null;
  readonly secretReminderRepeatDays: number | null;
  readonly secretReminderRecipients: readonly string[];
  readonly skipMultilineEncoding: boolean;
  readonly actor: ActorView;
  readonly isRotatedSecret: boolean;
  readonly rotationId: string | null;
  readonly secretMetadata: readonly { key: string; value: SealedText | null; isEncrypted: boolean }[];
  readonly tags: readonly TagRow[];
  /** References in the value that could not be expanded. */
  readonly referenceIssues: readonly ReferenceIssue[];
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** For a personal value: the shared secret, by whose times it is listed. */
  readonly shared?: Pick<SecretRecord, 'id' | 'createdAt' | 'updatedAt'>;
}

/** A part of a secret that cannot be decrypted, and is withheld. */
export interface ReadIssue {
  readonly secretId: string;
  readonly reason: ReadIssueReason;
}

/** The secrets of an imported folder. */
export interface ImportView {
  readonly secretPath: string;
  readonly environmentId: string;
  readonly environmentSlug: string;
  readonly folderId: string;
  readonly secrets: readonly SecretView[];
}

/** The parts of a list besides its page. */
interface ListExtras {
  readonly order: ListOrder;
  /** Nearest first. All of them with the first page, none with later ones. */
  readonly imports: readonly ImportView[];
  /** There are folders below that are too deep to be listed. */
  readonly isDepthTruncated: boolean;
  /** Number of references that could not be expanded, including those of imported secrets. */
  readonly unresolvedReferences: number;
  /** What cannot be decrypted, including imported secrets. */
  readonly readIssues: readonly ReadIssue[];
}

/** A list of secrets, and what of it cannot be decrypted. */
export type SecretPage = Page<SecretView> & ListExtras & Counted;

/** IDs of the secrets whose values are in these views. */
export const idsWithValues = (views: readonly SecretView[]): string[] =>
  views.filter(({ secretValue }) => secretValue !== null).map(({ id }) => id);

/** The fields of a view that determine its position. */
type Placed = Pick<SecretView, 'secretPath' | 'secretKey' | 'type' | 'id' | 'createdAt' | 'updatedAt' | 'shared'>;

/** Position of a secret in a list: a personal value follows the shared one. */
export const positionOfView = (view: Placed, order = BY_NAME): CursorKey => [
  ...valuesOf(order, { path: view.secretPath, key: view.secretKey, ...(view.shared ?? view) }),
  view.type,
];

const NO_ISSUES: readonly ReferenceIssue[] = [];

const REASONS = {
  value: 'VALUE_DOES_NOT_OPEN',
  comment: 'COMMENT_DOES_NOT_OPEN',
  metadata: 'METADATA_DOES_NOT_OPEN',
} as const satisfies Readonly<Record<SealedPart, string>>;
type ReadIssueReason = (typeof REASONS)[SealedPart];

/** A row as a caller sees it, with the parts that are sealed in it. */
const viewOf = (
  record: SecretRecord,
  {
    value,
    comment,
    metadata,
  }: { value: SealedText | null; comment: SecretView['secretComment']; metadata: SecretView['secretMetadata'] },
): SecretView => ({
  id: record.id,
  projectId: record.projectId,
  environmentId: record.environmentId,
  environmentSlug: record.environment,
  folderId: record.folderId,
  secretPath: record.path,
  version: record.version,
  type: 'shared',
  secretKey: record.key,
  secretValue: value,
  isSecretValueHidden: value === null,
  secretComment: comment,
  secretReminderNote: record.reminderNote,
  secretReminderRepeatDays: record.reminderRepeatDays,
  secretReminderRecipients: record.reminderRecipientIds,
  skipMultilineEncoding: record.skipMultilineEncoding,
  actor: actorOf(record),
  isRotatedSecret: record.rotationId !== null,
  rotationId: record.rotationId,
  secretMetadata: metadata,
  tags: record.tags,
  referenceIssues: NO_ISSUES,
  createdAt: record.createdAt,
  updatedAt: record.updatedAt,
});

/** A row that the caller has just written, as it sees it: nothing is decrypted. */
export const writtenView =
  (visibility: Visibility) =>
  (record: SecretRecord & { readonly clear: SecretPlaintext }): SecretView =>
    viewOf(record, {
      value: visibility.readsValue(record) ? record.clear.value : null,
      comment: record.clear.comment ?? undefined,
      metadata: record.clear.metadata,
    });

/** Decrypts what one caller may see of rows of one project, and counts what cannot be decrypted. */
export class SecretViewer {
  readonly issues: ReadIssue[] = [];

  constructor(
    private readonly sealer: Sealer,
    private readonly visibility: Visibility,
    private readonly viewSecretValue: boolean,
  ) {}

  /** The row as the caller sees it. What cannot be decrypted is null, and an issue. */
  readonly view = (record: SecretRecord): SecretView => {
    const isReadable = this.viewSecretValue && this.visibility.readsValue(record);
    const value = isReadable ? this.#attempt(record.id, 'value', () => openSecretValue(this.sealer, record)) : null;
    const comment = () => this.#attempt(record.id, 'comment', () => openSecretComment(this.sealer, record));
    return viewOf(record, {
      value,
      comment: record.commentSealed === null ? undefined : comment(),
      metadata: this.#metadata(record),
    });
  };

  /**
   * The caller's personal value of a shared secret: its owner may always read it. Everything but value and comment
   * comes from the shared one.
   *
   * @param written value and comment that the caller has just written
   */
  readonly personalView = (
    shared: SecretRecord,
    own: OwnRecord,
    written?: Omit<SecretPlaintext, 'metadata'>,
  ): SecretView => {
    const open = (part: 'value' | 'comment', sealed: Buffer): SealedText | null =>
      this.#attempt(own.id, part, () => openPersonal(this.sealer, own, part, sealed));
    const opened = () => (this.viewSecretValue && own.valueSealed != null ? open('value', own.valueSealed) : null);
    const value = written === undefined ? opened() : written.value;
    return {
      // Without values: the value of the shared one is not part of this entry, and its issues are reported with its
      // own.
      ...new SecretViewer(this.sealer, this.visibility, false).view({
        ...shared,
        commentSealed: null,
        rotationId: null,
      }),
      id: own.id,
      type: 'personal',
      version: own.version,
      secretValue: value,
      isSecretValueHidden: value === null,
      secretComment: own.commentSealed == null ? undefined : (written?.comment ?? open('comment', own.commentSealed)),
      createdAt: own.createdAt,
      updatedAt: own.updatedAt,
      shared: { id: shared.id, createdAt: shared.createdAt, updatedAt: shared.updatedAt },
    };
  };

  #metadata(record: SecretRecord): SecretView['secretMetadata'] {
    if (record.metadata.length === 0 && record.metadataSealed === null) return [];
    const opened = this.#attempt(record.id, 'metadata', () => openSecretMetadata(this.sealer, record));
    if (opened !== null) return opened;
    return (storedEntries(record) ?? []).map((entry) =>
      'value' in entry
        ? { key: entry.key, value: new SealedText(entry.value), isEncrypted: false }
        : { key: entry.key, value: null, isEncrypted: true },
    );
  }

  #attempt<T>(secretId: string, part: SealedPart, open: () => T): T | null {
    try {
      return open();
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'SEALED_VALUE_INVALID') throw error;
      this.issues.push({ secretId, reason: REASONS[part] });
      return null;
    }
  }
}

type Written = Pick<SecretRecord, 'actorKind' | 'actorId' | 'actorName' | 'membershipId'>;

/** Who wrote a row. */
export const actorOf = ({ actorKind, actorId, actorName, membershipId }: Written): ActorView => ({
  actorId: actorKind === 'system' ? null : actorId,
  actorType: actorKind === 'system' ? 'platform' : actorKind,
  name: actorName,
  membershipId,
  groupId: null,
});
