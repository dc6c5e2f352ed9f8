import { Args, Ctx, Field, FieldResolver, ID, Int, ObjectType, Resolver, Root } from 'type-graphql';
import * as z from 'zod';
import type { Context } from '../../../kernel/context.js';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { enumType } from '../../../kernel/graphql/enums.js';
import { objectType, orNull } from '../../../kernel/graphql/object-types.js';
import { query } from '../../../kernel/graphql/operations.js';
import { connectionOf, PageArgs } from '../../../kernel/graphql/page.js';
import type { CountedConnectionOf } from '../../../kernel/paging.js';
import { MAX_VERSION } from '../../../kernel/value-rules.js';
import { type Data, nextCursor, orInstead, paging, queryBoolean, queryInteger, routesAt } from '../../../rest/route.js';
import {
  SecretActorType,
  SecretMetadataType,
  SecretReadIssue,
  SecretType,
  secretContents,
  toSecretType,
} from '../core/secret.type.js';
import { secretLocation } from '../scope/location.rules.js';
import { unreadableValues } from '../scope/secret.reply.js';
import { TagType } from '../tags/public.js';
import { CompareVersions, GetVersion, ListDeleted, ListVersions } from './version.rules.js';
import type { Comparison, VersionPage, VersionService, VersionView } from './version.service.js';

/** API type of a version. */
export const SecretVersionType = objectType(
  'SecretVersion',
  'A version of a secret: its contents after one write. Versions are kept after the secret is deleted.',
  {
    ...secretContents,
    secretId: [ID, 'ID of the secret.'],
    version: [Int, 'Version number, from 1.'],
    isDeletion: [Boolean, 'Whether the write deleted the secret. Such a version has only a location, a key and tags.'],
    folderId: [ID, 'ID of the folder, which may be deleted.'],
    secretPath: [String, 'Path of the folder at that time, for example `/payments`.'],
    secretKey: [String, 'Key of the secret at that time, for example `DB_PASSWORD`.'],
    secretValue: [
      orNull(String),
      'Value of the secret. If it is hidden, it is null here and `<hidden>` in REST. A deletion has none.',
    ],
    secretMetadata: [[SecretMetadataType], 'Metadata of the secret.'],
    tags: [[TagType], 'The tags of the version that still exist, ordered by slug.'],
    actor: [SecretActorType, 'The actor that wrote the version.'],
    createdAt: [DateTime, 'When the version was written.'],
  },
);
export type SecretVersionType = InstanceType<typeof SecretVersionType>;

/** API type of a version inside of a secret. */
export const SecretVersionSummaryType = objectType(
  'SecretVersionSummary',
  'Summary of a version of a secret: who wrote it, when, and the key and location it had.',
  {
    version: [Int, 'Version number, from 1.'],
    isDeletion: [Boolean, 'Whether the write deleted the secret.'],
    environmentId: [ID, 'ID of the environment.'],
    environmentSlug: [String, 'Slug of the environment, for example `prod`.'],
    secretPath: [String, 'Path of the folder at that time, for example `/payments`.'],
    secretKey: [String, 'Key of the secret at that time, for example `DB_PASSWORD`.'],
    tags: [[TagType], 'The tags of the version that still exist, ordered by slug.'],
    actor: [SecretActorType, 'The actor that wrote the version.'],
    createdAt: [DateTime, 'When the version was written.'],
  },
);
export type SecretVersionSummaryType = InstanceType<typeof SecretVersionSummaryType>;

const SecretVersionSummaryConnection = connectionOf(
  SecretVersionSummaryType,
  'SecretVersionSummary',
  'version, newest first',
);

/** Converts a version to its API type. */
const toVersionType = (view: VersionView): SecretVersionType => ({
  ...toSecretType(view),
  secretId: view.id,
  isDeletion: view.isDeletion,
});

