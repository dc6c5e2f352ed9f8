// Statements on each table with values, whose names they are given, and a sum over rows.
import { EMPTY_RECORD_BYTES } from '../../../kernel/crypto/seal.js';
import type { SealedTable } from '../../../kernel/crypto/sealed-table.js';
import { type RowFrom, sqlStatement, t } from '../../../kernel/database/statement.js';
import { SEALED_SECRETS } from '../core/secret-sealing.js';

/** Values that a batch reads, and bytes that they may have, unless it is a single one. */
const VALUES_AT_ONCE = 500;
const BYTES_AT_ONCE = 8 * 1024 * 1024;

/** A value that no search finds yet: it was written before values of its table had digests. The empty value never has one. */
const isPending = (row: string): string =>
  `${row}.value_digest is null and octet_length(${row}.value_sealed) > ${EMPTY_RECORD_BYTES}`;

function statementsOf(sealed: SealedTable) {
  const { table, rowId } = sealed;
  const part = sealed.part === undefined ? '0' : `r.${sealed.part}`;
  const position = [`r.project_id`, `r.${rowId}`, ...(sealed.part === undefined ? [] : [part])].join(', ');
  const after = [
    ':afterProjectId::uuid',
    ':afterId::uuid',
    ...(sealed.part === undefined ? [] : [':afterPart::integer']),
  ];
  return {
    sealed,
    /** The next values without a digest after a position. */
    next: sqlStatement({
      text: `select id, part, "organizationId", "projectId", version, sealed from (
          select f.*, coalesce(sum(octet_length(f.sealed)) over (order by f."projectId", f.id, f.part rows between unbounded preceding and 1 preceding), 0)
            as before
          from (
            select r.${rowId} as id, ${part}::integer as part, r.organization_id as "organizationId", r.project_id as "projectId", r.version,
              r.value_sealed as sealed
            from ${table} r
            where ${isPending('r')} and (${position}) > (${after.join(', ')}) and :afterPart::integer is not null
            order by ${position} limit ${VALUES_AT_ONCE}
          ) f
        ) s where before < ${BYTES_AT_ONCE} order by "projectId", id, part`,
      params: { afterProjectId: t.uuid, afterId: t.uuid, afterPart: t.integer },
      row: {
        id: t.uuid,
        part: t.integer,
        organizationId: t.uuid,
        projectId: t.uuid,
        version: t.integer,
        sealed: t.bytea,
      },
    }),
    /** Stores digests of values that are still what they were computed from. */
    store: sqlStatement({
      text: `update ${table} r set value_digest = given.digest
        from unnest(:ids::uuid[], :parts::integer[], :sealed::bytea[], :digests::bytea[]) as given (id, part, sealed, digest)
        where r.${rowId} = given.id and ${part} = given.part and r.value_sealed = given.sealed and r.value_digest is null`,
      params: { ids: t.array(t.uuid), parts: t.array(t.integer), sealed: t.array(t.bytea), digests: t.array(t.bytea) },
      row: {},
    }),
  };
}

/** The tables with values, each with its statements. */
export const DIGESTED_TABLES = SEALED_SECRETS.map(statementsOf);
export type DigestedTable = (typeof DIGESTED_TABLES)[number];

/** A value without a digest. */
export type UndigestedValue = RowFrom<DigestedTable['next']>;

/** Whether some value of these projects has no digest yet. */
export const findUndigested = sqlStatement({
  text: `select ${SEALED_SECRETS.map(
    ({
      table,
      part,
    }) => `exists (select from ${table} r where ${isPending('r')} and r.project_id = any(:projectIds::uuid[])
      ${part === undefined ? '' : 'and :withFormerVersions::boolean'})`,
  ).join(' or ')} as "isPending"`,
  params: { projectIds: t.array(t.uuid), withFormerVersions: t.boolean },
  row: { isPending: t.boolean },
});
