import type { Context } from '../../../kernel/context.js';
import { inTransaction } from '../../../kernel/database/in-transaction.js';
import { AppError } from '../../../kernel/errors.js';
import { NO_ID } from '../../../kernel/ids.js';
import { parse } from '../../../kernel/validation.js';
import type { ProjectReader } from '../../projects/public.js';
import { type ChannelRow, findAlerts, listChannels, openForNewMessages } from '../alerts/public.js';
import { type ChannelTestResult, refuseFailures, TEST_LIMIT_MS, testChannelTargets } from '../deliveries/public.js';
import { type Notifier, targetsOf } from '../sending/public.js';
import { TestAlert } from './alert-delivery.rules.js';
import { storeTests } from './alert-delivery.sql.js';
import { type NotifiedCertificate, notificationOf } from './certificate-source.js';

const ALERT = { find: findAlerts, notFound: 'CERTIFICATE_ALERT_NOT_FOUND' } as const;

const DAY_MS = 86_400_000;

/** The result of a test at one target, with its channel. */
interface TestOfChannel extends ChannelTestResult {
  readonly channel: ChannelRow;
}

/** Sends tests to the targets of alerts. */
export class AlertTestService {
  constructor(
    private readonly projects: ProjectReader,
    private readonly notifier: Pick<Notifier, 'deliver'>,
  ) {}

  /**
   * Makes one attempt at each target of the enabled channels of an alert, or of one given channel. There are no retries and no message is
   * stored; channels show the result. The audit record is written before the first attempt.
   *
   * @throws VALIDATION_FAILED, CERTIFICATE_ALERT_NOT_FOUND, ALERT_CHANNEL_NOT_FOUND, PERMISSION_DENIED, AUDIT_UNAVAILABLE;
   *   UPSTREAM_REJECTED and UPSTREAM_UNREACHABLE if all targets must accept it and one does not
   */
  async test(ctx: Context, raw: unknown): Promise<readonly TestOfChannel[]> {
    const { id, channelId, mustBeAccepted } = parse(TestAlert, raw);
    const { notification, channels } = await inTransaction(ctx, async (tx) => {
      const { row, project } = await this.projects.authorizedItem(tx, { id }, ALERT, 'pki-alerts:edit');
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
    const trying = { notifier: this.notifier, notification, end: Date.now() + TEST_LIMIT_MS };
    const found = await Promise.all(
      channels.map(async (channel) => {
        const open = async () => targetsOf(channel.channelType, await openForNewMessages(ctx, channel));
        return (await testChannelTargets(ctx, open, trying)).map((result) => ({ channel, ...result }));
      }),
    );
    await inTransaction(ctx, (tx) =>
      storeTests(tx, {
        channelIds: channels.map((channel) => channel.id),
        versions: channels.map(({ configVersion }) => configVersion),
        errorCodes: found.map((some) => some.find(({ isAccepted }) => !isAccepted)?.errorCode ?? null),
      }),
    );
    const results = found.flat();
    if (mustBeAccepted)
      refuseFailures(
        results.map(({ channel, ...result }) => ({
          ...result,
          channelType: channel.channelType,
          path: `channels[${channels.indexOf(channel)}]`,
        })),
      );
    return results;
  }
}

/** @throws ALERT_CHANNEL_NOT_FOUND */
function chosenOf(channels: readonly ChannelRow[], channelId: string | null): readonly ChannelRow[] {
  if (channelId === null) return channels.filter(({ isEnabled }) => isEnabled);
  const channel = channels.find(({ id }) => id === channelId.toLowerCase());
  if (channel === undefined) throw new AppError('ALERT_CHANNEL_NOT_FOUND');
  return [channel];
}

/** A made-up certificate. */
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
