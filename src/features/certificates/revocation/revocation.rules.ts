import { z } from 'zod';

/** Why a certificate is revoked. Source: RFC 5280, section 5.3.1, without the reason that takes a revocation back. */
const REVOCATION_REASONS = [
  ...(['unspecified', 'keyCompromise', 'cACompromise', 'affiliationChanged', 'superseded'] as const),
  ...(['cessationOfOperation', 'certificateHold', 'privilegeWithdrawn', 'aACompromise'] as const),
] as const;
export type RevocationReason = (typeof REVOCATION_REASONS)[number];

export const revocationReason = z.enum(REVOCATION_REASONS);

/** Why, of an input that revokes. */
export const reason = revocationReason.default('unspecified').meta({ description: 'Why, in the words of RFC 5280.' });
