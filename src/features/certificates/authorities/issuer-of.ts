import { X509Certificate } from 'node:crypto';
import type { Context } from '../../../kernel/context.js';
import { isIssuerOf } from '../x509/chain.js';
import { listAuthorities } from './authority.queries.js';

/** ID of the authority of a project that issued a certificate; null if none did. */
export async function findIssuerOf(
  ctx: Context,
  projectId: string,
  certificate: X509Certificate,
): Promise<string | null> {
  const authorities = await listAuthorities(ctx, { projectIds: [projectId], after: null, limit: null });
  const issuer = authorities.find(
    (authority) =>
      authority.certificate !== null && isIssuerOf(new X509Certificate(authority.certificate), certificate),
  );
  return issuer?.id ?? null;
}
