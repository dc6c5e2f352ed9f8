import { raw as sql } from '@mikro-orm/core';
import type { Transaction } from '../../../../kernel/context.js';
import { newId } from '../../../../kernel/ids.js';
import { enqueueStanding } from '../../../../kernel/jobs/queue.js';
import { AppConnection, digestOfAccount } from '../../app-connections/public.js';
import type { Credential, RotationKind } from '../kind/rotation-kind.js';
import { CredentialDebt, type DebtReason } from '../store/debt.entity.js';
import type { SecretRotation } from '../store/rotation.entity.js';
import { sealCredential } from '../store/sealing.js';

/** The job that revokes the credentials of a connection that are still to be revoked. */
export const PAY_DEBTS = {
  name: 'secret-rotations:pay-debts',
  description: 'Revokes credentials that are no longer used, and retries until they are known to be revoked.',
} as const;

/** A credential to revoke. */
type NewDebt = { readonly reason: DebtReason } & (
  | {
      readonly credential: Credential;
      readonly kind: Pick<RotationKind, 'app' | 'loginOf'>;
      readonly name?: undefined;
      readonly settlesInSeconds?: undefined;
    }
  /** A credential that may exist under a name, and cannot be known to be gone before a time. */
  | {
      readonly credential?: undefined;
      readonly kind?: undefined;
      readonly name: string;
      readonly settlesInSeconds: number;
    }
);

/** Stores a debt of a locked rotation and queues its revocation after the commit. @returns its ID */
export async function owe(
  tx: Transaction,
  { id: rotationId, organizationId, projectId, connectionId, type, parameters }: SecretRotation,
  { reason, credential, kind, name, settlesInSeconds = 0 }: NewDebt,
): Promise<string> {
  const scope = { organizationId, projectId };
  const id = newId();
  const at = { table: 'credential_debt', column: 'credential', rowId: id, rowVersion: 1 } as const;
  const account = credential === undefined ? null : (kind.loginOf?.(credential) ?? null);
  await tx.em.insert(CredentialDebt, {
    ...{ id, ...scope, rotationId, connectionId, type, reason, parameters, name: name ?? null },
    credentialSealed: credential === undefined ? null : await sealCredential(tx, scope, at, credential),
    accountDigest: kind === undefined ? null : await digestOfAccount(tx, kind.app, account),
    settledAt: sql('now() + make_interval(secs => ?)', [settlesInSeconds]),
  });
  await askToPay(tx, { connectionId, organizationId });
  return id;
}

/** Queues the revocation of what a connection has to revoke. @param isUrgent somebody waits for it */
export async function askToPay(
  tx: Transaction,
  { connectionId, organizationId }: Pick<SecretRotation, 'connectionId' | 'organizationId'>,
  isUrgent = false,
): Promise<void> {
  const called = await tx.em.findOne(AppConnection, { id: connectionId }, { fields: ['target'] });
  const request = { key: connectionId, subjectId: connectionId, organizationId, target: called?.target, isUrgent };
  await enqueueStanding(tx, PAY_DEBTS, [request]);
}
