import { Field, ID, Int, ObjectType, registerEnumType } from 'type-graphql';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { connectionOf } from '../../../kernel/graphql/page.js';
import {
  SecretActorType,
  SecretContents,
  SecretMetadataType,
  SecretReadIssue,
  toSecretType,
} from '../core/secret.type.js';
import { TagType } from '../tags/public.js';
import type { Difference } from './version.rules.js';
import type { Comparison, VersionPage } from './version.service.js';
import type { VersionView } from './version.view.js';

/** API type of a version. */
@ObjectType('SecretVersion', {
  description: 'A version of a secret: its contents after one write. Versions are kept after the secret is deleted.',
  simpleResolvers: true,
})
export class SecretVersionType extends SecretContents {
  @Field(() => ID, { description: 'ID of the secret.' })
  secretId!: string;

  @Field(() => Int, { description: 'Version number, from 1.' })
  version!: number;

  @Field(() => Boolean, {
    description: 'Whether the write deleted the secret. Such a version has only a location, a key and tags.',
  })
  isDeletion!: boolean;

  @Field(() => ID, { description: 'ID of the folder, which may be deleted.' })
  folderId!: string;

  @Field(() => String, { description: 'Path of the folder at that time, for example `/payments`.' })
  secretPath!: string;

  @Field(() => String, { description: 'Key of the secret at that time, for example `DB_PASSWORD`.' })
  secretKey!: string;

  @Field(() => String, {
    nullable: true,
    description: 'Value of the secret. If it is hidden, it is null here and `<hidden>` in REST. A deletion has none.',
  })
  secretValue!: string | null;

  @Field(() => [SecretMetadataType], { description: 'Metadata of the secret.' })
  secretMetadata!: readonly SecretMetadataType[];

  @Field(() => [TagType], { description: 'The tags of the version that still exist, ordered by slug.' })
  tags!: readonly TagType[];

  @Field(() => SecretActorType, { description: 'The actor that wrote the version.' })
  actor!: SecretActorType;

  @Field(() => DateTime, { description: 'When the version was written.' })
  createdAt!: Date;
}

/** API type of a version inside of a secret. */
@ObjectType('SecretVersionSummary', {
  description: 'Summary of a version of a secret: who wrote it, when, and the key and location it had.',
  simpleResolvers: true,
})
export class SecretVersionSummaryType {
  @Field(() => Int, { description: 'Version number, from 1.' })
  version!: number;

  @Field(() => Boolean, { description: 'Whether the write deleted the secret.' })
  isDeletion!: boolean;

  @Field(() => ID, { description: 'ID of the environment.' })
  environmentId!: string;

  @Field(() => String, { description: 'Slug of the environment, for example `prod`.' })
  environmentSlug!: string;

  @Field(() => String, { description: 'Path of the folder at that time, for example `/payments`.' })
  secretPath!: string;

  @Field(() => String, { description: 'Key of the secret at that time, for example `DB_PASSWORD`.' })
  secretKey!: string;

  @Field(() => [TagType], { description: 'The tags of the version that still exist, ordered by slug.' })
  tags!: readonly TagType[];

  @Field(() => SecretActorType, { description: 'The actor that wrote the version.' })
  actor!: SecretActorType;

  @Field(() => DateTime, { description: 'When the version was written.' })
  createdAt!: Date;
}

export const SecretVersionSummaryConnection = connectionOf(
  SecretVersionSummaryType,
  'SecretVersionSummary',
  'version, newest first',
);

/** Converts a version to its API type. */
export const toVersionType = (view: VersionView): SecretVersionType => ({
  ...toSecretType(view),
  secretId: view.id,
  isDeletion: view.isDeletion,
});

@ObjectType({ description: 'A part of a version that cannot be decrypted and is hidden.', simpleResolvers: true })
export class SecretVersionReadIssue extends SecretReadIssue {
  @Field(() => Int, { description: 'Version number.' })
  version!: number;
}

