import { Field, ID, Int, ObjectType, registerEnumType } from 'type-graphql';
import { DateTime } from '../../kernel/graphql/date-time.js';
import { Node } from '../../kernel/graphql/node.js';
import { connectionOf } from '../../kernel/graphql/page.js';
import type { ListOrder } from '../../kernel/list-order.js';
import { paced } from '../../kernel/paced-list.js';
import { TagType } from '../tags/public.js';
import type { ReferenceIssueReason } from './expansion.rules.js';
import type { OwnValues, SecretKind } from './secret.rules.js';
import {
  type ImportView,
  positionOfView,
  type ReadIssueReason,
  type SecretPage,
  type SecretView,
} from './secret.view.js';

/** GraphQL's names of the kinds of secrets. */
export const SecretKindEnum = { SHARED: 'shared', PERSONAL: 'personal' } as const satisfies Record<string, SecretKind>;
registerEnumType(SecretKindEnum, {
  name: 'SecretType',
  description: 'Whose a secret is.',
  valuesConfig: {
    SHARED: { description: 'Of all who may read it.' },
    PERSONAL: {
      description:
        "One user's own, in place of the shared one of the same key. It is never rewritten: what it refers to may get another name, and then its owner is told that it is missing.",
    },
  },
});

/** GraphQL's names of the places where a list has the caller's own values. */
export const OwnValuesEnum = { BESIDE: 'beside', INSTEAD: 'instead', NONE: 'none' } as const satisfies Record<
  string,
  OwnValues
>;
registerEnumType(OwnValuesEnum, {
  name: 'OwnValues',
  description: 'Where a list has the values of your own.',
  valuesConfig: {
    BESIDE: { description: 'After the shared ones of the same key.' },
    INSTEAD: { description: 'In the place of the shared ones of the same key.' },
    NONE: { description: 'Nowhere: only shared ones are listed.' },
  },
});

/** GraphQL's names of the kinds of actors. */
export const SecretActorKindEnum = { IDENTITY: 'identity', USER: 'user', PLATFORM: 'platform' } as const;
registerEnumType(SecretActorKindEnum, {
  name: 'SecretActorType',
  description: 'What kind of actor wrote a secret.',
  valuesConfig: {
    IDENTITY: { description: 'A machine identity.' },
    USER: { description: 'A person.' },
    PLATFORM: { description: 'The service itself.' },
  },
});

/** GraphQL's names of the parts of a secret that can fail to open. */
const ReadIssueReasonEnum = {
  VALUE_DOES_NOT_OPEN: 'VALUE_DOES_NOT_OPEN',
  COMMENT_DOES_NOT_OPEN: 'COMMENT_DOES_NOT_OPEN',
  METADATA_DOES_NOT_OPEN: 'METADATA_DOES_NOT_OPEN',
} as const satisfies { [R in ReadIssueReason]: R };
registerEnumType(ReadIssueReasonEnum, {
  name: 'SecretReadIssueReason',
  description: 'Which part of a secret cannot be decrypted.',
  valuesConfig: {
    VALUE_DOES_NOT_OPEN: { description: 'The value.' },
    COMMENT_DOES_NOT_OPEN: { description: 'The comment.' },
    METADATA_DOES_NOT_OPEN: { description: 'The encrypted entries of the metadata.' },
  },
});

/** GraphQL's names of the reasons why a reference stays as it stands. */
const ReferenceIssueReasonEnum = {
  MISSING: 'MISSING',
  FORBIDDEN: 'FORBIDDEN',
  UNREADABLE: 'UNREADABLE',
  CYCLIC: 'CYCLIC',
  TOO_LARGE: 'TOO_LARGE',
} as const satisfies { [R in ReferenceIssueReason]: R };
registerEnumType(ReferenceIssueReasonEnum, {
  name: 'SecretReferenceIssueReason',
  description: 'Why a reference stays as it stands.',
  valuesConfig: {
    MISSING: { description: 'There is no such secret, or you may not know of it.' },
    FORBIDDEN: { description: 'You may not read its value.' },
    UNREADABLE: { description: 'Its value cannot be decrypted.' },
    CYCLIC: { description: 'It leads back to the value in which it stands.' },
    TOO_LARGE: {
      description: 'The value would be longer than 1 MiB, or the values that are referenced are too long together.',
    },
  },
});

