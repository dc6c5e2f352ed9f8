import type { Context } from '../../../../kernel/context.js';
import { emOf } from '../../../../kernel/database/database.js';
import { openConnection } from '../../app-connections/public.js';
import type { Credential, RotationKind, RotationTarget } from '../kind/rotation-kind.js';
import type { Kinds } from '../kinds/kinds.js';
import { type AttemptRow, findCredentials, findOpenAttempt } from '../store/attempt.queries.js';
import { SecretRotation } from '../store/rotation.entity.js';
import { openCredential, openTexts } from '../store/sealing.js';

/** An open attempt and everything that it works with, read again for each step. */
export interface Work {
  readonly attempt: AttemptRow & { readonly rotationId: string };
  readonly rotation: SecretRotation;
  readonly kind: RotationKind;
  readonly target: RotationTarget;
  readonly candidate: Credential;
  /** The candidate as created by the external system; null until it is known. */
  readonly result: Credential | null;
}

/** The open attempt of a rotation; null if it has none. @throws SEALED_VALUE_INVALID */
export async function loadWork(ctx: Context, kinds: Kinds, rotationId: string): Promise<Work | null> {
  const [attempt] = await findOpenAttempt(ctx, { rotationId });
  const rotation = await emOf(ctx).findOne(SecretRotation, { id: rotationId });
  if (attempt === undefined || rotation === null) return null;
  const at = { table: 'secret_rotation_attempt', rowId: attempt.id, rowVersion: attempt.candidateVersion } as const;
  const { candidateSealed, resultSealed, temporarySealed } = attempt;
  return {
    attempt: { ...attempt, rotationId },
    rotation,
    kind: kinds.of(rotation.type),
    target: {
      rotationId,
      organizationId: rotation.organizationId,
      projectId: rotation.projectId,
      parameters: rotation.parameters,
      connection: await openConnection(ctx, rotation.connectionId),
      current: await currentOf(ctx, rotation),
      temporary:
        temporarySealed === null
          ? null
          : await openTexts(ctx, rotation, { ...at, rowVersion: 0, column: 'temporary' }, temporarySealed),
    },
    candidate: await openCredential(ctx, rotation, { ...at, column: 'candidate' }, candidateSealed),
    result:
      resultSealed === null ? null : await openCredential(ctx, rotation, { ...at, column: 'result' }, resultSealed),
  };
}

/** The published credential of a rotation; null before the first one. @throws SEALED_VALUE_INVALID */
export async function currentOf(
  ctx: Context,
  rotation: Pick<SecretRotation, 'id' | 'organizationId' | 'projectId' | 'activeIndex'>,
): Promise<Credential | null> {
  return (await credentialsOf(ctx, rotation)).find(({ slot }) => slot === rotation.activeIndex)?.credential ?? null;
}

/** The credentials in the slots of a rotation. @throws SEALED_VALUE_INVALID */
export async function credentialsOf(
  ctx: Context,
  rotation: Pick<SecretRotation, 'id' | 'organizationId' | 'projectId'>,
): Promise<{ slot: number; generation: number; createdAt: Date; credential: Credential }[]> {
  const rows = await findCredentials(ctx, { rotationId: rotation.id });
  return Promise.all(
    rows.map(async ({ slot, generation, createdAt, credentialSealed }) => ({
      ...{ slot, generation, createdAt },
      credential: await openCredential(ctx, rotation, credentialAt(rotation.id, generation), credentialSealed),
    })),
  );
}

/** The place that a credential of a slot is sealed for. */
export const credentialAt = (rotationId: string, generation: number) =>
  ({ table: 'secret_rotation_credential', column: 'credential', rowId: rotationId, rowVersion: generation }) as const;
