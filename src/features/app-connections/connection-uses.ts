import { can } from '../../kernel/authz/ability.js';
import type { Context } from '../../kernel/context.js';
import { AppError } from '../../kernel/errors.js';
import type { ProjectReader } from '../projects/public.js';

/** A rotation that uses a connection. */
export interface ConnectionUse {
  readonly connectionId: string;
  readonly rotationId: string;
  readonly rotationName: string;
  /** Type of the rotation: `datatool-service-token`. */
  readonly type: string;
  readonly projectId: string;
  /** Slug of the environment, and path of the folder, of the secrets that it changes. */
  readonly environment: string;
  readonly path: string;
}

/** Which rotations use these connections, in a constant number of statements. Whether the caller may know that is not checked there. */
export type ConnectionUses = (ctx: Context, connectionIds: readonly string[]) => Promise<readonly ConnectionUse[]>;

/** Those that the caller may read. */
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

/** @throws CONNECTION_IN_USE that names the rotations which the caller may read, and says how many others there are */
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
        message: `the rotation ${rotationName} uses it`,
      })),
      ...(others === 0
        ? []
        : [{ path: 'rotations', code, message: `rotations that you may not read use it: ${others}` }]),
    ],
  });
}
