import { ID } from 'type-graphql';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { enumType } from '../../../kernel/graphql/enums.js';
import { objectType, orNull } from '../../../kernel/graphql/object-types.js';
import { searchConnectionOf } from '../../../kernel/graphql/page.js';
import { attentionKind } from './attention.rules.js';
import type { Urgency } from './kinds/kind.sql.js';
import { KIND_NAMES, KINDS, type KindName } from './kinds/kinds.js';

const KindEnum = enumType<KindName>(
  'AttentionKind',
  'What can need a person.',
  Object.fromEntries(KIND_NAMES.map((kind) => [kind, KINDS[kind].description])) as Record<KindName, string>,
  attentionKind,
);

const UrgencyEnum = enumType<Urgency>('AttentionUrgency', 'How urgent something is, the most urgent first.', {
  critical: 'Something fails, or it is unknown whether it does.',
  high: 'Something will fail, or a credential may be valid that should not.',
  medium: 'Something is late, and nothing fails yet.',
  low: 'There are weeks to do it.',
});

/** An operation that helps. */
export const AttentionOperationType = objectType(
  'AttentionOperation',
  'An operation that helps, and that you may perform.',
  {
    mutation: [String, 'Field of `Mutation`, for example `retryJob`.'],
    inputField: [
      String,
      'Field of its input that takes `inputValue`, for example `id`. `ids` takes a list of it. REST has it in the path, or else in a field of the body with this name.',
    ],
    inputValue: [String, 'ID that the operation is about, for example `6f1c2a60-5a3e-4c52-9f43-6f4b8f0f2f11`.'],
    httpMethod: [String, 'HTTP method of the same operation in REST, for example `POST`.'],
    httpPath: [
      String,
      'Path of the same operation in REST, for example `/api/v1/jobs/6f1c2a60-5a3e-4c52-9f43-6f4b8f0f2f11/retry`.',
    ],
    summary: [String, 'What it does, for example `Retry a job`.'],
  },
);
export type AttentionOperationType = InstanceType<typeof AttentionOperationType>;

export const AttentionItemType = objectType('AttentionItem', 'Something that needs a person.', {
  kind: [KindEnum, 'What it is.'],
  urgency: [UrgencyEnum, 'How urgent it is. Every kind has one urgency.'],
  since: [DateTime, 'Since when it has needed a person.'],
  message: [String, 'What happened, in a sentence.'],
  errorCode: [
    orNull(String),
    'Error code of the last failure, for example `TARGET_UNREACHABLE`. Null if there is none.',
  ],
  projectId: [orNull(ID), 'ID of the project of the subject. Null if it has none.'],
  subjectType: [
    String,
    'GraphQL type of what it is about, for example `SecretRotation`. Others are `CredentialDebt`, `ConnectedApp`, `Certificate` and `Job`.',
  ],
  subjectId: [ID, 'ID of what it is about. `node(id:)` finds the resource, unless it is a `CredentialDebt`.'],
  subjectName: [
    orNull(String),
    'Name of what it is about: of a message that of its alert or channel, of a job that of its kind. Null if it has none.',
  ],
  operations: [[AttentionOperationType], 'Operations that help, and that you may perform.'],
});
export type AttentionItemType = InstanceType<typeof AttentionItemType>;

export const AttentionConnection = searchConnectionOf(
  AttentionItemType,
  'AttentionItem',
  'urgency, then how long it has needed a person, longest first',
);
