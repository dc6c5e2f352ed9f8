// Changes by group from materialized scans, each with its own limit.
import { rowsOf } from '../../../kernel/audit/audit-rows.sql.js';
import { sqlStatement, t } from '../../../kernel/database/statement.js';
import { EVENT_COLUMNS, EVENT_ROW, numberBefore, SCANNED_ROWS } from './event.sql.js';

/** What changes of a project are about. */
export const CHANGE_GROUPS = ['secrets', 'roles', 'members', 'tokens', 'others'] as const;
export type ChangeGroup = (typeof CHANGE_GROUPS)[number];

/** What happens to tokens, and to the ways to get one. */
const TOKEN_ACTIONS = [
  ...['create', 'revoke', 'renew', 'rename'].map((verb) => `access-token:${verb}`),
  ...['create', 'revoke'].map((verb) => `client-secret:${verb}`),
  ...['identity-token-auth', 'identity-universal-auth'].flatMap((noun) =>
    ['attach', 'update', 'remove'].map((verb) => `${noun}:${verb}`),
  ),
];

/** Rows that are looked at for each of them. They are of all accounts of the organization. */
const SCANNED_TOKENS = 1_000;

const ID = '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$';

const actions = TOKEN_ACTIONS.map((action) => `('${action}')`).join(', ');

/**
 * Changes of a project since a time, by what they are about, newest first and up to so many of each; and of tokens of its current
 * members. Changes of tokens belong to the organization, and are found by the accounts that they are of.
 */
export const listChanges = sqlStatement({
  text: `
    with scanned as materialized (
      select own.sequence, own.expires_on from audit_record own
      where own.class = 'change' and own.project_id = :projectId and own.sequence > ${numberBefore(':since')}
      order by own.sequence desc limit ${SCANNED_ROWS}
    ), members as materialized (
      select m.member_id::text as id from project_member_now m where :withTokens and m.project_id = :projectId
    ), tokens as materialized (
      select found.sequence, found.expires_on, found.occurred_at, found.outcome, found.action, found.facts ->> 'identityId' as identity_id,
        found.facts ->> 'userId' as user_id, (
          select coalesce(a.identity_id, a.user_id)::text from access_token a
          where a.id = case when found.facts ->> 'accessTokenId' ~ '${ID}' then (found.facts ->> 'accessTokenId')::uuid end) as owner_id
      from (values ${actions}) as given (action) cross join lateral (
        select r.* from ${rowsOf(`
          select own.sequence, own.expires_on from audit_record own
          where own.organization_id = :organizationId and own.action = given.action and own.sequence > ${numberBefore(':since')}
          order by own.sequence desc limit ${SCANNED_TOKENS}`)}
      ) found
      where :withTokens
    ), changed as (
      select r.sequence, r.expires_on, case
          when r.action ~ '^(secret|secret-import|secret-rotation|folder|environment|tag):' then 'secrets'
          when r.action ~ '^project-role:' then 'roles'
          when r.action ~ '^(project-membership|additional-privilege):|^project:(rescue|revoke-rescue)$' then 'members'
          else 'others'
        end as "group"
      from ${rowsOf('select sequence, expires_on from scanned')} where r.organization_id = :organizationId and r.occurred_at >= :since
      union all
      select t.sequence, t.expires_on, 'tokens' from tokens t
      where t.occurred_at >= :since and t.outcome = 'allowed' and (t.identity_id in (select id from members)
        or t.user_id in (select id from members) or t.owner_id in (select id from members))
    ), placed as (
      select sequence, expires_on, "group", row_number() over (partition by "group" order by sequence desc) as place from changed
    )
    select looked."group", case looked."group"
        when 'tokens' then exists (select from tokens t group by t.action having count(*) = ${SCANNED_TOKENS})
        else (select count(*) from scanned) = ${SCANNED_ROWS}
      end as "isCut", ${EVENT_COLUMNS}
    from ${rowsOf('select sequence, expires_on, "group" from placed where place <= :limit::bigint')}
    order by r.sequence desc`,
  params: { organizationId: t.uuid, projectId: t.uuid, since: t.time, withTokens: t.boolean, limit: t.bigint },
  row: { group: t.oneOf(...CHANGE_GROUPS), isCut: t.boolean, ...EVENT_ROW },
});
