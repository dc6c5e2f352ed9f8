import { Ctx, FieldResolver, ID, Int, Resolver, Root } from 'type-graphql';
import { authorize, can } from '../../../kernel/authz/ability.js';
import type { Context } from '../../../kernel/context.js';
import { type BatchLoad, batchById, batched, batchedOrNull, mapFound } from '../../../kernel/database/batched.js';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { enumType } from '../../../kernel/graphql/enums.js';
import { Node } from '../../../kernel/graphql/node.js';
import { hiddenField, objectType, orNull } from '../../../kernel/graphql/object-types.js';
import { mutation, nested, query } from '../../../kernel/graphql/operations.js';
import { connectionOf } from '../../../kernel/graphql/page.js';
import type { CountedConnectionOf } from '../../../kernel/paging.js';
import { type CertificateRow, CertificateType, findCertificates } from '../../certificates/public.js';
import type { ProjectRelations } from '../../projects/public.js';
import {
  AlertChannelType,
  AlertChannelTypeEnum,
  AlertType,
  CertificateEventEnum,
  findAlertViews,
  findChannels,
  openForSending,
  toAlertType,
  toChannelType,
} from '../alerts/public.js';
import {
  addressByDigest,
  MessagePageArgs,
  RETRIED_PAYLOAD,
  type RetriedCount,
  sentMessage,
  UndeliveredMessagesType,
} from '../deliveries/public.js';
import type { MessageRow } from './alert-delivery.queries.js';
import { ListMessages, OneMessage, RetryMessage, RetryMessages, TestAlert } from './alert-delivery.rules.js';
import type { RunRow } from './alert-delivery.sql.js';
import type { AlertTestService } from './alert-test.service.js';
import type { MessageService } from './message.service.js';

/** A message as the API shows it. It stores no address. */
export const AlertMessageType = objectType(
  'AlertMessage',
  'A notification of a certificate alert to one recipient of one channel.',
  {
    ...sentMessage,
    projectId: hiddenField<string>(),
    alertId: [ID, 'ID of the certificate alert.'],
    event: [CertificateEventEnum, 'Event that the message is about.'],
    channelId: [ID, 'ID of the channel, which may have been deleted since.'],
    channelType: [AlertChannelTypeEnum, 'Type of the channel.'],
    certificateCount: [Int, 'Number of certificates in the message that still exist.'],
  },
  { implements: Node },
);
export type AlertMessageType = InstanceType<typeof AlertMessageType>;

const RunStatusEnum = enumType<RunRow['status']>(
  'CertificateAlertRunStatus',
  'Result of the last run of a certificate alert.',
  {
    pending: 'At least one message is pending, and none failed.',
    success: 'The targets accepted all messages.',
    failed: 'At least one message failed or was cancelled: see `messageCount` and `sentCount`.',
  },
);

/** The last run of an alert. */
const AlertRunType = objectType('CertificateAlertRun', 'A run of a certificate alert that sent notifications.', {
  timestamp: [DateTime, 'When the alert last found certificates to notify of.'],
  status: [RunStatusEnum, 'Result of the run.'],
  errorCode: [
    orNull(String),
    'Error code of a message that was not accepted, for example `TARGET_REJECTED`. Null if all were.',
  ],
  messageCount: [Int, 'Number of messages of the run.'],
  sentCount: [Int, 'Number of them that the targets accepted.'],
});
type AlertRunType = InstanceType<typeof AlertRunType>;

const AlertMessageConnection = connectionOf(AlertMessageType, 'AlertMessage', 'creation time, newest first');

@Resolver(() => AlertMessageType)
export class AlertMessageResolver {
  readonly #certificates: BatchLoad<CertificateRow>;
  readonly #alerts: BatchLoad<AlertType>;

