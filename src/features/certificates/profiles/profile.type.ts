import { ID, Int, registerEnumType } from 'type-graphql';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { enumType } from '../../../kernel/graphql/enums.js';
import { enumOfRule, inputType } from '../../../kernel/graphql/inputs.js';
import { Node } from '../../../kernel/graphql/node.js';
import { objectType, orNull, typedAs } from '../../../kernel/graphql/object-types.js';
import { connectionOf } from '../../../kernel/graphql/page.js';
import { KeyAlgorithmEnum, SanKindEnum } from '../authorities/authority.type.js';
import type { ExtendedKeyUsageName, KeyUsageName } from '../x509/usages.js';
import type { ProfileRules } from './profile.rules.js';
import {
  AttributePolicy,
  type CA_POLICIES,
  caPolicy,
  DefaultSubject,
  ExtendedKeyUsagePolicy,
  extendedKeyUsage,
  KeyUsagePolicy,
  keyUsage,
  NamePolicy,
  ProfileDefaults,
  type SubjectAttribute,
  subjectAttribute,
} from './profile.rules.js';

const SubjectAttributeEnum = enumType<SubjectAttribute>(
  'CertificateSubjectAttributeType',
  'Attributes of a subject.',
  {
    commonName: 'Common name (CN).',
    organization: 'Organization (O).',
    organizationalUnit: 'Organizational unit (OU).',
    locality: 'Locality (L).',
    province: 'State or province (ST).',
    country: 'Country (C): two letters.',
  },
  subjectAttribute,
);

const KeyUsageEnum = {
  DIGITAL_SIGNATURE: 'digitalSignature',
  NON_REPUDIATION: 'nonRepudiation',
  KEY_ENCIPHERMENT: 'keyEncipherment',
  DATA_ENCIPHERMENT: 'dataEncipherment',
  KEY_AGREEMENT: 'keyAgreement',
  KEY_CERT_SIGN: 'keyCertSign',
  CRL_SIGN: 'cRLSign',
  ENCIPHER_ONLY: 'encipherOnly',
  DECIPHER_ONLY: 'decipherOnly',
} as const satisfies Record<string, KeyUsageName>;
registerEnumType(KeyUsageEnum, {
  name: 'CertificateKeyUsage',
  description: 'Key usages (RFC 5280, section 4.2.1.3).',
  valuesConfig: {
    DIGITAL_SIGNATURE: { description: 'Signatures, except on certificates and revocation lists.' },
    NON_REPUDIATION: { description: 'Signatures that the signer cannot deny later.' },
    KEY_ENCIPHERMENT: { description: 'Encryption of keys, as in RSA key exchange.' },
    DATA_ENCIPHERMENT: { description: 'Encryption of data other than keys.' },
    KEY_AGREEMENT: { description: 'Key agreement, as in Diffie-Hellman.' },
    KEY_CERT_SIGN: { description: 'Signatures on certificates. For CA certificates only.' },
    CRL_SIGN: { description: 'Signatures on certificate revocation lists (CRL).' },
    ENCIPHER_ONLY: { description: 'With key agreement: only for encryption.' },
    DECIPHER_ONLY: { description: 'With key agreement: only for decryption.' },
  },
});
enumOfRule(keyUsage, KeyUsageEnum);

const ExtendedKeyUsageEnum = {
  SERVER_AUTH: 'serverAuth',
  CLIENT_AUTH: 'clientAuth',
  CODE_SIGNING: 'codeSigning',
  EMAIL_PROTECTION: 'emailProtection',
  TIME_STAMPING: 'timeStamping',
  OCSP_SIGNING: 'OCSPSigning',
} as const satisfies Record<string, ExtendedKeyUsageName>;
registerEnumType(ExtendedKeyUsageEnum, {
  name: 'CertificateExtendedKeyUsage',
  description: 'Extended key usages (RFC 5280, section 4.2.1.12).',
  valuesConfig: {
    SERVER_AUTH: { description: 'TLS server authentication.' },
    CLIENT_AUTH: { description: 'TLS client authentication.' },
    CODE_SIGNING: { description: 'Signatures on executable code.' },
    EMAIL_PROTECTION: { description: 'Signing and encryption of emails (S/MIME).' },
    TIME_STAMPING: { description: 'Signatures on timestamps.' },
    OCSP_SIGNING: { description: 'Signatures on OCSP responses.' },
  },
});
enumOfRule(extendedKeyUsage, ExtendedKeyUsageEnum);

type CaPolicy = (typeof CA_POLICIES)[number];
const CaPolicyEnum = enumType<CaPolicy>(
  'CertificateProfileCaPolicy',
  'Whether a profile is for CA certificates.',
  {
    denied: 'No CA certificates.',
    allowed: 'CA certificates, if the request asks for one.',
    required: 'CA certificates only.',
  },
  caPolicy,
);

inputType('CertificateProfileAttributeInput', AttributePolicy);
inputType('CertificateProfileNameInput', NamePolicy);
inputType('CertificateProfileKeyUsagesInput', KeyUsagePolicy);
inputType('CertificateProfileExtendedKeyUsagesInput', ExtendedKeyUsagePolicy);
inputType('CertificateProfileSubjectInput', DefaultSubject);
inputType('CertificateProfileDefaultsInput', ProfileDefaults);

