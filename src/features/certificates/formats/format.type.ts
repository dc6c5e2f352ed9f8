import { Field, ObjectType } from 'type-graphql';
import { CertificateType } from '../certificates/certificate.type.js';

@ObjectType('CertificatePkcs12', {
  description: 'A certificate with its chain and private key, as a file.',
  simpleResolvers: true,
})
export class Pkcs12Type {
  @Field(() => CertificateType, { description: 'The certificate.' })
  certificate!: CertificateType;

  @Field(() => String, { description: 'PKCS#12 file (`.p12`) in base64, encrypted with AES-256.' })
  pkcs12!: string;
}
