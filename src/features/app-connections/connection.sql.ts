import { sqlStatement, t } from '../../kernel/database/statement.js';

/** Seconds between checks. */
const EVERY = 3_600;
/** Random jitter of ten percent, so that connections created together are not always checked together. */
const NEXT = `now() + make_interval(secs => ${EVERY} * (0.9 + 0.2 * random()))`;

/** Takes connections whose check is due, the longest overdue first, and schedules the next one. Skips those locked by another node. */
export const takeDueChecks = sqlStatement({
  text: `
    with due as materialized (
      select id from app_connection where next_check_at <= now() order by next_check_at, id limit :most::integer for update skip locked
    )
    update app_connection c set next_check_at = ${NEXT} from due where c.id = due.id
    returning c.id, c.organization_id as "organizationId", c.project_id as "projectId", c.target`,
  params: { most: t.integer },
  row: { id: t.uuid, organizationId: t.uuid, projectId: t.nullable(t.uuid), target: t.text },
});

/** The external system of a connection: one name for all connections of its organization that call it. */
export const findTarget = sqlStatement({
  text: 'select target from app_connection where id = :connectionId',
  params: { connectionId: t.uuid },
  row: { target: t.text },
});

/**
 * Serializes what gets an account of an external system, until the transaction ends: a connection that logs in to it and a rotation that
 * owns it do not see one another before they are committed.
 */
export const lockAccount = sqlStatement({
  text: `select pg_advisory_xact_lock(hashtextextended('account ' || encode(:digest, 'hex'), 0))::text as lock`,
  params: { digest: t.bytea },
  row: { lock: t.text },
});

/** Stores that a new connection was just checked, and schedules the next check. */
export const beginChecks = sqlStatement({
  text: `update app_connection set checked_at = now(), check_state = 'working', next_check_at = ${NEXT} where id = :id`,
  params: { id: t.uuid },
  row: {},
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
