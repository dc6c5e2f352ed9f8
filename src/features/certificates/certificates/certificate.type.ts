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
  description: 'Statuses of a certificate.',
  valuesConfig: {
    ACTIVE: { description: 'Not revoked. It may have expired.' },
    REVOKED: { description: 'Revoked, and no longer valid.' },
  },
});
enumOfRule(certificateStatus, CertificateStatusEnum);

const CertificateSourceEnum = {
  IMPORTED: 'imported',
  ISSUED: 'issued',
} as const satisfies Record<string, CertificateSource>;
registerEnumType(CertificateSourceEnum, {
  name: 'CertificateSource',
  description: 'Sources of certificates.',
  valuesConfig: {
    IMPORTED: { description: 'Issued elsewhere and imported.' },
    ISSUED: { description: 'Issued by an authority of the project.' },
  },
});

inputType('CertificateMetadataInput', Metadata);

@ObjectType('CertificateMetadata', { description: 'A metadata entry of a certificate.', simpleResolvers: true })
class MetadataType {
  @Field(() => String, { description: 'Key of the entry.' })
  key!: string;

  @Field(() => String, { description: 'Value of the entry.' })
  value!: string;
}

@ObjectType('CertificateSubjectAttribute', { description: 'An attribute of a subject.', simpleResolvers: true })
class SubjectAttributeType {
  @Field(() => String, {
    description: 'Type of the attribute, for example `CN` or `O`; an object identifier (OID) for other types.',
  })
  type!: string;

  @Field(() => String, { description: 'Value of the attribute.' })
  value!: string;
}

@ObjectType('CertificateAlternativeName', { description: 'A subject alternative name.', simpleResolvers: true })
class AlternativeNameType {
  @Field(() => SanKindEnum, { description: 'Kind of the name.' })
  kind!: SanKind;

  @Field(() => String, { description: 'Value of the name, for example `www.example.com`.' })
  value!: string;
}

/** Properties of a certificate, parsed from the certificate itself. */
@ObjectType('CertificateDetails', {
  description: 'Properties of a certificate, parsed from the certificate itself.',
  simpleResolvers: true,
})
export class CertificateDetailsType {
  @Field(() => String, {
    description: 'Subject, in the format of RFC 4514, for example `CN=www.example.com,O=Example`.',
  })
  subject!: string;

  @Field(() => [SubjectAttributeType], { description: 'Attributes of the subject.' })
  subjectAttributes!: readonly SubjectAttributeType[];

  @Field(() => String, { description: 'Issuer, in the format of RFC 4514.' })
  issuer!: string;

  @Field(() => [AlternativeNameType], { description: 'Subject alternative names of the kinds DNS, IP, email and URI.' })
  sans!: readonly AlternativeNameType[];

  @Field(() => [String], { description: 'Key usages, with the names of RFC 5280, for example `digitalSignature`.' })
  keyUsages!: readonly string[];

  @Field(() => [String], {
    description: 'Extended key usages, for example `serverAuth`; an object identifier (OID) for others.',
  })
  extendedKeyUsages!: readonly string[];

  @Field(() => Int, {
    nullable: true,
    description: 'Path length of a CA certificate: maximum number of authorities below it. Null: unlimited.',
  })
  pathLength!: number | null;

  @Field(() => String, { description: 'SHA-1 fingerprint, in upper-case hexadecimal.' })
  fingerprintSha1!: string;

  @Field(() => String, { nullable: true, description: 'Subject key identifier. Null if it has none.' })
  subjectKeyIdentifier!: string | null;

  @Field(() => String, { nullable: true, description: 'Authority key identifier. Null if it has none.' })
  authorityKeyIdentifier!: string | null;
}

/** A failed automatic renewal. */
@ObjectType('CertificateRenewalFailure', { description: 'Why an automatic renewal failed.', simpleResolvers: true })
export class RenewalFailureType {
  @Field(() => String, {
    description:
      'Error code, for example `CERTIFICATE_AUTHORITY_DISABLED`. `KEY_DISABLED`: it waits until the organization key of the project is enabled.',
  })
  code!: string;

  @Field(() => DateTime, { description: 'When it failed, or began to wait.' })
  failedAt!: Date;

  @Field(() => DateTime, {
    nullable: true,
    description: 'When it is tried again, if the certificate is then still to be renewed. Null if it waits for a key.',
  })
  nextTryAt!: Date | null;
}

