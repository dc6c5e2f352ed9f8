import { sqlStatement, t } from '../../kernel/database/statement.js';

const FIRST_SECONDS = 30;
const LONGEST_SECONDS = 3_600;
/** Random jitter of ten percent. */
const JITTER = '(0.9 + 0.2 * random())';

/**
 * Whether an external system is known not to respond, and for how many seconds it is to be left alone. Whoever finds it due tries it: for
 * the others it is due again when that trial must have ended.
 */
export const claimTrial = sqlStatement({
  text: `
    with known as (
      select organization_id, target, next_try_at from unresponsive_target
      where organization_id = :organizationId and target = :target for update
    ), tried as (
      update unresponsive_target u set next_try_at = now() + make_interval(secs => :trialSeconds::integer) from known
      where u.organization_id = known.organization_id and u.target = known.target and known.next_try_at <= now()
    )
    select greatest(0, extract(epoch from next_try_at - now()))::double precision as seconds from known`,
  params: { organizationId: t.uuid, target: t.text, trialSeconds: t.integer },
  row: { seconds: t.double },
});

/**
 * Stores that an external system did not respond: it is left alone for a pause that doubles each time, or as long as it asked for. Calls
 * that were under way at the same time count as one.
 */
export const storeNoResponse = sqlStatement({
  text: `
    insert into unresponsive_target as u (organization_id, target, error_code, next_try_at)
    values (:organizationId, :target, :errorCode, now() + make_interval(secs => greatest(:retryAfterSeconds::integer, ${FIRST_SECONDS} * ${JITTER})))
    on conflict (organization_id, target) do update set failures = u.failures + 1, failed_at = now(), error_code = excluded.error_code,
      next_try_at = now() + make_interval(secs =>
        greatest(:retryAfterSeconds, least(${LONGEST_SECONDS}, ${FIRST_SECONDS} * 2 ^ least(u.failures, 20)) * ${JITTER}))
    where u.failed_at < now() - make_interval(secs => :tookSeconds::double precision)`,
  params: {
    organizationId: t.uuid,
    target: t.text,
    errorCode: t.text,
    retryAfterSeconds: t.integer,
    tookSeconds: t.double,
  },
  row: {},
});

/** Forgets that an external system did not respond. */
export const forgetUnresponsive = sqlStatement({
  text: 'delete from unresponsive_target where organization_id = :organizationId and target = :target returning target',
  params: { organizationId: t.uuid, target: t.text },
  row: { target: t.text },
});

/** Forgets those that no connection leads to any more. */
export const forgetUnusedTargets = sqlStatement({
  text: `
    delete from unresponsive_target u where not exists (
      select from app_connection c where c.organization_id = u.organization_id and c.target = u.target)`,
  params: {},
  row: {},
});
