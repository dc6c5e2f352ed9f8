import { StoredDisclosure } from '../kernel/audit/audit-disclosure.entity.js';
import { StoredAuditExpiry, StoredAuditPartition } from '../kernel/audit/audit-expiry.entity.js';
import { StoredAuditRecord } from '../kernel/audit/audit-record.entity.js';
import { StoredAuditSeal } from '../kernel/audit/audit-seal.entity.js';
import { DataKey } from '../kernel/crypto/data-key.entity.js';
import { Installation } from '../kernel/crypto/installation.entity.js';
import { OrganizationKey } from '../kernel/crypto/organization-key.entity.js';
import type { EntityClass } from '../kernel/database/orm-options.js';
import { StoredJob, StoredJobAttempt, StoredJobKind } from '../kernel/jobs/job.entity.js';
import { StoredAccessChange } from '../kernel/known-access/access-change.entity.js';
import { RateLimitCount } from '../kernel/operations/limits/rate-limit-count.entity.js';
import { StoredIdempotencyKey } from '../kernel/operations/responses/idempotency-key.entity.js';

/** The tables of the kernel itself. */
export const KERNEL_ENTITIES: readonly EntityClass[] = [
  Installation,
  OrganizationKey,
  DataKey,
  StoredAccessChange,
  StoredAuditRecord,
  StoredAuditSeal,
  StoredAuditPartition,
  StoredAuditExpiry,
  StoredDisclosure,
  StoredIdempotencyKey,
  RateLimitCount,
  StoredJobKind,
  StoredJob,
  StoredJobAttempt,
];
