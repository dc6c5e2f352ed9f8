import { Field, ID, Int, ObjectType, registerEnumType } from 'type-graphql';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { enumOfRule, inputType } from '../../../kernel/graphql/inputs.js';
import { Node } from '../../../kernel/graphql/node.js';
import { countedConnectionOf } from '../../../kernel/graphql/page.js';
import { SanKindEnum } from '../authorities/name-constraints.type.js';
import type { RevocationReason } from '../revocation/revocation.rules.js';
import { RevocationReasonEnum } from '../revocation/revocation.type.js';
import type { SanKind } from '../x509/facts.js';
import { type CertificateSource, type CertificateStatus, certificateStatus, Metadata } from './certificate.rules.js';

const CertificateStatusEnum = {
  ACTIVE: 'active',
  REVOKED: 'revoked',
} as const satisfies Record<string, CertificateStatus>;
registerEnumType(CertificateStatusEnum, {
  name: 'CertificateStatus',
  description: 'Whether a certificate holds.',
  valuesConfig: {
    ACTIVE: { description: 'It is not revoked; it may have expired.' },
    REVOKED: { description: 'It holds no more.' },
  },
});
enumOfRule(certificateStatus, CertificateStatusEnum);

const CertificateSourceEnum = {
  IMPORTED: 'imported',
  ISSUED: 'issued',
} as const satisfies Record<string, CertificateSource>;
registerEnumType(CertificateSourceEnum, {
  name: 'CertificateSource',
  description: 'Where a certificate comes from.',
  valuesConfig: {
    IMPORTED: { description: 'It was made elsewhere and imported.' },
    ISSUED: { description: 'An authority of the project issued it.' },
  },
});

inputType('CertificateMetadataInput', Metadata);

@ObjectType('CertificateMetadata', { description: 'An entry of the metadata of a certificate.', simpleResolvers: true })
class MetadataType {
  @Field(() => String, { description: 'Its name.' })
  key!: string;

  @Field(() => String, { description: 'Its value.' })
  value!: string;
}

@ObjectType('CertificateSubjectAttribute', { description: 'A part of the name of a subject.', simpleResolvers: true })
class SubjectAttributeType {
  @Field(() => String, { description: '`CN`, `O` and so on, or the object identifier of another type.' })
  type!: string;

  @Field(() => String, { description: 'Its value.' })
  value!: string;
}

@ObjectType('CertificateAlternativeName', { description: 'An alternative name of a subject.', simpleResolvers: true })
class AlternativeNameType {
  @Field(() => SanKindEnum, { description: 'What it is.' })
  kind!: SanKind;

  @Field(() => String, { description: 'The name.' })
  value!: string;
}

/** What a certificate says, read from the certificate itself. */
@ObjectType('CertificateDetails', { description: 'What a certificate says.', simpleResolvers: true })
export class CertificateDetailsType {
  @Field(() => String, { description: 'Its subject, as RFC 4514 writes it.' })
  subject!: string;

  @Field(() => [SubjectAttributeType], { description: 'The parts of its subject.' })
  subjectAttributes!: readonly SubjectAttributeType[];

  @Field(() => String, { description: 'Who issued it, as RFC 4514 writes it.' })
  issuer!: string;

  @Field(() => [AlternativeNameType], { description: 'Its alternative names, but for kinds that are not shown.' })
  sans!: readonly AlternativeNameType[];

  @Field(() => [String], { description: 'What its key may be used for, as RFC 5280 calls it.' })
  keyUsages!: readonly string[];

  @Field(() => [String], { description: 'The same of extended usages; object identifiers of others.' })
  extendedKeyUsages!: readonly string[];

  @Field(() => Int, {
    nullable: true,
    description: 'Of an authority, how many authorities may follow below; null: any number.',
  })
  pathLength!: number | null;

  @Field(() => String, { description: 'SHA-1 of the certificate, hexadecimal in upper case.' })
  fingerprintSha1!: string;

