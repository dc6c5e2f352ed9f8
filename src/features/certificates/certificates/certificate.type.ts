import { ID, Int } from 'type-graphql';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { enumType } from '../../../kernel/graphql/enums.js';
import { inputType } from '../../../kernel/graphql/inputs.js';
import { Node } from '../../../kernel/graphql/node.js';
import { objectType, orNull } from '../../../kernel/graphql/object-types.js';
import { connectionOf } from '../../../kernel/graphql/page.js';
import { SanKindEnum } from '../authorities/authority.type.js';
import { RevocationReasonEnum } from '../revocation/revocation.type.js';
import { type CertificateSource, type CertificateStatus, certificateStatus, Metadata } from './certificate.rules.js';

const CertificateStatusEnum = enumType<CertificateStatus>(
  'CertificateStatus',
  'Statuses of a certificate.',
  {
    active: 'Not revoked. It may have expired.',
    revoked: 'Revoked, and no longer valid.',
  },
  certificateStatus,
);

const CertificateSourceEnum = enumType<CertificateSource>('CertificateSource', 'Sources of certificates.', {
  imported: 'Issued elsewhere and imported.',
  issued: 'Issued by an authority of the project.',
});

inputType('CertificateMetadataInput', Metadata);

const MetadataType = objectType('CertificateMetadata', 'A metadata entry of a certificate.', {
  key: [String, 'Key of the entry.'],
  value: [String, 'Value of the entry.'],
});

const SubjectAttributeType = objectType('CertificateSubjectAttribute', 'An attribute of a subject.', {
  type: [String, 'Type of the attribute, for example `CN` or `O`; an object identifier (OID) for other types.'],
  value: [String, 'Value of the attribute.'],
});

const AlternativeNameType = objectType('CertificateAlternativeName', 'A subject alternative name.', {
  kind: [SanKindEnum, 'Kind of the name.'],
  value: [String, 'Value of the name, for example `www.example.com`.'],
});

export const CertificateDetailsType = objectType(
  'CertificateDetails',
  'Properties of a certificate, parsed from the certificate itself.',
  {
    subject: [String, 'Subject, in the format of RFC 4514, for example `CN=www.example.com,O=Example`.'],
    subjectAttributes: [[SubjectAttributeType], 'Attributes of the subject.'],
    issuer: [String, 'Issuer, in the format of RFC 4514.'],
    sans: [[AlternativeNameType], 'Subject alternative names of the kinds DNS, IP, email and URI.'],
    keyUsages: [[String], 'Key usages, with the names of RFC 5280, for example `digitalSignature`.'],
    extendedKeyUsages: [
      [String],
      'Extended key usages, for example `serverAuth`; an object identifier (OID) for others.',
    ],
    pathLength: [
      orNull(Int),
      'Path length of a CA certificate: maximum number of authorities below it. Null: unlimited.',
    ],
    fingerprintSha1: [String, 'SHA-1 fingerprint, in upper-case hexadecimal.'],
    subjectKeyIdentifier: [orNull(String), 'Subject key identifier. Null if it has none.'],
    authorityKeyIdentifier: [orNull(String), 'Authority key identifier. Null if it has none.'],
  },
);
export type CertificateDetailsType = InstanceType<typeof CertificateDetailsType>;

/** A failed automatic renewal. */
export const RenewalFailureType = objectType('CertificateRenewalFailure', 'Why an automatic renewal failed.', {
  code: [
    String,
    'Error code, for example `CERTIFICATE_AUTHORITY_DISABLED`. `KEY_DISABLED`: it waits until the organization key of the project is enabled.',
  ],
  failedAt: [DateTime, 'When it failed, or began to wait.'],
  nextTryAt: [
    orNull(DateTime),
    'When it is tried again, if the certificate is then still to be renewed. Null if it waits for a key.',
  ],
});
export type RenewalFailureType = InstanceType<typeof RenewalFailureType>;

/** A certificate as the API shows it. */
export const CertificateType = objectType(
  'Certificate',
  'A certificate in the inventory of a project.',
  {
    projectId: [ID, 'ID of the project.'],
    authorityId: [
      orNull(ID),
      'ID of the authority of the project that issued the certificate. Null if it was issued elsewhere.',
    ],
    profileId: [
      orNull(ID),
      'ID of the profile that the certificate was issued by. Null if it has none or the profile was deleted.',
    ],
    profileSlug: [orNull(String), 'Slug of the profile that the certificate was issued by. Null if it has none.'],
    lineageId: [ID, 'ID of the lineage: the same for a certificate and all its renewals.'],
    renewedFromId: [
      orNull(ID),
      'ID of the certificate that this one renews, or was imported to replace. Null if there is none.',
    ],
    source: [CertificateSourceEnum, 'Whether the certificate was issued here or imported.'],
    commonName: [String, 'Common name (CN) of the subject. Empty if it has none.'],
    sans: [[String], 'Subject alternative names. For their kinds, see `details`.'],
    serialNumber: [String, 'Serial number, in upper-case hexadecimal, for example `4A7F09C2D1E85B36`.'],
    status: [CertificateStatusEnum, 'Status of the certificate.'],
    revokedAt: [orNull(DateTime), 'When the certificate was revoked. Null if it is not revoked.'],
    revocationReason: [orNull(RevocationReasonEnum), 'Why the certificate was revoked. Null if it is not revoked.'],
    notBefore: [DateTime, 'Start of the validity period.'],
    notAfter: [DateTime, 'End of the validity period.'],
    keyAlgorithm: [String, 'Algorithm of the key, for example `rsa-2048`, `ec-p256` or `ed25519`.'],
    fingerprintSha256: [
      String,
      'SHA-256 fingerprint, 64 upper-case hexadecimal digits, for example `9F86D081884C7D659A2FEAA0C55AD015A3BF4F1B2B0B822CD15D6C15B0F00A08`. Unique in the project.',
    ],
    hasPrivateKey: [Boolean, 'Whether the private key is stored: see `certificatePrivateKey`.'],
    isCa: [Boolean, 'Whether it is a CA certificate.'],
    renewBeforeDays: [
      orNull(Int),
      'How many days before expiration the service renews the certificate. 0: never. Null: the setting of its profile.',
    ],
    metadata: [[MetadataType], 'Metadata of the certificate.'],
    version: [Int, 'Version of the certificate in the inventory. Increments with every change.'],
    createdAt: [DateTime, 'When the certificate was added to the inventory.'],
    updatedAt: [DateTime, 'When the certificate was last changed in the inventory.'],
  },
  { implements: Node },
);
export type CertificateType = InstanceType<typeof CertificateType>;

export const CertificateConnection = connectionOf(CertificateType, 'Certificate', 'expiration, soonest first');

export const PrivateKeyType = objectType('CertificatePrivateKey', 'The private key of a certificate.', {
  certificate: [CertificateType, 'The certificate.'],
  privateKey: [String, 'The private key, in PEM (PKCS#8), unencrypted.'],
});
export type PrivateKeyType = InstanceType<typeof PrivateKeyType>;
