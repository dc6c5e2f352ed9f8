import { type Action, authorize, can } from '../../../kernel/authz/ability.js';
import type { Context, Transaction } from '../../../kernel/context.js';
import { batched, batchOfOwned, runTogether, type SharedRun } from '../../../kernel/database/batched.js';
import { inTransaction } from '../../../kernel/database/in-transaction.js';
import { lockRow } from '../../../kernel/database/rows.js';
import { AppError } from '../../../kernel/errors.js';
import { isId } from '../../../kernel/ids.js';
import { SharedWork } from '../../../kernel/load/shared-work.js';
import type { ProjectAccess, ProjectReader } from '../../projects/public.js';
import type { RotationType } from './kinds/kinds.js';
import { SecretRotation } from './store/rotation.entity.js';
import { findRotationViews, listRotationViews, type RotationView } from './store/rotation.sql.js';
import { openErrorMessage, sealersOf } from './store/sealing.js';
import { WAIT_MESSAGES } from './store/states.js';

/** A rotation as shown to callers. */
export interface ShownRotation extends RotationView {
  /** Why a due rotation waits, or else why the last attempt failed; null if it did not. */
  readonly message: string | null;
}

/** The fields that conditions of rules compare. */
export const fieldsOf = ({
  environment,
  path,
  connectionId,
}: Pick<RotationView, 'environment' | 'path' | 'connectionId'>) => ({ environment, secretPath: path, connectionId });

/** A rotation that a caller names, and the type that it must be of. */
export interface RotationRef {
  readonly id: string;
  readonly type?: RotationType | null | undefined;
}

/** Authorization of rotations. */
export class RotationAccess {
  constructor(private readonly projects: ProjectReader) {}

  /**
   * Loads a rotation by ID for a caller that can do this to it.
   *
   * @throws SECRET_ROTATION_NOT_FOUND, also for a rotation of another type; PERMISSION_DENIED
   */
  async load(
    ctx: Context,
    { id, type }: RotationRef,
    action: Action,
  ): Promise<{ readonly rotation: RotationView; readonly project: ProjectAccess }> {
    const [rotation] = isId(id) ? await findRotationViews(ctx, { ids: [id] }) : [];
    const project = await this.projects.loadOwning(ctx, rotation?.projectId, 'SECRET_ROTATION_NOT_FOUND');
    authorize(project, action);
    if (rotation === undefined || (type != null && rotation.type !== type))
      throw new AppError('SECRET_ROTATION_NOT_FOUND');
    authorize(project, action, fieldsOf(rotation));
    return { rotation, project };
  }

  /** As `load`, and locks its row for a change in the transaction. @throws as `load` */
  async lock(tx: Transaction, ref: RotationRef, action: Action) {
    const { id } = (await this.load(tx, ref, action)).rotation;
    const rotation = await lockRow(tx, SecretRotation, { id }, 'SECRET_ROTATION_NOT_FOUND');
    // Again: while the row was waited for, it may have been moved, or the right withdrawn.
    const { rotation: view, project } = await this.load(tx, ref, action);
    return { view, rotation, project };
  }

  /** The rotations of a project that the caller can read, by name. @throws PROJECT_NOT_FOUND, PERMISSION_DENIED */
  async list(ctx: Context, projectId: string): Promise<readonly RotationView[]> {
    const project = await this.projects.authorized(ctx, projectId, 'secret-rotation:read');
    const rows = await listRotationViews(ctx, { projectIds: [project.projectId] });
    return rows.filter((row) => isReadable(project, row));
  }

  /** The same for a project nested in a response. All projects share two statements. @throws PERMISSION_DENIED */
  async listInProject(ctx: Context, project: ProjectAccess): Promise<readonly ShownRotation[]> {
    authorize(project, 'secret-rotation:read');
    const rows = (await batched(ctx, viewsByProject, project.projectId)) ?? [];
    const readable = rows.filter((row) => isReadable(project, row));
    return runTogether(ctx, shownTogether, readable);
  }
}

/** Of one rotation, on this node. */
const MOST_WAITING = 200;
const ROTATION_QUEUES = new SharedWork<null, unknown>({ most: 1, maxWaiting: MOST_WAITING });

/**
 * As `inTransaction`, for a change of one rotation. Those of this node come one after the other, without a connection while they wait:
 * all at once they would wait for its row, until the database gives up on the last of them.
 *
 * @throws OVERLOADED when too many wait
 */
export async function inRotationTransaction<T>(
  ctx: Context,
  rotationId: string,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  const { result } = await ROTATION_QUEUES.share(`${ctx.organizationId} ${rotationId.toLowerCase()}`, null, (begin) => {
    begin();
    return inTransaction(ctx, work);
  });
  return result as T;
}

const isReadable = ({ ability }: ProjectAccess, row: RotationView): boolean =>
  can(ability, 'secret-rotation:read', fieldsOf(row));

const viewsByProject = batchOfOwned(
  (ctx, projectIds) => listRotationViews(ctx, { projectIds }),
  (row: RotationView) => row.projectId,
);

const shownTogether: SharedRun<readonly RotationView[], readonly ShownRotation[]> = async (ctx, lists) => {
  const shown = new Map((await withMessages(ctx, lists.flat())).map((row) => [row.id, row]));
  return lists.map((rows) => rows.map(({ id }) => shown.get(id) as ShownRotation));
};

/** Adds to rotations why their last attempts failed, in at most one statement. */
export async function withMessages(ctx: Context, rows: readonly RotationView[]): Promise<ShownRotation[]> {
  const failed = rows.filter(({ status }) => status !== 'success');
  const sealers = await sealersOf(
    ctx,
    failed.map(({ projectId, messageSealed: sealed }) => ({ projectId, sealed })),
  );
  return rows.map((row) => {
    const { projectId, attemptId, messageSealed, status, waitReason } = row;
    if (waitReason !== null) return { ...row, message: WAIT_MESSAGES[waitReason] };
    if (messageSealed === null || attemptId === null || status === 'success') return { ...row, message: null };
    const sealer = sealers.get(projectId);
    return { ...row, message: sealer === undefined ? null : openErrorMessage(sealer, attemptId, messageSealed) };
  });
}
