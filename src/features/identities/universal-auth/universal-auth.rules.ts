import { z } from 'zod';
import { idOf } from '../../../kernel/text-rules.js';
import {
  EVERYWHERE,
  hasFittingTtl,
  TTL_FAULT,
  tokenSettings,
  tokenSettingsChanges,
  trustedIps,
} from '../token-auth.rules.js';

const identityId = idOf('machine identity');
const networks = trustedIps.meta({ description: 'The networks from which client secrets may be used; 1 to 256.' });

/** Input of `attachUniversalAuth`. Source: behaviour 3.3. */
export const AttachUniversalAuth = z
  .strictObject({ identityId, clientSecretTrustedIps: networks.default(EVERYWHERE), ...tokenSettings })
  .refine(hasFittingTtl, TTL_FAULT)
  .meta({ description: 'A new universal-auth configuration.' });

/** Input of `updateUniversalAuth`. */
export const UpdateUniversalAuth = z
  .strictObject({ identityId, clientSecretTrustedIps: networks.optional(), ...tokenSettingsChanges })
  .meta({ description: 'Changes of a universal-auth configuration. What is absent stays.' });

/** Input of `removeUniversalAuth`, and arguments of `identityUniversalAuth`. */
export const OneUniversalAuth = z
  .strictObject({ identityId })
  .meta({ description: 'Whose universal-auth configuration.' });
