import { can, canAlways } from '../../../kernel/authz/ability.js';
import type { Context } from '../../../kernel/context.js';
import { batched, batchOfLists, listKey } from '../../../kernel/database/batched.js';
import { isId, NO_ID } from '../../../kernel/ids.js';
import { timePageBounds } from '../../../kernel/paging.js';
import type { ProjectReader } from '../../projects/public.js';
import {
  type CertificateBounds,
  type CertificateFilters,
  type CertificateRow,
  countCertificates,
  listCertificates,
  listCommonNames,
} from './certificate.queries.js';
import type { CertificateStatus, MetadataEntry } from './certificate.rules.js';

/** A request for a list. */
export interface CertificatesRequest {
  readonly search?: string | null | undefined;
  readonly status?: CertificateStatus | null | undefined;
  readonly expiresBefore?: Date | null | undefined;
  readonly expiresAfter?: Date | null | undefined;
  readonly authorityId?: string | null | undefined;
  readonly profileSlug?: string | null | undefined;
  readonly metadata?: readonly MetadataEntry[] | null | undefined;
  readonly first?: number | null | undefined;
  readonly after?: string | null | undefined;
}

/** Serial numbers may also be written in lower case and with colons. */
const serialIn = (search: string): string => search.replaceAll(':', '').trim().toUpperCase();

const filtersOf = (request: CertificatesRequest): CertificateFilters => {
  const { search, status, expiresBefore, expiresAfter, authorityId, profileSlug, metadata } = request;
  return {
    search: search || null,
    serial: search ? serialIn(search) : null,
    status: status ?? null,
    expiresBefore: expiresBefore?.toISOString() ?? null,
    expiresAfter: expiresAfter?.toISOString() ?? null,
    authorityId: authorityId == null || isId(authorityId) ? (authorityId ?? null) : NO_ID,
    profileSlug: profileSlug ?? null,
    metadata: metadata == null ? null : JSON.stringify(metadata),
  };
};

/** Lists certificates of projects that the caller can read. Lists of one document share their statements. */
export class CertificateLists {
  constructor(private readonly projects: ProjectReader) {}

  /**
   * One page of a project, plus one row if there are more.
   *
   * @throws VALIDATION_FAILED if the cursor is not of this list
   */
  page(ctx: Context, projectId: string, request: CertificatesRequest): Promise<readonly CertificateRow[]> {
    const { time, id: afterId, limit } = timePageBounds(request);
    const wanted = { ...filtersOf(request), time, afterId, limit };
    return batched(ctx, this.#pages, listKey(projectId, wanted)).then((rows) => rows ?? []);
  }

  /** Total number of certificates in the list of a project. */
  async count(ctx: Context, projectId: string, request: CertificatesRequest): Promise<number> {
    const [found] = (await batched(ctx, this.#counts, listKey(projectId, filtersOf(request)))) ?? [];
    return found?.count ?? 0;
  }

  readonly #pages = batchOfLists<CertificateRow, CertificateFilters & CertificateBounds>(
    async (ctx, projectIds, wanted) => listCertificates(ctx, { ...(await this.#readable(ctx, projectIds)), ...wanted }),
    ({ projectId }) => projectId,
  );

  readonly #counts = batchOfLists<{ readonly projectId: string; readonly count: number }, CertificateFilters>(
    async (ctx, projectIds, wanted) =>
      countCertificates(ctx, { ...(await this.#readable(ctx, projectIds)), ...wanted }),
    ({ projectId }) => projectId,
  );

  /** Rules have conditions on common names: the names are checked here, and the statement gets the permitted ones. */
  async #readable(ctx: Context, projectIds: readonly string[]) {
    const accesses = await Promise.all(projectIds.map((id) => this.projects.find(ctx, id)));
    const isOpen = (at: number): boolean => {
      const access = accesses[at];
      return access !== undefined && canAlways(access.ability, 'certificates:read');
    };
    const openIds = projectIds.filter((_, at) => isOpen(at));
    const others = projectIds.filter((_, at) => !isOpen(at));
    const names = others.length === 0 ? [] : await listCommonNames(ctx, { projectIds: others });
    const abilities = new Map(projectIds.map((id, at) => [id, accesses[at]?.ability]));
    const allowed = names.flatMap(({ projectId, commonName }) => {
      const ability = abilities.get(projectId);
      return ability !== undefined && can(ability, 'certificates:read', { commonName }) ? [projectId + commonName] : [];
    });
    return { projectIds, openIds, allowed };
  }
}
