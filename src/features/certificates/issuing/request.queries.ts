import { sql } from 'kysely';
import { anyOf, columnsOf, prepared, tablesOf } from '../../../kernel/database/tables.js';
import type { TimeBounds } from '../../../kernel/paging.js';
import { CertificateRequestSchema, type RequestKind, type RequestState } from './request.entity.js';

const tables = tablesOf<typeof CertificateRequestSchema>();
const requests = tables.selectFrom('certificate_request').select(columnsOf(CertificateRequestSchema, 'updatedAt'));

/** Requests by ID, in any project. */
export const findRequests = prepared(({ ids }: { ids: readonly string[] }) => requests.where('id', '=', anyOf(ids)));

/** A request as read from the database. */
export type RequestRow = Awaited<ReturnType<typeof findRequests>>[number];

interface RequestPage extends TimeBounds {
  readonly projectId: string;
  /** All names; otherwise only these. */
  readonly isOpen: boolean;
  readonly names: readonly string[];
  readonly state: RequestState | null;
  readonly kind: RequestKind | null;
  readonly certificateId: string | null;
}

/** One page of the requests of a project, newest first. */
export const listRequests = prepared((page: RequestPage) =>
  requests
    .where('project_id', '=', page.projectId)
    .where(sql<boolean>`(${page.isOpen} or common_name = any(${page.names}::text[]))`)
    .where(sql<boolean>`(${page.state}::text is null or state = ${page.state})`)
    .where(sql<boolean>`(${page.kind}::text is null or kind = ${page.kind})`)
    .where(
      sql<boolean>`(${page.certificateId}::uuid is null or ${page.certificateId} in (certificate_id, issued_certificate_id))`,
    )
    .where(
      sql<boolean>`(${page.time}::text is null or (created_at, id) < (${page.time}::text::timestamptz, ${page.id}::uuid))`,
    )
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(page.limit),
);

/** All common names in the requests of a project, to evaluate conditions of rules. */
export const listRequestedNames = prepared(({ projectId }: { projectId: string }) =>
  tables
    .selectFrom('certificate_request')
    .select('common_name as commonName')
    .distinct()
    .where('project_id', '=', projectId),
);
