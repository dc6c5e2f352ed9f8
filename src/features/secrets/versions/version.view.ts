import type { Sealer } from '../../../kernel/crypto/sealer.js';
import { type ActorView, actorOf, type ReadIssue, type SecretView, SecretViewer } from '../core/secret.view.js';
import type { Visibility } from '../scope/visibility.rules.js';
import { VersionVisibility } from './version.rules.js';
import type { DeletedRow, NewestState, VersionRow } from './version.sql.js';

/** A version as a caller sees it: the contents of the secret after a write. */
export interface VersionView extends SecretView {
  readonly isDeletion: boolean;
}

/** A part of a version that cannot be decrypted, and is withheld. */
export interface VersionIssue extends ReadIssue {
  readonly version: number;
}

/** Summary of a version, as a caller sees it: nothing that is sealed. */
export interface VersionSummary {
  readonly version: number;
  readonly isDeletion: boolean;
  readonly environmentId: string;
  readonly environmentSlug: string;
  readonly secretPath: string;
  readonly secretKey: string;
  readonly tags: SecretView['tags'];
  readonly actor: ActorView;
  readonly createdAt: Date;
}

/** A deleted secret, as a caller sees it. */
export interface DeletedView {
  readonly secretId: string;
  readonly environmentId: string;
  readonly environmentSlug: string;
  readonly secretPath: string;
  readonly secretKey: string;
  readonly restorableVersion: number | null;
  readonly deletedAt: Date;
  readonly actor: ActorView;
  readonly tags: SecretView['tags'];
}

/** Decrypts what one caller may see of versions of one secret, and counts what cannot be decrypted. */
export class VersionViewer {
  readonly issues: VersionIssue[] = [];
  readonly #versions: VersionVisibility;
  readonly #viewSecretValue: boolean;

  constructor(
    private readonly sealer: Sealer,
    private readonly visibility: Visibility,
    { present, viewSecretValue }: { present: NewestState; viewSecretValue: boolean },
  ) {
    this.#versions = new VersionVisibility(visibility, present);
    this.#viewSecretValue = viewSecretValue;
  }

  /** The caller may read the value of a version. */
  readonly readsValue = (record: VersionRow): boolean => this.#versions.readsValue(record);

  /**
   * The row as the caller sees it. What cannot be decrypted is null, and an issue. A deletion has no value that could
   * be hidden.
   */
  readonly view = (record: VersionRow): VersionView => {
    const isOpened = this.#viewSecretValue && !record.isDeletion && this.readsValue(record);
    const viewer = new SecretViewer(this.sealer, this.visibility, isOpened);
    const view = viewer.view(record);
    this.issues.push(...viewer.issues.map((issue) => ({ ...issue, version: record.version })));
    return {
      ...view,
      isDeletion: record.isDeletion,
      secretValueHidden: view.secretValueHidden && !record.isDeletion,
    };
  };
}

/** Summary of a version, as a caller sees it. */
export const toVersionSummary = (record: VersionRow): VersionSummary => ({
  version: record.version,
  isDeletion: record.isDeletion,
  environmentId: record.environmentId,
  environmentSlug: record.environment,
  secretPath: record.path,
  secretKey: record.key,
  tags: record.tags,
  actor: actorOf(record),
  createdAt: record.createdAt,
});

/** A deleted secret, as a caller sees it. */
export const toDeletedView = (record: DeletedRow): DeletedView => ({
  secretId: record.id,
  environmentId: record.environmentId,
  environmentSlug: record.environment,
  secretPath: record.path,
  secretKey: record.key,
  restorableVersion: record.restorableVersion,
  deletedAt: record.deletedAt,
  actor: actorOf(record),
  tags: record.tags,
});
