// Rows as whoever owns the tables may have left them: every column may be null, whatever its entity says.
import { sqlStatement, t } from '../database/statement.js';
import { AUDIT_CLASSES } from './audit-class.js';
import { EXPIRES_ON } from './audit-rows.sql.js';

/** All rows. Whoever owns the tables can take their keys and their rules away: columns may be empty, and numbers be there twice. */
export const listRows = sqlStatement({
  text: `
    select sequence, round(extract(epoch from occurred_at) * 1000)::text as time, coalesce(mac, '') as mac, ${EXPIRES_ON},
      id, organization_id as "organizationId", project_id as "projectId", action, outcome, actor_kind as "actorKind",
      actor_id as "actorId", token_id as "tokenId", request_id as "requestId", address::text as address,
      user_agent as "userAgent", coalesce(facts::text, 'null') as facts, encode(disclosed, 'hex') as disclosed,
      class, subject_id as "subjectId",
      coalesce(octet_length(disclosed), 0) <> 32 or exists (select from audit_disclosure d where d.digest = disclosed) as "isListed"
    from audit_record order by sequence`,
  params: {},
  row: {
    sequence: t.nullable(t.bigint),
    time: t.text,
    mac: t.bytea,
    expiresOn: t.nullable(t.text),
    id: t.uuid,
    organizationId: t.uuid,
    projectId: t.nullable(t.uuid),
    action: t.text,
    outcome: t.oneOf('allowed', 'denied'),
    actorKind: t.text,
    actorId: t.uuid,
    tokenId: t.nullable(t.uuid),
    requestId: t.uuid,
    address: t.nullable(t.text),
    userAgent: t.nullable(t.text),
    facts: t.text,
    disclosed: t.nullable(t.text),
    class: t.nullable(t.oneOf(...AUDIT_CLASSES)),
    subjectId: t.nullable(t.uuid),
    isListed: t.boolean,
  },
});

/** All seals by rising number. */
export const listSeals = sqlStatement({
  text: `
    select coalesce(number, 0) as number, coalesce(after_sequence, 0) as after, coalesce(last_sequence, 0) as last,
      round(extract(epoch from sealed_at) * 1000)::text as "sealedAt", coalesce(entries, '') as entries, expiries,
      coalesce(previous, '') as previous, coalesce(mac, '') as mac
    from audit_seal order by audit_seal.number`,
  params: {},
  row: {
    number: t.bigint,
    after: t.bigint,
    last: t.bigint,
    sealedAt: t.text,
    entries: t.bytea,
    expiries: t.nullable(t.bytea),
    previous: t.bytea,
    mac: t.bytea,
  },
});

/** Rows that have the id of an earlier one, and the sequence of the first. */
export const listDuplicateRows = sqlStatement({
  text: `
    select sequence, id, first from (
      select sequence, id, min(sequence) over copies as first, row_number() over copies as place from audit_record
      where id in (select id from audit_record group by id having count(*) > 1) and sequence is not null
      window copies as (partition by id order by sequence)
    ) copies where place > 1 order by sequence limit :limit::integer`,
  params: { limit: t.integer },
  row: { sequence: t.bigint, id: t.uuid, first: t.bigint },
});

/** Digests of lists of disclosed ids that are not the lists of these digests. */
export const listEditedLists = sqlStatement({
  text: `
    select coalesce(encode(digest, 'hex'), '') as digest from audit_disclosure
    where (sha256(decode(replace(array_to_string(ids, ''), '-', ''), 'hex')) = digest) is not true
    order by digest limit :limit::integer`,
  params: { limit: t.integer },
  row: { digest: t.text },
});

/** Statements about the months whose rows were dropped. */
export const listExpiries = sqlStatement({
  text: `
    select to_char(expires_on, 'YYYY-MM-DD') as "expiresOn", coalesce(rows, 0) as rows, coalesce(digest, '') as digest,
      round(extract(epoch from expired_at) * 1000)::text as "expiredAt", coalesce(mac, '') as mac
    from audit_expiry order by expires_on`,
  params: {},
  row: { expiresOn: t.text, rows: t.bigint, digest: t.bytea, expiredAt: t.text, mac: t.bytea },
});

export const countRows = sqlStatement({
  text: 'select count(*) as rows from audit_record',
  params: {},
  row: { rows: t.bigint },
});
