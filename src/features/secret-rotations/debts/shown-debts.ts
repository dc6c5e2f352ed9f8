import type { Context } from '../../../kernel/context.js';
import { keyIdOf } from '../../../kernel/crypto/seal.js';
import { queryOf } from '../../../kernel/database/database.js';
import { systemOf } from '../../app-connections/public.js';
import type { Kinds } from '../kinds/kinds.js';
import type { DebtRow } from '../store/debt.sql.js';
import { shownPartOf } from '../store/sealing.js';

/** A credential to revoke, with what an administrator of the external system needs to find it. */
export interface ShownDebt extends DebtRow {
  /** System and account. */
  readonly target: string;
  readonly externalName: string | null;
  readonly externalId: string | null;
}

/**
 * Adds to debts where and under which names their credentials are, in at most one statement.
 *
 * @param isReading names are left out where the key is disabled; otherwise that is an error
 * @throws KEY_DISABLED
 */
export async function shownDebts(
  ctx: Context,
  kinds: Kinds,
  rows: readonly DebtRow[],
  { isReading = false }: { readonly isReading?: boolean } = {},
): Promise<ShownDebt[]> {
  const sealed = rows.filter(({ credentialSealed }) => credentialSealed !== null);
  const byProject = Map.groupBy(sealed, ({ projectId }) => projectId);
  const keyIds = new Map(
    [...byProject].map(([id, some]) => [id, some.map((row) => keyIdOf(row.credentialSealed as Buffer))]),
  );
  const sealers = await ctx.keyring.sealers(queryOf(ctx), ctx.organizationId, keyIds);
  return rows.map((row) => {
    const { id, projectId, type, name, credentialSealed } = row;
    const sealer = sealers.get(projectId);
    const shown =
      credentialSealed === null || sealer === undefined
        ? null
        : shownPartOf(sealer, { debtId: id, sealed: credentialSealed, isReading });
    const label = shown === null ? { name, id: null } : kinds.of(type).labelOf(shown);
    return { ...row, target: systemOf(row), externalName: label.name, externalId: label.id };
  });
}

/** One line for people: `https://ab1.example.com, account 7: reporting-1 (ID 9001)`. */
export const lineOf = ({ target, externalName, externalId }: ShownDebt): string =>
  `${target}: ${[externalName, externalId === null ? null : `(ID ${externalId})`].filter((part) => part !== null).join(' ') || 'unknown name'}`;
