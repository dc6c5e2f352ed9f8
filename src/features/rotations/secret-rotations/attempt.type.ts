import { ID, Int } from 'type-graphql';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { enumType } from '../../../kernel/graphql/enums.js';
import { objectType, orNull } from '../../../kernel/graphql/object-types.js';
import { connectionOf } from '../../../kernel/graphql/page.js';
import type { ShownDebt } from './debts/shown-debts.js';
import { RotationTypeEnum } from './rotation.type.js';
import type { AttemptReason } from './store/attempt.entity.js';
import type { AttemptRow } from './store/attempt.queries.js';
import type { DebtReason } from './store/debt.entity.js';
import { ATTEMPT_STATES, STATES } from './store/states.js';

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

export const AttemptType = objectType(
  'SecretRotationAttempt',
  'One run of a rotation: why it started, its state, and how it ended.',
  {
    attemptId: [ID, 'ID of the attempt.'],
    number: [Int, 'Number of the attempt within its rotation, from 1.'],
    reason: [AttemptReasonEnum, 'Why the attempt was started.'],
    state: [AttemptStateEnum, 'State of the attempt.'],
    calls: [Int, 'Number of calls so far that asked the external system to set the new credential.'],
    errorCode: [
      orNull(String),
      'Error code of the last failure, for example `TARGET_UNREACHABLE`. Null without a failure.',
    ],
    createdAt: [DateTime, 'When the attempt started.'],
    endedAt: [orNull(DateTime), 'When the attempt ended. Null while it is running.'],
  },
);
export type AttemptType = InstanceType<typeof AttemptType>;

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

export const DebtType = objectType(
  'CredentialDebt',
  'A credential in an external system that is still to be revoked.',
  {
    debtId: [ID, 'ID of the credential to revoke.'],
    rotationId: [ID, 'ID of the rotation, which may have been deleted since.'],
    rotationName: [orNull(String), 'Name of the rotation. Null if it was deleted.'],
    projectId: [ID, 'ID of the project of the rotation.'],
    connectionId: [ID, 'ID of the app connection that revokes it.'],
    target: [
      String,
      'External system and account that has it, for example `https://ab123.us1.example.com, account 70403` or `files.example.com:445`.',
    ],
    externalName: [
      orNull(String),
      'Its name in the external system: of a token or an account. Null if that is unknown or cannot be decrypted.',
    ],
    externalId: [
      orNull(String),
      'Its ID in the external system. Null if it has none, or if that is unknown or cannot be decrypted.',
    ],
    type: [RotationTypeEnum, 'Type of the rotation.'],
    reason: [DebtReasonEnum, 'Why the credential is to be revoked.'],
    tries: [Int, 'Number of failed attempts to revoke it.'],
    errorCode: [
      orNull(String),
      'Error code of the last attempt, for example `TARGET_UNREACHABLE`. Null if none failed.',
    ],
    nextAttemptAt: [DateTime, 'When the next attempt is due.'],
    createdAt: [DateTime, 'Since when the credential is to be revoked.'],
  },
);
export type DebtType = InstanceType<typeof DebtType>;

export const DebtConnection = connectionOf(
  DebtType,
  'CredentialDebt',
  'time since which they are to be revoked, newest first',
  'unrevoked credential',
);

/** Converts a debt to its GraphQL type. */
export const toDebtType = ({ id, ...debt }: ShownDebt): DebtType => ({ debtId: id, ...debt });
