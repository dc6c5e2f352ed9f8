export { type CertificateFact, CertificateReader } from './certificates/certificate.reader.js';
