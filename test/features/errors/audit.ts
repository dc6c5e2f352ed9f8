import type { ErrorCode } from '../../../src/kernel/errors.js';
import type { ErrorCase } from './scene.js';

const ONE = 'query ($id: ID!) { auditTrailVerification(id: $id) { id } }';

/** Of the audit trail. */
export const AUDIT: Partial<Record<ErrorCode, ErrorCase>> = {
  AUDIT_TRAIL_VERIFICATION_NOT_FOUND: {
    rest: ({ strongroom, world }) => strongroom.admin.get(`/api/v1/audit-trail-verifications/${world.project}`),
    graphql: ({ strongroom, world }) => strongroom.admin.graphql(ONE, { id: world.project }),
  },
};
