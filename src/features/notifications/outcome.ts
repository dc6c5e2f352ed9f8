import { type OutboundCode, OutboundError } from '../../kernel/outbound/outbound-error.js';

/** What became of an attempt to deliver. */
export type Outcome =
  | { readonly result: 'accepted' }
  | {
      /** `permanent`: another attempt would fail too. */
      readonly result: 'temporary' | 'permanent';
      readonly code: OutboundCode | 'RECIPIENT_NOT_ALLOWED';
      /** Status of the response, or reply code of the mail server. */
      readonly status: number | null;
      /** How long the target asks to wait. */
      readonly retryAfterSeconds: number | null;
    };

/** The outcome of an attempt. @throws whatever is no failure of the target */
export async function outcomeOf(attempt: Promise<unknown>): Promise<Outcome> {
  try {
    await attempt;
    return { result: 'accepted' };
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    const { code, status, retryAfterSeconds, isTemporary } = error;
    return { result: isTemporary ? 'temporary' : 'permanent', code, status, retryAfterSeconds };
  }
}
