import { ID, Int } from 'type-graphql';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { enumType } from '../../../kernel/graphql/enums.js';
import { inputType } from '../../../kernel/graphql/inputs.js';
import { Node } from '../../../kernel/graphql/node.js';
import { objectType, orNull } from '../../../kernel/graphql/object-types.js';
import { connectionOf } from '../../../kernel/graphql/page.js';
import { RevocationReasonEnum } from '../revocation/revocation.type.js';
import type { SanKind } from '../x509/facts.js';
import type { KeyAlgorithm } from '../x509/keys.js';
import {
  type AuthorityKind,
  type AuthorityStatus,
  authorityKind,
  keyAlgorithm,
  NameConstraintsRules,
  nameKind,
  Subject,
  Subtree,
  settableStatus,
} from './authority.rules.js';

export const SanKindEnum = enumType<SanKind>(
  'CertificateNameKind',
  'Kinds of subject alternative names.',
  {
    dns: 'A DNS name, for example `www.example.com`.',
    ip: 'An IPv4 or IPv6 address.',
    email: 'An email address.',
    uri: 'A URI, for example `spiffe://example.com/api`.',
  },
  nameKind,
);
inputType('CertificateNameSubtreeInput', Subtree);
inputType('CertificateNameConstraintsInput', NameConstraintsRules);

const SubtreeType = objectType('CertificateNameSubtree', 'A subtree of names of one kind.', {
  kind: [SanKindEnum, 'Kind of the names.'],
  value: [String, 'Subtree of names, as given, for example `example.com` or `10.0.0.0/8`.'],
});

export const NameConstraintsType = objectType(
  'CertificateNameConstraints',
  'Name constraints: the names that certificates below an authority may have.',
  {
    permitted: [[SubtreeType], 'Permitted subtrees. Kinds that are not listed are not restricted.'],
    excluded: [[SubtreeType], 'Excluded subtrees.'],
  },
);
export type NameConstraintsType = InstanceType<typeof NameConstraintsType>;

const AuthorityKindEnum = enumType<AuthorityKind>(
  'CertificateAuthorityKind',
  'Kinds of certificate authorities.',
  {
    root: 'Signs its own certificate.',
    intermediate: 'Has a certificate signed by another authority, of the project or external.',
  },
  authorityKind,
);

const AuthorityStatusEnum = enumType<AuthorityStatus>(
  'CertificateAuthorityStatus',
  'Statuses of a certificate authority.',
  {
    active: 'Issues certificates, unless its own certificate has expired.',
    disabled: 'Issues no certificates.',
    pending: 'Waits for its own certificate from an external authority.',
  },
);
enumType<Exclude<AuthorityStatus, 'pending'>>(
  'CertificateAuthoritySwitch',
  'Statuses of a certificate authority that you can set.',
  {
    active: 'The authority can issue certificates.',
    disabled: 'The authority cannot issue certificates.',
  },
  settableStatus,
);

/** Names of key algorithms in GraphQL. */
export const KeyAlgorithmEnum = enumType<KeyAlgorithm>(
  'CertificateKeyAlgorithm',
  'Algorithms of keys.',
  {
    'rsa-2048': 'RSA with 2048 bits.',
    'rsa-3072': 'RSA with 3072 bits.',
    'rsa-4096': 'RSA with 4096 bits.',
    'ec-p256': 'ECDSA with the NIST curve P-256.',
    'ec-p384': 'ECDSA with the NIST curve P-384.',
    ed25519: 'EdDSA with the curve Ed25519.',
  },
  keyAlgorithm,
);

inputType('CertificateSubjectInput', Subject);

/** A former certificate of an authority. */
export const FormerCertificateType = objectType(
  'FormerAuthorityCertificate',
  'A former certificate of an authority, from before a renewal with the same key.',
  {
    certificate: [String, 'The certificate, in PEM.'],
    chain: [String, 'Certificates of its issuers, in PEM, from the direct issuer upwards. May be empty.'],
    serialNumber: [String, 'Serial number, in upper-case hexadecimal, for example `4A7F09C2D1E85B36`.'],
    notBefore: [DateTime, 'Start of the validity period.'],
    notAfter: [DateTime, 'End of the validity period.'],
    replacedAt: [DateTime, 'When a renewal replaced it.'],
  },
);
export type FormerCertificateType = InstanceType<typeof FormerCertificateType>;

/** An authority as the API shows it. */
export const AuthorityType = objectType(
  'CertificateAuthority',
  'A certificate authority (CA) of a project. Its private key is never returned.',
  {
    projectId: [ID, 'ID of the project.'],
    name: [String, 'Name of the authority, unique among the authorities of the project.'],
    kind: [AuthorityKindEnum, 'Kind of the authority.'],
    status: [AuthorityStatusEnum, 'Status of the authority.'],
    parentId: [
      orNull(ID),
      'ID of the authority of the project that signed the certificate. Null for a root, and if the issuer is external.',
    ],
    subject: [
      String,
      'Subject of the certificate, in the format of RFC 4514, for example `CN=Example Root,O=Example`.',
    ],
    commonName: [String, 'Common name (CN) of the subject. Empty if it has none.'],
    keyAlgorithm: [KeyAlgorithmEnum, 'Algorithm of the key.'],
    request: [
      orNull(String),
      'Certificate request (PKCS#10), in PEM, while the certificate or its renewal from an external authority is pending.',
    ],
    certificate: [orNull(String), 'The certificate, in PEM. Null while the authority is pending.'],
    chain: [String, 'Certificates of its issuers, in PEM, from the direct issuer upwards. May be empty.'],
    serialNumber: [
      orNull(String),
      'Serial number of the certificate, in upper-case hexadecimal. Null while the authority is pending.',
    ],
    notBefore: [orNull(DateTime), 'Start of the validity period. Null while the authority is pending.'],
    notAfter: [
      orNull(DateTime),
      'End of the validity period. Issued certificates expire no later. Null while the authority is pending.',
    ],
    maxPathLength: [
      orNull(Int),
      'Path length: maximum number of authorities in a chain below this one. Null: unlimited.',
    ],
    predecessorId: [orNull(ID), 'ID of the authority that this one succeeds. Null if there is none.'],
    revokedAt: [orNull(DateTime), 'When the certificate was revoked. Null if it is not revoked.'],
    revocationReason: [orNull(RevocationReasonEnum), 'Why the certificate was revoked. Null if it is not revoked.'],
    version: [Int, 'Version of the authority. Increments with every change.'],
    createdAt: [DateTime, 'When the authority was created.'],
    updatedAt: [DateTime, 'When the authority was last changed.'],
  },
  { implements: Node },
);
export type AuthorityType = InstanceType<typeof AuthorityType>;

export const AuthorityConnection = connectionOf(AuthorityType, 'CertificateAuthority', 'name');