@ObjectType('SecretReferenceIssue', {
  description: 'A reference that was to be expanded and stays as it stands.',
  simpleResolvers: true,
})
export class SecretReferenceIssueType {
  @Field(() => String, { description: 'The reference, as it stands in the value or in one that was put into it.' })
  reference!: string;

  @Field(() => ReferenceIssueReasonEnum, { description: 'Why it stays.' })
  reason!: ReferenceIssueReason;
}

@ObjectType('SecretActor', { description: 'Who wrote a secret last.', simpleResolvers: true })
export class SecretActorType {
  @Field(() => ID, { nullable: true, description: 'ID of the identity or user; null for the service itself.' })
  actorId!: string | null;

  @Field(() => SecretActorKindEnum, { description: 'What kind of actor it is.' })
  actorType!: 'identity' | 'user' | 'platform';

  @Field(() => String, { nullable: true, description: 'Its name; null when it is gone.' })
  name!: string | null;

  @Field(() => ID, {
    nullable: true,
    description: 'Its membership of the project; null when it is no member any more.',
  })
  membershipId!: string | null;

  @Field(() => ID, { nullable: true, description: 'The group through which it is a member, if so.' })
  groupId!: string | null;
}

@ObjectType('SecretMetadata', {
  description: 'A key and a value that people keep beside a secret.',
  simpleResolvers: true,
})
export class SecretMetadataType {
  @Field(() => String, { description: 'The key; never encrypted.' })
  key!: string;

  @Field(() => String, {
    nullable: true,
    description:
      'The value; withheld (null here, `<hidden>` in REST) when it is stored encrypted and cannot be decrypted.',
  })
  value!: string | null;

  @Field(() => Boolean, { description: 'The value is stored encrypted, and filters do not see it.' })
  isEncrypted!: boolean;
}

/** What a secret and each of its versions have alike. No type of its own in the schema. */
@ObjectType({ simpleResolvers: true })
export class SecretContents {
  @Field(() => ID, { description: 'ID of the project.' })
  projectId!: string;

  @Field(() => ID, { description: 'ID of the environment.' })
  environmentId!: string;

  @Field(() => String, { description: 'Slug of the environment, as `prod`.' })
  environmentSlug!: string;

  @Field(() => Boolean, { description: 'The value is withheld: not asked for, not allowed, or not readable.' })
  secretValueHidden!: boolean;

  @Field(() => String, {
    nullable: true,
    description: 'The comment; empty when there is none, null here and `<hidden>` in REST when it cannot be decrypted.',
  })
  secretComment!: string | null;

  @Field(() => String, { nullable: true, description: 'What a reminder is to say.' })
  secretReminderNote!: string | null;

  @Field(() => Int, { nullable: true, description: 'Days between reminders.' })
  secretReminderRepeatDays!: number | null;

  @Field(() => [ID], { description: 'The users whom a reminder reaches; all admins of the project when it is empty.' })
  secretReminderRecipients!: readonly string[];

  @Field(() => Boolean, { description: 'Clients leave line breaks of the value as they are.' })
  skipMultilineEncoding!: boolean;
}

/** What the API shows of a secret. */
@ObjectType('Secret', {
  implements: Node,
  description: 'A key and a value in a folder of an environment.',
  simpleResolvers: true,
})
export class SecretType extends SecretContents {
  @Field(() => ID, { description: 'ID of the secret.' })
  id!: string;

  @Field(() => ID, { description: 'ID of the folder.' })
  folderId!: string;

  @Field(() => String, { description: 'Path of the folder, as `/` or `/payments/eu`.' })
  secretPath!: string;

  @Field(() => Int, { description: 'Starts at 1 and rises by one with every change.' })
  version!: number;

  @Field(() => SecretKindEnum, { description: 'Whose it is.' })
  type!: SecretKind;

  @Field(() => String, { description: 'The key, unique in the folder.' })
  secretKey!: string;

  @Field(() => String, {
    nullable: true,
    description: 'The value; null here and `<hidden>` in REST when it is withheld.',
  })
  secretValue!: string | null;

