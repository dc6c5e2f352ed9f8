import { sqlStatement, t } from '../../../kernel/database/statement.js';

/** The time of the database, which validity periods are based on. */
export const readClock = sqlStatement({
  text: 'select now() as now',
  params: {},
  row: { now: t.time },
});

/**
 * Locks an authority that is about to issue until the transaction ends. An authority below a revoked one counts as revoked: its
 * certificates would not be accepted.
 */
export const holdIssuer = sqlStatement({
  text: `select id, status, key_sealed as "keySealed", certificate, chain, not_after as "notAfter", max_path_length as "maxPathLength",
      coalesce(not_after <= now(), false) as "isExpired", now() as now,
      revoked_at is not null or exists (
        with recursive above as (
          select parent_id as id from certificate_authority where id = :id
          union select a.parent_id from above join certificate_authority a on a.id = above.id)
        select from above join certificate_authority a on a.id = above.id where a.revoked_at is not null) as "isRevoked"
    from certificate_authority where id = :id and project_id = :projectId for share`,
  params: { id: t.uuid, projectId: t.uuid },
  row: {
    id: t.uuid,
    status: t.oneOf('active', 'disabled', 'pending'),
    keySealed: t.bytea,
    certificate: t.nullable(t.text),
    chain: t.text,
    notAfter: t.nullable(t.time),
    maxPathLength: t.nullable(t.integer),
    isExpired: t.boolean,
    isRevoked: t.boolean,
    now: t.time,
  },
});

/** The authority of a project with this serial number in its current or a former certificate. */
export const findOwnerOfCertificate = sqlStatement({
  text: `select id from certificate_authority where project_id = :projectId and serial_number = :serialNumber
    union select authority_id from certificate_authority_history where project_id = :projectId and serial_number = :serialNumber`,
  params: { projectId: t.uuid, serialNumber: t.text },
  row: { id: t.uuid },
});

/** Stores a new authority. */
export const insertAuthority = sqlStatement({
  text: `insert into certificate_authority (id, organization_id, project_id, name, kind, status, parent_id, subject, common_name,
      key_algorithm, key_sealed, request, certificate, chain, serial_number, not_before, not_after, max_path_length, predecessor_id)
    values (:id, :organizationId, :projectId, :name, :kind, :status, :parentId, :subject, :commonName, :keyAlgorithm, :keySealed,
      :request, :certificate, :chain, :serialNumber, :notBefore, :notAfter, :maxPathLength, :predecessorId)`,
  params: {
    id: t.uuid,
    organizationId: t.uuid,
    projectId: t.uuid,
    name: t.text,
    kind: t.text,
    status: t.text,
    parentId: t.nullable(t.uuid),
    subject: t.text,
    commonName: t.text,
    keyAlgorithm: t.text,
    keySealed: t.bytea,
    request: t.nullable(t.text),
    certificate: t.nullable(t.text),
    chain: t.text,
    serialNumber: t.nullable(t.text),
    notBefore: t.nullable(t.time),
    notAfter: t.nullable(t.time),
    maxPathLength: t.nullable(t.integer),
    predecessorId: t.nullable(t.uuid),
  },
  row: {},
});

/** Stores the current certificate of an authority as a former one, before it gets another. */
export const keepCertificate = sqlStatement({
  text: `insert into certificate_authority_history
      (id, organization_id, project_id, authority_id, parent_id, certificate, chain, serial_number, not_before, not_after)
    select :id, organization_id, project_id, id, parent_id, certificate, chain, serial_number, not_before, not_after
    from certificate_authority where id = :authorityId and certificate is not null`,
  params: { id: t.uuid, authorityId: t.uuid },
  row: {},
});
