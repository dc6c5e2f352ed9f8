export { type CertificateRow, findCertificates } from './certificates/certificate.queries.js';
export { type CertificateFact, CertificateReader } from './certificates/certificate.reader.js';
export { CertificateType } from './certificates/certificate.type.js';
export type { CertificateEvent } from './certificates/certificate-event.js';
