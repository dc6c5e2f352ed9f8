// A queue that nodes share, and changes that decide by what a row was, or insert it.
import { sqlStatement, t } from '../../../kernel/database/statement.js';

/** Seconds between checks. */
const EVERY = 3_600;
/** Random jitter of ten percent, so that connections created together are not always checked together. */
export const NEXT_CHECK = `now() + make_interval(secs => ${EVERY} * (0.9 + 0.2 * random()))`;

/** Takes connections whose check is due, the longest overdue first, and schedules the next one. Skips those locked by another node. */
export const takeDueChecks = sqlStatement({
  text: `
    with due as materialized (
      select id from app_connection where next_check_at <= now() order by next_check_at, id limit :most::integer for update skip locked
    )
    update app_connection c set next_check_at = ${NEXT_CHECK} from due where c.id = due.id
    returning c.id, c.organization_id as "organizationId", c.project_id as "projectId", c.target`,
  params: { most: t.integer },
  row: { id: t.uuid, organizationId: t.uuid, projectId: t.nullable(t.uuid), target: t.text },
});

/**
 * Stores the result of a check, unless the credentials were replaced in the meantime. An unreachable target is failing only after several
 * checks in a row; a failing connection stays failing.
 *
 * @returns the previous state, and since when it is failing
 */
export const storeCheck = sqlStatement({
  text: `
    with before as (
      select id, check_state from app_connection
      where id = :id and organization_id = :organizationId and credentials_version = :credentialsVersion for update
    ), after as (
      update app_connection c set checked_at = now(), check_code = :code, account_digest = coalesce(:accountDigest, account_digest),
        check_failures = case when :code::text is null then 0 else c.check_failures + 1 end,
        check_state = case
          when :code::text is null then 'working'
          when :isRefusal::boolean or c.check_failures + 1 >= :patience::integer then 'failing'
          else c.check_state end,
        failing_since = case
          when :code::text is null then null
          when :isRefusal::boolean or c.check_failures + 1 >= :patience::integer then coalesce(c.failing_since, now())
          else c.failing_since end
      from before where c.id = before.id
      returning c.id, c.check_state, c.failing_since
    )
    select before.check_state as "stateBefore", after.check_state as state, after.failing_since as "failingSince"
    from before join after using (id)`,
  params: {
    id: t.uuid,
    organizationId: t.uuid,
    credentialsVersion: t.integer,
    code: t.nullable(t.text),
    isRefusal: t.boolean,
    accountDigest: t.nullable(t.bytea),
    patience: t.integer,
  },
  row: {
    stateBefore: t.oneOf('unchecked', 'working', 'failing'),
    state: t.oneOf('unchecked', 'working', 'failing'),
    failingSince: t.nullable(t.time),
  },
});

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
