import * as z from 'zod';
import { DISPLAY_RULES, pageRules } from '../../../kernel/paging.js';
import { validationFailed } from '../../../kernel/validation.js';
import { idOf, integer, MAX_VERSION } from '../../../kernel/value-rules.js';
import type { MetadataEntry, SecretPlaintext } from '../core/secret-sealing.js';
import { secretLocation } from '../scope/location.rules.js';
import type { SecretSubject, Visibility } from '../scope/visibility.rules.js';

const secretId = idOf('ID of the secret, which may be deleted.');
const viewSecretValue = z
  .boolean()
  .default(true)
  .meta({ description: 'Whether to decrypt and return the values.' })
  .register(DISPLAY_RULES, {});
const version = integer(1, MAX_VERSION);

/** Arguments of `secretVersions`. */
export const ListVersions = z.strictObject({ secretId, viewSecretValue, ...pageRules });

/** Arguments of the `versions` of a secret. */
export const PageOfSecret = z.strictObject(pageRules);

/** Arguments of `secretVersion`. */
export const GetVersion = z.strictObject({
  secretId,
  version: version.meta({ description: 'Version number.' }),
  viewSecretValue,
});

/** Arguments of `compareSecretVersions`. */
export const CompareVersions = z.strictObject({
  secretId,
  from: version.meta({ description: 'Number of the first version.' }),
  to: version.meta({ description: 'Number of the second version.' }),
  viewSecretValue,
});

/** Arguments of `deletedSecrets`. */
export const ListDeleted = z.strictObject({
  ...secretLocation,
  recursive: z.boolean().default(false).meta({ description: 'Whether to include all folders below.' }),
  ...pageRules,
});

/** Input of `restoreSecret`. */
export const RestoreSecret = z
  .strictObject({
    id: secretId,
    version: version.meta({ description: 'Number of the version to restore. It must not be a deletion.' }),
  })
  .meta({ description: 'The secret and the version to restore.' });

/** A secret at its location, or at the location where a restore would create it when it is deleted. */
export type VersionedSecret = SecretSubject & { readonly isGone: boolean; readonly lastPath: string };

/** A secret that exists: at its location. */
export const atLocation = <S extends SecretSubject>(secret: S): S & VersionedSecret => ({
  ...secret,
  isGone: false,
  lastPath: secret.path,
});

/**
 * A secret as the rules see it. A deleted one has two locations: where a restore would create it, and where it was when
 * it was deleted. Its folder may have moved to where the caller sees more, and no rule was checked for the deleted
 * secrets in it.
 */
const locationsOf = (secret: VersionedSecret): readonly SecretSubject[] =>
  secret.isGone ? [secret, { ...secret, path: secret.lastPath }] : [secret];

/** The caller may see the secret, deleted or not. */
export const describesDeletedToo = (visibility: Visibility, secret: VersionedSecret): boolean =>
  locationsOf(secret).every((location) => visibility.describes(location));

/**
 * What a caller may see of the versions of one secret. Rules are checked twice: for the secret at its current location,
 * and for the version as it was. Losing a right also covers the past, and gaining one does not cover what was
 * elsewhere. Restoring a version checks the same.
 */
export class VersionVisibility {
  readonly #locations: readonly SecretSubject[];

  constructor(
    private readonly visibility: Visibility,
    secret: VersionedSecret,
  ) {
    this.#locations = locationsOf(secret);
  }

  /** The caller may see the version. */
  describes(then: SecretSubject): boolean {
    return [...this.#locations, then].every((subject) => this.visibility.describes(subject));
  }

  /** The caller may read the value of the version. */
  readsValue(then: SecretSubject): boolean {
    return [...this.#locations, then].every((subject) => this.visibility.readsValue(subject));
  }
}

/** @throws VALIDATION_FAILED for a version that is a deletion: it has no contents */
export function refuseDeletion({ isDeletion }: { isDeletion: boolean }, path: string): void {
  if (!isDeletion) return;
  throw validationFailed([
    { path, code: 'IS_DELETION', message: 'must be a version with contents: this one is a deletion' },
  ]);
}

/** The parts in which two versions can differ. */
export const DIFFERENCES = ['KEY', 'PLACE', 'VALUE', 'COMMENT', 'METADATA', 'TAGS', 'SETTINGS'] as const;
export type Difference = (typeof DIFFERENCES)[number];

/** What is compared of a secret beside the encrypted parts. */
export interface Comparable {
  readonly environmentId: string;
  readonly path: string;
  readonly key: string;
  readonly tagIds: readonly string[];
  readonly skipMultilineEncoding: boolean;
  readonly reminderNote: string | null;
  readonly reminderRepeatDays: number | null;
  readonly reminderRecipientIds: readonly string[];
}

/** A version in plaintext. */
export interface Opened {
  readonly record: Comparable;
  readonly clear: SecretPlaintext;
}

/** The parts in which two versions differ, in the order of `DIFFERENCES`. Tags and recipients are unordered. */
export function differencesBetween(from: Opened, to: Opened): Difference[] {
  const differs: Record<Difference, boolean> = {
    KEY: from.record.key !== to.record.key,
    PLACE: from.record.environmentId !== to.record.environmentId || from.record.path !== to.record.path,
    VALUE: !from.clear.value.equals(to.clear.value),
    COMMENT: !isSameComment(from.clear, to.clear),
    METADATA: changedMetadataKeys(from.clear, to.clear).length > 0,
    TAGS: !isSameSet(from.record.tagIds, to.record.tagIds),
    SETTINGS: !hasSameSettings(from.record, to.record),
  };
  return DIFFERENCES.filter((part) => differs[part]);
}

/**
 * Metadata keys that only one version has, or that have different values, or are encrypted in only one of them; by code
 * points.
 */
export function changedMetadataKeys(
  from: Pick<SecretPlaintext, 'metadata'>,
  to: Pick<SecretPlaintext, 'metadata'>,
): string[] {
  const before = Map.groupBy(from.metadata, ({ key }) => key);
  const after = Map.groupBy(to.metadata, ({ key }) => key);
  return [...new Set([...before.keys(), ...after.keys()])]
    .filter((key) => !isSameMetadata(before.get(key) ?? [], after.get(key) ?? []))
    .sort();
}

const isSameMetadata = (one: readonly MetadataEntry[], other: readonly MetadataEntry[]): boolean =>
  one.length === other.length &&
  one.every((entry, at) => {
    const match = other[at] as MetadataEntry;
    return entry.isEncrypted === match.isEncrypted && entry.value.equals(match.value);
  });

const isSameComment = ({ comment: one }: SecretPlaintext, { comment: other }: SecretPlaintext): boolean =>
  one === null || other === null ? one === other : one.equals(other);

const hasSameSettings = (one: Comparable, other: Comparable): boolean =>
  one.skipMultilineEncoding === other.skipMultilineEncoding &&
  one.reminderNote === other.reminderNote &&
  one.reminderRepeatDays === other.reminderRepeatDays &&
  isSameSet(one.reminderRecipientIds, other.reminderRecipientIds);

const isSameSet = (one: readonly string[], other: readonly string[]): boolean =>
  new Set(one).size === new Set(other).size && one.every((item) => other.includes(item));
