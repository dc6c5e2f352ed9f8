import type { Context } from '../../kernel/context.js';
import { inTransaction } from '../../kernel/database/in-transaction.js';
import { AppError, type ErrorCode, toAppError } from '../../kernel/errors.js';
import { NO_ID, newId } from '../../kernel/ids.js';
import { parse } from '../../kernel/validation.js';
import { type ChannelRow, findAlerts, listChannels, openConfig } from '../alerts/public.js';
import { type Notification, type Notifier, type Outcome, type Target, targetsOf } from '../notifications/public.js';
import type { ProjectReader } from '../projects/public.js';
import { TestAlert } from './message.rules.js';
import { type NotifiedCertificate, notificationOf } from './notification-of.js';

const ALERT = { find: findAlerts, notFound: 'CERTIFICATE_ALERT_NOT_FOUND' } as const;

/** How long a test may take, whatever the targets do: less than a request. */
const LIMIT_MS = 20_000;
const DAY_MS = 86_400_000;
const LATE = 'TARGET_TIMED_OUT';
const TIMED_OUT: Outcome = { result: 'temporary', code: LATE, status: null, retryAfterSeconds: null };

/** What came of a test at one target. */
export interface Trial {
  readonly channel: ChannelRow;
  /** The address, of a channel that sends mails. */
  readonly recipient: string | null;
  readonly isAccepted: boolean;
  /** Null where it was accepted. */
  readonly errorCode: string | null;
  /** Status of the response, or reply code of the mail server; null without one. */
  readonly status: number | null;
}

/** Sends tests to the targets of alerts. Source: decisions 2.3, 7.5. */
export class TrialService {
  constructor(
    private readonly projects: ProjectReader,
    private readonly notifier: Pick<Notifier, 'deliver'>,
  ) {}

  /**
   * Makes one attempt at each target of an alert's channels: of those that are enabled, or of the one that is named. Nothing is tried
   * again, and no message is stored. The record of the audit trail is there before.
   *
   * @throws VALIDATION_FAILED, CERTIFICATE_ALERT_NOT_FOUND, ALERT_CHANNEL_NOT_FOUND, PERMISSION_DENIED, AUDIT_UNAVAILABLE;
   *   UPSTREAM_REJECTED and UPSTREAM_UNREACHABLE where all have to accept it and one does not
   */
  async test(ctx: Context, raw: unknown): Promise<readonly Trial[]> {
    const { id, channelId, mustBeAccepted } = parse(TestAlert, raw);
    const { notification, channels } = await inTransaction(ctx, async (tx) => {
      const { row, project } = await this.projects.authorizedThing(tx, { id }, ALERT, 'pki-alerts:edit');
      const chosen = chosenOf(await listChannels(tx, { alertIds: [row.id] }), channelId ?? null);
      await tx.auditTrail.recordChange(tx, {
        action: 'certificate-alert:test',
        projectId: row.projectId,
        facts: { alertId: row.id, count: chosen.length },
      });
      const { projectId, alertBefore } = row;
      const alert = { projectId, alertBefore, projectName: project.name, alertId: row.id, alertName: row.name };
      return { notification: notificationOf(alert, 'test', [madeUp(new Date())]), channels: chosen };
    });
    const end = Date.now() + LIMIT_MS;
    const trials = await Promise.all(channels.map((channel) => this.#testChannel(ctx, channel, { notification, end })));
    const found = trials.flat();
    if (mustBeAccepted) refuseFailures(channels, found);
    return found;
  }

  async #testChannel(
    ctx: Context,
    channel: ChannelRow,
    { notification, end }: { readonly notification: Notification; readonly end: number },
  ): Promise<readonly Trial[]> {
    const trials: Trial[] = [];
    try {
      for (const target of targetsOf(channel.channelType, await openConfig(ctx, channel))) {
        const recipient = target.type === 'email' ? target.recipient : null;
        const outcome = await this.#deliver(ctx, target, { notification, end });
        const isAccepted = outcome.result === 'accepted';
        const { code, status } = isAccepted ? { code: null, status: null } : outcome;
        trials.push({ channel, recipient, isAccepted, errorCode: code, status });
      }
    } catch (error) {
      const { code } = toAppError(error);
      if (code !== 'SEALED_VALUE_INVALID') throw error;
      trials.push({ channel, recipient: null, isAccepted: false, errorCode: code, status: null });
    }
    return trials;
  }

  /** One attempt, as far as there is time. */
  async #deliver(
    ctx: Context,
    target: Target,
    { notification, end }: { readonly notification: Notification; readonly end: number },
  ): Promise<Outcome> {
    const leftMs = end - Date.now();
    if (leftMs <= 0) return TIMED_OUT;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<Outcome>((resolve) => {
      timer = setTimeout(resolve, leftMs, TIMED_OUT);
    });
    try {
      return await Promise.race([this.notifier.deliver(ctx, { id: newId(), target, notification }), late]);
    } finally {
      clearTimeout(timer);
    }
  }
}

/** @throws ALERT_CHANNEL_NOT_FOUND */
function chosenOf(channels: readonly ChannelRow[], channelId: string | null): readonly ChannelRow[] {
  if (channelId === null) return channels.filter(({ enabled }) => enabled);
  const channel = channels.find(({ id }) => id === channelId.toLowerCase());
  if (channel === undefined) throw new AppError('ALERT_CHANNEL_NOT_FOUND');
  return [channel];
}

/** A certificate that nobody has. */
const madeUp = (now: Date): NotifiedCertificate => ({
  id: NO_ID,
  serialNumber: '00',
  commonName: 'TEST, not a real certificate',
  sans: ['test.invalid'],
  profileName: null,
  notBefore: now,
  notAfter: new Date(now.getTime() + 30 * DAY_MS),
  status: 'active',
  daysLeft: 30,
});

const codeOf = ({ errorCode }: Trial): ErrorCode =>
  errorCode === 'TARGET_REJECTED' ? 'UPSTREAM_REJECTED' : 'UPSTREAM_UNREACHABLE';

/** @throws UPSTREAM_REJECTED, UPSTREAM_UNREACHABLE with every target that did not accept it */
function refuseFailures(channels: readonly ChannelRow[], trials: readonly Trial[]): void {
  const failed = trials.filter(({ isAccepted }) => !isAccepted);
  const codes = failed.map(codeOf);
  const code = codes.find((each) => each === 'UPSTREAM_REJECTED') ?? codes[0];
  if (code === undefined) return;
  const details = failed.map((trial) => ({
    path: `channels[${channels.indexOf(trial.channel)}]`,
    code: codeOf(trial),
    message: `${trial.channel.channelType}: ${trial.errorCode}${trial.status === null ? '' : `, status ${trial.status}`}`,
  }));
  const message = `${trials.length - failed.length} of ${trials.length} targets accepted the test; details name the others.`;
  throw new AppError(code, message, { details });
}
