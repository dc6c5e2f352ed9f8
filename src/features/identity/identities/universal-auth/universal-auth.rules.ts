import * as z from 'zod';
import { idOf } from '../../../../kernel/text-rules.js';
import {
  EVERYWHERE,
  hasFittingTtl,
  TTL_VIOLATION,
  tokenSettings,
  tokenSettingsChanges,
  trustedIps,
} from '../token-auth.rules.js';

const identityId = idOf('machine identity');
const networks = trustedIps.meta({
  description: 'Networks that client secrets can be used from, 1 to 256.',
});

/** Input of `attachUniversalAuth`. */
export const AttachUniversalAuth = z
  .strictObject({ identityId, clientSecretTrustedIps: networks.default(EVERYWHERE), ...tokenSettings })
  .refine(hasFittingTtl, TTL_VIOLATION)
  .meta({ description: 'Settings of the new universal authentication.' });

/** Input of `updateUniversalAuth`. */
export const UpdateUniversalAuth = z
  .strictObject({ identityId, clientSecretTrustedIps: networks.optional(), ...tokenSettingsChanges })
  .meta({ description: 'Fields to change. Omitted fields keep their values.' });

/** Input of `removeUniversalAuth`, and arguments of `identityUniversalAuth`. */
export const OneUniversalAuth = z.strictObject({ identityId }).meta({ description: 'The machine identity, by ID.' });
