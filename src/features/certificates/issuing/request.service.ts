import { authorize, can, canAlways } from '../../../kernel/authz/ability.js';
import type { Context } from '../../../kernel/context.js';
import { AppError } from '../../../kernel/errors.js';
import { Page, timeCursorKey, timePageBounds } from '../../../kernel/paging.js';
import { parse } from '../../../kernel/validation.js';
import type { ProjectReader } from '../../projects/public.js';
import type { CertificateService } from '../certificates/certificate.service.js';
import { findRequests, listRequestedNames, listRequests, type RequestRow } from './request.queries.js';
import { ListRequests, OneRequest } from './request.rules.js';

const NOT_FOUND = 'CERTIFICATE_REQUEST_NOT_FOUND';
const REQUEST = { find: findRequests, notFound: NOT_FOUND } as const;

/**
 * Certificate requests and their results. Callers that can read certificates with a common name can read requests for it.
 *
 * Every method that takes `raw`, its unvalidated input, throws VALIDATION_FAILED, PERMISSION_DENIED and AUDIT_UNAVAILABLE.
 */
export class RequestService {
  constructor(
    private readonly projects: ProjectReader,
    private readonly certificates: CertificateService,
  ) {}

  /** Returns one request. @throws CERTIFICATE_REQUEST_NOT_FOUND */
  async get(ctx: Context, raw: unknown): Promise<RequestRow> {
    const { row, project } = await this.projects.authorizedItem(
      ctx,
      parse(OneRequest, raw),
      REQUEST,
      'certificates:read',
    );
    if (!can(project.ability, 'certificates:read', { commonName: row.commonName })) throw new AppError(NOT_FOUND);
    await ctx.auditTrail.recordRead(ctx, readOf(row));
    return row;
  }

  /** Lists requests of a project, newest first. @throws PROJECT_NOT_FOUND; CERTIFICATE_NOT_FOUND if the ID is of no certificate of it */
  async list(ctx: Context, raw: unknown): Promise<Page<RequestRow>> {
    const { projectId: wanted, state = null, kind = null, certificateId = null, ...request } = parse(ListRequests, raw);
    const bounds = timePageBounds(request);
    const project = await this.projects.load(ctx, wanted);
    authorize(project, 'certificates:read');
    const { projectId, ability } = project;
    if (certificateId !== null) {
      const { row } = await this.certificates.load(ctx, certificateId, 'certificates:read');
      if (row.projectId !== projectId) throw new AppError('CERTIFICATE_NOT_FOUND');
    }
    const isOpen = canAlways(ability, 'certificates:read');
    const known = isOpen ? [] : await listRequestedNames(ctx, { projectId });
    const names = known.map(({ commonName }) => commonName);
    const rows = await listRequests(ctx, {
      ...{ projectId, isOpen, state, kind, certificateId, ...bounds },
      names: names.filter((commonName) => can(ability, 'certificates:read', { commonName })),
    });
    const page = new Page(rows, request, ({ createdAt, id }) => timeCursorKey(createdAt, id));
    const facts = { count: page.nodes.length };
    await ctx.auditTrail.recordRead(ctx, { action: 'certificate-request:list', projectId, facts });
    return page;
  }
}

/** The audit record of reading a request. */
export const readOf = ({ id, projectId }: { readonly id: string; readonly projectId: string }) => ({
  action: 'certificate-request:get',
  projectId,
  facts: { requestId: id },
});
