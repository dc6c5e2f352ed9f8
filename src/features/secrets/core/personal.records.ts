import type { Context, Transaction } from '../../../kernel/context.js';
import { query } from '../../../kernel/database/database.js';
import { guarded } from '../../../kernel/database/in-transaction.js';
import { noteStates, personalDigest } from './secret-states.js';

/** A user's personal value of a shared secret. Other fields are those of the shared one. */
export interface PersonalRecord {
  readonly id: string;
  readonly secretId: string;
  readonly version: number;
  readonly valueSealed: Uint8Array;
  readonly commentSealed: Uint8Array | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

const COLUMNS = `id, secret_id as "secretId", version, value_sealed as "valueSealed", comment_sealed as "commentSealed",
  created_at as "createdAt", updated_at as "updatedAt"`;

const WRITTEN = `${COLUMNS}, ${personalDigest('ps')} as digest`;

/** The user's personal value of a secret, locked until the transaction ends. */
export async function lockPersonal(
  tx: Transaction,
  { secretId, userId }: { secretId: string; userId: string },
): Promise<PersonalRecord | undefined> {
  const [found] = await query<PersonalRecord>(
    tx,
    `select ${COLUMNS} from personal_secret where secret_id = $1 and user_id = $2 for update`,
    [secretId, userId],
  );
  return found;
}

/** The columns that a write sets. */
type PersonalRow = Pick<PersonalRecord, 'id' | 'version' | 'valueSealed' | 'commentSealed'>;

/**
 * @throws SECRET_KEY_TAKEN when the user has one already, SECRET_NOT_FOUND when the shared one was deleted meanwhile
 */
export async function insertPersonal(
  tx: Transaction,
  home: { organizationId: string; projectId: string; secretId: string; userId: string },
  { id, version, valueSealed, commentSealed }: PersonalRow,
): Promise<PersonalRecord> {
  const text = `insert into personal_secret as ps (id, organization_id, project_id, secret_id, user_id, version, value_sealed, comment_sealed)
    values ($1, $2, $3, $4, $5, $6, $7, $8) returning ${WRITTEN}`;
  const params = [
    id,
    home.organizationId,
    home.projectId,
    home.secretId,
    home.userId,
    version,
    valueSealed,
    commentSealed,
  ];
  const codes = {
    personal_secret_owner_unique: 'SECRET_KEY_TAKEN',
    personal_secret_shared_fk: 'SECRET_NOT_FOUND',
  } as const;
  const [written] = await guarded(() => query<Written>(tx, text, params), codes);
  return noted(tx, written, version);
}

/** Writes the next version of a locked row. */
export async function updatePersonal(
  tx: Transaction,
  { id, version, valueSealed, commentSealed }: PersonalRow,
): Promise<PersonalRecord> {
  const [written] = await query<Written>(
    tx,
    `update personal_secret ps set version = $2, value_sealed = $3, comment_sealed = $4, updated_at = now() where id = $1 returning ${WRITTEN}`,
    [id, version, valueSealed, commentSealed],
  );
  return noted(tx, written, version);
}

type Written = PersonalRecord & { readonly digest: string };

function noted(tx: Transaction, written: Written | undefined, version: number): PersonalRecord {
  const { digest, ...record } = written as Written;
  noteStates(tx, [{ id: record.id, version, digest }]);
  return record;
}

/** Deletes a locked row. */
export const deletePersonal = async (tx: Transaction, { id, version }: PersonalRecord): Promise<void> => {
  await query(tx, 'delete from personal_secret where id = $1', [id]);
  noteStates(tx, [{ id, version: version + 1, digest: '' }]);
};

/** The user behind a context; undefined for identities and the service itself. */
export const userOf = ({ actor }: Context): string | undefined => (actor.kind === 'user' ? actor.id : undefined);
