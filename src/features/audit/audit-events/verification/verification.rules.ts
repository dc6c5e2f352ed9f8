import * as z from 'zod';
import type { Anchor } from '../../../../kernel/audit/audit-verifier.js';
import { boundedPageRules } from '../../../../kernel/paging.js';
import { idOf } from '../../../../kernel/value-rules.js';

/** `waiting`: no node has begun. `stopped`: it was cancelled, or failed for good. */
const VERIFICATION_STATES = ['waiting', 'running', 'finished', 'stopped'] as const;
export const verificationState = z.enum(VERIFICATION_STATES);
export type VerificationState = (typeof VERIFICATION_STATES)[number];

const ANCHOR = /^(\d{1,18}):([0-9a-f]{64})$/;
const MAX_ANCHORS = 100;

/** Input of `verifyAuditTrail`. */
export const VerifyTrail = z
  .strictObject({
    anchors: z
      .array(z.string().regex(ANCHOR, 'must be NUMBER:HASH from the log event "audit head"'))
      .max(MAX_ANCHORS)
      .default([])
      .meta({
        description: `Seals that you noted earlier, up to ${MAX_ANCHORS}: \`anchor\` of a verification or of the log event \`audit head\`. The trail must still have them.`,
      }),
  })
  .meta({ description: 'What the audit trail is also compared with.' });

/** A checked anchor as the verifier takes it. */
export function readAnchor(text: string): Anchor {
  const [, number = '0', hash = ''] = ANCHOR.exec(text) ?? [];
  return { number: BigInt(number), hash };
}

/** Arguments of `auditTrailVerification`. */
export const OneVerification = z
  .strictObject({ id: idOf('verification') })
  .meta({ description: 'The verification, by ID.' });

/** Arguments of `auditTrailVerifications`. */
export const ListVerifications = z.strictObject(boundedPageRules);
