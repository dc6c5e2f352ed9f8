import { z } from 'zod';
import { integer } from '../../kernel/int.js';
import { pageRules } from '../../kernel/paging.js';
import { idOf } from '../../kernel/text-rules.js';
import { validationFailed } from '../../kernel/validation.js';
import { MAX_VERSION } from '../../kernel/version.js';
import { place } from './place.rules.js';
import type { Clear, MetadataEntry } from './secret-sealing.js';
import type { SecretSubject, Visibility } from './visibility.rules.js';

const secretId = z.string();
const viewSecretValue = z.boolean().default(true);
const version = integer(1, MAX_VERSION);

/** Arguments of `secretVersions`. */
export const ListVersions = z.strictObject({ secretId, viewSecretValue, ...pageRules });

/** Arguments of the versions inside of a secret. */
export const ListOfSecret = z.strictObject({ first: integer(1, 100).default(10) });

/** Arguments of `versionConnection` of a secret. */
export const PageOfSecret = z.strictObject(pageRules);

/** Arguments of `secretVersion`. */
export const GetVersion = z.strictObject({ secretId, version, viewSecretValue });

/** Arguments of `compareSecretVersions`. */
export const CompareVersions = z.strictObject({ secretId, from: version, to: version, viewSecretValue });

/** Arguments of `deletedSecrets`. */
export const ListDeleted = z.strictObject({ ...place, recursive: z.boolean().default(false), ...pageRules });

/** Input of `restoreSecret`. */
export const RestoreSecret = z
  .strictObject({
    id: idOf('The secret, which may be deleted.'),
    version: version.meta({ description: 'The version; none that is a deletion.' }),
  })
  .meta({ description: 'Which version of a secret comes back.' });

/** A secret where it is, or where it would come back when it is gone. */
export type Stood = SecretSubject & { readonly isGone: boolean; readonly lastPath: string };

/** A secret that is there: it stands where it is. */
export const thatIsThere = <S extends SecretSubject>(secret: S): S & Stood => ({
  ...secret,
  isGone: false,
  lastPath: secret.path,
});

/**
 * How a secret stands, to rules. One that is gone stands as it was last in two places: where it would come back, and where it
 * was when it went. Its folder may have come to where the caller sees more, and nobody was asked for what was deleted in it.
 */
const standingsOf = (secret: Stood): readonly SecretSubject[] =>
  secret.isGone ? [secret, { ...secret, path: secret.lastPath }] : [secret];

/** The caller may know of a secret that is there or was. */
export const describesStanding = (visibility: Visibility, secret: Stood): boolean =>
  standingsOf(secret).every((standing) => visibility.describes(standing));

/**
 * What a caller may see of the versions of one secret. Its rules are asked twice: of the secret as it stands, wherever that
 * is, and of the version as it was. Who lost a right does not keep it for the past, and who got one does not get it for what
 * was elsewhere. What brings a version back asks the same.
 */
export class VersionVisibility {
  readonly #standings: readonly SecretSubject[];

  constructor(
    private readonly visibility: Visibility,
    secret: Stood,
  ) {
    this.#standings = standingsOf(secret);
  }

  /** The caller may know of the version. */
  describes(then: SecretSubject): boolean {
    return [...this.#standings, then].every((subject) => this.visibility.describes(subject));
  }

  /** The caller may read the value of the version. */
  readsValue(then: SecretSubject): boolean {
    return [...this.#standings, then].every((subject) => this.visibility.readsValue(subject));
  }
}

/** @throws VALIDATION_FAILED for a version that says that the secret was deleted: it holds nothing */
export function refuseDeletion({ isDeletion }: { isDeletion: boolean }, path: string): void {
  if (!isDeletion) return;
  throw validationFailed([
    { path, code: 'IS_DELETION', message: 'must be a version that holds something: this one is a deletion' },
  ]);
}

/** What of two versions can differ. */
export const DIFFERENCES = ['KEY', 'PLACE', 'VALUE', 'COMMENT', 'METADATA', 'TAGS', 'SETTINGS'] as const;
export type Difference = (typeof DIFFERENCES)[number];

/** What of a secret is compared beside what is sealed. */
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

/** A version in the clear. */
export interface Opened {
  readonly record: Comparable;
  readonly clear: Clear;
}

/** In which parts two versions differ, in the order of `DIFFERENCES`. Tags and recipients have no order. */
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

/** Keys of metadata that only one version has, or with other values, or encrypted in one and not in the other; by code points. */
export function changedMetadataKeys(from: Pick<Clear, 'metadata'>, to: Pick<Clear, 'metadata'>): string[] {
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

const isSameComment = ({ comment: one }: Clear, { comment: other }: Clear): boolean =>
  one === null || other === null ? one === other : one.equals(other);

const hasSameSettings = (one: Comparable, other: Comparable): boolean =>
  one.skipMultilineEncoding === other.skipMultilineEncoding &&
  one.reminderNote === other.reminderNote &&
  one.reminderRepeatDays === other.reminderRepeatDays &&
  isSameSet(one.reminderRecipientIds, other.reminderRecipientIds);

const isSameSet = (one: readonly string[], other: readonly string[]): boolean =>
  new Set(one).size === new Set(other).size && one.every((item) => other.includes(item));
