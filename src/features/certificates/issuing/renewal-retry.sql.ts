/**
 * When a renewal that failed is tried again: after a twelfth of the life that the certificate had left, between five minutes and a day.
 * So there are many tries before it expires, however short its life is.
 *
 * @param failedAt an expression for when it failed @param endsAt one for when the certificate expires
 */
export const renewalRetryAt = (failedAt: string, endsAt: string): string =>
  `${failedAt} + least(interval '1 day', greatest(interval '5 minutes', (${endsAt} - ${failedAt}) / 12))`;