  @Field(() => String, { nullable: true, description: 'Identifier of its key; null if it has none.' })
  subjectKeyIdentifier!: string | null;

  @Field(() => String, { nullable: true, description: 'Identifier of the key of its issuer; null if it has none.' })
  authorityKeyIdentifier!: string | null;
}

/** What the API shows of a certificate. */
@ObjectType('Certificate', {
  implements: Node,
  description: 'A certificate of the inventory of one project.',
  simpleResolvers: true,
})
export class CertificateType extends Node {
  @Field(() => ID, { description: 'ID of the project.' })
  projectId!: string;

  @Field(() => ID, {
    nullable: true,
    description: 'The authority of the project that issued it; null for one from elsewhere.',
  })
  authorityId!: string | null;

  @Field(() => ID, {
    nullable: true,
    description: 'The profile that it was issued by; null for one without, and for a deleted one.',
  })
  profileId!: string | null;

  @Field(() => String, {
    nullable: true,
    description: 'Slug of the profile that it was issued by; null for one without.',
  })
  profileSlug!: string | null;

  @Field(() => ID, { description: 'The same for a certificate and all its renewals.' })
  lineageId!: string;

  @Field(() => ID, { nullable: true, description: 'The certificate that it renews; null for none.' })
  renewedFromId!: string | null;

  @Field(() => CertificateSourceEnum, { description: 'Where it comes from.' })
  source!: CertificateSource;

  @Field(() => String, { description: 'Common name of its subject; empty if it has none.' })
  commonName!: string;

  @Field(() => [String], { description: 'Its alternative names; `details` has their kinds.' })
  sans!: readonly string[];

  @Field(() => String, { description: 'Its serial number, hexadecimal in upper case.' })
  serialNumber!: string;

  @Field(() => CertificateStatusEnum, { description: 'Whether it is revoked.' })
  status!: CertificateStatus;

  @Field(() => DateTime, { nullable: true, description: 'When it was revoked; null if it is not.' })
  revokedAt!: Date | null;

  @Field(() => RevocationReasonEnum, { nullable: true, description: 'Why it was revoked; null if it is not.' })
  revocationReason!: RevocationReason | null;

  @Field(() => DateTime, { description: 'When it begins.' })
  notBefore!: Date;

  @Field(() => DateTime, { description: 'When it expires.' })
  notAfter!: Date;

  @Field(() => String, { description: 'What its key was made with: `rsa-2048`, `ec-p256`, `ed25519` and so on.' })
  keyAlgorithm!: string;

  @Field(() => String, { description: 'SHA-256 of the certificate, hexadecimal in upper case; unique in the project.' })
  fingerprintSha256!: string;

  @Field(() => Boolean, { description: 'Whether its private key is here: see `certificatePrivateKey`.' })
  hasPrivateKey!: boolean;

  @Field(() => Boolean, { description: 'Whether it is the certificate of an authority.' })
  isCa!: boolean;

  @Field(() => Int, {
    nullable: true,
    description: 'How many days before its end the service renews it; 0: never; null: as its profile says.',
  })
  renewBeforeDays!: number | null;

  @Field(() => [MetadataType], { description: 'What people noted about it.' })
  metadata!: readonly MetadataType[];

  @Field(() => Int, { description: 'Rises with every change.' })
  version!: number;

  @Field(() => DateTime, { description: 'When it came into the inventory.' })
  createdAt!: Date;

  @Field(() => DateTime, { description: 'When it was last changed.' })
  updatedAt!: Date;
}

export const CertificateConnection = countedConnectionOf(
  CertificateType,
  'Certificate',
  'when they expire, the next one first',
);

@ObjectType('CertificatePrivateKey', { description: 'The private key of a certificate.', simpleResolvers: true })
export class PrivateKeyType {
  @Field(() => CertificateType, { description: 'The certificate.' })
  certificate!: CertificateType;

  @Field(() => String, { description: 'PEM, in PKCS#8, not encrypted.' })
  privateKey!: string;
}
