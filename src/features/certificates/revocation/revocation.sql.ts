// Statements that also change or look at what they join: a list with its entries, serial numbers in four tables.
import { sqlStatement, t } from '../../../kernel/database/statement.js';

/** An authority with a certificate, and its revocation list; null if it has none or signs a new one. */
export const findList = sqlStatement({
  text: `select authority.organization_id as "organizationId", authority.project_id as "projectId",
      coalesce(authority.certificate, '') as certificate, authority.key_sealed as "keySealed",
      coalesce(authority.serial_number, '') as "serialNumber", now() as now,
      coalesce(signed.number, 0)::integer as number,
      case when signed.signed_as = authority.serial_number and signed.next_update > now() + make_interval(secs => :renewSeconds)
        and not exists (select from certificate_revocation where authority_id = authority.id and not is_listed) then signed.list end as list
    from certificate_authority authority left join certificate_revocation_list signed on signed.authority_id = authority.id
    where authority.id = :authorityId and authority.certificate is not null`,
  params: { authorityId: t.uuid, renewSeconds: t.double },
  row: {
    organizationId: t.uuid,
    projectId: t.uuid,
    certificate: t.text,
    keySealed: t.bytea,
    serialNumber: t.text,
    now: t.time,
    number: t.integer,
    list: t.nullable(t.bytea),
  },
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

/** An authority with a certificate. */
export const findResponder = sqlStatement({
  text: `select organization_id as "organizationId", project_id as "projectId", coalesce(certificate, '') as certificate,
      key_sealed as "keySealed", now() as now
    from certificate_authority where id = :authorityId and certificate is not null`,
  params: { authorityId: t.uuid },
  row: { organizationId: t.uuid, projectId: t.uuid, certificate: t.text, keySealed: t.bytea, now: t.time },
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
