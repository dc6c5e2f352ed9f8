import { z } from 'zod';
import {
  EVERYWHERE,
  fitsMaxTtl,
  TTL_FAULT,
  tokenSettings,
  tokenSettingsChanges,
  trustedIps,
} from './token-auth.rules.js';

const shape = { clientSecretTrustedIps: trustedIps.default(EVERYWHERE), ...tokenSettings };

/** Body of the REST route that attaches universal authentication; the rule across fields is checked with the input. */
export const UniversalAuthBody = z.strictObject(shape);

/** Input of `attachUniversalAuth`. Source: behaviour 3.3. */
export const AttachUniversalAuth = z
  .strictObject({ identityId: z.string(), ...shape })
  .refine(({ accessTokenTTL, accessTokenMaxTTL }) => fitsMaxTtl(accessTokenTTL, accessTokenMaxTTL), TTL_FAULT);

/** Input of `updateUniversalAuth`: absent keeps. */
export const UpdateUniversalAuth = z.strictObject({
  identityId: z.string(),
  clientSecretTrustedIps: trustedIps.optional(),
  ...tokenSettingsChanges,
});

/** Names the identity whose configuration is meant. */
export const OneUniversalAuth = z.strictObject({ identityId: z.string() });
