import type { Context } from '../../../../kernel/context.js';
import { keyIdOf } from '../../../../kernel/crypto/seal.js';
import { queryOf } from '../../../../kernel/database/database.js';
import { systemOf } from '../../app-connections/public.js';
import type { Kinds } from '../kinds/kinds.js';
import type { DebtRow } from '../store/debt.queries.js';
import { type SealedAt, shownPartOf } from '../store/sealing.js';

/** A credential in an external system, as an administrator finds it there. */
export interface Shown {
  /** System and account. */
  readonly target: string;
  readonly externalName: string | null;
  readonly externalId: string | null;
}

/** A credential as it is stored. */
type Stored = Pick<DebtRow, 'projectId' | 'type' | 'app' | 'publicPart'> & {
  /** External name of one that may exist; null: it is sealed. */
  readonly name: string | null;
  readonly sealed: Uint8Array | null;
  /** The place that it is sealed for. */
  readonly at: SealedAt;
};

/** A credential to revoke, with what an administrator of the external system needs to find it. */
export interface ShownDebt extends DebtRow, Shown {}

/**
 * Adds where and under which names credentials are, in at most one statement.
 *
 * @param isReading names are left out where the key is disabled; otherwise that is an error
 * @throws KEY_DISABLED
 */
export async function shown<Row extends Stored>(
  ctx: Context,
  kinds: Kinds,
  rows: readonly Row[],
  { isReading = false }: { readonly isReading?: boolean } = {},
): Promise<(Row & Shown)[]> {
  const byProject = Map.groupBy(
    rows.filter(({ sealed }) => sealed !== null),
    ({ projectId }) => projectId,
  );
  const keyIds = new Map(
    [...byProject].map(([id, some]) => [id, some.map((row) => keyIdOf(row.sealed as Uint8Array))]),
  );
  const sealers = await ctx.keyring.sealers(queryOf(ctx), ctx.organizationId, keyIds);
  return rows.map((row) => {
    const { projectId, type, name, sealed, at } = row;
    const sealer = sealers.get(projectId);
    const part = sealed === null || sealer === undefined ? null : shownPartOf(sealer, { at, sealed, isReading });
    const label = part === null ? { name, id: null } : kinds.of(type).labelOf(part);
    return { ...row, target: systemOf(row), externalName: label.name, externalId: label.id };
  });
}

/** As `shown`, for debts. @throws KEY_DISABLED */
export function shownDebts(
  ctx: Context,
  kinds: Kinds,
  rows: readonly DebtRow[],
  reading?: { readonly isReading?: boolean },
): Promise<ShownDebt[]> {
  const stored = rows.map((row) => ({
    ...row,
    sealed: row.credentialSealed,
    at: { table: 'credential_debt', column: 'credential', rowId: row.id, rowVersion: 1 } as const,
  }));
  return shown(ctx, kinds, stored, reading);
}

/** One line for people: `https://ab1.example.com, account 7: reporting-1 (ID 9001)`. */
export const lineOf = ({ target, externalName, externalId }: Shown): string =>
  `${target}: ${[externalName, externalId === null ? null : `(ID ${externalId})`].filter((part) => part !== null).join(' ') || 'unknown name'}`;
