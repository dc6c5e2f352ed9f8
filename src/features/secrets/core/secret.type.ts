import { Field, ID, Int, ObjectType } from 'type-graphql';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { enumType } from '../../../kernel/graphql/enums.js';
import { inputType } from '../../../kernel/graphql/inputs.js';
import { Node } from '../../../kernel/graphql/node.js';
import { type Fields, objectType, orNull } from '../../../kernel/graphql/object-types.js';
import { connectionOf } from '../../../kernel/graphql/page.js';
import { yieldingList } from '../../../kernel/paging.js';
import { MetadataFilter } from '../scope/metadata-filter.rules.js';
import { TagType } from '../tags/public.js';
import { MetadataEntry, type OwnValues, ownValues, type SecretKind, secretKind } from './secret.rules.js';
import { type ImportView, positionOfView, type SecretPage, type SecretView } from './secret.view.js';

export const SecretKindEnum = enumType<SecretKind>(
  'SecretType',
  'Whether a secret is shared or personal.',
  {
    shared: 'Shared by everybody who can read the secret.',
    personal:
      'The value of one user, which replaces the shared value for that user only. References in personal values are ' +
      'not updated when a secret is renamed; the owner then sees a missing reference.',
  },
  secretKind,
);

enumType<OwnValues>(
  'OwnValues',
  'Where a list shows your personal values.',
  {
    beside: 'After the shared secrets with the same key.',
    instead: 'Instead of the shared secrets with the same key.',
    none: 'Nowhere: the list has only shared secrets.',
  },
  ownValues,
);

inputType('SecretMetadataInput', MetadataEntry);
inputType('SecretMetadataFilterInput', MetadataFilter);

/** GraphQL names of the types of actors. */
const SecretActorKindEnum = enumType('SecretActorType', 'Type of the actor that wrote a secret.', {
  identity: 'A machine identity.',
  user: 'A person with a user account.',
  platform: 'The service itself, for example a secret rotation.',
});

/** GraphQL names of the parts of a secret that can fail to decrypt. */
const ReadIssueReasonEnum = enumType('SecretReadIssueReason', 'Part of a secret that cannot be decrypted.', {
  VALUE_DOES_NOT_OPEN: 'The value of the secret.',
  COMMENT_DOES_NOT_OPEN: 'The comment on the secret.',
  METADATA_DOES_NOT_OPEN: 'The encrypted metadata values.',
});

/** GraphQL names of the reasons why a reference is not expanded. */
const ReferenceIssueReasonEnum = enumType('SecretReferenceIssueReason', 'Why a reference was not expanded.', {
  MISSING: 'The referenced secret does not exist, or you cannot see it.',
  IMPORTED: 'The folder only imports the secret. References name a secret where it is: `${env.folder.KEY}`.',
  FORBIDDEN: 'You cannot read the value of the referenced secret.',
  UNREADABLE: 'The value of the referenced secret cannot be decrypted.',
  CYCLIC: 'The reference is part of a cycle.',
  TOO_LARGE: 'The expanded value would exceed 1 MiB, or the referenced values are too large in total.',
});

const SecretReferenceIssueType = objectType(
  'SecretReferenceIssue',
  'A reference that could not be expanded and is returned unchanged.',
  {
    reference: [
      String,
      'The reference as written in the value, or in a value inserted into it, for example ' +
        '`${prod.payments.DB_PASSWORD}`.',
    ],
    reason: [ReferenceIssueReasonEnum, 'Why the reference was not expanded.'],
  },
);

export const SecretActorType = objectType('SecretActor', 'The actor that last wrote a secret.', {
  actorId: [orNull(ID), 'ID of the identity or user; null for the service itself.'],
  actorType: [SecretActorKindEnum, 'Type of the actor.'],
  name: [orNull(String), 'Name of the actor; null if the actor was deleted.'],
  membershipId: [orNull(ID), "ID of the actor's membership of the project; null if the actor has none now."],
  groupId: [orNull(ID), 'ID of the group through which the actor is a member; null for a direct member.'],
});
export type SecretActorType = InstanceType<typeof SecretActorType>;

export const SecretMetadataType = objectType('SecretMetadata', 'A metadata entry of a secret: a key and a value.', {
  key: [String, 'Key of the entry. Never encrypted.'],
  value: [orNull(String), 'Value of the entry. If it cannot be decrypted, it is null here and `<hidden>` in REST.'],
  isEncrypted: [Boolean, 'Whether the value is stored encrypted. Filters do not match encrypted values.'],
});
export type SecretMetadataType = InstanceType<typeof SecretMetadataType>;

/** Fields that a secret and its versions have in common. Not a type in the schema. */
export const secretContents = {
  projectId: [ID, 'ID of the project.'],
  environmentId: [ID, 'ID of the environment.'],
  environmentSlug: [String, 'Slug of the environment, for example `prod`.'],
  isSecretValueHidden: [
    Boolean,
    'Whether the value is hidden: it was not requested, you are not allowed to read it, or it cannot be decrypted.',
  ],
  secretComment: [
    orNull(String),
    'Comment on the secret; empty when there is none. If it cannot be decrypted, it is null here and `<hidden>` in REST.',
  ],
  secretReminderNote: [orNull(String), 'Text of the reminder.'],
  secretReminderRepeatDays: [orNull(Int), 'Days between reminders.'],
  secretReminderRecipients: [[ID], 'IDs of the users to remind; if empty, all admins of the project are reminded.'],
  skipMultilineEncoding: [Boolean, 'Whether clients should leave line breaks of the value unencoded.'],
} as const satisfies Fields;

