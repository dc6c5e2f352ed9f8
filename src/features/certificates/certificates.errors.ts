import { declareDetailCodes } from '../../kernel/detail-codes.js';
import { conflict, declareErrors, notFound } from '../../kernel/errors.js';

const ERRORS = declareErrors({
  CERTIFICATE_AUTHORITY_NOT_FOUND: notFound('certificate authority'),
  CERTIFICATE_AUTHORITY_NAME_TAKEN: conflict(
    'The project already has a certificate authority with this name. Choose another name.',
  ),
  CERTIFICATE_AUTHORITY_PENDING: conflict(
    'The certificate authority has no certificate yet. Have its request signed by an external authority and import the certificate.',
  ),
  CERTIFICATE_AUTHORITY_NOT_PENDING: conflict('The certificate authority is not waiting for a certificate.'),
  CERTIFICATE_AUTHORITY_HAS_SUCCESSOR: conflict('The certificate authority already has a successor.'),
  CERTIFICATE_AUTHORITY_DISABLED: conflict('The certificate authority is disabled. Enable it first.'),
  CERTIFICATE_AUTHORITY_EXPIRED: conflict('The certificate of the authority has expired. Use another authority.'),
  CERTIFICATE_AUTHORITY_REVOKED: conflict(
    'The certificate of the authority, or of one above it, is revoked. Use another authority.',
  ),
  CERTIFICATE_AUTHORITY_NOT_ISSUED_HERE: conflict(
    'The certificate of the authority was not issued by another authority of the project. Only its issuer can revoke it.',
  ),
  CERTIFICATE_AUTHORITY_IN_USE: conflict(
    'The certificate authority has subordinate authorities, profiles or certificates. Delete these first.',
  ),
  CERTIFICATE_NOT_FOUND: notFound('certificate'),
  CERTIFICATE_KEY_NOT_FOUND: notFound('private key of the certificate'),
  CERTIFICATE_EXISTS: conflict('The project already has this certificate.'),
  CERTIFICATE_REVOKED: conflict('The certificate is already revoked.'),
  CERTIFICATE_RENEWED: conflict('The certificate was already renewed. Renew the current certificate of its lineage.'),
  CERTIFICATE_WITHOUT_PROFILE: conflict('The certificate has no profile. Set `profileId` to renew it.'),
  CERTIFICATE_PROFILE_NOT_FOUND: notFound('certificate profile'),
  CERTIFICATE_PROFILE_SLUG_TAKEN: conflict(
    'The project already has a certificate profile with this slug. Choose another slug.',
  ),
  CERTIFICATE_PROFILE_IN_USE: conflict('The profile has valid certificates. Revoke them or let them expire first.'),
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
