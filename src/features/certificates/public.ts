export type { AuthorityRow } from './authorities/authority.queries.js';
export { readableAuthorities } from './authorities/authority.relations.js';
export { AuthorityType } from './authorities/authority.type.js';
export { readableCertificates } from './certificates/certificate.nodes.js';
export { type CertificateRow, findCertificates } from './certificates/certificate.queries.js';
export { CertificateType } from './certificates/certificate.type.js';
export type { CertificateEvent } from './certificates/certificate-event.js';
export { SEALED_KEYS } from './key-sealing.js';
export { refuseOtherType } from './shared-checks.js';