const ALLOWED = 'Glob patterns, of which a value must match one. Null: any value; empty: none.';
const REQUIRED = 'Glob patterns, each of which at least one value must match. Null: none.';
const DENIED = 'Glob patterns that no value may match. Null: none.';

const AttributePolicyType = objectType('CertificateProfileAttribute', AttributePolicy.description, {
  attribute: [SubjectAttributeEnum, 'Subject attribute that the limits apply to.'],
  allowed: [orNull([String]), ALLOWED],
  required: [orNull([String]), REQUIRED],
  denied: [orNull([String]), DENIED],
});

const NamePolicyType = objectType('CertificateProfileName', NamePolicy.description, {
  kind: [SanKindEnum, 'Kind of alternative names that the limits apply to.'],
  allowed: [orNull([String]), ALLOWED],
  required: [orNull([String]), REQUIRED],
  denied: [orNull([String]), DENIED],
});

const KeyUsagePolicyType = objectType('CertificateProfileKeyUsages', KeyUsagePolicy.description, {
  allowed: [orNull([KeyUsageEnum]), 'Allowed key usages. Null: all; empty: none.'],
  required: [orNull([KeyUsageEnum]), 'Key usages that every certificate must have. Null: none.'],
  denied: [orNull([KeyUsageEnum]), 'Key usages that no certificate may have. Null: none.'],
});

const ExtendedKeyUsagePolicyType = objectType(
  'CertificateProfileExtendedKeyUsages',
  ExtendedKeyUsagePolicy.description,
  {
    allowed: [orNull([ExtendedKeyUsageEnum]), 'Allowed extended key usages. Null: all; empty: none.'],
    required: [orNull([ExtendedKeyUsageEnum]), 'Extended key usages that every certificate must have. Null: none.'],
    denied: [orNull([ExtendedKeyUsageEnum]), 'Extended key usages that no certificate may have. Null: none.'],
  },
);

const DefaultSubjectType = objectType('CertificateProfileSubject', DefaultSubject.description, {
  organization: [orNull(String), 'Organization (O).'],
  organizationalUnit: [orNull(String), 'Organizational unit (OU).'],
  locality: [orNull(String), 'Locality (L).'],
  province: [orNull(String), 'State or province (ST).'],
  country: [orNull(String), 'Country (C).'],
});

const DefaultsType = objectType('CertificateProfileDefaults', ProfileDefaults.description, {
  subject: [orNull(DefaultSubjectType), 'Default subject attributes. Null: none.'],
  keyAlgorithm: [orNull(KeyAlgorithmEnum), 'Default key algorithm. Null if not set.'],
  keyUsages: [orNull([KeyUsageEnum]), 'Default key usages. Null if not set; empty: no extension.'],
  extendedKeyUsages: [
    orNull([ExtendedKeyUsageEnum]),
    'Default extended key usages. Null if not set; empty: no extension.',
  ],
  validDays: [orNull(Int), 'Default validity in days. Null if not set.'],
});

/** A profile as the API shows it. */
export const ProfileType = objectType(
  'CertificateProfile',
  'Limits and defaults of certificates of one kind, and the authority of the project that issues them.',
  {
    projectId: [ID, 'ID of the project.'],
    slug: [String, 'Slug of the profile, unique in the project, for example `web-server`.'],
    description: [orNull(String), 'Description of the profile. Null if it has none.'],
    authorityId: [ID, 'ID of the certificate authority that issues its certificates.'],
    subject: [
      orNull(typedAs<NonNullable<ProfileRules['subject']>>([AttributePolicyType])),
      'Limits of subject attributes; others are not allowed. Null: any attributes; empty: none.',
    ],
    sans: [
      orNull(typedAs<NonNullable<ProfileRules['sans']>>([NamePolicyType])),
      'Limits of subject alternative names; other kinds are not allowed. Null: any names; empty: none.',
    ],
    keyAlgorithms: [orNull([KeyAlgorithmEnum]), 'Allowed key algorithms. Null: any; empty: none.'],
    keyUsages: [
      orNull(typedAs<NonNullable<ProfileRules['keyUsages']>>(KeyUsagePolicyType)),
      'Limits of key usages. Null: any.',
    ],
    extendedKeyUsages: [
      orNull(typedAs<NonNullable<ProfileRules['extendedKeyUsages']>>(ExtendedKeyUsagePolicyType)),
      'Limits of extended key usages. Null: any.',
    ],
    ca: [CaPolicyEnum, 'Whether CA certificates are allowed.'],
    maxPathLength: [orNull(Int), 'Maximum path length of CA certificates. Null: unlimited.'],
    maxDays: [orNull(Int), 'Maximum validity in days. Null: limited only by the issuer.'],
    defaults: [
      orNull(typedAs<NonNullable<ProfileRules['defaults']>>(DefaultsType)),
      'Defaults for fields that a request does not set. Null if not set.',
    ],
    renewBeforeDays: [
      orNull(Int),
      'How many days before expiration the service renews a certificate. Null or 0: never.',
    ],
    version: [Int, 'Version of the profile. Increments with every change.'],
    createdAt: [DateTime, 'When the profile was created.'],
    updatedAt: [DateTime, 'When the profile was last changed.'],
  },
  { implements: Node },
);
export type ProfileType = InstanceType<typeof ProfileType>;

export const ProfileConnection = connectionOf(ProfileType, 'CertificateProfile', 'slug');
