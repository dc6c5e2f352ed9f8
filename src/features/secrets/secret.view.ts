import { SealedText } from '../../kernel/crypto/sealed-text.js';
import type { Sealer } from '../../kernel/crypto/sealer.js';
import { AppError } from '../../kernel/errors.js';
import type { Page } from '../../kernel/graphql/page.js';
import type { SecretRecord } from './secret.records.js';
import {
  openSecretComment,
  openSecretMetadata,
  openSecretValue,
  type SealedPart,
  storedEntries,
} from './secret-sealing.js';
import type { Visibility } from './visibility.rules.js';

/** Who wrote a secret last. */
export interface ActorView {
  readonly actorId: string | null;
  readonly actorType: 'identity' | 'user' | 'platform';
  readonly name: string | null;
  readonly membershipId: string | null;
  readonly groupId: string | null;
}

/** A secret as a caller sees it: null stands for what is withheld. */
export interface SecretView {
  readonly id: string;
  readonly projectId: string;
  readonly environment: string;
  readonly folderId: string;
  readonly secretPath: string;
  readonly version: number;
  readonly type: 'shared';
  readonly secretKey: string;
  readonly secretValue: SealedText | null;
  readonly secretValueHidden: boolean;
  /** Undefined when there is none. */
  readonly secretComment: SealedText | null | undefined;
  readonly secretReminderNote: string | null;
  readonly secretReminderRepeatDays: number | null;
  readonly skipMultilineEncoding: boolean;
  readonly actor: ActorView;
  readonly isRotatedSecret: boolean;
  readonly rotationId: string | null;
  readonly secretMetadata: readonly { key: string; value: SealedText | null; isEncrypted: boolean }[];
  readonly tags: readonly { id: string; slug: string; name: string; color: string }[];
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** A part of a secret that does not open, and was withheld. */
export interface ReadIssue {
  readonly secretId: string;
  readonly reason: ReadIssueReason;
}

/** A list of secrets, and what of it could not be read. */
export type SecretPage = Page<SecretView> & { readonly readIssues: readonly ReadIssue[] };

const REASONS = {
  value: 'VALUE_DOES_NOT_OPEN',
  comment: 'COMMENT_DOES_NOT_OPEN',
  metadata: 'METADATA_DOES_NOT_OPEN',
} as const satisfies Readonly<Record<SealedPart, string>>;
export type ReadIssueReason = (typeof REASONS)[SealedPart];

/** Opens what one caller may see of rows of one project, and keeps count of what does not open. */
export class SecretViewer {
  readonly issues: ReadIssue[] = [];

  constructor(
    private readonly sealer: Sealer,
    private readonly visibility: Visibility,
    private readonly viewSecretValue: boolean,
  ) {}

  /** The row as the caller sees it. What does not open is null, and an issue. */
  readonly view = (record: SecretRecord): SecretView => {
    const isReadable = this.viewSecretValue && this.visibility.readsValue(record);
    const value = isReadable ? this.#attempt(record, 'value', openSecretValue) : null;
    return {
      id: record.id,
      projectId: record.projectId,
      environment: record.environment,
      folderId: record.folderId,
      secretPath: record.path,
      version: record.version,
      type: 'shared',
      secretKey: record.key,
      secretValue: value,
      secretValueHidden: value === null,
      secretComment: record.commentSealed === null ? undefined : this.#attempt(record, 'comment', openSecretComment),
      secretReminderNote: record.reminderNote,
      secretReminderRepeatDays: record.reminderRepeatDays,
      skipMultilineEncoding: record.skipMultilineEncoding,
      actor: actorOf(record),
      isRotatedSecret: false,
      rotationId: null,
      secretMetadata: this.#metadata(record),
      tags: record.tags.map(({ id, slug, color }) => ({ id, slug, name: slug, color })),
      createdAt: record.createdAt,
      updatedAt: record.updatedAt,
    };
  };

  #metadata(record: SecretRecord): SecretView['secretMetadata'] {
    if (record.metadata.length === 0 && record.metadataSealed === null) return [];
    const opened = this.#attempt(record, 'metadata', openSecretMetadata);
    if (opened !== null) return opened;
    return (storedEntries(record) ?? []).map((entry) =>
      'value' in entry
        ? { key: entry.key, value: new SealedText(entry.value), isEncrypted: false }
        : { key: entry.key, value: null, isEncrypted: true },
    );
  }

  #attempt<T>(record: SecretRecord, part: SealedPart, open: (sealer: Sealer, record: SecretRecord) => T): T | null {
    try {
      return open(this.sealer, record);
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'SEALED_VALUE_INVALID') throw error;
      this.issues.push({ secretId: record.id, reason: REASONS[part] });
      return null;
    }
  }
}

const actorOf = ({ actorKind, actorId, actorName, membershipId }: SecretRecord): ActorView => ({
  actorId: actorKind === 'system' ? null : actorId,
  actorType: actorKind === 'system' ? 'platform' : actorKind,
  name: actorName,
  membershipId,
  groupId: null,
});
