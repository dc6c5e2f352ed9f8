import { Field, ID, Int, ObjectType } from 'type-graphql';
import { DateTime } from '../../kernel/graphql/date-time.js';
import { enumType } from '../../kernel/graphql/enums.js';
import { connectionOf } from '../../kernel/graphql/page.js';
import type { RotationType } from './kinds/kinds.js';
import { RotationTypeEnum } from './rotation.type.js';
import type { AttemptReason } from './store/attempt.entity.js';
import type { AttemptRow } from './store/attempt.sql.js';
import type { DebtReason } from './store/debt.entity.js';
import type { DebtRow } from './store/debt.sql.js';
import { ATTEMPT_STATES, type AttemptState, STATES } from './store/states.js';

const AttemptStateEnum = enumType(
  'SecretRotationAttemptState',
  'How far an attempt to rotate is.',
  Object.fromEntries(ATTEMPT_STATES.map((state) => [state, STATES[state].means])),
);

const AttemptReasonEnum = enumType<AttemptReason>('SecretRotationAttemptReason', 'Why an attempt was begun.', {
  creation: 'The rotation was made.',
  adoption: 'The rotation was made with a credential that there was.',
  schedule: 'Its time had come.',
  manual: 'Somebody asked for it.',
  reconciliation: 'Somebody had the password reset, since nobody could tell which one works.',
});

@ObjectType('SecretRotationAttempt', {
  description: 'One run of a rotation: why it was begun, how far it came, and how it ended.',
  simpleResolvers: true,
})
export class AttemptType {
  @Field(() => ID, { description: 'Names it, to cancel it.' })
  attemptId!: string;

  @Field(() => Int, { description: 'Counts the attempts of the rotation, from 1.' })
  number!: number;

  @Field(() => AttemptReasonEnum, { description: 'Why it was begun.' })
  reason!: AttemptReason;

  @Field(() => AttemptStateEnum, { description: 'How far it is.' })
  state!: AttemptState;

  @Field(() => Int, { description: 'How often the outside system was asked to take a new credential.' })
  calls!: number;

  @Field(() => String, {
    nullable: true,
    description: 'Why it failed, or what of it failed so far, as `TARGET_UNREACHABLE`; null without a failure.',
  })
  errorCode!: string | null;

  @Field(() => DateTime, { description: 'When it was begun.' })
  createdAt!: Date;

  @Field(() => DateTime, { nullable: true, description: 'When it ended; null while it is open.' })
  endedAt!: Date | null;
}

export const AttemptConnection = connectionOf(
  AttemptType,
  'SecretRotationAttempt',
  'when they were begun, newest first',
);

/** An attempt as the API shows it. */
export const toAttemptType = ({ id, ...attempt }: AttemptRow): AttemptType => ({ attemptId: id, ...attempt });

const DebtReasonEnum = enumType<DebtReason>('CredentialDebtReason', 'Why a credential is to be revoked.', {
  replaced: 'Two newer ones are published by now.',
  orphaned: 'It may have been made by a call whose answer was lost.',
  unusable: 'It was made, but did not work.',
  deletion: 'Its rotation is being deleted.',
});

@ObjectType('CredentialDebt', {
  description: 'A credential in an outside system that is to be revoked, and is not known to be gone.',
  simpleResolvers: true,
})
export class DebtType {
  @Field(() => ID, { description: 'Names it.' })
  debtId!: string;

  @Field(() => ID, { description: 'The rotation, which may be gone by now.' })
  rotationId!: string;

  @Field(() => ID, { description: 'The connection by which it is revoked.' })
  connectionId!: string;

  @Field(() => RotationTypeEnum, { description: 'The type of the rotation.' })
  type!: RotationType;

  @Field(() => DebtReasonEnum, { description: 'Why it is to be revoked.' })
  reason!: DebtReason;

  @Field(() => Int, { description: 'How often that has failed.' })
  tries!: number;

  @Field(() => String, {
    nullable: true,
    description: 'Why it failed last, as `TARGET_UNREACHABLE`; null if it did not.',
  })
  errorCode!: string | null;

  @Field(() => DateTime, { description: 'When it is tried next.' })
  nextAttemptAt!: Date;

  @Field(() => DateTime, { description: 'Since when it is to be revoked.' })
  createdAt!: Date;
}

export const DebtConnection = connectionOf(
  DebtType,
  'CredentialDebt',
  'since when they are to be revoked, newest first',
);

/** A debt as the API shows it. */
export const toDebtType = ({ id, ...debt }: DebtRow): DebtType => ({ debtId: id, ...debt });
