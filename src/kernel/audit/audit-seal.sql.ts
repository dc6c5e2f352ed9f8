// The catalog, and one look at several tables of the trail.
import { sqlStatement, t } from '../database/statement.js';
import { EXPIRES_ON } from './audit-rows.sql.js';

/**
 * The last seal, the last number that was given out to a row, and the age in seconds of the oldest row without a seal. A row beyond what
 * was ever given out is nobody's of ours: it is left to be found, and does not push the seals ahead.
 */
export const findSealState = sqlStatement({
  text: `
    select head.number, head.last_sequence as last, head.mac, newest.sequence as newest,
      extract(epoch from now() - oldest.occurred_at)::float8 as age
    from (select pg_sequence_last_value(pg_get_serial_sequence('audit_record', 'sequence')::regclass) as sequence) newest
    left join lateral (select number, last_sequence, mac from audit_seal order by number desc limit 1) head on true
    left join lateral (
      select occurred_at from audit_record
      where sequence > coalesce(head.last_sequence, 0) and sequence <= newest.sequence
      order by sequence limit 1
    ) oldest on true`,
  params: {},
  row: {
    number: t.nullable(t.bigint),
    last: t.nullable(t.bigint),
    mac: t.nullable(t.bytea),
    newest: t.nullable(t.bigint),
    age: t.nullable(t.double),
  },
});

/** Transactions that insert: they hold this lock from before the number is drawn until after the rows are visible. */
export const listWriters = sqlStatement({
  text: `
    select virtualtransaction as writer from pg_locks
    where locktype = 'relation' and relation = 'audit_record'::regclass and mode = 'RowExclusiveLock' and granted
      and database = (select oid from pg_database where datname = current_database())`,
  params: {},
  row: { writer: t.nullable(t.text) },
});

/** Rows after a sequence, up to another one, with the clock of the database in milliseconds. */
export const listRowsToSeal = sqlStatement({
  text: `
    select sequence, round(extract(epoch from occurred_at) * 1000)::text as time, ${EXPIRES_ON}, mac,
      round(extract(epoch from clock_timestamp()) * 1000)::text as now
    from audit_record where sequence > :after and sequence <= :last order by sequence limit :limit::integer`,
  params: { after: t.bigint, last: t.bigint, limit: t.integer },
  row: { sequence: t.bigint, time: t.text, expiresOn: t.nullable(t.text), mac: t.bytea, now: t.text },
});

export const insertSeal = sqlStatement({
  text: `
    insert into audit_seal (number, after_sequence, last_sequence, entries, sealed_at, previous, mac, expiries)
    values (:number, :after, :last, :entries, to_timestamp(:sealedAt::bigint::numeric / 1000), :previous, :mac, :expiries)`,
  params: {
    number: t.bigint,
    after: t.bigint,
    last: t.bigint,
    entries: t.bytea,
    sealedAt: t.bigint,
    previous: t.bytea,
    mac: t.bytea,
    expiries: t.nullable(t.bytea),
  },
  row: {},
});

/** The last sequence that a seal covers: every row up to there is present, and none will be added. With the time of the database. */
export const findSealedSequence = sqlStatement({
  text: 'select coalesce((select last_sequence from audit_seal order by number desc limit 1), 0) as sequence, now() as now',
  params: {},
  row: { sequence: t.bigint, now: t.time },
});
