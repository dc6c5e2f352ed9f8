import { SEALED_WEBHOOKS } from '../features/audit/outgoing-events/public.js';
import { SEALED_KEYS } from '../features/certificates/public.js';
import { SEALED_ALERT_CHANNELS } from '../features/notifications/alerts/public.js';
import { SEALED_IDENTITY_ALERT_CHANNELS } from '../features/notifications/identity-alerts/public.js';
import { SEALED_NOTIFICATION_CHANNELS } from '../features/notifications/project-notices/public.js';
import { SEALED_CREDENTIALS } from '../features/rotations/app-connections/public.js';
import { SEALED_ROTATIONS } from '../features/rotations/secret-rotations/public.js';
import { SEALED_SECRETS } from '../features/secrets/public.js';
import type { SealedTable } from '../kernel/crypto/sealed-table.js';

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