  @Field(() => SecretActorType, { description: 'Who wrote it last.' })
  actor!: SecretActorType;

  @Field(() => Boolean, { description: 'A rotation writes its value.' })
  isRotatedSecret!: boolean;

  @Field(() => ID, { nullable: true, description: 'The rotation that writes its value.' })
  rotationId!: string | null;

  @Field(() => [SecretMetadataType], { description: 'What people keep beside it.' })
  secretMetadata!: readonly SecretMetadataType[];

  @Field(() => [TagType], { description: 'All its tags, by slug.' })
  tags!: readonly TagType[];

  @Field(() => [SecretReferenceIssueType], {
    description: 'References that stay as they stand, where expansion was asked for: at most 100, each once.',
  })
  referenceIssues!: readonly SecretReferenceIssueType[];

  @Field(() => DateTime, { description: 'When it was made.' })
  createdAt!: Date;

  @Field(() => DateTime, { description: 'When it was last changed.' })
  updatedAt!: Date;
}

/** Opens what the caller is shown. Here, as the last step before the answer, and nowhere else. */
export const toSecretType = (view: SecretView): SecretType => ({
  ...view,
  secretValue: view.secretValue === null ? null : view.secretValue.reveal(),
  secretComment: view.secretComment === undefined ? '' : (view.secretComment?.reveal() ?? null),
  secretMetadata: view.secretMetadata.map((entry) => ({ ...entry, value: entry.value?.reveal() ?? null })),
});

@ObjectType({ description: 'A part of a secret that cannot be decrypted, and was withheld.', simpleResolvers: true })
export class SecretReadIssue {
  @Field(() => ID, { description: 'ID of the secret.' })
  secretId!: string;

  @Field(() => ReadIssueReasonEnum, { description: 'Which part.' })
  reason!: ReadIssueReason;
}

@ObjectType({ description: 'The secrets of a folder that is imported.', simpleResolvers: true })
export class SecretImportEntry {
  @Field(() => String, { description: 'Path of the imported folder.' })
  secretPath!: string;

  @Field(() => ID, { description: 'ID of its environment.' })
  environmentId!: string;

  @Field(() => String, { description: 'Slug of its environment.' })
  environmentSlug!: string;

  @Field(() => ID, { description: 'The imported folder.' })
  folderId!: string;

  @Field(() => [SecretType], { description: 'Its shared secrets, by key: those that you may know of.' })
  secrets!: readonly SecretType[];
}

@ObjectType('SecretConnection', { description: 'A list of secrets, ordered by path, then key.', simpleResolvers: true })
export class SecretConnection extends connectionOf(SecretType, 'Secret', 'path, then key') {
  @Field(() => [SecretImportEntry], {
    description:
      'What the folders import, and what that imports, each folder once and the nearest first. All with the first page.',
  })
  imports!: readonly SecretImportEntry[];

  @Field(() => Boolean, { description: 'There are folders more than 20 levels below the path: they are left out.' })
  depthTruncated!: boolean;

  @Field(() => Int, { description: 'How many references stay as they stand, those of imported secrets too.' })
  unresolvedReferences!: number;

  @Field(() => [SecretReadIssue], { description: 'What of these secrets cannot be decrypted, of imported ones too.' })
  readIssues!: readonly SecretReadIssue[];
}

const toImportEntry = ({ secrets, ...folder }: ImportView): SecretImportEntry => ({
  ...folder,
  secrets: toSecretTypes(secrets),
});

/**
 * A list as the API shows it. Nothing gives way here: of many such lists in a response, what stands in each is loaded by one
 * statement only as long as they resolve in the same turn of the event loop.
 */
export const toSecretTypes = (views: readonly SecretView[]): readonly SecretType[] => paced(views.map(toSecretType));

/** A list as the API shows it. */
export const toSecretConnection = async (page: SecretPage, order: ListOrder): Promise<SecretConnection> =>
  Object.assign((await page.mapInSlices(toSecretType, (secret) => positionOfView(secret, order))).paced(), {
    imports: page.imports.map(toImportEntry),
    depthTruncated: page.depthTruncated,
    unresolvedReferences: page.unresolvedReferences,
    readIssues: page.readIssues,
  });