/** A certificate as the API shows it. */
@ObjectType('Certificate', {
  implements: Node,
  description: 'A certificate in the inventory of a project.',
  simpleResolvers: true,
})
export class CertificateType extends Node {
  @Field(() => ID, { description: 'ID of the project.' })
  projectId!: string;

  @Field(() => ID, {
    nullable: true,
    description: 'ID of the authority of the project that issued the certificate. Null if it was issued elsewhere.',
  })
  authorityId!: string | null;

  @Field(() => ID, {
    nullable: true,
    description:
      'ID of the profile that the certificate was issued by. Null if it has none or the profile was deleted.',
  })
  profileId!: string | null;

  @Field(() => String, {
    nullable: true,
    description: 'Slug of the profile that the certificate was issued by. Null if it has none.',
  })
  profileSlug!: string | null;

  @Field(() => ID, { description: 'ID of the lineage: the same for a certificate and all its renewals.' })
  lineageId!: string;

  @Field(() => ID, {
    nullable: true,
    description: 'ID of the certificate that this one renews, or was imported to replace. Null if there is none.',
  })
  renewedFromId!: string | null;

  @Field(() => CertificateSourceEnum, { description: 'Whether the certificate was issued here or imported.' })
  source!: CertificateSource;

  @Field(() => String, { description: 'Common name (CN) of the subject. Empty if it has none.' })
  commonName!: string;

  @Field(() => [String], { description: 'Subject alternative names. For their kinds, see `details`.' })
  sans!: readonly string[];

  @Field(() => String, { description: 'Serial number, in upper-case hexadecimal, for example `4A7F09C2D1E85B36`.' })
  serialNumber!: string;

  @Field(() => CertificateStatusEnum, { description: 'Status of the certificate.' })
  status!: CertificateStatus;

  @Field(() => DateTime, {
    nullable: true,
    description: 'When the certificate was revoked. Null if it is not revoked.',
  })
  revokedAt!: Date | null;

  @Field(() => RevocationReasonEnum, {
    nullable: true,
    description: 'Why the certificate was revoked. Null if it is not revoked.',
  })
  revocationReason!: RevocationReason | null;

  @Field(() => DateTime, { description: 'Start of the validity period.' })
  notBefore!: Date;

  @Field(() => DateTime, { description: 'End of the validity period.' })
  notAfter!: Date;

  @Field(() => String, { description: 'Algorithm of the key, for example `rsa-2048`, `ec-p256` or `ed25519`.' })
  keyAlgorithm!: string;

  @Field(() => String, {
    description:
      'SHA-256 fingerprint, 64 upper-case hexadecimal digits, for example `9F86D081884C7D659A2FEAA0C55AD015A3BF4F1B2B0B822CD15D6C15B0F00A08`. Unique in the project.',
  })
  fingerprintSha256!: string;

  @Field(() => Boolean, { description: 'Whether the private key is stored: see `certificatePrivateKey`.' })
  hasPrivateKey!: boolean;

  @Field(() => Boolean, { description: 'Whether it is a CA certificate.' })
  isCa!: boolean;

  @Field(() => Int, {
    nullable: true,
    description:
      'How many days before expiration the service renews the certificate. 0: never. Null: the setting of its profile.',
  })
  renewBeforeDays!: number | null;

  @Field(() => [MetadataType], { description: 'Metadata of the certificate.' })
  metadata!: readonly MetadataType[];

  @Field(() => Int, { description: 'Version of the certificate in the inventory. Increments with every change.' })
  version!: number;

  @Field(() => DateTime, { description: 'When the certificate was added to the inventory.' })
  createdAt!: Date;

  @Field(() => DateTime, { description: 'When the certificate was last changed in the inventory.' })
  updatedAt!: Date;
}

export const CertificateConnection = countedConnectionOf(CertificateType, 'Certificate', 'expiration, soonest first');

@ObjectType('CertificatePrivateKey', { description: 'The private key of a certificate.', simpleResolvers: true })
export class PrivateKeyType {
  @Field(() => CertificateType, { description: 'The certificate.' })
  certificate!: CertificateType;

  @Field(() => String, { description: 'The private key, in PEM (PKCS#8), unencrypted.' })
  privateKey!: string;
}
