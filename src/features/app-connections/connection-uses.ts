import { can } from '../../kernel/authz/ability.js';
import type { Context } from '../../kernel/context.js';
import { AppError } from '../../kernel/errors.js';
import type { ProjectReader } from '../projects/public.js';

/** A rotation that uses a connection. */
export interface ConnectionUse {
  readonly connectionId: string;
  readonly rotationId: string;
  readonly rotationName: string;
  /** Type of the rotation, for example `datatool-service-token`. */
  readonly type: string;
  readonly projectId: string;
  /** Slug of the environment and path of the folder of its secrets. */
  readonly environment: string;
  readonly path: string;
}

/** Finds the rotations that use these connections, in a constant number of statements. Does not authorize the caller. */
export type ConnectionUses = (ctx: Context, connectionIds: readonly string[]) => Promise<readonly ConnectionUse[]>;

/** The uses that the caller can read. */
export async function readableUses(
  ctx: Context,
  projects: ProjectReader,
  uses: readonly ConnectionUse[],
): Promise<ConnectionUse[]> {
  const known = await projects.listOwning(
    ctx,
    uses.map(({ projectId }) => projectId),
  );
  return uses.filter(({ projectId, environment, path: secretPath, connectionId }) => {
    const project = known.get(projectId);
    const fields = { environment, secretPath, connectionId };
    return project !== undefined && can(project.ability, 'secret-rotation:read', fields);
  });
}

/** @throws CONNECTION_IN_USE, with the rotations that the caller can read and the number of others in the details */
export async function refuseUsed(ctx: Context, projects: ProjectReader, uses: readonly ConnectionUse[]): Promise<void> {
  const shown = await readableUses(ctx, projects, uses);
  if (uses.length === 0) return;
  const others = uses.length - shown.length;
  const code = 'CONNECTION_IN_USE' as const;
  throw new AppError(code, undefined, {
    details: [
      ...shown.map(({ rotationId, rotationName }) => ({
        path: `rotations.${rotationId}`,
        code,
        message: `used by the rotation ${rotationName}`,
      })),
      ...(others === 0
        ? []
        : [{ path: 'rotations', code, message: `used by rotations that you cannot read: ${others}` }]),
    ],
  });
}
