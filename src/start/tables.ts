import { SEALED_WEBHOOKS } from '../features/audit/outgoing-events/public.js';
import { SEALED_KEYS } from '../features/certificates/public.js';
import { SEALED_ALERT_CHANNELS } from '../features/notifications/alerts/public.js';
import { SEALED_IDENTITY_ALERT_CHANNELS } from '../features/notifications/identity-alerts/public.js';
import { SEALED_NOTIFICATION_CHANNELS } from '../features/notifications/project-notices/public.js';
import { SEALED_CREDENTIALS } from '../features/rotations/app-connections/public.js';
import { SEALED_ROTATIONS } from '../features/rotations/secret-rotations/public.js';
import { SEALED_SECRETS } from '../features/secrets/public.js';
import { StoredAccessChange } from '../kernel/access-cache/access-change.entity.js';
import {
  StoredAuditExpiry,
  StoredAuditPartition,
  StoredAuditRecord,
  StoredAuditSeal,
  StoredDisclosure,
} from '../kernel/audit/audit.entity.js';
import { DataKey, Installation, OrganizationKey } from '../kernel/crypto/keys.entity.js';
import type { SealedTable } from '../kernel/crypto/sealed-table.js';
import type { EntityClass } from '../kernel/database/orm-options.js';
import { StoredJob, StoredJobAttempt, StoredJobKind } from '../kernel/jobs/job.entity.js';
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

/** Everything that is sealed with keys of projects, as slices declare it. A test compares it with the columns of the database. */
export const SEALED_TABLES: readonly SealedTable[] = [
  ...SEALED_SECRETS,
  ...SEALED_KEYS,
  SEALED_CREDENTIALS,
  SEALED_ALERT_CHANNELS,
  SEALED_WEBHOOKS,
  SEALED_IDENTITY_ALERT_CHANNELS,
  SEALED_NOTIFICATION_CHANNELS,
  ...SEALED_ROTATIONS,
];
