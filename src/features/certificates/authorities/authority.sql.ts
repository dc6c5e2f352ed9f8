// The authorities above one, by recursion, and the clock.
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
