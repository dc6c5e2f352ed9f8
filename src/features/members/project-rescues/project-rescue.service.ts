import { authorize, can } from '../../../kernel/authz/ability.js';
import type { Context } from '../../../kernel/context.js';
import type { BatchLoad } from '../../../kernel/database/batched.js';
import { flush, inTransaction, withConstraintCodes } from '../../../kernel/database/in-transaction.js';
import { loadRow } from '../../../kernel/database/rows.js';
import { countIn } from '../../../kernel/database/tables.js';
import { AppError } from '../../../kernel/errors.js';
import { isId, NO_ID, newId } from '../../../kernel/ids.js';
import {
  type CountedConnectionOf,
  counted,
  namePageBounds,
  Page,
  timeCursorKey,
  timePageBounds,
} from '../../../kernel/paging.js';
import { parse } from '../../../kernel/validation.js';
import { endOfTerm } from '../../identity/permissions/public.js';
import { lockProjectRow } from '../../projects/public.js';
import { ProjectRescue } from './project-rescue.entity.js';
import {
  DEFAULT_RANGE,
  ListProjectRescues,
  ListProjectsWithoutAdmin,
  OneProjectRescue,
  RescueProject,
} from './project-rescue.rules.js';
import {
  assignAdmin,
  countRescues,
  countWithoutAdmin,
  endRescue,
  findAdmin,
  findRescues,
  listRescues,
  listWithoutAdmin,
  type RescueRow,
  unassignAdmin,
} from './project-rescue.sql.js';

/** A project that may be rescued. */
interface LostProject {
  readonly projectId: string;
  readonly name: string;
  readonly slug: string;
}

/**
 * Access to a project that has lost its last admin, or whose admin has lost its login or its rights. Callers who may
 * rescue projects of the organization become temporary admins of such a project, state a reason, and appoint a
 * permanent admin.
 *
 * Every method throws VALIDATION_FAILED, PERMISSION_DENIED and AUDIT_UNAVAILABLE.
 */
export class ProjectRescueService {
  /**
   * Makes the caller a temporary admin of a project without an admin. If the caller has the role for a shorter time,
   * that term is extended and not restored: it ends with the rescue. If its term ends later, even if it has not
   * started, it stays as it is, and the rescue is rejected; a colleague can rescue the project.
   *
   * @throws PROJECT_NOT_FOUND, PROJECT_HAS_ADMIN also for callers who have the role as long; ALREADY_A_MEMBER,
   * MEMBERSHIP_NOT_FOUND for a member of the organization only through a group
   */
  rescue(ctx: Context, raw: unknown): Promise<RescueRow> {
    const { projectId: id, reason, range: asked } = parse(RescueProject, raw);
    const range = asked ?? DEFAULT_RANGE;
    authorize(ctx, 'workspace:rescue');
    return inTransaction(ctx, async (tx) => {
      const { organizationId, actor } = tx;
      const project = await loadRow(tx, lockProjectRow, { id }, 'PROJECT_NOT_FOUND');
      if (project.organizationId !== organizationId) throw new AppError('PROJECT_NOT_FOUND');
      const { id: projectId, now } = project;
      const endsAt = endOfTerm(now, range);
      const [admin] = await findAdmin(tx, { projectId, memberId: actor.id, endsAt });
      if (admin !== undefined) throw new AppError('PROJECT_HAS_ADMIN');
      const member = {
        userId: actor.kind === 'user' ? actor.id : null,
        identityId: actor.kind === 'identity' ? actor.id : null,
      };
      const term = { range, startsAt: now.toISOString(), endsAt: endsAt.toISOString() };
      const place = { organizationId, projectId };
      const given = { id: newId(), ...place, ...member, memberId: actor.id, term };
      const { formerEndsAt } = await withConstraintCodes(
        () => loadRow(tx, assignAdmin, given, 'MEMBERSHIP_NOT_FOUND'),
        CONSTRAINTS,
      );
      const rescue = tx.em.create(ProjectRescue, { ...place, ...member, reason, endsAt });
      await flush(tx);
      await tx.auditTrail.recordChange(tx, {
        action: 'project:rescue',
        projectId,
        facts: {
          rescueId: rescue.id,
          reason,
          endsAt: term.endsAt,
          ...(formerEndsAt === null ? {} : { formerEndsAt: formerEndsAt.toISOString() }),
        },
      });
      const rescued = { ...place, rescueId: rescue.id, rescuer: actor.name, reason, endsAt };
      await tx.events.projectRescued(tx, rescued);
      return load(tx, rescue.id);
    });
  }