@ObjectType('SecretVersionConnection', {
  description: 'A list of versions of a secret, latest first.',
  simpleResolvers: true,
})
export class SecretVersionConnection extends connectionOf(SecretVersionType, 'SecretVersion', 'version, newest first') {
  @Field(() => [SecretVersionReadIssue], { description: 'Parts of these versions that cannot be decrypted.' })
  readIssues!: readonly SecretVersionReadIssue[];
}

/** Converts a list to its API type. */
export const toVersionConnection = (page: VersionPage): SecretVersionConnection =>
  Object.assign(
    page.map(toVersionType, ({ version }) => [String(version)]),
    { readIssues: page.readIssues },
  );

/** GraphQL names of the parts in which versions differ. */
export const DifferenceEnum = {
  KEY: 'KEY',
  PLACE: 'PLACE',
  VALUE: 'VALUE',
  COMMENT: 'COMMENT',
  METADATA: 'METADATA',
  TAGS: 'TAGS',
  SETTINGS: 'SETTINGS',
} as const satisfies { [D in Difference]: D };
registerEnumType(DifferenceEnum, {
  name: 'SecretVersionDifference',
  description: 'Part in which two versions differ.',
  valuesConfig: {
    KEY: { description: 'The key of the secret.' },
    PLACE: { description: 'The environment or the path.' },
    VALUE: { description: 'The value of the secret.' },
    COMMENT: { description: 'The comment on the secret.' },
    METADATA: { description: 'The metadata of the secret.' },
    TAGS: { description: 'The tags of the secret.' },
    SETTINGS: { description: 'The reminder, or whether clients encode line breaks.' },
  },
});

@ObjectType('SecretVersionComparison', {
  description: 'Comparison of two versions of a secret.',
  simpleResolvers: true,
})
export class SecretVersionComparisonType {
  @Field(() => SecretVersionType, { description: 'Number of the first version.' })
  from!: SecretVersionType;

  @Field(() => SecretVersionType, { description: 'Number of the second version.' })
  to!: SecretVersionType;

  @Field(() => [DifferenceEnum], {
    description:
      'Parts in which the versions differ. A difference of the values is reported only if you can read both.',
  })
  differences!: readonly Difference[];

  @Field(() => [String], { description: 'Metadata keys that were added, removed or changed.' })
  changedMetadataKeys!: readonly string[];
}

/** Converts a comparison to its API type. */
export const toComparisonType = ({ from, to, ...comparison }: Comparison): SecretVersionComparisonType => ({
  ...comparison,
  from: toVersionType(from),
  to: toVersionType(to),
});

/** API type of a deleted secret. */
@ObjectType('DeletedSecret', { description: 'A deleted secret, which can be restored.', simpleResolvers: true })
export class DeletedSecretType {
  @Field(() => ID, { description: 'ID of the secret. A restore creates the secret with the same ID.' })
  secretId!: string;

  @Field(() => ID, { description: 'ID of the environment.' })
  environmentId!: string;

  @Field(() => String, { description: 'Slug of the environment, for example `prod`.' })
  environmentSlug!: string;

  @Field(() => String, { description: 'Path of the folder where a restore creates the secret.' })
  secretPath!: string;

  @Field(() => String, { description: 'Last key of the secret, for example `DB_PASSWORD`.' })
  secretKey!: string;

  @Field(() => [TagType], { description: 'Last tags of the secret that still exist, ordered by slug.' })
  tags!: readonly TagType[];

  @Field(() => Int, {
    nullable: true,
    description: 'Number of the latest version with contents, for `restoreSecret`; null when none is kept.',
  })
  restorableVersion!: number | null;

  @Field(() => DateTime, { description: 'When the secret was deleted.' })
  deletedAt!: Date;

  @Field(() => SecretActorType, { description: 'The actor that deleted the secret.' })
  actor!: SecretActorType;
}

export const DeletedSecretConnection = connectionOf(DeletedSecretType, 'DeletedSecret', 'path, key, then ID');
