import type { X509Certificate } from 'node:crypto';

/** Whether a certificate was issued by another one: by name, by key identifiers if present, and by its signature. */
export const isIssuerOf = (issuer: X509Certificate, certificate: X509Certificate): boolean =>
  certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);

/**
 * The issuers of a certificate among others, from the direct one up to a self-signed one, as far as they are present.
 *
 * @returns also the certificates that are not issuers
 */
export function chainOf(
  leaf: X509Certificate,
  given: readonly X509Certificate[],
): { readonly chain: readonly X509Certificate[]; readonly others: readonly X509Certificate[] } {
  const chain: X509Certificate[] = [];
  let others = given.filter((one) => !one.raw.equals(leaf.raw));
  for (let last = leaf; !isSelfSigned(last); ) {
    const issuer = others.find((one) => isIssuerOf(one, last));
    if (issuer === undefined) break;
    chain.push(issuer);
    others = others.filter((one) => one !== issuer);
    last = issuer;
  }
  return { chain, others };
}

/** Whether a certificate is signed with its own key. */
export const isSelfSigned = (certificate: X509Certificate): boolean => isIssuerOf(certificate, certificate);
