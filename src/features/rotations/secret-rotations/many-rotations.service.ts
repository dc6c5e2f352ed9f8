import { can } from '../../../kernel/authz/ability.js';
import type { Context, Transaction } from '../../../kernel/context.js';
import { inTransaction } from '../../../kernel/database/in-transaction.js';
import { isId, NO_ID } from '../../../kernel/ids.js';
import { enqueueStanding } from '../../../kernel/jobs/queue.js';
import { parse } from '../../../kernel/validation.js';
import type { ProjectReader } from '../../projects/public.js';
import { ROTATE_JOB } from './engine/begin.js';
import { ListUpcoming, RotateMany } from './rotation.rules.js';
import { fieldsOf, RotationAccess, type ShownRotation, withMessages } from './rotation-access.js';
import { listRotationViews, listViewsOfConnection, type RotationView, requestRotations } from './store/rotation.sql.js';
import { nextRunAfter } from './store/timing.js';

/** A selected rotation and when it is to run; null: it cannot run now. */
interface Requested {
  readonly rotation: ShownRotation;
  readonly dueAt: Date | null;
}

/** A scheduled run. */
interface Upcoming {
  readonly rotation: ShownRotation;
  readonly at: Date;
}

const DAY_MS = 86_400_000;
/** Limits per rotation and in total. */
const MOST_TIMES = 366;
const MOST_UPCOMING = 1_000;

/**
 * Operations on many rotations.
 *
 * Every method that takes `raw`, its unvalidated input, throws VALIDATION_FAILED, PERMISSION_DENIED, PROJECT_NOT_FOUND and
 * AUDIT_UNAVAILABLE.
 */
export class ManyRotationsService {
  private readonly access: RotationAccess;

  constructor(private readonly projects: ProjectReader) {
    this.access = new RotationAccess(projects);
  }

  /**
   * Schedules rotations to run one after the other, for example after a breach. Those that are being deleted, running or undecided are
   * reported and not scheduled. The number of statements is constant.
   */
  async rotate(ctx: Context, raw: unknown): Promise<Requested[]> {
    const { projectId, connectionId, dryRun, staggerSeconds } = parse(RotateMany, raw);
    const { found, due } = dryRun
      ? { found: await this.#allowed(ctx, { projectId, connectionId }), due: new Map<string, Date | null>() }
      : await inTransaction(ctx, async (tx) => {
          const rotations = await this.#allowed(tx, { projectId, connectionId });
          return { found: rotations, due: await request(tx, rotations, staggerSeconds) };
        });
    const shown = await withMessages(ctx, found);
    if (due.size === 0)
      await ctx.auditTrail.recordRead(ctx, {
        action: 'secret-rotation:list-many',
        projectId: projectId?.toLowerCase() ?? null,
        facts: { count: shown.length },
      });
    return shown.map((rotation) => ({ rotation, dueAt: due.get(rotation.id) ?? null }));
  }

  /** Scheduled runs of the rotations of a project that the caller can read, soonest first. */
  async upcoming(ctx: Context, raw: unknown): Promise<Upcoming[]> {
    const { projectId, days } = parse(ListUpcoming, raw);
    const rows = await withMessages(ctx, await this.access.list(ctx, projectId));
    const now = new Date();
    const end = new Date(now.getTime() + days * DAY_MS);
    const upcoming = rows.flatMap((rotation) => timesOf(rotation, now, end).map((at) => ({ rotation, at })));
    await ctx.auditTrail.recordRead(ctx, {
      action: 'secret-rotation:list-upcoming',
      projectId: projectId.toLowerCase(),
      facts: { count: upcoming.length },
    });
    return upcoming.sort((a, b) => a.at.getTime() - b.at.getTime()).slice(0, MOST_UPCOMING);
  }

  /** The rotations of a project, or of a connection in all projects of the caller, that the caller can rotate. */
  async #allowed(
    ctx: Context,
    { projectId, connectionId }: { projectId?: string | null | undefined; connectionId?: string | null | undefined },
  ): Promise<RotationView[]> {
    const action = 'secret-rotation:rotate-secrets';
    const rows =
      projectId == null
        ? await listViewsOfConnection(ctx, {
            connectionId: connectionId != null && isId(connectionId) ? connectionId : NO_ID,
          })
        : await listRotationViews(ctx, {
            projectIds: [(await this.projects.authorized(ctx, projectId, action)).projectId],
          });
    const ofConnection = rows.filter((row) => connectionId == null || row.connectionId === connectionId.toLowerCase());
    const projects = await this.projects.listOwning(
      ctx,
      ofConnection.map((row) => row.projectId),
    );
    return ofConnection.filter((row) => {
      const project = projects.get(row.projectId);
      return project !== undefined && can(project.ability, action, fieldsOf(row));
    });
  }
}

/** Queues rotations. @returns when those that can run are due, by ID */
async function request(
  tx: Transaction,
  rotations: readonly RotationView[],
  staggerSeconds: number,
): Promise<ReadonlyMap<string, Date | null>> {
  const ids = rotations.map(({ id }) => id);
  const { kind: actorKind, id: actorId } = tx.actor;
  const requested = await requestRotations(tx, { ids, staggerSeconds, actorKind, actorId });
  await enqueueStanding(
    tx,
    ROTATE_JOB,
    requested.map(({ id, ...row }) => ({ key: id, subjectId: id, ...row })),
  );
  const byProject = Map.groupBy(requested, (row) => row.projectId);
  const changes = [...byProject].map(([projectId, rows]) => ({
    action: 'secret-rotation:request-many',
    projectId,
    facts: { rotationIds: rows.map(({ id }) => id), staggerSeconds },
  }));
  if (changes.length > 0) await tx.auditTrail.recordChange(tx, ...changes);
  return new Map(requested.map(({ id, dueAt }) => [id, dueAt]));
}

function timesOf(rotation: RotationView, now: Date, end: Date): Date[] {
  const times: Date[] = [];
  let at = rotation.pauseReason === null && rotation.status !== 'deleting' ? rotation.nextRotationAt : null;
  while (at !== null && at <= end && times.length < MOST_TIMES) {
    times.push(at);
    const from: Date = at > now ? at : now;
    at = nextRunAfter({ ...rotation, lastRotatedAt: from, isLastManual: false }, from);
  }
  return times;
}
