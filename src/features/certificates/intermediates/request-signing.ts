import type { Transaction } from '../../../kernel/context.js';
import type { ProjectAccess } from '../../projects/public.js';
import { USUAL_DAYS } from '../authorities/authority.rules.js';
import { loadIssuer, pathLengthBelow, refuseStraySubtrees, validityOf } from '../authorities/issuer.js';
import type { Lifetime } from '../authorities/lifetime.rules.js';
import type { AuthorityRequest } from '../x509/authority-request.js';
import { inventoried } from '../x509/facts.js';
import { makeIntermediate } from '../x509/making.js';
import type { NameConstraints } from '../x509/name-constraints.js';

export { readAuthorityRequest } from '../x509/authority-request.js';

/** What is to be signed, by which authority, and what the certificate allows. */
interface Terms extends Lifetime {
  readonly authorityId: string;
  readonly request: AuthorityRequest;
  readonly maxPathLength?: number | null | undefined;
  readonly nameConstraints?: NameConstraints | null | undefined;
}

/**
 * Signs the request of an external authority.
 *
 * @returns columns of the certificate
 * @throws VALIDATION_FAILED for more than the issuer allows; as `loadIssuer`
 */
export async function signRequest(
  tx: Transaction,
  project: ProjectAccess,
  { authorityId, request, maxPathLength = null, nameConstraints, ...life }: Terms,
) {
  const issuer = await loadIssuer(tx, project, authorityId);
  refuseStraySubtrees(issuer, nameConstraints);
  const made = await makeIntermediate(request.subject, request.publicKey, issuer, {
    ...validityOf({ now: issuer.now, end: issuer.notAfter }, life, USUAL_DAYS.intermediate),
    ...{ nameConstraints, maxPathLength: pathLengthBelow(issuer, maxPathLength, 'authorityId') },
  });
  return {
    ...inventoried(made),
    authorityId: issuer.id,
    chain: issuer.chainBelow,
  };
}
