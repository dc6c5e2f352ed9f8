import { sql } from 'kysely';
import { anyOf, prepared, tablesOf } from '../../../kernel/database/tables.js';
import type { CertificateSchema } from './certificate.entity.js';

const tables = tablesOf<typeof CertificateSchema>();
const certificates = tables.selectFrom('certificate as c');

/** The most recent unrevoked certificate of each lineage. */
export const findCurrent = prepared(({ lineageIds }: { lineageIds: readonly string[] }) =>
  certificates
    .select(['c.lineage_id as lineageId', 'c.id', 'c.project_id as projectId'])
    .distinctOn('c.lineage_id')
    .where('c.lineage_id', '=', anyOf(lineageIds))
    .where('c.status', '=', sql.lit('active'))
    .orderBy('c.lineage_id')
    .orderBy(sql`exists (select from certificate n where n.renewed_from_id = c.id and n.status = 'active')`)
    .orderBy('c.created_at', 'desc')
    .orderBy('c.id'),
);

/** A valid certificate of a profile that was not renewed; no row if there is none. */
export const findCertificateInForce = prepared(({ profileId }: { profileId: string }) =>
  certificates
    .select('c.id')
    .where('c.profile_id', '=', profileId)
    .where('c.status', '=', sql.lit('active'))
    .where(sql<boolean>`c.not_after > now() and not exists (select from certificate n where n.renewed_from_id = c.id)`)
    .limit(1),
);
