import { sql } from 'kysely';
import { pagePerOwner } from '../../../kernel/database/plans.sql.js';
import { anyOf, columnsIn, prepared, tablesOf } from '../../../kernel/database/tables.js';
import { CertificateSchema } from './certificate.entity.js';

const tables = tablesOf<typeof CertificateSchema>();
const certificates = tables.selectFrom('certificate as c');
const shown = certificates
  .select(columnsIn('c', CertificateSchema, 'namesDigest', 'certificate', 'chain', 'keySealed'))
  .select(sql<boolean>`c.key_sealed is not null`.as('hasPrivateKey'));

/** Certificates by ID, in any project. */
export const findCertificates = prepared(({ ids }: { ids: readonly string[] }) => shown.where('c.id', '=', anyOf(ids)));

/** A certificate in a list: its properties, without PEM and key. */
export type CertificateRow = Awaited<ReturnType<typeof findCertificates>>[number];

/** Filters of a list. Times are strings, so that lists of one document with equal filters share a statement. Null: no filter. */
export interface CertificateFilters {
  readonly search: string | null;
  readonly serial: string | null;
  readonly status: string | null;
  readonly expiresBefore: string | null;
  readonly expiresAfter: string | null;
  readonly authorityId: string | null;
  readonly profileSlug: string | null;
  /** As JSON. */
  readonly metadata: string | null;
}

/** Projects, those of them in which every name may be read, and the names of the others, each prefixed with its project. */
interface Readable {
  readonly projectIds: readonly string[];
  readonly openIds: readonly string[];
  readonly allowed: readonly string[];
}

/** The search string has no wildcards. */
const isAmong = (wanted: CertificateFilters & Readable) =>
  sql<boolean>`(c.project_id = any(${wanted.openIds}::uuid[]) or c.project_id::text || c.common_name = any(${wanted.allowed}::text[]))
    and (${wanted.search}::text is null or position(lower(${wanted.search}::text) in lower(c.common_name)) > 0
      or c.serial_number = ${wanted.serial}::text
      or exists (select from unnest(c.sans) as san where position(lower(${wanted.search}::text) in lower(san)) > 0))
    and (${wanted.status}::text is null or c.status = ${wanted.status}::text)
    and (${wanted.expiresBefore}::text is null or c.not_after < ${wanted.expiresBefore}::text::timestamptz)
    and (${wanted.expiresAfter}::text is null or c.not_after >= ${wanted.expiresAfter}::text::timestamptz)
    and (${wanted.authorityId}::uuid is null or c.authority_id = ${wanted.authorityId}::uuid)
    and (${wanted.profileSlug}::text is null or c.profile_slug = ${wanted.profileSlug}::text)
    and (${wanted.metadata}::text is null or c.metadata @> ${wanted.metadata}::text::jsonb)`;

/** The certificates of a page, as parameters of `listCertificates`. */
export interface CertificateBounds {
  readonly time: string | null;
  readonly afterId: string | null;
  readonly limit: number | null;
}

/** One page of certificates per project, soonest expiration first. */
export const listCertificates = prepared((page: CertificateFilters & CertificateBounds & Readable) =>
  pagePerOwner(tables, page.projectIds, (projectId) =>
    shown
      .where('c.project_id', '=', projectId)
      .where(isAmong(page))
      .where(
        sql<boolean>`(${page.time}::text is null or (c.not_after, c.id) > (${page.time}::text::timestamptz, ${page.afterId}::uuid))`,
      )
      .orderBy('c.not_after')
      .orderBy('c.id')
      .limit(page.limit),
  ),
);

/** Number of certificates per project; no row for projects without any. */
export const countCertificates = prepared((wanted: CertificateFilters & Readable) =>
  certificates
    .select(['c.project_id as projectId', sql<number>`count(*)::integer`.as('count')])
    .where('c.project_id', '=', anyOf(wanted.projectIds))
    .where(isAmong(wanted))
    .groupBy('c.project_id'),
);

/** All common names in projects, to evaluate conditions of rules. */
export const listCommonNames = prepared(({ projectIds }: { projectIds: readonly string[] }) =>
  certificates
    .select(['c.project_id as projectId', 'c.common_name as commonName'])
    .distinct()
    .where('c.project_id', '=', anyOf(projectIds)),
);

/** The PEM of certificates and of their chains. */
export const findPems = prepared(({ ids }: { ids: readonly string[] }) =>
  certificates.select(['c.id', 'c.certificate', 'c.chain']).where('c.id', '=', anyOf(ids)),
);

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
