import { type OutboundCode, OutboundError } from '../../../kernel/outbound/outbound-error.js';
import type { Notification } from './notification.js';

/** One notification for one target. */
export interface Delivery<T> {
  /** The same for each attempt, so that receivers can detect repeated deliveries. */
  readonly id: string;
  readonly target: T;
  readonly notification: Notification;
}

/** The result of a delivery attempt. */
export type DeliveryOutcome =
  | { readonly result: 'accepted' }
  | {
      /** `permanent`: further attempts would fail too. */
      readonly result: 'temporary' | 'permanent';
      readonly code: OutboundCode | 'RECIPIENT_NOT_ALLOWED';
      /** HTTP status of the response, or reply code of the mail server. */
      readonly status: number | null;
      /** Delay that the target requests before the next attempt. */
      readonly retryAfterSeconds: number | null;
    };

/** Converts an attempt to its outcome. @throws any error that is no failure of the target */
export async function outcomeOf(attempt: Promise<unknown>): Promise<DeliveryOutcome> {
  try {
    await attempt;
    return { result: 'accepted' };
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    const { code, status, retryAfterSeconds, isTemporary } = error;
    return { result: isTemporary ? 'temporary' : 'permanent', code, status, retryAfterSeconds };
  }
}