  constructor(
    private readonly service: MessageService,
    relations: ProjectRelations,
  ) {
    this.#certificates = async (ctx, ids) => {
      const rows = await findCertificates(ctx, { ids });
      const found = await relations.readable(ctx, rows, ({ commonName }, { ability }) =>
        can(ability, 'certificates:read', { commonName }),
      );
      return new Map(rows.filter(({ id }) => found.get(id) === true).map((row) => [row.id, row]));
    };
    this.#alerts = async (ctx, ids) =>
      mapFound(
        await relations.readable(ctx, await findAlertViews(ctx, { ids }), (alert, access) => {
          authorize(access, 'pki-alerts:read');
          return alert;
        }),
        toAlertType,
      );
  }

  @query(AlertMessageConnection, ListMessages, 'Messages of a certificate alert, sent or pending, newest first.')
  alertMessages(ctx: Context, args: object): Promise<CountedConnectionOf<AlertMessageType>> {
    return this.service.list(ctx, args);
  }

  @query(AlertMessageType, OneMessage, 'A message of a certificate alert, by ID.')
  alertMessage(ctx: Context, args: object): Promise<AlertMessageType> {
    return this.service.get(ctx, args);
  }

  @mutation(
    RetryMessage,
    { alertMessage: [AlertMessageType, 'The message, pending again.'] },
    'Retries a failed or cancelled message for up to three days. Requires `edit` on `pki-alerts`.',
  )
  async retryAlertMessage(ctx: Context, input: object): Promise<{ alertMessage: AlertMessageType }> {
    return { alertMessage: await this.service.retry(ctx, input) };
  }

  @mutation(
    RetryMessages,
    RETRIED_PAYLOAD,
    'Retries failed and cancelled messages of the enabled alerts of a project. Requires `edit` on `pki-alerts`.',
  )
  async retryAlertMessages(ctx: Context, input: object): Promise<{ retried: RetriedCount }> {
    return { retried: await this.service.retryMany(ctx, input) };
  }

  @nested(AlertType, 'The certificate alert. Null, with PERMISSION_DENIED, if you cannot read it.')
  alert({ alertId }: AlertMessageType, ctx: Context): Promise<AlertType | null> {
    return batchedOrNull(ctx, this.#alerts, alertId);
  }

  @FieldResolver(() => AlertChannelType, { nullable: true, description: 'The channel. Null if it was deleted.' })
  async channel(@Root() { channelId }: AlertMessageType, @Ctx() ctx: Context): Promise<AlertChannelType | null> {
    const channel = await batchedOrNull(ctx, channelsById, channelId);
    return channel === null ? null : toChannelType(channel);
  }

  @FieldResolver(() => String, {
    nullable: true,
    description:
      'Address that the message goes to, for email channels. Null if the channel no longer has this address or cannot be decrypted.',
  })
  recipient(@Root() message: AlertMessageType, @Ctx() ctx: Context): Promise<string | null> {
    return addressOf(ctx, message);
  }

  @nested([CertificateType], 'Certificates of the message: of the 20 that expire first, those that you can read.')
  async certificates(message: AlertMessageType, ctx: Context): Promise<readonly CertificateType[]> {
    const ids = await this.service.firstCertificateIds(ctx, message);
    const found = await Promise.all(ids.map((id) => batched(ctx, this.#certificates, id)));
    return found.filter((certificate) => certificate !== undefined);
  }
}

/** Messages of alerts. */
@Resolver(() => AlertType)
export class AlertMessagesResolver {
  constructor(private readonly service: MessageService) {}

  @nested(AlertMessageConnection, 'Messages of the alert, sent or pending, newest first.', MessagePageArgs)
  messages(alert: AlertType, ctx: Context, page: object): Promise<CountedConnectionOf<AlertMessageType>> {
    return this.service.pageOfAlert(ctx, alert, page);
  }

  @nested(AlertRunType, 'When the alert last notified, and with what result. Null if it never did.')
  lastRun(alert: AlertType, ctx: Context): Promise<AlertRunType | null> {
    return this.service.lastRunOf(ctx, alert);
  }

  @nested(UndeliveredMessagesType, 'Messages about certificates that nobody was notified of. Null if there are none.')
  undelivered(alert: AlertType, ctx: Context): Promise<UndeliveredMessagesType | null> {
    return this.service.undeliveredOf(ctx, alert);
  }

  @nested(AlertMessageType, 'The newest message of the alert. Null if it has none.')
  lastMessage(alert: AlertType, ctx: Context): Promise<AlertMessageType | null> {
    return this.service.lastOfAlert(ctx, alert);
  }
}

const channelsById = batchById(findChannels);

type Sent = Pick<MessageRow, 'projectId' | 'channelId' | 'channelType' | 'recipientDigest'>;

/**
 * The address that a message goes to; null for channels of other types, and if the channel no longer has the address. All messages of a
 * request share their statements.
 */
async function addressOf(ctx: Context, message: Sent): Promise<string | null> {
  if (message.channelType !== 'email') return null;
  const channel = await batched(ctx, channelsById, message.channelId);
  if (channel?.channelType !== 'email') return null;
  return addressByDigest(ctx, message, () => openForSending(ctx, { ...channel, channelType: 'email' }));
}

/** The result of a test at one target. */
export const AlertTestResultType = objectType('AlertTestResult', 'Result of a test at one target.', {
  channel: [AlertChannelType, 'The tested channel.'],
  recipient: [orNull(String), 'Email address of the target. Null for other types of channels.'],
  isAccepted: [Boolean, 'Whether the target accepted the test.'],
  errorCode: [orNull(String), 'Error code, for example `TARGET_UNREACHABLE`. Null if the target accepted the test.'],
  status: [
    orNull(Int),
    'HTTP status of the response, or reply code of the mail server. Null without a response, and if the test was accepted.',
  ],
});
export type AlertTestResultType = InstanceType<typeof AlertTestResultType>;

const TestCertificateAlertPayload = objectType('TestCertificateAlertPayload', 'Result of `testCertificateAlert`.', {
  results: [
    [AlertTestResultType],
    'One result per target: each address of an email channel, otherwise each channel. Empty if no channel is enabled.',
  ],
});
type TestCertificateAlertPayload = InstanceType<typeof TestCertificateAlertPayload>;

@Resolver()
export class AlertTestResolver {
  constructor(private readonly service: AlertTestService) {}

  @mutation(
    TestAlert,
    TestCertificateAlertPayload,
    'Sends a test to every target of a certificate alert and waits up to 20 seconds for the responses. Requires `edit` on `pki-alerts`.',
  )
  async testCertificateAlert(ctx: Context, input: object): Promise<TestCertificateAlertPayload> {
    const tested = await this.service.test(ctx, input);
    return { results: tested.map(({ channel, ...result }) => ({ channel: toChannelType(channel), ...result })) };
  }
}
