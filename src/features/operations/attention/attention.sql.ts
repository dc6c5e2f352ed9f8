import { sqlStatement, t } from '../../../kernel/database/statement.js';
import { HAS_CONTENT } from '../../notifications/deliveries/public.js';
import { CHANNEL_TYPES } from '../../notifications/sending/public.js';
import { ROTATION_STATUSES } from '../../rotations/secret-rotations/public.js';
import { numberOf, type Reader, type Source } from './kinds/kind.sql.js';
import { KIND_NAMES, KINDS } from './kinds/kinds.js';

// One page of a union of the rows of all kinds, each by an index of its own.

const OF_PROJECTS = (name: string): string => `x.project_id = any(:${name}::uuid[])`;
const OF_ORGANIZATION = (name: string): string => `:${name}::boolean and x.organization_id = :organizationId::uuid
        and (:projectId::uuid is null or x.project_id = :projectId::uuid)`;

/** Rows `x` that the caller may read, but for conditions of rules. */
const REACH: Readonly<Record<Reader, string>> = {
  rotations: OF_PROJECTS('rotations'),
  connections: `(${OF_PROJECTS('connections')} or ${OF_ORGANIZATION('allConnections')})`,
  certificates: OF_PROJECTS('certificates'),
  authorities: OF_PROJECTS('authorities'),
  alerts: OF_PROJECTS('alerts'),
  webhooks: OF_PROJECTS('webhooks'),
  identities: OF_PROJECTS('identities'),
  organizationIdentities: OF_ORGANIZATION('allIdentities'),
  sinks: OF_ORGANIZATION('allSinks'),
  keys: OF_ORGANIZATION('allKeys'),
  jobs: OF_ORGANIZATION('allJobs'),
  installation: ':allOfInstallation::boolean and :projectId::uuid is null',
};

const partOf = (kind: (typeof KIND_NAMES)[number], { subject, reader, rows }: Source): string => {
  const urgency = numberOf(KINDS[kind].urgency);
  return `(
    select '${kind}' as kind, ${urgency} as urgency, '${subject}' as subject, '${reader}' as reader, x.* from (${rows}) x
    where (:kinds::text[] is null or '${kind}' = any(:kinds::text[])) and ${REACH[reader]}
      and (${urgency}, x.since, '${kind}' collate "C", x.id) > (:urgency::integer, :time::text::timestamptz, :kind::text, :id::uuid)
    order by x.since, x.id limit :limit::integer)`;
};

/**
 * One page of what needs a person, the most urgent first and then by how long it has, before conditions of rules. Lists of projects are
 * those in which the caller may read such rows.
 */
export const listItems = sqlStatement({
  text: `
    select kind, urgency, subject, reader, project_id as "projectId", id, name, since, code, type, owner_id as "ownerId", fields
    from (${KIND_NAMES.flatMap((kind) => KINDS[kind].sources.map((source) => partOf(kind, source))).join(' union all ')}) found
    order by urgency, since, kind collate "C", id limit :limit::integer`,
  params: {
    organizationId: t.uuid,
    projectId: t.nullable(t.uuid),
    kinds: t.nullable(t.array(t.text)),
    rotations: t.array(t.uuid),
    connections: t.array(t.uuid),
    certificates: t.array(t.uuid),
    authorities: t.array(t.uuid),
    alerts: t.array(t.uuid),
    webhooks: t.array(t.uuid),
    identities: t.array(t.uuid),
    allConnections: t.boolean,
    allIdentities: t.boolean,
    allSinks: t.boolean,
    allKeys: t.boolean,
    allJobs: t.boolean,
    allOfInstallation: t.boolean,
    urgency: t.integer,
    time: t.text,
    kind: t.text,
    id: t.uuid,
    limit: t.integer,
  },
  row: {
    kind: t.oneOf(...KIND_NAMES),
    urgency: t.integer,
    subject: t.text,
    reader: t.oneOf<Reader>(),
    projectId: t.nullable(t.uuid),
    id: t.uuid,
    name: t.nullable(t.text),
    since: t.time,
    code: t.nullable(t.text),
    type: t.nullable(t.text),
    ownerId: t.nullable(t.uuid),
    fields: t.nullable(t.jsonOf<Readonly<Record<string, string | null>>>()),
  },
});

/** Something that needs a person, as it is read. */
export type ItemRow = Awaited<ReturnType<typeof listItems>>[number];

// A union of the rows of all kinds, and figures for each of a fixed list.

const measured = KIND_NAMES.map((kind) => {
  const rows = KINDS[kind].sources.map((source: Source) => source.rows).join(' union all ');
  return `select '${kind}' as kind, count(*)::integer as count, coalesce(extract(epoch from now() - min(x.since)), 0)::double precision as seconds
    from (${rows}) x`;
});

/** How many items of each kind there are in the installation, and since when the oldest has been there. */
export const measureAttention = sqlStatement({
  text: measured.join(' union all '),
  params: {},
  row: { kind: t.oneOf(...KIND_NAMES), count: t.integer, seconds: t.double },
});

/** Rotations by status. */
export const measureRotations = sqlStatement({
  text: `
    select given.status, (select count(*)::integer from secret_rotation r where r.status = given.status) as count
    from unnest(array['${ROTATION_STATUSES.join("', '")}']) as given (status)`,
  params: {},
  row: { status: t.text, count: t.integer },
});

/** Age of the oldest attempt that has not ended. */
export const measureAttempts = sqlStatement({
  text: `
    select coalesce(extract(epoch from now() - min(created_at)), 0)::double precision as seconds
    from secret_rotation_attempt where ended_at is null`,
  params: {},
  row: { seconds: t.double },
});

/** Credentials to revoke, before the first attempt and after one has failed. */
export const measurePendingRevocations = sqlStatement({
  text: `
    select case when given.is_tried then 'failed' else 'pending' end as state, found.count, found.seconds
    from (values (false), (true)) as given (is_tried) cross join lateral (
      select count(*)::integer as count, coalesce(extract(epoch from now() - min(d.created_at)), 0)::double precision as seconds
      from credential_debt d where (d.tries > 0) = given.is_tried) found`,
  params: {},
  row: { state: t.text, count: t.integer, seconds: t.double },
});

/** Messages that wait, and those of the last month that were not sent. */
export const measureMessages = sqlStatement({
  text: `
    select type."channelType", state.state, coalesce(found.count, 0) as count, coalesce(found.seconds, 0)::double precision as seconds
    from unnest(array['${CHANNEL_TYPES.join("', '")}']) as type ("channelType")
      cross join unnest(array['pending', 'failed', 'cancelled']) as state (state)
      left join (
        select m.channel_type, m.state, count(*)::integer as count, extract(epoch from now() - min(m.created_at)) as seconds
        from notification_message m where m.state <> 'sent' and ${HAS_CONTENT} and (m.state = 'pending' or m.ended_at > now() - interval '30 days')
        group by m.channel_type, m.state
      ) found on found.channel_type = type."channelType" and found.state = state.state`,
  params: {},
  row: { channelType: t.text, state: t.text, count: t.integer, seconds: t.double },
});
