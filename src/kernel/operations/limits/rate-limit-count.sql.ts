// Arrays of many columns with `on conflict`, and a deletion that several nodes do at once.
import { sqlStatement, t } from '../../database/statement.js';
import { SLOTS } from './sliding-count.js';

/**
 * Adds amounts to slots of buckets, and returns the clock and all slots after `:after` of the buckets that are asked for, each with the
 * position of its bucket. Written in the order of the key, so that two nodes cannot wait for each other.
 */
export const exchangeCounts = sqlStatement({
  text: `
    with added as (
      insert into rate_limit_count as known (bucket, slot, amount, expires_at)
      select bucket, slot, amount, to_timestamp((slot + ${SLOTS}) * :slotMs::float8 / 1000)
      from unnest(:buckets::bytea[], :slots::bigint[], :amounts::int[]) as given (bucket, slot, amount) order by bucket, slot
      on conflict (bucket, slot) do update set amount = known.amount + excluded.amount
      returning bucket, slot, amount
    ), present as (
      select * from added
      union all
      select bucket, slot, amount from rate_limit_count known where bucket = any(:asked::bytea[]) and slot > :after
        and not exists (select from added where added.bucket = known.bucket and added.slot = known.slot)
    )
    select extract(epoch from clock_timestamp())::float8 * 1000 as now,
      (select coalesce(jsonb_agg(jsonb_build_array(place - 1, slot, amount)), '[]')
       from unnest(:asked::bytea[]) with ordinality as asked (bucket, place) join present using (bucket)) as counts`,
  params: {
    buckets: t.array(t.bytea),
    slots: t.array(t.bigint),
    amounts: t.array(t.integer),
    slotMs: t.double,
    asked: t.array(t.bytea),
    after: t.bigint,
  },
  row: {
    now: t.double,
    counts: t.jsonOf<readonly (readonly [position: number, slot: number, amount: number])[]>(),
  },
});

/** Counts nobody asks for any more; some thousands at a time, each node others. */
export const deleteOldCounts = sqlStatement({
  text: `
    delete from rate_limit_count where (bucket, slot) in (
      select bucket, slot from rate_limit_count where expires_at < now() limit 3000 for update skip locked)`,
  params: {},
  row: {},
});
