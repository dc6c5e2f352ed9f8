import { Field, ID, Int, ObjectType, registerEnumType } from 'type-graphql';
import { DateTime } from '../../kernel/graphql/date-time.js';
import { connectionOf } from '../../kernel/graphql/page.js';
import { TagType } from '../tags/public.js';
import { SecretActorType, SecretContents, SecretMetadataType, SecretReadIssue, toSecretType } from './secret.type.js';
import type { Difference } from './version.rules.js';
import type { Comparison, VersionPage } from './version.service.js';
import type { VersionView } from './version.view.js';

/** What the API shows of a version. */
@ObjectType('SecretVersion', {
  description: 'A secret as it was after one write. It outlives the secret.',
  simpleResolvers: true,
})
export class SecretVersionType extends SecretContents {
  @Field(() => ID, { description: 'ID of the secret.' })
  secretId!: string;

  @Field(() => Int, { description: 'Number of the version.' })
  version!: number;

  @Field(() => Boolean, { description: 'The write was its deletion: the version has a place, a key and tags only.' })
  isDeletion!: boolean;

  @Field(() => ID, { description: 'The folder, which may be gone.' })
  folderId!: string;

  @Field(() => String, { description: 'Path of the folder at that time.' })
  secretPath!: string;

  @Field(() => String, { description: 'The key.' })
  secretKey!: string;

  @Field(() => String, {
    nullable: true,
    description: 'The value; null here and `<hidden>` in REST when it is withheld. A deletion has none.',
  })
  secretValue!: string | null;

  @Field(() => [SecretMetadataType], { description: 'What people kept beside it.' })
  secretMetadata!: readonly SecretMetadataType[];

  @Field(() => [TagType], { description: 'Its tags, by slug, as far as they still exist.' })
  tags!: readonly TagType[];

  @Field(() => SecretActorType, { description: 'Who wrote it.' })
  actor!: SecretActorType;

  @Field(() => DateTime, { description: 'When it was written.' })
  createdAt!: Date;
}

/** What the API shows of a version inside of a secret. */
@ObjectType('SecretVersionSummary', {
  description: 'That a version of a secret is kept: who wrote it, when, and under which name.',
  simpleResolvers: true,
})
export class SecretVersionSummaryType {
  @Field(() => Int, { description: 'Number of the version.' })
  version!: number;

  @Field(() => Boolean, { description: 'The write was a deletion.' })
  isDeletion!: boolean;

  @Field(() => ID, { description: 'ID of the environment.' })
  environmentId!: string;

  @Field(() => String, { description: 'Slug of the environment, as `prod`.' })
  environmentSlug!: string;

  @Field(() => String, { description: 'Path of the folder at that time.' })
  secretPath!: string;

  @Field(() => String, { description: 'The key.' })
  secretKey!: string;

  @Field(() => [TagType], { description: 'Its tags, by slug, as far as they still exist.' })
  tags!: readonly TagType[];

  @Field(() => SecretActorType, { description: 'Who wrote it.' })
  actor!: SecretActorType;

  @Field(() => DateTime, { description: 'When it was written.' })
  createdAt!: Date;
}

export const SecretVersionSummaryConnection = connectionOf(
  SecretVersionSummaryType,
  'SecretVersionSummary',
  'version, newest first',
);

/** A version as the API shows it. */
export const toVersionType = (view: VersionView): SecretVersionType => ({
  ...toSecretType(view),
  secretId: view.id,
  isDeletion: view.isDeletion,
});

@ObjectType({ description: 'A part of a version that cannot be decrypted, and was withheld.', simpleResolvers: true })
export class SecretVersionReadIssue extends SecretReadIssue {
  @Field(() => Int, { description: 'The version.' })
  version!: number;
}

@ObjectType('SecretVersionConnection', {
  description: 'A list of versions of a secret, newest first.',
  simpleResolvers: true,
})
export class SecretVersionConnection extends connectionOf(SecretVersionType, 'SecretVersion', 'version, newest first') {
  @Field(() => [SecretVersionReadIssue], { description: 'What of these versions cannot be decrypted.' })
  readIssues!: readonly SecretVersionReadIssue[];
}

/** A list as the API shows it. */
export const toVersionConnection = (page: VersionPage): SecretVersionConnection =>
  Object.assign(
    page.map(toVersionType, ({ version }) => [String(version)]),
    { readIssues: page.readIssues },
  );

/** GraphQL's names of the parts in which versions differ. */
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
  description: 'In which part two versions differ.',
  valuesConfig: {
    KEY: { description: 'The key.' },
    PLACE: { description: 'The environment or the path.' },
    VALUE: { description: 'The value.' },
    COMMENT: { description: 'The comment.' },
    METADATA: { description: 'The metadata.' },
    TAGS: { description: 'The tags.' },
    SETTINGS: { description: 'The reminder, or what clients do with line breaks.' },
  },
});

@ObjectType('SecretVersionComparison', {
  description: 'What two versions of a secret have different.',
  simpleResolvers: true,
})
export class SecretVersionComparisonType {
  @Field(() => SecretVersionType, { description: 'The one version.' })
  from!: SecretVersionType;

  @Field(() => SecretVersionType, { description: 'The other.' })
  to!: SecretVersionType;

  @Field(() => [DifferenceEnum], {
    description: 'In which parts they differ; of the value it is told only to who may read both.',
  })
  differences!: readonly Difference[];

  @Field(() => [String], { description: 'Keys of the metadata that were added, removed or changed.' })
  changedMetadataKeys!: readonly string[];
}

/** A comparison as the API shows it. */
export const toComparisonType = ({ from, to, ...comparison }: Comparison): SecretVersionComparisonType => ({
  ...comparison,
  from: toVersionType(from),
  to: toVersionType(to),
});

/** What the API shows of a secret that is gone. */
@ObjectType('DeletedSecret', { description: 'A deleted secret, which can be restored.', simpleResolvers: true })
export class DeletedSecretType {
  @Field(() => ID, { description: 'ID of the secret. It has this id again when it is restored.' })
  secretId!: string;

  @Field(() => ID, { description: 'ID of the environment.' })
  environmentId!: string;

  @Field(() => String, { description: 'Slug of the environment, as `prod`.' })
  environmentSlug!: string;

  @Field(() => String, { description: 'Path of the folder that it comes back to.' })
  secretPath!: string;

  @Field(() => String, { description: 'The last key that it had.' })
  secretKey!: string;

  @Field(() => [TagType], { description: 'Its last tags, by slug, as far as they still exist.' })
  tags!: readonly TagType[];

  @Field(() => Int, {
    nullable: true,
    description: 'The newest version that holds something, for `restoreSecret`; null when none is kept.',
  })
  restorableVersion!: number | null;

  @Field(() => DateTime, { description: 'When it was deleted.' })
  deletedAt!: Date;

  @Field(() => SecretActorType, { description: 'Who deleted it.' })
  actor!: SecretActorType;
}

export const DeletedSecretConnection = connectionOf(DeletedSecretType, 'DeletedSecret', 'path, key, then ID');
