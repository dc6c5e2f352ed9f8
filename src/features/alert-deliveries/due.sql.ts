import { sqlStatement, t } from '../../kernel/database/statement.js';
import type { AlertFilter } from '../alerts/public.js';

const FILTERS = { name: 'jsonb', isNullable: false } as {
  name: string;
  isNullable: boolean;
  '~value'?: readonly AlertFilter[];
};

/** Alerts about expiry that are enabled, of all projects, in the order of their ids. */
export const listExpiryAlerts = sqlStatement({
  text: `
    select id, organization_id as "organizationId", project_id as "projectId" from certificate_alert
    where event_type = 'expiration' and is_enabled and id > :after order by id limit :most::integer`,
  params: { after: t.uuid, most: t.integer },
  row: { id: t.uuid, organizationId: t.uuid, projectId: t.uuid },
});

/** An alert about expiry, unless it is gone or disabled. */
export const findExpiryAlert = sqlStatement({
  text: `
    select id, project_id as "projectId", alert_before as "alertBefore", filters from certificate_alert
    where id = :id and event_type = 'expiration' and is_enabled`,
  params: { id: t.uuid },
  row: { id: t.uuid, projectId: t.uuid, alertBefore: t.text, filters: FILTERS },
});

/** A certificate `c` that no later one has replaced: of its lineage, or of the same profile and names. */
const NOT_SUPERSEDED = `
    not exists (select from certificate n where n.lineage_id = c.lineage_id and n.project_id = c.project_id
      and n.status = 'active' and n.not_after > c.not_after and n.not_before <= now())
    and not exists (select from certificate n where n.project_id = c.project_id and n.common_name = c.common_name
      and n.profile_slug is not distinct from c.profile_slug and n.sans @> c.sans and n.sans <@ c.sans
      and n.status = 'active' and n.not_after > c.not_after and n.not_before <= now())`;

const COLUMNS = `c.id, c.common_name as "commonName", c.sans, c.profile_slug as "profileName", c.is_ca as "isCa", c.not_after as "notAfter"`;
const ROW = {
  id: t.uuid,
  commonName: t.text,
  sans: t.array(t.text),
  profileName: t.nullable(t.text),
  isCa: t.boolean,
  notAfter: t.time,
};

/** Beyond ASCII a database and a program may differ about the case of letters: such names pass. */
const LIKE = (name: string, patterns: string): string =>
  `(${name} ilike all(${patterns}) or ${name} ~ '[^\\x01-\\x7f]')`;

/** Certificates of a project that expire within a time and are neither revoked nor replaced, soonest first; see `prefilterOf`. */
export const listExpiring = sqlStatement({
  text: `
    select ${COLUMNS} from certificate c
    where c.project_id = :projectId and c.status = 'active' and c.not_after > now() and c.not_after <= now() + :within::interval
      and (c.not_after, c.id) > (:afterTime::timestamptz, :afterId::uuid)
      and (:includeCas or not c.is_ca)
      and c.common_name = all(:commonNameEquals) and ${LIKE('c.common_name', ':commonNameLike')}
      and (cardinality(:profileEquals::text[]) + cardinality(:profileLike::text[]) = 0
        or c.profile_slug = all(:profileEquals) and ${LIKE('c.profile_slug', ':profileLike')})
      and c.sans @> :sanEquals
      and not exists (select from unnest(:sanLike::text[]) as p (pattern)
        where not exists (select from unnest(c.sans) as s (san) where ${LIKE('s.san', 'array[p.pattern]')}))
      and ${NOT_SUPERSEDED}
    order by c.not_after, c.id limit :most::integer`,
  params: {
    projectId: t.uuid,
    within: { name: 'interval', isNullable: false } as typeof t.text,
    afterTime: t.time,
    afterId: t.uuid,
    includeCas: t.boolean,
    commonNameEquals: t.array(t.text),
    commonNameLike: t.array(t.text),
    profileEquals: t.array(t.text),
    profileLike: t.array(t.text),
    sanEquals: t.array(t.text),
    sanLike: t.array(t.text),
    most: t.integer,
  },
  row: ROW,
});

/** One certificate, for the alerts about what happened to it. */
export const findCertificate = sqlStatement({
  text: `select ${COLUMNS}, c.project_id as "projectId" from certificate c where c.id = :id`,
  params: { id: t.uuid },
  row: { ...ROW, projectId: t.uuid },
});

/** Alerts of a project about an event that are enabled. */
export const listEventAlerts = sqlStatement({
  text: `select id, filters from certificate_alert where project_id = :projectId and event_type = :event and is_enabled`,
  params: { projectId: t.uuid, event: t.text },
  row: { id: t.uuid, filters: FILTERS },
});

/** Alerts of a project about expiry whose time has begun for a certificate. */
export const listStartedAlerts = sqlStatement({
  text: `
    select a.id, a.filters from certificate_alert a join certificate c on c.project_id = a.project_id
    where c.id = :certificateId and a.event_type = 'expiration' and a.is_enabled and c.status = 'active' and c.not_after > now()
      and c.not_after <= now() + (left(a.alert_before, -1)::integer * case right(a.alert_before, 1)
        when 'd' then interval '1 day' when 'w' then interval '1 week' when 'm' then interval '1 month' else interval '1 year' end)
      and ${NOT_SUPERSEDED}`,
  params: { certificateId: t.uuid },
  row: { id: t.uuid, filters: FILTERS },
});