const SecretVersionReadIssue = objectType(
  'SecretVersionReadIssue',
  'A part of a version that cannot be decrypted and is hidden.',
  {
    version: [Int, 'Version number.'],
  },
  { extends: SecretReadIssue },
);
type SecretVersionReadIssue = InstanceType<typeof SecretVersionReadIssue>;

@ObjectType('SecretVersionConnection', {
  description: 'A list of versions of a secret, latest first.',
  simpleResolvers: true,
})
class SecretVersionConnection extends connectionOf(SecretVersionType, 'SecretVersion', 'version, newest first') {
  @Field(() => [SecretVersionReadIssue], { description: 'Parts of these versions that cannot be decrypted.' })
  readIssues!: readonly SecretVersionReadIssue[];
}

/** Converts a list to its API type. */
const toVersionConnection = (page: VersionPage): SecretVersionConnection =>
  Object.assign(
    page.map(toVersionType, ({ version }) => [String(version)]),
    { readIssues: page.readIssues, totalCount: page.totalCount },
  );

/** GraphQL names of the parts in which versions differ. */
export const DifferenceEnum = enumType('SecretVersionDifference', 'Part in which two versions differ.', {
  KEY: 'The key of the secret.',
  PLACE: 'The environment or the path.',
  VALUE: 'The value of the secret.',
  COMMENT: 'The comment on the secret.',
  METADATA: 'The metadata of the secret.',
  TAGS: 'The tags of the secret.',
  SETTINGS: 'The reminder, or whether clients encode line breaks.',
});

const SecretVersionComparisonType = objectType('SecretVersionComparison', 'Comparison of two versions of a secret.', {
  from: [SecretVersionType, 'Number of the first version.'],
  to: [SecretVersionType, 'Number of the second version.'],
  differences: [
    [DifferenceEnum],
    'Parts in which the versions differ. A difference of the values is reported only if you can read both.',
  ],
  changedMetadataKeys: [[String], 'Metadata keys that were added, removed or changed.'],
});
type SecretVersionComparisonType = InstanceType<typeof SecretVersionComparisonType>;

/** Converts a comparison to its API type. */
const toComparisonType = ({ from, to, ...comparison }: Comparison): SecretVersionComparisonType => ({
  ...comparison,
  from: toVersionType(from),
  to: toVersionType(to),
});

/** API type of a deleted secret. */
export const DeletedSecretType = objectType('DeletedSecret', 'A deleted secret, which can be restored.', {
  secretId: [ID, 'ID of the secret. A restore creates the secret with the same ID.'],
  environmentId: [ID, 'ID of the environment.'],
  environmentSlug: [String, 'Slug of the environment, for example `prod`.'],
  secretPath: [String, 'Path of the folder where a restore creates the secret.'],
  secretKey: [String, 'Last key of the secret, for example `DB_PASSWORD`.'],
  tags: [[TagType], 'Last tags of the secret that still exist, ordered by slug.'],
  restorableVersion: [
    orNull(Int),
    'Number of the latest version with contents, for `restoreSecret`; null when none is kept.',
  ],
  deletedAt: [DateTime, 'When the secret was deleted.'],
  actor: [SecretActorType, 'The actor that deleted the secret.'],
});
export type DeletedSecretType = InstanceType<typeof DeletedSecretType>;

const DeletedSecretConnection = connectionOf(DeletedSecretType, 'DeletedSecret', 'path, key, then ID');

@Resolver(() => SecretVersionType)
export class VersionResolver {
  constructor(private readonly versions: VersionService) {}

  @query(SecretVersionConnection, ListVersions, 'Lists the versions of a secret, latest first.')
  async secretVersions(ctx: Context, args: object): Promise<SecretVersionConnection> {
    return toVersionConnection(await this.versions.list(ctx, args));
  }

  @query(SecretVersionType, GetVersion, 'Returns a version of a secret.')
  async secretVersion(ctx: Context, args: object): Promise<SecretVersionType> {
    return toVersionType(await this.versions.get(ctx, args));
  }

