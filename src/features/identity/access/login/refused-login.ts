/** Why a login is refused. Operators learn it, and callers do not. */
export type LoginRefusal =
  | 'NOT_CONFIGURED'
  | 'TOKEN_MALFORMED'
  | 'ALGORITHM_REFUSED'
  | 'ISSUER_MISMATCH'
  | 'KEYS_UNAVAILABLE'
  | 'KEY_UNKNOWN'
  | 'SIGNATURE_INVALID'
  | 'TOKEN_EXPIRED'
  | 'TOKEN_NOT_YET_VALID'
  | 'TOKEN_REJECTED'
  | 'TOKEN_REUSED'
  | 'REVIEW_UNAVAILABLE'
  | 'AUDIENCE_MISMATCH'
  | 'SUBJECT_MISMATCH'
  | 'NAMESPACE_MISMATCH'
  | 'NAME_MISMATCH'
  | 'CLAIM_MISMATCH'
  | 'ADDRESS_REFUSED';

/** A login that is refused. */
export class RefusedLogin extends Error {
  /** @param claim name of the claim that does not match */
  constructor(
    readonly reason: LoginRefusal,
    readonly claim: string | null = null,
  ) {
    super(reason);
  }
}
