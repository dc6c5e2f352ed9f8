import { sqlStatement, t } from '../../../kernel/database/statement.js';

const LAST_NOT_REVOKED = `select distinct on (lineage_id) lineage_id as "lineageId", id, project_id as "projectId"
  from certificate c where lineage_id = any(:lineageIds) and status = 'active'
  order by lineage_id, exists (select from certificate n where n.renewed_from_id = c.id and n.status = 'active'), created_at desc, id`;

/** The most recent unrevoked certificate of each lineage. */
export const findCurrent = sqlStatement({
  text: LAST_NOT_REVOKED,
  params: { lineageIds: t.array(t.uuid) },
  row: { lineageId: t.uuid, id: t.uuid, projectId: t.uuid },
});

/** All certificates of lineages, oldest first. */
export const listLineages = sqlStatement({
  text: `select lineage_id as "lineageId", id, renewed_from_id as "renewedFromId" from certificate
    where lineage_id = any(:lineageIds) order by lineage_id, created_at, id`,
  params: { lineageIds: t.array(t.uuid) },
  row: { lineageId: t.uuid, id: t.uuid, renewedFromId: t.nullable(t.uuid) },
});

/** The renewals of certificates. */
export const listRenewals = sqlStatement({
  text: 'select renewed_from_id as "renewedFromId", id from certificate where renewed_from_id = any(:ids)',
  params: { ids: t.array(t.uuid) },
  row: { renewedFromId: t.nullable(t.uuid), id: t.uuid },
});

/** A valid certificate of a profile that was not renewed; no row if there is none. */
export const findCertificateInForce = sqlStatement({
  text: `select c.id from certificate c where c.profile_id = :profileId and c.status = 'active' and c.not_after > now()
    and not exists (select from certificate n where n.renewed_from_id = c.id) limit 1`,
  params: { profileId: t.uuid },
  row: { id: t.uuid },
});
