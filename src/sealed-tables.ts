import { sealedChannels } from './features/alerts/public.js';
import { SEALED_CREDENTIALS } from './features/app-connections/public.js';
import { SEALED_KEYS } from './features/certificates/public.js';
import { SEALED_ROTATIONS } from './features/secret-rotations/public.js';
import { SEALED_SECRETS } from './features/secrets/public.js';
import type { SealedTable } from './kernel/crypto/sealed-table.js';

/** Everything that is sealed with keys of projects. A test compares it with the columns of the database. */
export const SEALED_TABLES: readonly SealedTable[] = [
  ...SEALED_SECRETS,
  ...SEALED_KEYS,
  SEALED_CREDENTIALS,
  ...['certificate_alert_channel', 'change_webhook', 'identity_alert_channel', 'notification_channel'].map(
    sealedChannels,
  ),
  ...SEALED_ROTATIONS,
];
