// Notices that are written from what they are about, with the projects of identities by lateral joins.
import { plannedOnce } from '../../../kernel/database/plans.sql.js';
import { sqlStatement, sqlVariants, t } from '../../../kernel/database/statement.js';
import { insertingNotices, NOTICE_OWNER } from './notice.sql.js';

/** Projects that an identity `i` is a member of, directly or by a group; one row without a project if there is none. */
const PROJECTS = `left join lateral (
    select distinct n.organization_id, n.project_id from project_member_now n where n.member_id = i.id) m on true`;
const OWNER = `coalesce(m.organization_id, i.organization_id) as "organizationId", m.project_id as "projectId"`;

const GIVEN = [
  ...[':identityIds', ':tokenIds', ':subjectIds'].map((ids) => plannedOnce(ids, 'uuid')),
  ...[':changes', ':occurrences'].map((texts) => plannedOnce(texts, 'text')),
].join(', ');

/**
 * Writes notices of changes of credentials of identities (or of the owners of tokens, if no identity is given), for whom they concern.
 * @returns the owners of the notices
 */
export const insertCredentialNotices = sqlStatement({
  text: insertingNotices(`
    select coalesce(m.organization_id, i.organization_id), m.project_id, coalesce(g.subject_id, i.id), g.occurrence,
      jsonb_build_object('name', i.name, 'fields', jsonb_build_object('Change', g.change, 'By', :author::text))
    from unnest(${GIVEN})
        as g (identity_id, token_id, subject_id, change, occurrence)
      left join access_token t on g.identity_id is null and t.id = g.token_id
      join identity i on i.id = coalesce(g.identity_id, t.identity_id)
      ${PROJECTS}`),
  params: {
    kind: t.text,
    author: t.text,
    identityIds: t.array(t.nullable(t.uuid)),
    tokenIds: t.array(t.nullable(t.uuid)),
    subjectIds: t.array(t.nullable(t.uuid)),
    changes: t.array(t.text),
    occurrences: t.array(t.text),
  },
  row: NOTICE_OWNER,
});

const outlives = (since: string): string => `x.expires_at - ${since} > make_interval(days => :days::integer)`;
/** Tokens that people created for identities, and not those of logins; client secrets. */
const CREDENTIALS = {
  token: `select x.id, x.identity_id, coalesce(x.name, '') as label, x.expires_at from access_token x
    where x.auth_method = 'token-auth' and x.identity_id is not null and not x.is_revoked
      and ${outlives('coalesce(x.last_renewed_at, x.created_at)')}`,
  clientSecret: `select x.id, x.identity_id, x.description as label, x.expires_at from universal_auth_client_secret x
    where not x.is_revoked and ${outlives('x.created_at')}`,
} as const;

/** Credentials that expire within a number of days and were issued for longer than that, soonest first, with whom to notify. */
export const listExpiring = sqlVariants({
  options: { kind: ['token', 'clientSecret'] },
  text: ({ kind }) => `
  with found as materialized (
    ${CREDENTIALS[kind]} and x.expires_at > now() and x.expires_at <= now() + make_interval(days => :days::integer)
      and (x.expires_at, x.id) > (:afterTime::timestamptz, :afterId::uuid)
    order by x.expires_at, x.id limit :most::integer
  )
  select f.id, f.label, coalesce(f.expires_at, now()) as "expiresAt", i.name as "identityName", ${OWNER}
  from found f join identity i on i.id = f.identity_id ${PROJECTS}
  order by f.expires_at, f.id`,
  params: { days: t.integer, afterTime: t.time, afterId: t.uuid, most: t.integer },
  row: {
    id: t.uuid,
    label: t.text,
    expiresAt: t.time,
    identityName: t.text,
    organizationId: t.uuid,
    projectId: t.nullable(t.uuid),
  },
});
