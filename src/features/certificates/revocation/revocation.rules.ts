import * as z from 'zod';

/** Reasons of revocations (RFC 5280, section 5.3.1), without `removeFromCRL`, which undoes a revocation. */
const REVOCATION_REASONS = [
  ...(['unspecified', 'keyCompromise', 'cACompromise', 'affiliationChanged', 'superseded'] as const),
  ...(['cessationOfOperation', 'certificateHold', 'privilegeWithdrawn', 'aACompromise'] as const),
] as const;
export type RevocationReason = (typeof REVOCATION_REASONS)[number];

export const revocationReason = z.enum(REVOCATION_REASONS);

/** The reason, in inputs that revoke. */
export const reason = revocationReason
  .default('unspecified')
  .meta({ description: 'Reason of the revocation, as in RFC 5280.' });
