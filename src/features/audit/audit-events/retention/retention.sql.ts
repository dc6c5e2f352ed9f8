// Partitions: functions of the database, the catalog, and months in SQL.
import { sqlStatement, t } from '../../../../kernel/database/statement.js';

const LATER_DAYS = '(0), (31), (62)';

/** Months in which rows end that are recorded now or within the next two months, as far as they have no partition. */
export const listMissingMonths = sqlStatement({
  text: `
    with needed as (
      select distinct (date_trunc('month', (now() at time zone 'UTC') + make_interval(days => kept.days + later.days)) + interval '1 month')::date as month
      from (
        select audit_logs_retention_days from project where audit_logs_retention_days is not null
        union select unnest(:days::integer[])
      ) kept (days) cross join (values ${LATER_DAYS}) as later (days)
    )
    select to_char(month, 'YYYY-MM-DD') as month from needed
    where not exists (select from audit_partition p where p.expires_on = needed.month) order by needed.month`,
  params: { days: t.array(t.integer) },
  row: { month: t.text },
});

/** Makes the partition of a month to come, if there is none. */
export const addPartition = sqlStatement({
  text: `select true as done from add_audit_partition(to_date(:month, 'YYYY-MM-DD'))`,
  params: { month: t.text },
  row: { done: t.boolean },
});

/** Months with a partition that have begun: all of their rows have ended. */
export const listEndedMonths = sqlStatement({
  text: `
    select to_char(expires_on, 'YYYY-MM-DD') as month from audit_partition
    where expires_on <= (now() at time zone 'UTC')::date order by expires_on`,
  params: {},
  row: { month: t.text },
});

/** Rows that end in a month, by rising sequence. */
export const listEnding = sqlStatement({
  text: `
    select sequence, organization_id as "organizationId", round(extract(epoch from occurred_at) * 1000)::text as time, mac
    from audit_record where expires_on = to_date(:month, 'YYYY-MM-DD') and sequence > :after order by sequence limit :most`,
  params: { month: t.text, after: t.bigint, most: t.bigint },
  row: { sequence: t.bigint, organizationId: t.uuid, time: t.text, mac: t.bytea },
});

/** Drops the rows of a month that is past and that a statement accounts for. It waits 300 ms at most for others to leave the trail. */
export const dropPartition = sqlStatement({
  text: `select true as done from drop_audit_partition(to_date(:month, 'YYYY-MM-DD'))`,
  params: { month: t.text },
  row: { done: t.boolean },
});
