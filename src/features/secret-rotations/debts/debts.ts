import type { Transaction } from '../../../kernel/context.js';
import { newId } from '../../../kernel/ids.js';
import { ask } from '../../../kernel/jobs/queue.js';
import type { Credential } from '../kind/rotation-kind.js';
import type { DebtReason } from '../store/debt.entity.js';
import { insertDebt } from '../store/debt.sql.js';
import type { SecretRotation } from '../store/rotation.entity.js';
import { sealCredential } from '../store/sealing.js';

/** The job that revokes what is owed at a connection. */
export const PAY_DEBTS = {
  name: 'secret-rotations:pay-debts',
  description: 'Revokes credentials that are not used any more, and goes on until they are known to be gone.',
} as const;

/** A credential that is to be revoked. */
type NewDebt = { readonly reason: DebtReason } & (
  | { readonly credential: Credential; readonly name?: undefined; readonly settlesInSeconds?: undefined }
  /** What may exist under a name, and cannot be known to be gone before. */
  | { readonly credential?: undefined; readonly name: string; readonly settlesInSeconds: number }
);

/** Writes down that a credential of a locked rotation is to be revoked, and has that done after the commit. Source: decisions 9.3. */
export async function owe(
  tx: Transaction,
  { id: rotationId, organizationId, projectId, connectionId, type, parameters }: SecretRotation,
  { reason, credential, name, settlesInSeconds = 0 }: NewDebt,
): Promise<void> {
  const scope = { organizationId, projectId };
  const id = newId();
  const at = { table: 'credential_debt', column: 'credential', rowId: id, rowVersion: 1 } as const;
  await insertDebt(tx, {
    ...{ id, ...scope, rotationId, connectionId, type, reason, settlesInSeconds },
    parameters: JSON.stringify(parameters),
    name: name ?? null,
    credentialSealed: credential === undefined ? null : await sealCredential(tx, scope, at, credential),
  });
  await ask(tx, PAY_DEBTS, [{ key: connectionId, subjectId: connectionId, organizationId }]);
}
