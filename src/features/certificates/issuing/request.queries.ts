import { sql } from 'kysely';
import { anyOf, COUNT, columnsOf, prepared, tablesOf } from '../../../kernel/database/tables.js';
import type { TimeBounds } from '../../../kernel/paging.js';
import { hasDisabledKey } from '../../projects/public.js';
import type { CertificateSchema } from '../certificates/certificate.entity.js';
import type { CertificateProfileSchema } from '../profiles/profile.entity.js';
import { CertificateRequestSchema, type RequestKind, type RequestState } from './request.entity.js';

type Certificates = typeof CertificateSchema | typeof CertificateProfileSchema;
const tables = tablesOf<typeof CertificateRequestSchema | Certificates>();
const requests = tables.selectFrom('certificate_request').select(columnsOf(CertificateRequestSchema, 'updatedAt'));

/** Requests by ID, in any project. */
export const findRequests = prepared(({ ids }: { ids: readonly string[] }) => requests.where('id', '=', anyOf(ids)));

/** A request as read from the database. */
export type RequestRow = Awaited<ReturnType<typeof findRequests>>[number];

interface WantedRequests {
  readonly projectId: string;
  /** All names; otherwise only these. */
  readonly isOpen: boolean;
  readonly names: readonly string[];
  readonly state: RequestState | null;
  readonly kind: RequestKind | null;
  readonly certificateId: string | null;
}

const isWanted = ({ projectId, isOpen, names, state, kind, certificateId }: WantedRequests) =>
  sql<boolean>`project_id = ${projectId} and (${isOpen} or common_name = any(${names}::text[]))
    and (${state}::text is null or state = ${state}) and (${kind}::text is null or kind = ${kind})
    and (${certificateId}::uuid is null or ${certificateId} in (certificate_id, issued_certificate_id))`;

/** Number of requests of a project. */
export const countRequests = prepared((wanted: WantedRequests) =>
  tables.selectFrom('certificate_request').select(COUNT).where(isWanted(wanted)),
);

/** One page of them, newest first. */
export const listRequests = prepared((page: TimeBounds & WantedRequests) =>
  requests
    .where(isWanted(page))
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

/**
 * When a renewal that failed is tried again: after a twelfth of the life that the certificate had left, between five minutes and a day.
 * So there are many tries before it expires, however short its life is.
 *
 * @param failedAt an expression for when it failed @param endsAt one for when the certificate expires
 */
export const renewalRetryAt = (failedAt: string, endsAt: string): string =>
  `${failedAt} + least(interval '1 day', greatest(interval '5 minutes', (${endsAt} - ${failedAt}) / 12))`;

const RETRY_AT = sql<Date>`${sql.raw(renewalRetryAt('r.created_at', 'c.not_after'))}`;
const IS_RENEWED = sql<boolean>`exists (select from certificate n where n.renewed_from_id = c.id)`;

/**
 * Certificates of profiles that are due for renewal: the configured days before expiration (their own setting, or that of the profile),
 * but not before half of their validity, so that renewals with a short validity are not due at once.
 */
const due = tables
  .selectFrom('certificate as c')
  .innerJoin('certificate_profile as p', 'p.id', 'c.profile_id')
  .select(['c.id', 'c.not_after as notAfter'])
  .where('c.status', '=', sql.lit('active'))
  .where(({ not }) => not(IS_RENEWED))
  .where(
    sql<boolean>`c.not_after > now() and coalesce(c.renew_before_days, p.renew_before_days, 0) > 0
      and c.not_after - least(make_interval(days => coalesce(c.renew_before_days, p.renew_before_days)),
        (c.not_after - c.not_before) / 2) <= now()`,
  );

/** Certificates that are due, by ID, but for those whose renewal failed and is tried again later. */
export const listDueRenewals = prepared(({ after, most }: { after: string; most: number }) =>
  due
    .where('c.id', '>', after)
    .where(
      sql<boolean>`not exists (
        select from certificate_request r
        where r.certificate_id = c.id and r.is_automatic and r.state = 'failed' and ${RETRY_AT} > now())`,
    )
    .orderBy('c.id')
    .limit(most),
);

/** Whether a certificate is still due. */
export const findDueRenewal = prepared(({ id }: { id: string }) => due.where('c.id', '=', id));

/** Creates automatic requests for certificates that have no pending one. */
export const requestRenewals = prepared(({ ids, actorId }: { ids: readonly string[]; actorId: string }) =>
  tables
    .insertInto('certificate_request')
    .columns([
      'id',
      'organization_id',
      'project_id',
      'kind',
      'state',
      'is_automatic',
      'actor_kind',
      'actor_id',
      'profile_slug',
      'common_name',
      'certificate_id',
    ])
    .expression(({ selectFrom }) =>
      selectFrom('certificate as c')
        .select([sql<string>`gen_random_uuid()`.as('id'), 'c.organization_id', 'c.project_id'])
        .select([sql.lit('renewal').as('kind'), sql.lit('pending').as('state'), sql.lit(true).as('is_automatic')])
        .select([sql.lit('system').as('actor_kind'), sql<string>`${actorId}::uuid`.as('actor_id')])
        .select(['c.profile_slug', 'c.common_name', 'c.id as certificate_id'])
        .where('c.id', '=', anyOf(ids)),
    )
    .onConflict((request) => request.column('certificate_id').where('state', '=', sql.lit('pending')).doNothing()),
);

/** Why the last automatic renewals of certificates failed that are not renewed, or why they wait. */
export const listRenewalFailures = prepared(({ certificateIds }: { certificateIds: readonly string[] }) =>
  tables
    .selectFrom('certificate_request as r')
    .innerJoin('certificate as c', 'c.id', 'r.certificate_id')
    .distinctOn('c.id')
    .select(['c.id as certificateId', sql<string>`coalesce(r.error_code, 'KEY_DISABLED')`.as('code')])
    .select([
      'r.created_at as failedAt',
      sql<Date | null>`case when r.state = 'failed' then ${RETRY_AT} end`.as('nextTryAt'),
    ])
    .where('r.certificate_id', '=', anyOf(certificateIds))
    .where('r.is_automatic', '=', sql.lit(true))
    .where(sql<boolean>`(r.state = 'failed' or r.state = 'pending' and ${sql.raw(hasDisabledKey('r.project_id'))})`)
    .where(({ not }) => not(IS_RENEWED))
    .orderBy('c.id')
    .orderBy('r.created_at', 'desc'),
);
