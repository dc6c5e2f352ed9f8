import { Float, ID, Resolver } from 'type-graphql';
import * as z from 'zod';
import type { Context } from '../../../../kernel/context.js';
import { DateTime } from '../../../../kernel/graphql/date-time.js';
import { enumType } from '../../../../kernel/graphql/enums.js';
import { Node } from '../../../../kernel/graphql/node.js';
import { objectType, orNull } from '../../../../kernel/graphql/object-types.js';
import { mutation, query } from '../../../../kernel/graphql/operations.js';
import { connectionOf } from '../../../../kernel/graphql/page.js';
import type { CountedConnectionOf } from '../../../../kernel/paging.js';
import { boundedPaging, type Route, routesAt } from '../../../../rest/route.js';
import type { VerificationRow } from './verification.queries.js';
import {
  ListVerifications,
  OneVerification,
  type VerificationState,
  VerifyTrail,
  verificationState,
} from './verification.rules.js';
import type { VerificationService } from './verification.service.js';

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
const FindingType = objectType(
  'AuditTrailFinding',
  'A violation that a verification found. It never contains the contents of a row.',
  {
    place: [
      String,
      'Where it is: a row by its number and ID, a seal by its number, or a secret by its ID, for example `seal 42`.',
    ],
    fault: [String, 'What is wrong, in the words of `npm run verify-audit`, for example `deleted`.'],
  },
);

/** The result of a verification. */
const VerdictType = objectType('AuditTrailVerdict', 'Result of a verification of the audit trail.', {
  isIntact: [Boolean, 'True if nothing was changed in the audit trail and no secret differs from it.'],
  unsealedCount: [Float, 'Number of events that are not covered by a seal yet: those of the last seconds.'],
  expiredCount: [Float, 'Number of events that were deleted because their retention had ended.'],
  sealCount: [Float, 'Number of seals that were checked.'],
  anchor: [
    orNull(String),
    `Number and hash of the last seal. Note it elsewhere: a later verification with it finds out whether the end of the audit trail was cut off. For example \`42:${HASH}\`. Null if there is no seal yet.`,
  ],
  faults: [[FindingType], 'Violations in the audit trail, the first 200.'],
  faultCount: [Float, 'Number of all violations in the audit trail.'],
  equalSecretCount: [Float, 'Number of secrets that are as they were last changed in the audit trail.'],
  unknownSecretCount: [Float, 'Number of secrets that were last changed before the trail recorded versions.'],
  differences: [[FindingType], 'Secrets that differ from the audit trail, the first 200.'],
  differenceCount: [Float, 'Number of all secrets that differ from the audit trail.'],
});
type VerdictType = InstanceType<typeof VerdictType>;

/** What the API shows of a verification. */
export const VerificationType = objectType(
  'AuditTrailVerification',
  'A verification of the audit trail of all organizations. The newest 100 are kept.',
  {
    organizationId: [ID, 'ID of the organization from which it was started.'],
    jobId: [ID, 'ID of the job. To stop the verification, cancel the job.'],
    state: [VerificationStateEnum, 'Whether it is finished.'],
    rowCount: [orNull(Float), 'Number of events to check. Null before the start.'],
    checkedCount: [Float, 'Number of events that were checked so far.'],
    createdAt: [DateTime, 'When it was requested.'],
    finishedAt: [orNull(DateTime), 'When it finished. Null if it has not.'],
    verdict: [orNull(VerdictType), 'Result. Null unless it has finished.'],
  },
  { implements: Node },
);
export type VerificationType = InstanceType<typeof VerificationType>;

const VerificationConnection = connectionOf(VerificationType, 'AuditTrailVerification', 'time, newest first');

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

@Resolver(() => VerificationType)
export class VerificationResolver {
  constructor(private readonly service: VerificationService) {}

  @query(
    VerificationType,
    OneVerification,
    'Returns a verification of the audit trail: how far it is, and what it found. Only the admin of the installation can read it.',
  )
  async auditTrailVerification(ctx: Context, args: object): Promise<VerificationType> {
    return toVerification(await this.service.get(ctx, args));
  }

  @query(
    VerificationConnection,
    ListVerifications,
    'Lists the verifications of the audit trail, newest first. Only the admin of the installation can read them.',
  )
  async auditTrailVerifications(ctx: Context, args: object): Promise<CountedConnectionOf<VerificationType>> {
    return (await this.service.list(ctx, args)).show(toVerification);
  }

  @mutation(
    VerifyTrail,
    { auditTrailVerification: [VerificationType, 'The verification, which a job carries out.'] },
    'Starts a verification of the audit trail of all organizations, as `npm run verify-audit` does it. If one is waiting or running, that one is returned. Only the admin of the installation can do this.',
  )
  async verifyAuditTrail(ctx: Context, input: object): Promise<{ auditTrailVerification: VerificationType }> {
    return { auditTrailVerification: toVerification(await this.service.start(ctx, input)) };
  }
}

const verifications = routesAt('/api/v1/audit-trail-verifications');

/** Verifying the audit trail. */
export const verificationRoutes: readonly Route[] = [
  verifications.get('', 'List the verifications of the audit trail, newest first', {
    field: 'auditTrailVerifications',
    query: z.strictObject(boundedPaging),
  }),
  verifications.get('/{verificationId}', 'Get a verification of the audit trail', {
    field: 'auditTrailVerification',
    errors: ['AUDIT_TRAIL_VERIFICATION_NOT_FOUND'],
  }),
  verifications.post('', 'Verify the audit trail', {
    field: 'verifyAuditTrail',
    body: VerifyTrail,
    example: { anchors: [] },
  }),
];