  @query(SecretVersionComparisonType, CompareVersions, 'Compares two versions of a secret.')
  async compareSecretVersions(ctx: Context, args: object): Promise<SecretVersionComparisonType> {
    return toComparisonType(await this.versions.compare(ctx, args));
  }

  @query(
    DeletedSecretConnection,
    ListDeleted,
    'Lists the deleted secrets of a folder, ordered by path, key and ID. The folder may be deleted too.',
  )
  deletedSecrets(ctx: Context, args: object): Promise<CountedConnectionOf<DeletedSecretType>> {
    return this.versions.listDeleted(ctx, args);
  }
}

@Resolver(() => SecretType)
export class SecretVersionsResolver {
  constructor(private readonly service: VersionService) {}

  @FieldResolver(() => SecretVersionSummaryConnection, {
    description:
      'The versions of the secret, latest first, without encrypted contents; for those use `secretVersion`. Empty for a personal secret.',
  })
  versions(
    @Root() secret: SecretType,
    @Ctx() ctx: Context,
    @Args(() => PageArgs) page: PageArgs,
  ): Promise<CountedConnectionOf<SecretVersionSummaryType>> {
    return this.service.pageOfSecret(ctx, secret, { ...page });
  }
}

/** Where the history of secrets is in REST. */
export const HISTORY = '/api/v1/secrets';
const HIDDEN = '<hidden>';

const TAGS = 'tags { id slug name: slug color }';
const VERSION = `secretId workspace: projectId version isDeletion environment: environmentSlug folderId secretPath secretKey secretValue secretValueHidden: isSecretValueHidden
  secretComment secretReminderNote secretReminderRepeatDays secretReminderRecipients skipMultilineEncoding
  secretMetadata ${TAGS} actor createdAt changes`;

/** A version in the words of the interface. What is withheld is the word `<hidden>`; a deletion has no value at all. */
const toVersion = ({ secretValue, secretComment, secretMetadata, ...version }: Data) => ({
  ...version,
  secretValue: version.secretValueHidden === true ? HIDDEN : secretValue,
  secretComment: orInstead(secretComment, HIDDEN),
  secretMetadata: secretMetadata.map(({ value, ...entry }: Data) => ({ ...entry, value: orInstead(value, HIDDEN) })),
});

const viewSecretValue = queryBoolean(true);

const at = routesAt(HISTORY);

export const versionRoutes = [
  at.get('/deleted', 'List the deleted secrets of a folder', {
    field: 'deletedSecrets',
    select: `secretId environment: environmentSlug secretPath secretKey ${TAGS} restorableVersion deletedAt actor`,
    query: z.strictObject({ ...secretLocation, recursive: queryBoolean(false), ...paging }),
    errors: ['PROJECT_NOT_FOUND', 'ENVIRONMENT_NOT_FOUND'],
  }),
  at.get('/{secretId}/versions', 'List the versions of a secret, newest first', {
    sensitive: true,
    field: 'secretVersions',
    select: VERSION,
    beside: 'readIssues { version }',
    query: z.strictObject({ viewSecretValue, ...paging }),
    reply: ({ secretVersions }) => ({
      secretVersions: secretVersions.nodes.map(toVersion),
      ...nextCursor(secretVersions.pageInfo),
    }),
    headers: [unreadableValues(({ secretVersions }) => secretVersions.readIssues.length)],
    errors: ['SECRET_NOT_FOUND'],
  }),
  at.get('/{secretId}/versions/{version}', 'Get a version of a secret', {
    sensitive: true,
    field: 'secretVersion',
    select: VERSION,
    show: toVersion,
    params: z.object({ secretId: z.string(), version: queryInteger(1, MAX_VERSION) }),
    query: z.strictObject({ viewSecretValue }),
    errors: ['SECRET_NOT_FOUND', 'SECRET_VERSION_NOT_FOUND', 'SEALED_VALUE_INVALID', 'KEY_DISABLED'],
  }),
];
