import { sqlStatement, t } from '../../kernel/database/statement.js';

/** Seconds between checks. */
const EVERY = 3_600;
/** A tenth sooner or later, so that those which were made together are not checked together for ever. */
const NEXT = `now() + make_interval(secs => ${EVERY} * (0.9 + 0.2 * random()))`;

/** Takes connections whose check is due, longest due first, and sets when the next one is. What another node is taking is left out. */
export const takeDueChecks = sqlStatement({
  text: `
    with due as materialized (
      select id from app_connection where next_check_at <= now() order by next_check_at, id limit :most::integer for update skip locked
    )
    update app_connection c set next_check_at = ${NEXT} from due where c.id = due.id
    returning c.id, c.organization_id as "organizationId", c.project_id as "projectId"`,
  params: { most: t.integer },
  row: { id: t.uuid, organizationId: t.uuid, projectId: t.nullable(t.uuid) },
});

/** Notes that a new connection was just checked, and when it is next. */
export const beginChecks = sqlStatement({
  text: `update app_connection set checked_at = now(), check_state = 'working', next_check_at = ${NEXT} where id = :id`,
  params: { id: t.uuid },
  row: {},
});

/**
 * Stores what came of a check, but not of credentials that are not those of the connection any more. What is out of reach fails only
 * after so many checks in a row; what was failing goes on to.
 *
 * @returns what there was before, and since when it fails
 */
export const storeCheck = sqlStatement({
  text: `
    with before as (
      select id, check_state from app_connection
      where id = :id and organization_id = :organizationId and credentials_version = :credentialsVersion for update
    ), after as (
      update app_connection c set checked_at = now(), check_code = :code,
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
    patience: t.integer,
  },
  row: {
    stateBefore: t.oneOf('unchecked', 'working', 'failing'),
    state: t.oneOf('unchecked', 'working', 'failing'),
    failingSince: t.nullable(t.time),
  },
});
