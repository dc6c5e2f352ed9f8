import { type Ability, type Action, can, canWithout } from '../../../kernel/authz/ability.js';
import type { Context } from '../../../kernel/context.js';
import { AppError, type ErrorCode, type ErrorDetail } from '../../../kernel/errors.js';
import type { ProjectReader } from '../../projects/public.js';

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

/** Something in the system of a connection that only the connection reaches: a rotation, or a credential that is still to be revoked. */
interface ConnectionHold {
  readonly connectionId: string;
  readonly kind: 'rotation' | 'revocation';
  readonly id: string;
  /** Name, environment and folder of the rotation; null if it was deleted. */
  readonly rotationName: string | null;
  readonly projectId: string;
  readonly environment: string | null;
  readonly path: string | null;
}

/** Where something is; without environment and folder if these are not known any more. */
type Located = Pick<ConnectionHold, 'connectionId' | 'projectId' | 'environment' | 'path'>;

/** Those that the caller can read. */
export async function readableUses<Use extends Located>(
  ctx: Context,
  projects: ProjectReader,
  uses: readonly Use[],
): Promise<Use[]> {
  const known = await projects.listOwning(
    ctx,
    uses.map(({ projectId }) => projectId),
  );
  return uses.filter((use) => {
    const project = known.get(use.projectId);
    return project !== undefined && canAt(project.ability, 'secret-rotation:read', use);
  });
}

/** Whether this may be done to a rotation, or to a credential of one that may be deleted: then nobody knows where it was. */
export const canAt = (
  ability: Ability,
  action: Action,
  { environment, path: secretPath, connectionId }: Omit<Located, 'projectId'>,
): boolean =>
  environment === null || secretPath === null
    ? canWithout(ability, action, { connectionId }, ['environment', 'secretPath'])
    : can(ability, action, { environment, secretPath, connectionId });

/** Refuses a change that rotations, or credentials still to be revoked, prevent. */
const refusal =
  (code: ErrorCode, verbs: Readonly<Record<ConnectionHold['kind'], string>>) =>
  async (ctx: Context, projects: ProjectReader, holds: readonly ConnectionHold[]): Promise<void> => {
    const shown = (await readableUses(ctx, projects, holds)).map((hold) => obstacleOf(hold, verbs));
    const others = { path: 'rotations', message: `${verbs.rotation} rotations that you cannot read` };
    refuseWithObstacles(code, holds.length, { shown, others });
  };

/** @throws ACCOUNT_ROTATED, with the owners that the caller can read and the number of others in the details */
export const refuseOwnedAccount = refusal('ACCOUNT_ROTATED', {
  rotation: 'owned by',
  revocation: 'still to be revoked: a credential of',
});

/** @throws CONNECTION_IN_USE, with what the caller can read and the number of others in the details */
export const refuseConnectionInUse = refusal('CONNECTION_IN_USE', {
  rotation: 'used by',
  revocation: 'needed to revoke a credential of',
});

function obstacleOf(
  { kind, id, rotationName }: ConnectionHold,
  verbs: Readonly<Record<ConnectionHold['kind'], string>>,
): Obstacle {
  const rotation = rotationName === null ? 'a deleted rotation' : `the rotation ${rotationName}`;
  return {
    path: `${kind === 'rotation' ? 'rotations' : 'credentialDebts'}.${id}`,
    message: `${verbs[kind]} ${rotation}`,
  };
}

/** What prevents a change, as a detail of the error. */
type Obstacle = Pick<ErrorDetail, 'path' | 'message'>;

/**
 * Refuses a change that other resources prevent.
 *
 * @param count number of these resources; 0: the change is not refused
 * @param shown those that the caller can read; `others` describes the rest, which is only counted
 * @throws the given code
 */
export function refuseWithObstacles(
  code: ErrorCode,
  count: number,
  { shown, others }: { readonly shown: readonly Obstacle[]; readonly others: Obstacle },
): void {
  if (count === 0) return;
  const hidden = count - shown.length;
  const counted = hidden === 0 ? [] : [{ ...others, message: `${others.message}: ${hidden}` }];
  throw new AppError(code, undefined, { details: [...shown, ...counted].map((detail) => ({ ...detail, code })) });
}
