import '../../src/features/alert-deliveries/alert-deliveries.errors.js';
import '../../src/features/project-notices/project-notices.errors.js';
import '../../src/features/access/access.errors.js';
import '../../src/features/alerts/alerts.errors.js';
import '../../src/features/app-connections/app-connections.errors.js';
import '../../src/features/audit-events/audit-events.errors.js';
import '../../src/features/certificates/certificates.errors.js';
import '../../src/features/groups/groups.errors.js';
import '../../src/features/identities/identities.errors.js';
import '../../src/features/identity-alerts/identity-alerts.errors.js';
import '../../src/features/jobs/jobs.errors.js';
import '../../src/features/organization-keys/organization-keys.errors.js';
import '../../src/features/project-reencryptions/project-reencryptions.errors.js';
import '../../src/features/organizations/organizations.errors.js';
import '../../src/features/outgoing-events/outgoing-events.errors.js';
import '../../src/features/permissions/permissions.errors.js';
import '../../src/features/privileges/privileges.errors.js';
import '../../src/features/project-copies/project-copies.errors.js';
import '../../src/features/project-rescues/project-rescues.errors.js';
import '../../src/features/project-templates/project-templates.errors.js';
import '../../src/features/projects/projects.errors.js';
import '../../src/features/secret-rotations/secret-rotations.errors.js';
import '../../src/features/secrets/secrets.errors.js';
import '../../src/features/tags/tags.errors.js';
import { detailCodes } from '../../src/kernel/detail-codes.js';
import { type ErrorCode, type ErrorRow, errorCodes, errorRow } from '../../src/kernel/errors.js';

/** Every error code of the service, with what it means. */
export const ERRORS: Readonly<Record<ErrorCode, ErrorRow>> = Object.fromEntries(
  errorCodes().map((code) => [code, errorRow(code)]),
) as Record<ErrorCode, ErrorRow>;

/** Every code of details, with its description. */
export const DETAIL_CODES: Readonly<Record<string, string>> = Object.fromEntries(detailCodes());
