import type { Transaction } from '../../../kernel/context.js';
import { guarded } from '../../../kernel/database/in-transaction.js';
import type { PersonalRecord } from '../core/find-secrets.js';
import { deletePersonalRow, insertPersonalRow, updatePersonalRow } from '../core/personal.sql.js';
import { noteStates } from '../core/secret-states.js';

/**
 * @throws SECRET_KEY_TAKEN when the user has one already, SECRET_NOT_FOUND when the shared one was deleted meanwhile
 */
export async function insertPersonal(
  tx: Transaction,
  row: Parameters<typeof insertPersonalRow>[1],
): Promise<PersonalRecord> {
  const codes = {
    personal_secret_owner_unique: 'SECRET_KEY_TAKEN',
    personal_secret_shared_fk: 'SECRET_NOT_FOUND',
  } as const;
  const [written] = await guarded(() => insertPersonalRow(tx, row), codes);
  return noted(tx, written);
}

/** Writes the next version of a locked row. */
export async function updatePersonal(
  tx: Transaction,
  row: Parameters<typeof updatePersonalRow>[1],
): Promise<PersonalRecord> {
  const [written] = await updatePersonalRow(tx, row);
  return noted(tx, written);
}

function noted(tx: Transaction, written: (PersonalRecord & { readonly digest: string }) | undefined): PersonalRecord {
  if (written === undefined) throw new Error('a write of a locked row returned nothing');
  const { digest, ...record } = written;
  noteStates(tx, [{ id: record.id, version: record.version, digest }]);
  return record;
}

/** Deletes a locked row. */
export async function deletePersonal(tx: Transaction, { id, version }: PersonalRecord): Promise<void> {
  await deletePersonalRow(tx, { id });
  noteStates(tx, [{ id, version: version + 1, digest: '' }]);
}
