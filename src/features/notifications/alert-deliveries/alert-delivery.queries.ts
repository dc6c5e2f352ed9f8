import { sql } from 'kysely';
import { pagePerOwner } from '../../../kernel/database/plans.sql.js';
import { prepared, tablesOf } from '../../../kernel/database/tables.js';
import type { CertificateSchema } from '../../certificates/public.js';
import type { ProjectSchema } from '../../projects/public.js';
import type { CertificateAlertChannelSchema, CertificateAlertSchema, EventType } from '../alerts/public.js';
import {
  MESSAGES,
  messageCounts,
  messagePages,
  messagesById,
  messagesOfEach,
  type NotificationDeliverySchema,
  type NotificationMessageSchema,
  SUBJECTS,
} from '../deliveries/public.js';

type Alerts = typeof CertificateAlertSchema | typeof CertificateAlertChannelSchema;
type Messages = typeof NotificationMessageSchema | typeof NotificationDeliverySchema;
const tables = tablesOf<Alerts | Messages | typeof ProjectSchema | typeof CertificateSchema>();

/** The delivery source of certificate alerts, as rows name it. */
export const SOURCE = 'certificate-alert';

/** A channel with its alert and project, for sending; no row if it was deleted. */
export const findSender = prepared(({ channelId }: { channelId: string }) =>
  tables
    .selectFrom('certificate_alert_channel as c')
    .innerJoin('certificate_alert as a', 'a.id', 'c.alert_id')
    .innerJoin('project as p', 'p.id', 'c.project_id')
    .select(['c.id', 'c.organization_id as organizationId', 'c.project_id as projectId'])
    .select(['c.channel_type as channelType', 'c.config_sealed as configSealed', 'c.config_version as configVersion'])
    .select(sql<boolean>`c.is_enabled and a.is_enabled`.as('isEnabled'))
    .select(['a.id as alertId', 'a.name as alertName', 'a.alert_before as alertBefore', 'p.name as projectName'])
    .where('c.id', '=', channelId),
);

const shown = MESSAGES.select(['m.owner_id as alertId', sql<EventType>`m.event`.as('event')])
  .select(SUBJECTS.as('certificateCount'))
  .where('m.source', '=', sql.lit(SOURCE));

/** Messages by ID, of any alert. */
export const findMessages = messagesById(shown);

/** A message as read from the database. */
export type MessageRow = Awaited<ReturnType<typeof findMessages>>[number];

/** One page of messages per alert, newest first. */
export const listMessages = messagePages('owner_id', shown);

/** How many messages alerts have. */
export const countsOfMessages = messageCounts('owner_id', SOURCE);

/** The newest hundred messages of each alert about a certificate. */
export const listMessagesAbout = prepared(
  ({ alertIds, certificateId }: { alertIds: readonly string[]; certificateId: string }) =>
    messagesOfEach(alertIds, (alertId) =>
      shown
        .where(sql<boolean>`m.id in (
          select d.message_id from notification_delivery d where d.owner_id = ${alertId} and d.subject_id = ${certificateId})`)
        .limit(sql.lit(100)),
    ),
);

const certificatesOfMessages = tables
  .selectFrom('notification_delivery as d')
  .innerJoin('certificate as c', 'c.id', 'd.subject_id');

/** The certificates of each message that expire first. */
export const listFirstCertificates = prepared(({ messageIds, most }: { messageIds: readonly string[]; most: number }) =>
  pagePerOwner(tables, messageIds, (messageId) =>
    certificatesOfMessages
      .select(['d.message_id as messageId', 'c.id as certificateId'])
      .where('d.message_id', '=', messageId)
      .orderBy('c.not_after')
      .orderBy('c.id')
      .limit(most),
  ),
);

/** Messages of an alert that this finds: about events of the last days, and not accepted. */
interface Unsent {
  readonly alertId: string;
  readonly days: number;
  readonly after: string;
  readonly most: number;
}

/** Certificates that messages of an alert about its event were not accepted for, by ID: nothing else finds them again. */
export const listUnsentSubjects = prepared(({ alertId, days, after, most }: Unsent) =>
  certificatesOfMessages
    .innerJoin('notification_message as m', 'm.id', 'd.message_id')
    .innerJoin('certificate_alert as a', (join) =>
      join.onRef('a.id', '=', 'm.owner_id').onRef('a.event_type', '=', 'm.event'),
    )
    .select('c.id')
    .distinct()
    .where('a.id', '=', alertId)
    .where(sql<boolean>`m.state <> 'sent' and m.state <> 'pending'`)
    .where('m.created_at', '>', sql<Date>`now() - make_interval(days => ${days}::integer)`)
    .where('c.id', '>', after)
    .orderBy('c.id')
    .limit(most),
);
