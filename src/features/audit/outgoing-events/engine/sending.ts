import type { Context } from '../../../../kernel/context.js';
import { unreadableCode } from '../../../../kernel/crypto/sealed-text.js';
import { type OutboundResponse, send, type TargetPolicy } from '../../../../kernel/outbound/http.js';
import { SIGNATURE_HEADER, signatureOf } from '../../../../kernel/outbound/signature.js';
import { type Outcome, outcomeOf } from '../../../notifications/sending/public.js';
import type { Format, TargetConfig } from './target.js';

/** Time limit of a request. */
const LIMIT_MS = 10_000;

/** Makes one attempt to send a body to a target. @throws Error inside a transaction */
export async function sendBody(
  ctx: Context,
  { contentType, maxResponseBytes }: Format,
  { config, body, policy }: { config: TargetConfig; body: string; policy: TargetPolicy },
): Promise<{ readonly outcome: Outcome; readonly response: OutboundResponse | null }> {
  const { url, signingSecret, headers } = config;
  let response: OutboundResponse | null = null;
  const attempt = send(
    ctx,
    {
      url,
      method: 'POST',
      headers: {
        ...Object.fromEntries(headers.map(({ name, value }) => [name, value])),
        'Content-Type': contentType,
        ...(signingSecret === null ? {} : { [SIGNATURE_HEADER]: signatureOf(signingSecret, body) }),
      },
      body,
      limitMs: LIMIT_MS,
      maxResponseBytes,
    },
    policy,
  ).then((received) => {
    response = received;
  });
  const outcome = await outcomeOf(attempt);
  return { outcome, response };
}

/** The result of a test. */
export interface Trial {
  readonly isAccepted: boolean;
  /** Null if accepted. */
  readonly errorCode: string | null;
  /** HTTP status of the response; null without one, and if accepted. */
  readonly status: number | null;
}

/** The outcome of an attempt as a test shows it. */
export const trialOf = (outcome: Outcome): Trial =>
  outcome.result === 'accepted'
    ? { isAccepted: true, errorCode: null, status: null }
    : { isAccepted: false, errorCode: outcome.code, status: outcome.status };

/** Sends a body once, whether the target is enabled or not. */
export async function testTarget(
  ctx: Context,
  format: Format,
  {
    open,
    bodyOf,
    policy,
  }: { open: () => Promise<TargetConfig>; bodyOf: (config: TargetConfig) => string; policy: TargetPolicy },
): Promise<Trial> {
  try {
    const config = await open();
    return trialOf((await sendBody(ctx, format, { config, body: bodyOf(config), policy })).outcome);
  } catch (error) {
    return { isAccepted: false, errorCode: unreadableCode(error), status: null };
  }
}
