import { type Action, PermissionDenied } from '../../../kernel/authz/ability.js';
import type { Context } from '../../../kernel/context.js';
import { inTransaction } from '../../../kernel/database/in-transaction.js';
import { AppError } from '../../../kernel/errors.js';
import { isId, NO_ID } from '../../../kernel/ids.js';
import { type Counted, counted, Page, timeCursorKey, timePageBounds } from '../../../kernel/paging.js';
import { parse } from '../../../kernel/validation.js';
import type { ProjectAccess, ProjectReader } from '../../projects/public.js';
import { canAt } from '../app-connections/public.js';
import type { Kinds } from './kinds/kinds.js';
import { type ShownRevocation, showRevocations } from './revocations/live-credentials.js';
import { giveUpRevocations } from './revocations/revocations.js';
import { GiveUpRevocations, ListPendingRevocations } from './rotation.rules.js';
import {
  findPendingRevocations,
  listPendingRevocations,
  type PendingRevocationRow,
} from './store/pending-revocation.queries.js';

/**
 * Credentials that are still to be revoked.
 *
 * Every method that takes `raw`, its unvalidated input, throws VALIDATION_FAILED, PERMISSION_DENIED and AUDIT_UNAVAILABLE.
 */
export class PendingRevocationService {
  constructor(
    private readonly projects: ProjectReader,
    private readonly kinds: Kinds,
  ) {}

  /** Those of rotations that the caller can read, newest first: of a project, of a connection, or of the organization. @throws PROJECT_NOT_FOUND */
  async list(ctx: Context, raw: unknown): Promise<Page<ShownRevocation> & Counted> {
    const { projectId: requested, connectionId, ...request } = parse(ListPendingRevocations, raw);
    const action = 'secret-rotation:read';
    const { time, id: afterId, limit } = timePageBounds(request);
    const projectId = requested == null ? null : (await this.projects.authorized(ctx, requested, action)).projectId;
    const ofConnection = connectionId == null || isId(connectionId) ? (connectionId ?? null) : NO_ID;
    const { organizationId } = ctx;
    const rows = await listPendingRevocations(ctx, { organizationId, projectId, connectionId: ofConnection });
    const projects = await this.#projectsOf(ctx, rows);
    const allowed = rows.filter((row) => isAllowed(projects.get(row.projectId), action, row));
    const rest = time === null ? allowed : allowed.filter((row) => isAfter(row, { time, id: afterId ?? '' }));
    const shown = await showRevocations(ctx, this.kinds, limit === null ? rest : rest.slice(0, limit), {
      isReading: true,
    });
    const page = new Page(shown, request, ({ createdAt, id }) => timeCursorKey(createdAt, id));
    await ctx.auditTrail.recordRead(ctx, {
      action: 'secret-rotation:list-debts',
      projectId,
      facts: { count: page.nodes.length },
    });
    return counted(page, async () => allowed.length);
  }

  /**
   * Stops revoking credentials. They may stay valid in the external system.
   *
   * @returns those that were given up
   * @throws CREDENTIAL_DEBT_NOT_FOUND if one was revoked or given up already
   */
  async giveUp(ctx: Context, raw: unknown): Promise<ShownRevocation[]> {
    const ids = parse(GiveUpRevocations, raw).ids.map((id) => id.toLowerCase());
    const { organizationId } = ctx;
    return inTransaction(ctx, async (tx) => {
      const rows = await findPendingRevocations(tx, { organizationId, ids: ids.filter(isId) });
      const projects = await this.#projectsOf(tx, rows);
      const known = new Map(rows.flatMap((row) => (projects.has(row.projectId) ? [[row.id, row] as const] : [])));
      if (ids.some((id) => !known.has(id))) throw new AppError('CREDENTIAL_DEBT_NOT_FOUND');
      const action = 'secret-rotation:delete';
      for (const row of known.values())
        if (!isAllowed(projects.get(row.projectId), action, row))
          throw new PermissionDenied({ action, projectId: row.projectId });
      const given = await giveUpRevocations(tx, this.kinds, [...known.values()]);
      if (given.length < known.size) throw new AppError('CREDENTIAL_DEBT_NOT_FOUND');
      return given;
    });
  }

  #projectsOf(ctx: Context, rows: readonly PendingRevocationRow[]): Promise<ReadonlyMap<string, ProjectAccess>> {
    return this.projects.listOwning(
      ctx,
      rows.map(({ projectId }) => projectId),
    );
  }
}

/** Newest first. */
function isAfter(
  { createdAt, id }: PendingRevocationRow,
  after: { readonly time: string; readonly id: string },
): boolean {
  const time = createdAt.toISOString();
  return time === after.time ? id < after.id : time < after.time;
}

const isAllowed = (project: ProjectAccess | undefined, action: Action, row: PendingRevocationRow): boolean =>
  project !== undefined && canAt(project.ability, action, row);
