import { sql } from 'kysely';
import { anyOf, columnsOf, pageBy, prepared, tablesOf } from '../../../kernel/database/tables.js';
import type { CursorKey, KeyBounds } from '../../../kernel/paging.js';
import type { CertificateRevocationSchema } from '../revocation/revocation.entity.js';
import type { RevocationReason } from '../revocation/revocation.rules.js';
import { type CertificateAuthorityHistorySchema, CertificateAuthoritySchema } from './authority.entity.js';

const tables = tablesOf<
  typeof CertificateAuthoritySchema | typeof CertificateAuthorityHistorySchema | typeof CertificateRevocationSchema
>();

const authorities = tables
  .selectFrom('certificate_authority')
  .select(columnsOf(CertificateAuthoritySchema, 'keySealed'));

/** Authorities by ID, in any project. */
export const findAuthorities = prepared(({ ids }: { ids: readonly string[] }) =>
  authorities.where('id', '=', anyOf(ids)),
);

/** An authority as read from the database, without its key. */
export type AuthorityRow = Awaited<ReturnType<typeof findAuthorities>>[number];

/** Position of an authority in a list. */
export const cursorKeyOf = ({ name }: AuthorityRow): CursorKey => [name];

/** Authorities of projects, by name. */
export const listAuthorities = prepared((page: KeyBounds & { projectIds: readonly string[] }) =>
  authorities.where('project_id', '=', anyOf(page.projectIds)).$call(pageBy('name', page)),
);

/**
 * Locks an authority that is about to issue until the transaction ends. An authority below a revoked one counts as revoked: its
 * certificates would not be accepted.
 */
export const lockIssuer = prepared(({ id, projectId }: { id: string; projectId: string }) =>
  tables
    .selectFrom('certificate_authority as a')
    .select(['a.id', 'a.status', 'a.key_sealed as keySealed', 'a.certificate', 'a.chain', 'a.not_after as notAfter'])
    .select(['a.max_path_length as maxPathLength', sql<Date>`now()`.as('now')])
    .select(sql<boolean>`coalesce(a.not_after <= now(), false)`.as('isExpired'))
    .select(
      sql<boolean>`exists (
        with recursive above as (
          select a.id, a.parent_id, a.revoked_at
          union select b.id, b.parent_id, b.revoked_at from above join certificate_authority b on b.id = above.parent_id)
        select from above where revoked_at is not null)`.as('isRevoked'),
    )
    .where('a.id', '=', id)
    .where('a.project_id', '=', projectId)
    .forShare('a'),
);

/** Number of authorities per project. */
export const countAuthorities = prepared(({ projectIds }: { projectIds: readonly string[] }) =>
  tables
    .selectFrom('certificate_authority')
    .select(['project_id as projectId', sql<number>`count(*)::integer`.as('count')])
    .where('project_id', '=', anyOf(projectIds))
    .groupBy('project_id'),
);

interface Serial {
  readonly projectId: string;
  readonly serialNumber: string;
}

/** The authority of a project with this serial number in its current or a former certificate. */
export const findOwnerOfCertificate = prepared(({ projectId, serialNumber }: Serial) =>
  tables
    .selectFrom('certificate_authority')
    .select('id')
    .where('project_id', '=', projectId)
    .where('serial_number', '=', serialNumber)
    .union(
      tables
        .selectFrom('certificate_authority_history')
        .select('authority_id as id')
        .where('project_id', '=', projectId)
        .where('serial_number', '=', serialNumber),
    ),
);

/** Stores the revocations of former certificates of an authority that have not expired. */
export const revokeFormerCertificates = prepared(
  ({ authorityId, reason }: { authorityId: string; reason: RevocationReason }) =>
    tables
      .insertInto('certificate_revocation')
      .columns(['authority_id', 'serial_number', 'organization_id', 'project_id', 'revoked_at', 'reason', 'not_after'])
      .expression((former) =>
        former
          .selectFrom('certificate_authority_history')
          .select(['parent_id', 'serial_number', 'organization_id', 'project_id'])
          .select([sql<Date>`now()`.as('revoked_at'), sql<string>`${reason}::text`.as('reason'), 'not_after'])
          .where('authority_id', '=', authorityId)
          .where('parent_id', 'is not', null)
          .$narrowType<{ parent_id: string }>()
          .where('not_after', '>', sql<Date>`now()`),
      )
      .onConflict((revoked) => revoked.doNothing()),
);
