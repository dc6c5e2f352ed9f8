import { sql } from 'kysely';
import type { StoredDisclosureSchema } from '../../../kernel/audit/audit-disclosure.entity.js';
import { prepared, tablesOf } from '../../../kernel/database/tables.js';

/** The secrets behind digests of disclosures, by digest: up to so many of each, or all. */
export const listDisclosed = prepared(({ digests, limit }: { digests: readonly Buffer[]; limit: number | null }) =>
  tablesOf<typeof StoredDisclosureSchema>()
    .selectFrom('audit_disclosure')
    .select([
      sql<string>`encode(digest, 'hex')`.as('digest'),
      sql<readonly string[]>`ids[1:coalesce(${limit}::integer, cardinality(ids))]`.as('ids'),
      sql<number>`cardinality(ids)`.as('count'),
    ])
    .where('digest', '=', sql<Buffer>`any(${digests}::bytea[])`)
    .orderBy('digest'),
);
