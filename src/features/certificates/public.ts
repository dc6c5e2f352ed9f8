export { type CertificateFact, CertificateReader } from './certificates/certificate.reader.js';
export type { CertificateEvent } from './certificates/certificate-event.js';
