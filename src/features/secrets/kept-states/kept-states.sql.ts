// States of secrets in JSON of the audit trail, picked out by the database: no record is read into memory.
import { sqlStatement, t } from '../../../kernel/database/statement.js';

/**
 * States of secrets in records that are about to be dropped, as far as `verify-audit` still needs them: of secrets that have not been
 * written since, and of those that are deleted while their history is kept.
 */
export const listKeptStates = sqlStatement({
  text: `
    with given as materialized (
      select r.organization_id, state,
        case when split_part(state, ':', 1) ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then split_part(state, ':', 1)::uuid end as id,
        case when split_part(state, ':', 2) ~ '^[1-9][0-9]{0,8}$' then split_part(state, ':', 2)::integer end as version
      from audit_record r,
        jsonb_array_elements_text(case jsonb_typeof(r.facts->'states') when 'array' then r.facts->'states' else '[]' end) state
      where r.expires_on = to_date(:month, 'YYYY-MM-DD') and r.sequence > :after and r.sequence <= :upTo and r.facts ? 'states'
    )
    select given.organization_id as "organizationId", array_agg(distinct given.state) as states
    from given left join secret s on s.id = given.id left join personal_secret p on p.id = given.id
    where case when s.id is null and p.id is null then exists (select from secret_version v where v.secret_id = given.id offset 0)
      else coalesce(s.version, p.version) <= given.version end
    group by given.organization_id`,
  params: { month: t.text, after: t.bigint, upTo: t.bigint },
  row: { organizationId: t.uuid, states: t.array(t.text) },
});
