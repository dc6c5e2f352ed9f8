import * as z from 'zod';
import { boundedPaging, type Route, routesAt } from '../../../../rest/route.js';
import { VerifyTrail } from './verification.rules.js';

const FINDING = '{ place fault }';
const verifications = routesAt('/api/v1/audit-trail-verifications', {
  select: `id organizationId jobId state rowCount checkedCount createdAt finishedAt verdict { isIntact unsealedCount expiredCount sealCount
    anchor faults ${FINDING} faultCount equalSecretCount unknownSecretCount differences ${FINDING} differenceCount }`,
});

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
