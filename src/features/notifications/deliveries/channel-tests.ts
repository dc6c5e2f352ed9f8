import type { Context } from '../../../kernel/context.js';
import { unreadableCode } from '../../../kernel/crypto/sealed-text.js';
import { AppError, type ErrorCode } from '../../../kernel/errors.js';
import { newId } from '../../../kernel/ids.js';
import type { ChannelType, DeliveryOutcome, Notification, Notifier, Target } from '../sending/public.js';

/** Time limit of a test, shorter than that of a request. */
export const TEST_LIMIT_MS = 20_000;
const LATE = 'TARGET_TIMED_OUT';
const TIMED_OUT: DeliveryOutcome = { result: 'temporary', code: LATE, status: null, retryAfterSeconds: null };

/** The result of a test at one target. */
export interface ChannelTestResult {
  /** Email address, for email channels. */
  readonly recipient: string | null;
  readonly isAccepted: boolean;
  /** Null if accepted. */
  readonly errorCode: string | null;
  /** HTTP status of the response, or reply code of the mail server; null without a response. */
  readonly status: number | null;
}

/** What a test needs besides its targets. */
interface ChannelTestOptions {
  readonly notifier: Pick<Notifier, 'deliver'>;
  readonly notification: Notification;
  /** Deadline, in the clock of `Date.now()`. */
  readonly end: number;
}

/** Makes one attempt at each target of a channel. A config that cannot be decrypted counts as a failure. */
export async function testChannelTargets(
  ctx: Context,
  open: () => Promise<readonly Target[]>,
  trying: ChannelTestOptions,
): Promise<readonly ChannelTestResult[]> {
  const results: ChannelTestResult[] = [];
  try {
    for (const target of await open()) {
      const recipient = target.type === 'email' ? target.recipient : null;
      const outcome = await deliver(ctx, target, trying);
      const isAccepted = outcome.result === 'accepted';
      const { code, status } = isAccepted ? { code: null, status: null } : outcome;
      results.push({ recipient, isAccepted, errorCode: code, status });
    }
  } catch (error) {
    results.push({ recipient: null, isAccepted: false, errorCode: unreadableCode(error), status: null });
  }
  return results;
}

/** Makes one attempt, within the remaining time. */
async function deliver(
  ctx: Context,
  target: Target,
  { notifier, notification, end }: ChannelTestOptions,
): Promise<DeliveryOutcome> {
  const leftMs = end - Date.now();
  if (leftMs <= 0) return TIMED_OUT;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<DeliveryOutcome>((resolve) => {
    timer = setTimeout(resolve, leftMs, TIMED_OUT);
  });
  try {
    return await Promise.race([notifier.deliver(ctx, { id: newId(), target, notification }), late]);
  } finally {
    clearTimeout(timer);
  }
}

const codeOf = ({ errorCode }: ChannelTestResult): ErrorCode =>
  errorCode === 'TARGET_REJECTED' ? 'UPSTREAM_REJECTED' : 'UPSTREAM_UNREACHABLE';

/** @throws UPSTREAM_REJECTED, UPSTREAM_UNREACHABLE with a detail for every target that did not accept it, at the path of its channel */
export function refuseFailures(
  results: readonly (ChannelTestResult & { readonly path: string; readonly channelType: ChannelType })[],
): void {
  const failed = results.filter(({ isAccepted }) => !isAccepted);
  const codes = failed.map(codeOf);
  const code = codes.find((each) => each === 'UPSTREAM_REJECTED') ?? codes[0];
  if (code === undefined) return;
  const details = failed.map((result) => ({
    path: result.path,
    code: codeOf(result),
    message: `${result.channelType}: ${result.errorCode}${result.status === null ? '' : `, status ${result.status}`}`,
  }));
  const message = `${results.length - failed.length} of ${results.length} targets accepted the test. The details list the others.`;
  throw new AppError(code, message, { details });
}
