import { sqlStatement, t } from '../../kernel/database/statement.js';
import { CHANNEL_TYPES } from '../notifications/public.js';
import { MESSAGE_STATES } from './message.entity.js';

type Types = Parameters<typeof sqlStatement>[0]['row'];

/** Columns of a message `m`, whatever it is about, and of its project `p`. */
export const MESSAGE_COLUMNS = `m.id, p.id as "projectId", m.channel_id as "channelId", m.channel_type as "channelType",
  m.recipient as "recipientDigest", m.state, m.attempts, m.next_at as "nextAttemptAt", m.error_code as "errorCode",
  m.created_at as "createdAt", m.ended_at as "endedAt"`;

/** Types of these columns. */
export const MESSAGE_ROW = {
  id: t.uuid,
  projectId: t.uuid,
  channelId: t.uuid,
  channelType: t.oneOf(...CHANNEL_TYPES),
  recipientDigest: t.bytea,
  state: t.oneOf(...MESSAGE_STATES),
  attempts: t.integer,
  nextAttemptAt: t.nullable(t.time),
  errorCode: t.nullable(t.text),
  createdAt: t.time,
  endedAt: t.nullable(t.time),
} as const;

/** How a slice reads its messages. */
interface Shown<Row extends Types> {
  /** Name of its delivery source. */
  readonly source: string;
  /** `MESSAGE_COLUMNS` and the columns of the slice. */
  readonly columns: string;
  readonly row: Row;
}

/** The tables of these columns. Messages of an organization have no project. */
export const MESSAGES_IN_PROJECTS = 'notification_message m join project p on p.id = m.project_id';

/** Makes a statement that finds messages of a slice by ID, in any project. */
export const messagesById = <const Row extends Types>({ source, columns, row }: Shown<Row>) =>
  sqlStatement({
    text: `select ${columns} from ${MESSAGES_IN_PROJECTS} where m.id = any(:ids) and m.source = '${source}'`,
    params: { ids: t.array(t.uuid) },
    row,
  });

/**
 * Makes a statement that lists one page of messages of a slice per owner or channel, newest first.
 *
 * @param by the column of the owner or channel ID; it needs an index together with the time and the ID
 */
export const messagePages = <const Row extends Types>(
  by: 'owner_id' | 'channel_id',
  { source, columns, row }: Shown<Row>,
) =>
  sqlStatement({
    text: `
      select found.* from unnest(:ids::uuid[]) as wanted (id) cross join lateral (
        select ${columns} from ${MESSAGES_IN_PROJECTS}
        where m.${by} = wanted.id and m.source = '${source}' and (:state::text is null or m.state = :state)
          and (:time::text is null or (m.created_at, m.id) < (:time::text::timestamptz, :afterId::uuid))
        order by m.created_at desc, m.id desc limit :limit::integer) found
      order by found."createdAt" desc, found.id desc`,
    params: {
      ids: t.array(t.uuid),
      state: t.nullable(t.text),
      time: t.nullable(t.text),
      afterId: t.nullable(t.uuid),
      limit: t.nullable(t.integer),
    },
    row,
  });
