import { Field, ID, ObjectType } from 'type-graphql';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { enumType } from '../../../kernel/graphql/enums.js';
import { soughtConnectionOf } from '../../../kernel/graphql/page.js';
import type { Method } from '../../../rest/route.js';
import { attentionKind } from './attention.rules.js';
import type { Urgency } from './kinds/kind.js';
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
@ObjectType('AttentionOperation', {
  description: 'An operation that helps, and that you may perform.',
  simpleResolvers: true,
})
export class AttentionOperationType {
  @Field(() => String, {
    description: 'Field of `Mutation`, for example `retryJob`.',
  })
  mutation!: string;

  @Field(() => String, {
    description:
      'Field of its input that takes `inputValue`, for example `id`. `ids` takes a list of it. REST has it in the path, or else in a field of the body with this name.',
  })
  inputField!: string;

  @Field(() => String, {
    description: 'ID that the operation is about, for example `6f1c2a60-5a3e-4c52-9f43-6f4b8f0f2f11`.',
  })
  inputValue!: string;

  @Field(() => String, { description: 'HTTP method of the same operation in REST, for example `POST`.' })
  httpMethod!: Method;

  @Field(() => String, {
    description:
      'Path of the same operation in REST, for example `/api/v1/jobs/6f1c2a60-5a3e-4c52-9f43-6f4b8f0f2f11/retry`.',
  })
  httpPath!: string;

  @Field(() => String, { description: 'What it does, for example `Retry a job`.' })
  summary!: string;
}

/** Something that needs a person. */
@ObjectType('AttentionItem', { description: 'Something that needs a person.', simpleResolvers: true })
export class AttentionItemType {
  @Field(() => KindEnum, { description: 'What it is.' })
  kind!: KindName;

  @Field(() => UrgencyEnum, { description: 'How urgent it is. Every kind has one urgency.' })
  urgency!: Urgency;

  @Field(() => DateTime, { description: 'Since when it has needed a person.' })
  since!: Date;

  @Field(() => String, { description: 'What happened, in a sentence.' })
  message!: string;

  @Field(() => String, {
    nullable: true,
    description: 'Error code of the last failure, for example `TARGET_UNREACHABLE`. Null if there is none.',
  })
  errorCode!: string | null;

  @Field(() => String, {
    description:
      'GraphQL type of what it is about, for example `SecretRotation`. Others are `CredentialDebt`, `ConnectedApp`, `Certificate` and `Job`.',
  })
  subjectType!: string;

  @Field(() => ID, {
    description: 'ID of what it is about. `node(id:)` finds the resource, unless it is a `CredentialDebt`.',
  })
  subjectId!: string;

  @Field(() => String, {
    nullable: true,
    description:
      'Name of what it is about: of a message that of its alert or channel, of a job that of its kind. Null if it has none.',
  })
  subjectName!: string | null;

  @Field(() => ID, { nullable: true, description: 'ID of the project of the subject. Null if it has none.' })
  projectId!: string | null;

  @Field(() => [AttentionOperationType], { description: 'Operations that help, and that you may perform.' })
  operations!: readonly AttentionOperationType[];
}

export const AttentionConnection = soughtConnectionOf(
  AttentionItemType,
  'AttentionItem',
  'urgency, then how long it has needed a person, longest first',
);