/** API type of a secret. */
export const SecretType = objectType(
  'Secret',
  'A secret: a key and a value in a folder of an environment.',
  {
    ...secretContents,
    id: [ID, 'ID of the secret.'],
    folderId: [ID, 'ID of the folder.'],
    secretPath: [String, 'Path of the folder, for example `/` or `/payments/eu`.'],
    version: [Int, 'Version of the secret, from 1. Increments with every change.'],
    type: [SecretKindEnum, 'Whether the secret is shared or personal.'],
    secretKey: [String, 'Key of the secret, unique in the folder, for example `DB_PASSWORD`.'],
    secretValue: [orNull(String), 'Value of the secret. If it is hidden, it is null here and `<hidden>` in REST.'],
    actor: [SecretActorType, 'The actor that last wrote the secret.'],
    isRotatedSecret: [Boolean, 'Whether a secret rotation writes the value.'],
    rotationId: [orNull(ID), 'ID of the secret rotation that writes the value; null if none does.'],
    secretMetadata: [[SecretMetadataType], 'Metadata of the secret.'],
    tags: [[TagType], 'The tags of the secret, ordered by slug.'],
    referenceIssues: [
      [SecretReferenceIssueType],
      'References that could not be expanded, if expansion was requested: at most 100, each once.',
    ],
    createdAt: [DateTime, 'When the secret was created.'],
    updatedAt: [DateTime, 'When the secret was last changed.'],
  },
  { implements: Node },
);
export type SecretType = InstanceType<typeof SecretType>;

/** Decrypts what the caller is shown. Only here, as the last step before the response. */
export const toSecretType = (view: SecretView): SecretType => ({
  ...view,
  secretValue: view.secretValue === null ? null : view.secretValue.reveal(),
  secretComment: view.secretComment === undefined ? '' : (view.secretComment?.reveal() ?? null),
  secretMetadata: view.secretMetadata.map((entry) => ({ ...entry, value: entry.value?.reveal() ?? null })),
});

export const SecretReadIssue = objectType(
  'SecretReadIssue',
  'A part of a secret that cannot be decrypted and is hidden.',
  {
    secretId: [ID, 'ID of the secret.'],
    reason: [ReadIssueReasonEnum, 'Part that cannot be decrypted.'],
  },
);
export type SecretReadIssue = InstanceType<typeof SecretReadIssue>;

export const SecretImportEntry = objectType('SecretImportEntry', 'The secrets of an imported folder.', {
  secretPath: [String, 'Path of the imported folder, for example `/shared`.'],
  environmentId: [ID, 'ID of the environment of the imported folder.'],
  environmentSlug: [String, 'Slug of the environment of the imported folder, for example `prod`.'],
  folderId: [ID, 'ID of the imported folder.'],
  secrets: [[SecretType], 'The shared secrets of the imported folder that you can see, ordered by key.'],
});
export type SecretImportEntry = InstanceType<typeof SecretImportEntry>;

@ObjectType('SecretConnection', { description: 'A list of secrets, ordered by path, then key.', simpleResolvers: true })
export class SecretConnection extends connectionOf(SecretType, 'Secret', 'path, then key') {
  @Field(() => [SecretImportEntry], {
    description:
      'Folders that the listed folders import, directly or through other imports: each once, the nearest first. All are returned with the first page.',
  })
  imports!: readonly SecretImportEntry[];

  @Field(() => Boolean, { description: 'Whether folders more than 20 levels below the path were left out.' })
  isDepthTruncated!: boolean;

  @Field(() => Int, {
    description: 'Number of references that could not be expanded, including those of imported secrets.',
  })
  unresolvedReferences!: number;

  @Field(() => [SecretReadIssue], {
    description: 'Parts of these secrets that cannot be decrypted, including imported secrets.',
  })
  readIssues!: readonly SecretReadIssue[];
}

const toImportEntry = ({ secrets, ...folder }: ImportView): SecretImportEntry => ({
  ...folder,
  secrets: toSecretTypes(secrets),
});

/**
 * Converts a list to its API type. Never yields: of many such lists in a response, the fields of all are loaded by one
 * statement only as long as they resolve in the same turn of the event loop.
 */
export const toSecretTypes = (views: readonly SecretView[]): readonly SecretType[] =>
  yieldingList(views.map(toSecretType));

/** Converts a list to its API type. */
export const toSecretConnection = async (page: SecretPage): Promise<SecretConnection> =>
  Object.assign((await page.mapYielding(toSecretType, (secret) => positionOfView(secret, page.order))).paced(), {
    imports: page.imports.map(toImportEntry),
    isDepthTruncated: page.isDepthTruncated,
    unresolvedReferences: page.unresolvedReferences,
    readIssues: page.readIssues,
    totalCount: page.totalCount,
  });
