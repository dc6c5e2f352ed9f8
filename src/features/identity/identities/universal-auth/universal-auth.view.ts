import { type TokenAuthView, toNetworks, toTokenAuthView } from '../token-auth.view.js';
import type { IdentityUniversalAuth } from '../universal-auth.entity.js';

/** The universal-auth configuration of an identity as services pass it on, in the names of the interface. */
export interface UniversalAuthView extends TokenAuthView {
  readonly clientId: string;
  readonly clientSecretTrustedIps: { readonly ipAddress: string }[];
}

export const toUniversalAuthView = (row: IdentityUniversalAuth): UniversalAuthView => ({
  ...toTokenAuthView(row),
  clientId: row.clientId,
  clientSecretTrustedIps: toNetworks(row.clientSecretTrustedIps),
});
