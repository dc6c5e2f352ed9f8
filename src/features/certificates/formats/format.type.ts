import { objectType } from '../../../kernel/graphql/object-types.js';
import { CertificateType } from '../certificates/certificate.type.js';

export const Pkcs12Type = objectType('CertificatePkcs12', 'A certificate with its chain and private key, as a file.', {
  certificate: [CertificateType, 'The certificate.'],
  pkcs12: [String, 'PKCS#12 file (`.p12`) in base64, encrypted with AES-256.'],
});
export type Pkcs12Type = InstanceType<typeof Pkcs12Type>;
