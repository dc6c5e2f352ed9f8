// Statements that also change or look at what they join: a list with its entries, serial numbers in four tables.
import { sqlStatement, t } from '../../../kernel/database/statement.js';

/** An authority `a` that can publish: it has a certificate. */
const RESPONDER = {
  text: `a.organization_id as "organizationId", a.project_id as "projectId", coalesce(a.certificate, '') as certificate,
      a.key_sealed as "keySealed", now() as now`,
  row: { organizationId: t.uuid, projectId: t.uuid, certificate: t.text, keySealed: t.bytea, now: t.time },
};

/** An authority with a certificate. */
export const findResponder = sqlStatement({
  text: `select ${RESPONDER.text} from certificate_authority a where a.id = :authorityId and a.certificate is not null`,
  params: { authorityId: t.uuid },
  row: RESPONDER.row,
});

/** The same with its revocation list; null if it has none or signs a new one. */
export const findList = sqlStatement({
  text: `select ${RESPONDER.text}, coalesce(a.serial_number, '') as "serialNumber", coalesce(signed.number, 0)::integer as number,
      case when signed.signed_as = a.serial_number and signed.next_update > now() + make_interval(secs => :renewSeconds)
        and not exists (select from certificate_revocation where authority_id = a.id and not is_listed) then signed.list end as list
    from certificate_authority a left join certificate_revocation_list signed on signed.authority_id = a.id
    where a.id = :authorityId and a.certificate is not null`,
  params: { authorityId: t.uuid, renewSeconds: t.double },
  row: { ...RESPONDER.row, serialNumber: t.text, number: t.integer, list: t.nullable(t.bytea) },
});

/** Stores a list, unless another one has this number, and marks its entries as listed. No row if there is another one. */
export const storeList = sqlStatement({
  text: `with stored as (
      insert into certificate_revocation_list as old
        (authority_id, organization_id, project_id, number, list, signed_as, this_update, next_update)
      values (:authorityId, :organizationId, :projectId, :number, :list, :signedAs, :thisUpdate, :nextUpdate)
      on conflict (authority_id) do update set number = excluded.number, list = excluded.list, signed_as = excluded.signed_as,
        this_update = excluded.this_update, next_update = excluded.next_update
      where old.number = excluded.number - 1
      returning authority_id),
    listed as (
      update certificate_revocation revocation set is_listed = true from stored
      where revocation.authority_id = stored.authority_id and serial_number = any(:serialNumbers))
    select authority_id as "authorityId" from stored`,
  params: {
    authorityId: t.uuid,
    organizationId: t.uuid,
    projectId: t.uuid,
    number: t.bigint,
    list: t.bytea,
    signedAs: t.text,
    thisUpdate: t.time,
    nextUpdate: t.time,
    serialNumbers: t.array(t.text),
  },
  row: { authorityId: t.uuid },
});

/** Statuses of serial numbers of an authority. Serial numbers that are neither known nor revoked have no row. */
export const findStatuses = sqlStatement({
  text: `select wanted.serial_number as "serialNumber", revocation.revoked_at as "revokedAt", revocation.reason
    from unnest(:serialNumbers::text[]) as wanted (serial_number)
      left join lateral (select * from certificate_revocation found
        where found.authority_id = :authorityId and found.serial_number = wanted.serial_number offset 0) revocation on true
    where revocation.serial_number is not null
      or exists (select from certificate
        where project_id = :projectId and certificate.serial_number = wanted.serial_number and authority_id = :authorityId)
      or exists (select from certificate_authority child
        where parent_id = :authorityId and child.serial_number = wanted.serial_number)
      or exists (select from certificate_authority_history former
        where parent_id = :authorityId and former.serial_number = wanted.serial_number)`,
  params: { authorityId: t.uuid, projectId: t.uuid, serialNumbers: t.array(t.text) },
  row: { serialNumber: t.text, revokedAt: t.nullable(t.time), reason: t.nullable(t.text) },
});