  /** Ends a rescue early, whoever started it. @throws PROJECT_RESCUE_NOT_FOUND also for one that has ended */
  revoke(ctx: Context, raw: unknown): Promise<RescueRow> {
    const { id } = parse(OneProjectRescue, raw);
    authorize(ctx, 'workspace:rescue');
    return inTransaction(ctx, async (tx) => {
      const key = { id, organizationId: tx.organizationId };
      const { projectId, endsAt, ...who } = await loadRow(tx, endRescue, key, 'PROJECT_RESCUE_NOT_FOUND');
      await unassignAdmin(tx, { projectId, memberId: who.userId ?? who.identityId ?? NO_ID, endsAt });
      await tx.auditTrail.recordChange(tx, { action: 'project:revoke-rescue', projectId, facts: { rescueId: id } });
      return load(tx, id);
    });
  }

  /** One rescue. @throws PROJECT_RESCUE_NOT_FOUND */
  async get(ctx: Context, raw: unknown): Promise<RescueRow> {
    const { id } = parse(OneProjectRescue, raw);
    authorize(ctx, 'workspace:rescue');
    const rescue = await load(ctx, id);
    await ctx.auditTrail.recordRead(ctx, { action: 'project-rescue:get', facts: { rescueId: rescue.id } });
    return rescue;
  }

  /** Rescues of projects of the organization, newest first. */
  async list(ctx: Context, raw: unknown): Promise<CountedConnectionOf<RescueRow>> {
    const { projectId, isActive = null, ...request } = parse(ListProjectRescues, raw);
    const bounds = timePageBounds(request);
    authorize(ctx, 'workspace:rescue');
    const wanted = {
      organizationId: ctx.organizationId,
      projectId: projectId == null ? null : isId(projectId) ? projectId : NO_ID,
      isActive,
    };
    const rows = await listRescues(ctx, { ...wanted, ...bounds });
    const page = new Page(rows, request, ({ createdAt, id }) => timeCursorKey(createdAt, id));
    await ctx.auditTrail.recordRead(ctx, { action: 'project-rescue:list', facts: { count: page.nodes.length } });
    return counted(page, async () => countIn(await countRescues(ctx, wanted)));
  }

  /** Projects of the organization that `rescue` applies to, by name, then ID, also for who may list all projects. */
  async listWithoutAdmin(ctx: Context, raw: unknown): Promise<CountedConnectionOf<LostProject>> {
    const request = parse(ListProjectsWithoutAdmin, raw);
    const bounds = namePageBounds(request);
    if (!can(ctx.ability, 'workspace:list')) authorize(ctx, 'workspace:rescue');
    const { organizationId } = ctx;
    const rows = await listWithoutAdmin(ctx, { organizationId, ...bounds });
    const page = new Page(rows, request, ({ name, projectId }) => [name, projectId]);
    await ctx.auditTrail.recordRead(ctx, { action: 'project:list-without-admin', facts: { count: page.nodes.length } });
    return counted(page, async () => countIn(await countWithoutAdmin(ctx, { organizationId })));
  }
}

/** Two concurrent requests: another admin added the caller to the project first. */
const CONSTRAINTS = {
  project_membership_user_unique: 'ALREADY_A_MEMBER',
  project_membership_identity_unique: 'ALREADY_A_MEMBER',
} as const;

async function load(ctx: Context, id: string): Promise<RescueRow> {
  const [row] = isId(id) ? await findRescues(ctx, { ids: [id], organizationId: ctx.organizationId }) : [];
  if (row === undefined) throw new AppError('PROJECT_RESCUE_NOT_FOUND');
  return row;
}

/** Rescues by ID, for callers who may rescue projects. @throws PERMISSION_DENIED */
export const rescuesByIds: BatchLoad<RescueRow> = async (ctx, ids) => {
  authorize(ctx, 'workspace:rescue');
  const rows = await findRescues(ctx, { ids, organizationId: ctx.organizationId });
  return new Map(rows.map((row) => [row.id, row]));
};
