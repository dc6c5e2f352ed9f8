import { toInt } from '../../../kernel/int.js';
import type { ClientSecretRow } from './client-secret.queries.js';

/** A client secret as services pass it on: everything but the secret itself. */
export type ClientSecretView = ReturnType<typeof toClientSecretView>;

/** A client secret that was just made: the only moment at which it is there to be shown. */
export interface IssuedClientSecret {
  readonly clientSecret: string;
  readonly clientSecretData: ClientSecretView;
}

export const toClientSecretView = (row: ClientSecretRow) => ({
  ...row,
  clientSecretNumUses: toInt(row.clientSecretNumUses),
});
