import { declareDetailCodes } from '../../kernel/detail-codes.js';
import { conflict, declareErrors, notFound } from '../../kernel/errors.js';

const ERRORS = declareErrors({
  CERTIFICATE_AUTHORITY_NOT_FOUND: notFound('certificate authority'),
  CERTIFICATE_AUTHORITY_NAME_TAKEN: conflict(
    'Another certificate authority of the project has this name; take another one.',
  ),
  CERTIFICATE_AUTHORITY_PENDING: conflict(
    'The certificate authority has no certificate yet; have its request signed and import the answer.',
  ),
  CERTIFICATE_AUTHORITY_NOT_PENDING: conflict('The certificate authority waits for no certificate.'),
  CERTIFICATE_AUTHORITY_HAS_SUCCESSOR: conflict('Another certificate authority follows this one already.'),
  CERTIFICATE_AUTHORITY_DISABLED: conflict('The certificate authority is disabled; enable it first.'),
  CERTIFICATE_AUTHORITY_EXPIRED: conflict('The certificate of the authority has expired; use another authority.'),
  CERTIFICATE_AUTHORITY_REVOKED: conflict(
    'The certificate of the authority, or of one above it, is revoked; use another authority.',
  ),
  CERTIFICATE_AUTHORITY_NOT_ISSUED_HERE: conflict(
    'The certificate of the authority was issued by no other authority of the project; only its issuer can revoke it.',
  ),
  CERTIFICATE_AUTHORITY_IN_USE: conflict(
    'The certificate authority has authorities below it, profiles or certificates; delete these first.',
  ),
  CERTIFICATE_NOT_FOUND: notFound('certificate'),
  CERTIFICATE_KEY_NOT_FOUND: notFound('private key of the certificate'),
  CERTIFICATE_EXISTS: conflict('The project has this certificate already.'),
  CERTIFICATE_REVOKED: conflict('The certificate is revoked already.'),
  CERTIFICATE_RENEWED: conflict('The certificate was renewed already; renew the present one of its lineage.'),
  CERTIFICATE_WITHOUT_PROFILE: conflict('The certificate has no profile; name one to renew it by.'),
  CERTIFICATE_PROFILE_NOT_FOUND: notFound('certificate profile'),
  CERTIFICATE_PROFILE_SLUG_TAKEN: conflict(
    'Another certificate profile of the project has this slug; take another one.',
  ),
  CERTIFICATE_PROFILE_IN_USE: conflict('Certificates of the profile still hold; revoke them or let them expire first.'),
  CERTIFICATE_REQUEST_NOT_FOUND: notFound('certificate request'),
});

const DETAILS = declareDetailCodes({
  WRONG_PASSWORD: 'It is not the password of the file.',
});

declare module '../../kernel/detail-codes.js' {
  interface DetailCodes {
    readonly certificates: keyof typeof DETAILS;
  }
}

declare module '../../kernel/errors.js' {
  interface ErrorTables {
    readonly certificates: typeof ERRORS;
  }
}
