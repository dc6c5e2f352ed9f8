import '../../src/features/notifications/alert-deliveries/alert-deliveries.errors.js';
import '../../src/features/notifications/project-notices/project-notices.errors.js';
import '../../src/features/identity/access/access.errors.js';
import '../../src/features/notifications/alerts/alerts.errors.js';
import '../../src/features/rotations/app-connections/app-connections.errors.js';
import '../../src/features/audit/audit-events/audit-events.errors.js';
import '../../src/features/certificates/certificates.errors.js';
import '../../src/features/members/groups/groups.errors.js';
import '../../src/features/identity/identities/identities.errors.js';
import '../../src/features/notifications/identity-alerts/identity-alerts.errors.js';
import '../../src/features/operations/jobs/jobs.errors.js';
import '../../src/features/operations/organization-keys/organization-keys.errors.js';
import '../../src/features/operations/project-reencryptions/project-reencryptions.errors.js';
import '../../src/features/identity/organizations/organizations.errors.js';
import '../../src/features/audit/outgoing-events/outgoing-events.errors.js';
import '../../src/features/identity/permissions/permissions.errors.js';
import '../../src/features/members/privileges/privileges.errors.js';
import '../../src/features/templates/project-copies/project-copies.errors.js';
import '../../src/features/members/project-rescues/project-rescues.errors.js';
import '../../src/features/templates/project-templates/project-templates.errors.js';
import '../../src/features/projects/projects.errors.js';
import '../../src/features/rotations/secret-rotations/secret-rotations.errors.js';
import '../../src/features/secrets/secrets.errors.js';
import '../../src/features/secrets/tags/tags.errors.js';
import { detailCodes } from '../../src/kernel/detail-codes.js';
import { type ErrorCode, type ErrorRow, errorCodes, errorRow } from '../../src/kernel/errors.js';

/** Every error code of the service, with what it means. */
export const ERRORS: Readonly<Record<ErrorCode, ErrorRow>> = Object.fromEntries(
  errorCodes().map((code) => [code, errorRow(code)]),
) as Record<ErrorCode, ErrorRow>;

/** Every code of details, with its description. */
export const DETAIL_CODES: Readonly<Record<string, string>> = Object.fromEntries(detailCodes());
