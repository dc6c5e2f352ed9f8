import { Field, Float, ID, ObjectType } from 'type-graphql';
import { DateTime } from '../../../../kernel/graphql/date-time.js';
import { enumType } from '../../../../kernel/graphql/enums.js';
import { Node } from '../../../../kernel/graphql/node.js';
import { connectionOf } from '../../../../kernel/graphql/page.js';
import type { VerificationRow } from './verification.queries.js';
import { type VerificationState, verificationState } from './verification.rules.js';

const HASH = 'a94f6e0d1c7b5a3f8e2d4c6b9a1f0e3d5c7b9a8f6e4d2c0b1a3f5e7d9c8b6a40';

const VerificationStateEnum = enumType<VerificationState>(
  'AuditTrailVerificationState',
  'States of a verification of the audit trail.',
  {
    waiting: 'No node has started yet, or the next attempt is due later.',
    running: 'A node verifies the audit trail.',
    finished: 'The audit trail was verified: `verdict` has the result.',
    stopped: 'The job was cancelled, or failed permanently. There is no result.',
  },
  verificationState,
);

/** Something that is not as it was made. */
@ObjectType('AuditTrailFinding', {
  description: 'A violation that a verification found. It never contains the contents of a row.',
  simpleResolvers: true,
})
export class FindingType {
  @Field(() => String, {
    description:
      'Where it is: a row by its number and ID, a seal by its number, or a secret by its ID, for example `seal 42`.',
  })
  place!: string;

  @Field(() => String, { description: 'What is wrong, in the words of `npm run verify-audit`, for example `deleted`.' })
  fault!: string;
}

/** The result of a verification. */
@ObjectType('AuditTrailVerdict', { description: 'Result of a verification of the audit trail.', simpleResolvers: true })
export class VerdictType {
  @Field(() => Boolean, {
    description: 'True if nothing was changed in the audit trail and no secret differs from it.',
  })
  isIntact!: boolean;

  @Field(() => Float, {
    description: 'Number of events that are not covered by a seal yet: those of the last seconds.',
  })
  unsealedCount!: number;

  @Field(() => Float, { description: 'Number of events that were deleted because their retention had ended.' })
  expiredCount!: number;

  @Field(() => Float, { description: 'Number of seals that were checked.' })
  sealCount!: number;

  @Field(() => String, {
    nullable: true,
    description: `Number and hash of the last seal. Note it elsewhere: a later verification with it finds out whether the end of the audit trail was cut off. For example \`42:${HASH}\`. Null if there is no seal yet.`,
  })
  anchor!: string | null;

  @Field(() => [FindingType], { description: 'Violations in the audit trail, the first 200.' })
  faults!: readonly FindingType[];

  @Field(() => Float, { description: 'Number of all violations in the audit trail.' })
  faultCount!: number;

  @Field(() => Float, { description: 'Number of secrets that are as they were last changed in the audit trail.' })
  equalSecretCount!: number;

  @Field(() => Float, { description: 'Number of secrets that were last changed before the trail recorded versions.' })
  unknownSecretCount!: number;

  @Field(() => [FindingType], { description: 'Secrets that differ from the audit trail, the first 200.' })
  differences!: readonly FindingType[];

  @Field(() => Float, { description: 'Number of all secrets that differ from the audit trail.' })
  differenceCount!: number;
}

/** What the API shows of a verification. */
@ObjectType('AuditTrailVerification', {
  implements: Node,
  description: 'A verification of the audit trail of all organizations. The newest 100 are kept.',
  simpleResolvers: true,
})
export class VerificationType extends Node {
  @Field(() => ID, { description: 'ID of the organization from which it was started.' })
  organizationId!: string;

  @Field(() => ID, { description: 'ID of the job. To stop the verification, cancel the job.' })
  jobId!: string;

  @Field(() => VerificationStateEnum, { description: 'Whether it is finished.' })
  state!: VerificationState;

  @Field(() => Float, { nullable: true, description: 'Number of events to check. Null before the start.' })
  rowCount!: number | null;

  @Field(() => Float, { description: 'Number of events that were checked so far.' })
  checkedCount!: number;

  @Field(() => DateTime, { description: 'When it was requested.' })
  createdAt!: Date;

  @Field(() => DateTime, { nullable: true, description: 'When it finished. Null if it has not.' })
  finishedAt!: Date | null;

  @Field(() => VerdictType, { nullable: true, description: 'Result. Null unless it has finished.' })
  verdict!: VerdictType | null;
}

export const VerificationConnection = connectionOf(VerificationType, 'AuditTrailVerification', 'time, newest first');

/** A row as the API shows it. */
export const toVerification = ({ verdict, rowCount, checkedCount, ...row }: VerificationRow): VerificationType => ({
  ...row,
  rowCount: rowCount === null ? null : Number(rowCount),
  checkedCount: Number(checkedCount),
  verdict: verdict === null ? null : toVerdict(verdict),
});

const toVerdict = (found: NonNullable<VerificationRow['verdict']>): VerdictType => ({
  isIntact: found.faultCount + found.differenceCount === 0,
  unsealedCount: found.unsealed,
  expiredCount: found.expired,
  sealCount: found.seals,
  anchor: found.anchor,
  faults: found.faults,
  faultCount: found.faultCount,
  equalSecretCount: found.equalSecrets,
  unknownSecretCount: found.unknownSecrets,
  differences: found.differences,
  differenceCount: found.differenceCount,
});
