import { Field, ID, Int, ObjectType } from 'type-graphql';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { enumType } from '../../../kernel/graphql/enums.js';
import { connectionOf } from '../../../kernel/graphql/page.js';
import type { ShownDebt } from './debts/shown-debts.js';
import type { RotationType } from './kinds/kinds.js';
import { RotationTypeEnum } from './rotation.type.js';
import type { AttemptReason } from './store/attempt.entity.js';
import type { AttemptRow } from './store/attempt.queries.js';
import type { DebtReason } from './store/debt.entity.js';
import { ATTEMPT_STATES, type AttemptState, STATES } from './store/states.js';

const AttemptStateEnum = enumType(
  'SecretRotationAttemptState',
  'States of an attempt to rotate.',
  Object.fromEntries(ATTEMPT_STATES.map((state) => [state, STATES[state].means])),
);

const AttemptReasonEnum = enumType<AttemptReason>(
  'SecretRotationAttemptReason',
  'Reasons why an attempt was started.',
  {
    creation: 'The rotation was created.',
    adoption: 'The rotation was created with an existing credential.',
    schedule: 'The scheduled time was reached.',
    manual: 'Somebody requested it.',
    reconciliation: 'Somebody requested a password reset, because it was unknown which password is valid.',
  },
);

@ObjectType('SecretRotationAttempt', {
  description: 'One run of a rotation: why it started, its state, and how it ended.',
  simpleResolvers: true,
})
export class AttemptType {
  @Field(() => ID, { description: 'ID of the attempt.' })
  attemptId!: string;

  @Field(() => Int, { description: 'Number of the attempt within its rotation, from 1.' })
  number!: number;

  @Field(() => AttemptReasonEnum, { description: 'Why the attempt was started.' })
  reason!: AttemptReason;

  @Field(() => AttemptStateEnum, { description: 'State of the attempt.' })
  state!: AttemptState;

  @Field(() => Int, { description: 'Number of calls so far that asked the external system to set the new credential.' })
  calls!: number;

  @Field(() => String, {
    nullable: true,
    description: 'Error code of the last failure, for example `TARGET_UNREACHABLE`. Null without a failure.',
  })
  errorCode!: string | null;

  @Field(() => DateTime, { description: 'When the attempt started.' })
  createdAt!: Date;

  @Field(() => DateTime, { nullable: true, description: 'When the attempt ended. Null while it is running.' })
  endedAt!: Date | null;
}

export const AttemptConnection = connectionOf(
  AttemptType,
  'SecretRotationAttempt',
  'start time, newest first',
  'attempt',
);

/** Converts an attempt to its GraphQL type. */
export const toAttemptType = ({ id, ...attempt }: AttemptRow): AttemptType => ({ attemptId: id, ...attempt });

const DebtReasonEnum = enumType<DebtReason>(
  'CredentialDebtReason',
  'Reasons why a credential is still to be revoked.',
  {
    replaced: 'Two newer credentials have been published since.',
    orphaned: 'A call without a response may have created it.',
    unusable: 'It was created but does not work.',
    deletion: 'Its rotation is being deleted.',
  },
);

@ObjectType('CredentialDebt', {
  description: 'A credential in an external system that is still to be revoked.',
  simpleResolvers: true,
})
export class DebtType {
  @Field(() => ID, { description: 'ID of the credential to revoke.' })
  debtId!: string;

  @Field(() => ID, { description: 'ID of the rotation, which may have been deleted since.' })
  rotationId!: string;

  @Field(() => String, { nullable: true, description: 'Name of the rotation. Null if it was deleted.' })
  rotationName!: string | null;

  @Field(() => ID, { description: 'ID of the project of the rotation.' })
  projectId!: string;

  @Field(() => ID, { description: 'ID of the app connection that revokes it.' })
  connectionId!: string;

  @Field(() => String, {
    description:
      'External system and account that has it, for example `https://ab123.us1.example.com, account 70403` or `files.example.com:445`.',
  })
  target!: string;

  @Field(() => String, {
    nullable: true,
    description:
      'Its name in the external system: of a token or an account. Null if that is unknown or cannot be decrypted.',
  })
  externalName!: string | null;

  @Field(() => String, {
    nullable: true,
    description: 'Its ID in the external system. Null if it has none, or if that is unknown or cannot be decrypted.',
  })
  externalId!: string | null;

  @Field(() => RotationTypeEnum, { description: 'Type of the rotation.' })
  type!: RotationType;

  @Field(() => DebtReasonEnum, { description: 'Why the credential is to be revoked.' })
  reason!: DebtReason;

  @Field(() => Int, { description: 'Number of failed attempts to revoke it.' })
  tries!: number;

  @Field(() => String, {
    nullable: true,
    description: 'Error code of the last attempt, for example `TARGET_UNREACHABLE`. Null if none failed.',
  })
  errorCode!: string | null;

  @Field(() => DateTime, { description: 'When the next attempt is due.' })
  nextAttemptAt!: Date;

  @Field(() => DateTime, { description: 'Since when the credential is to be revoked.' })
  createdAt!: Date;
}

export const DebtConnection = connectionOf(
  DebtType,
  'CredentialDebt',
  'time since which they are to be revoked, newest first',
  'unrevoked credential',
);

/** Converts a debt to its GraphQL type. */
export const toDebtType = ({ id, ...debt }: ShownDebt): DebtType => ({ debtId: id, ...debt });
