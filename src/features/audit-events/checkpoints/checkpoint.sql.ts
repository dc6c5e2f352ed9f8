import { sqlStatement, t } from '../../../kernel/database/statement.js';

const COLUMNS = `c.id, c.organization_id as "organizationId", c.number, c.first_event as "firstEvent", c.event_count as "eventCount",
  c.last_sequence as "lastSequence", encode(c.digest, 'hex') as digest, encode(c.previous, 'hex') as previous,
  encode(c.public_key, 'base64') as "publicKey", replace(encode(c.signature, 'base64'), chr(10), '') as signature,
  c.created_at as "createdAt"`;

const ROW = {
  id: t.uuid,
  organizationId: t.uuid,
  number: t.integer,
  firstEvent: t.bigint,
  eventCount: t.integer,
  lastSequence: t.bigint,
  digest: t.text,
  previous: t.text,
  publicKey: t.text,
  signature: t.text,
  createdAt: t.time,
} as const;

/** One checkpoint of an organization is made at a time. Any number will do that no other lock has. */
export const LOCK_CHECKPOINTS = sqlStatement({
  text: `select pg_advisory_xact_lock(7266003, hashtext((:organizationId::uuid)::text))::text as lock`,
  params: { organizationId: t.uuid },
  row: { lock: t.text },
});

/** The newest checkpoint of an organization, and the time. */
export const LAST_CHECKPOINT = sqlStatement({
  text: `select ${COLUMNS} from audit_checkpoint c where c.organization_id = :organizationId order by c.number desc limit 1`,
  params: { organizationId: t.uuid },
  row: ROW,
});

/** The clock of the database. */
export const NOW = sqlStatement({
  text: `select clock_timestamp()::timestamptz(3) as now`,
  params: {},
  row: { now: t.time },
});

export const INSERT_CHECKPOINT = sqlStatement({
  text: `
    insert into audit_checkpoint as c (id, organization_id, number, first_event, event_count, last_sequence, digest, previous, public_key,
      signature, created_at)
    values (:id, :organizationId, :number, :firstEvent, :eventCount, :lastSequence, decode(:digest, 'hex'), decode(:previous, 'hex'),
      decode(:publicKey, 'base64'), decode(:signature, 'base64'), :createdAt)
    returning ${COLUMNS}`,
  params: {
    id: t.uuid,
    organizationId: t.uuid,
    number: t.integer,
    firstEvent: t.bigint,
    eventCount: t.integer,
    lastSequence: t.bigint,
    digest: t.text,
    previous: t.text,
    publicKey: t.text,
    signature: t.text,
    createdAt: t.time,
  },
  row: ROW,
});

/** A checkpoint as it is read. */
export type CheckpointRow = Awaited<ReturnType<typeof LAST_CHECKPOINT>>[number];

/** Checkpoints of an organization after a number, oldest first. */
export const LIST_CHECKPOINTS = sqlStatement({
  text: `
    select ${COLUMNS} from audit_checkpoint c
    where c.organization_id = :organizationId and c.number > (select coalesce(:after::integer, 0))
    order by c.number limit :limit`,
  params: { organizationId: t.uuid, after: t.nullable(t.integer), limit: t.bigint },
  row: ROW,
});

/** Checkpoints by ID, of an organization. */
export const FIND_CHECKPOINTS = sqlStatement({
  text: `select ${COLUMNS} from audit_checkpoint c where c.organization_id = :organizationId and c.id = any(:ids)`,
  params: { organizationId: t.uuid, ids: t.array(t.uuid) },
  row: ROW,
});

/** Organizations with settled events that no checkpoint covers, apart from those of making checkpoints. */
export const LIST_UNCOVERED = sqlStatement({
  text: `
    select o.id from organization o
    where exists (
      select from audit_record r
      where r.organization_id = o.id and r.sequence <= :settled and r.action <> 'audit-checkpoint:create' and r.sequence > coalesce((
        select c.last_sequence from audit_checkpoint c where c.organization_id = o.id order by c.number desc limit 1),
        '-9223372036854775808'))
    order by o.id`,
  params: { settled: t.bigint },
  row: { id: t.uuid },
});
