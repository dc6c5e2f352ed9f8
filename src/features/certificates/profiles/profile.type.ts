import { Field, ID, Int, ObjectType, registerEnumType } from 'type-graphql';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { enumOfRule, inputType } from '../../../kernel/graphql/inputs.js';
import { Node } from '../../../kernel/graphql/node.js';
import { countedConnectionOf } from '../../../kernel/graphql/page.js';
import { KeyAlgorithmEnum } from '../authorities/authority.type.js';
import { SanKindEnum } from '../authorities/name-constraints.type.js';
import type { SanKind } from '../x509/facts.js';
import type { KeyAlgorithm } from '../x509/keys.js';
import type { ExtendedKeyUsageName, KeyUsageName } from '../x509/usages.js';
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
  type ProfileRules,
  type SubjectAttribute,
  subjectAttribute,
} from './profile.rules.js';

const SubjectAttributeEnum = {
  COMMON_NAME: 'commonName',
  ORGANIZATION: 'organization',
  ORGANIZATIONAL_UNIT: 'organizationalUnit',
  LOCALITY: 'locality',
  PROVINCE: 'province',
  COUNTRY: 'country',
} as const satisfies Record<string, SubjectAttribute>;
registerEnumType(SubjectAttributeEnum, {
  name: 'CertificateSubjectAttributeType',
  description: 'Attributes of a subject.',
  valuesConfig: {
    COMMON_NAME: { description: 'Common name (CN).' },
    ORGANIZATION: { description: 'Organization (O).' },
    ORGANIZATIONAL_UNIT: { description: 'Organizational unit (OU).' },
    LOCALITY: { description: 'Locality (L).' },
    PROVINCE: { description: 'State or province (ST).' },
    COUNTRY: { description: 'Country (C): two letters.' },
  },
});
enumOfRule(subjectAttribute, SubjectAttributeEnum);

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
const CaPolicyEnum = {
  DENIED: 'denied',
  ALLOWED: 'allowed',
  REQUIRED: 'required',
} as const satisfies Record<string, CaPolicy>;
registerEnumType(CaPolicyEnum, {
  name: 'CertificateProfileCaPolicy',
  description: 'Whether a profile is for CA certificates.',
  valuesConfig: {
    DENIED: { description: 'No CA certificates.' },
    ALLOWED: { description: 'CA certificates, if the request asks for one.' },
    REQUIRED: { description: 'CA certificates only.' },
  },
});
enumOfRule(caPolicy, CaPolicyEnum);

inputType('CertificateProfileAttributeInput', AttributePolicy);
inputType('CertificateProfileNameInput', NamePolicy);
inputType('CertificateProfileKeyUsagesInput', KeyUsagePolicy);
inputType('CertificateProfileExtendedKeyUsagesInput', ExtendedKeyUsagePolicy);
inputType('CertificateProfileSubjectInput', DefaultSubject);
inputType('CertificateProfileDefaultsInput', ProfileDefaults);

const ALLOWED = 'Glob patterns, of which a value must match one. Null: any value; empty: none.';
const REQUIRED = 'Glob patterns, each of which at least one value must match. Null: none.';
const DENIED = 'Glob patterns that no value may match. Null: none.';

@ObjectType('CertificateProfileAttribute', { description: AttributePolicy.description, simpleResolvers: true })
class AttributePolicyType {
  @Field(() => SubjectAttributeEnum, { description: 'Subject attribute that the limits apply to.' })
  attribute!: SubjectAttribute;

  @Field(() => [String], { nullable: true, description: ALLOWED })
  allowed!: readonly string[] | null;

  @Field(() => [String], { nullable: true, description: REQUIRED })
  required!: readonly string[] | null;

  @Field(() => [String], { nullable: true, description: DENIED })
  denied!: readonly string[] | null;
}

@ObjectType('CertificateProfileName', { description: NamePolicy.description, simpleResolvers: true })
class NamePolicyType {
  @Field(() => SanKindEnum, { description: 'Kind of alternative names that the limits apply to.' })
  kind!: SanKind;

  @Field(() => [String], { nullable: true, description: ALLOWED })
  allowed!: readonly string[] | null;

  @Field(() => [String], { nullable: true, description: REQUIRED })
  required!: readonly string[] | null;

  @Field(() => [String], { nullable: true, description: DENIED })
  denied!: readonly string[] | null;
}

@ObjectType('CertificateProfileKeyUsages', { description: KeyUsagePolicy.description, simpleResolvers: true })
class KeyUsagePolicyType {
  @Field(() => [KeyUsageEnum], { nullable: true, description: 'Allowed key usages. Null: all; empty: none.' })
  allowed!: readonly KeyUsageName[] | null;

  @Field(() => [KeyUsageEnum], {
    nullable: true,
    description: 'Key usages that every certificate must have. Null: none.',
  })
  required!: readonly KeyUsageName[] | null;

  @Field(() => [KeyUsageEnum], { nullable: true, description: 'Key usages that no certificate may have. Null: none.' })
  denied!: readonly KeyUsageName[] | null;
}

@ObjectType('CertificateProfileExtendedKeyUsages', {
  description: ExtendedKeyUsagePolicy.description,
  simpleResolvers: true,
})
class ExtendedKeyUsagePolicyType {
  @Field(() => [ExtendedKeyUsageEnum], {
    nullable: true,
    description: 'Allowed extended key usages. Null: all; empty: none.',
  })
  allowed!: readonly ExtendedKeyUsageName[] | null;

  @Field(() => [ExtendedKeyUsageEnum], {
    nullable: true,
    description: 'Extended key usages that every certificate must have. Null: none.',
  })
  required!: readonly ExtendedKeyUsageName[] | null;

  @Field(() => [ExtendedKeyUsageEnum], {
    nullable: true,
    description: 'Extended key usages that no certificate may have. Null: none.',
  })
  denied!: readonly ExtendedKeyUsageName[] | null;
}

@ObjectType('CertificateProfileSubject', { description: DefaultSubject.description, simpleResolvers: true })
class DefaultSubjectType {
  @Field(() => String, { nullable: true, description: 'Organization (O).' })
  organization!: string | null;

  @Field(() => String, { nullable: true, description: 'Organizational unit (OU).' })
  organizationalUnit!: string | null;

  @Field(() => String, { nullable: true, description: 'Locality (L).' })
  locality!: string | null;

  @Field(() => String, { nullable: true, description: 'State or province (ST).' })
  province!: string | null;

  @Field(() => String, { nullable: true, description: 'Country (C).' })
  country!: string | null;
}

@ObjectType('CertificateProfileDefaults', { description: ProfileDefaults.description, simpleResolvers: true })
class DefaultsType {
  @Field(() => DefaultSubjectType, { nullable: true, description: 'Default subject attributes. Null: none.' })
  subject!: DefaultSubjectType | null;

  @Field(() => KeyAlgorithmEnum, { nullable: true, description: 'Default key algorithm. Null if not set.' })
  keyAlgorithm!: KeyAlgorithm | null;

  @Field(() => [KeyUsageEnum], {
    nullable: true,
    description: 'Default key usages. Null if not set; empty: no extension.',
  })
  keyUsages!: readonly KeyUsageName[] | null;

  @Field(() => [ExtendedKeyUsageEnum], {
    nullable: true,
    description: 'Default extended key usages. Null if not set; empty: no extension.',
  })
  extendedKeyUsages!: readonly ExtendedKeyUsageName[] | null;

  @Field(() => Int, { nullable: true, description: 'Default validity in days. Null if not set.' })
  validDays!: number | null;
}

/** A profile as the API shows it. */
@ObjectType('CertificateProfile', {
  implements: Node,
  description: 'Limits and defaults of certificates of one kind, and the authority of the project that issues them.',
  simpleResolvers: true,
})
export class ProfileType extends Node {
  @Field(() => ID, { description: 'ID of the project.' })
  projectId!: string;

  @Field(() => String, { description: 'Slug of the profile, unique in the project, for example `web-server`.' })
  slug!: string;

  @Field(() => String, { nullable: true, description: 'Description of the profile. Null if it has none.' })
  description!: string | null;

  @Field(() => ID, { description: 'ID of the certificate authority that issues its certificates.' })
  authorityId!: string;

  @Field(() => [AttributePolicyType], {
    nullable: true,
    description: 'Limits of subject attributes; others are not allowed. Null: any attributes; empty: none.',
  })
  subject!: ProfileRules['subject'];

  @Field(() => [NamePolicyType], {
    nullable: true,
    description: 'Limits of subject alternative names; other kinds are not allowed. Null: any names; empty: none.',
  })
  sans!: ProfileRules['sans'];

  @Field(() => [KeyAlgorithmEnum], {
    nullable: true,
    description: 'Allowed key algorithms. Null: any; empty: none.',
  })
  keyAlgorithms!: ProfileRules['keyAlgorithms'];

  @Field(() => KeyUsagePolicyType, { nullable: true, description: 'Limits of key usages. Null: any.' })
  keyUsages!: ProfileRules['keyUsages'];

  @Field(() => ExtendedKeyUsagePolicyType, {
    nullable: true,
    description: 'Limits of extended key usages. Null: any.',
  })
  extendedKeyUsages!: ProfileRules['extendedKeyUsages'];

  @Field(() => CaPolicyEnum, { description: 'Whether CA certificates are allowed.' })
  ca!: ProfileRules['ca'];

  @Field(() => Int, {
    nullable: true,
    description: 'Maximum path length of CA certificates. Null: unlimited.',
  })
  maxPathLength!: ProfileRules['maxPathLength'];

  @Field(() => Int, {
    nullable: true,
    description: 'Maximum validity in days. Null: limited only by the issuer.',
  })
  maxDays!: ProfileRules['maxDays'];

  @Field(() => DefaultsType, {
    nullable: true,
    description: 'Defaults for fields that a request does not set. Null if not set.',
  })
  defaults!: ProfileRules['defaults'];

  @Field(() => Int, {
    nullable: true,
    description: 'How many days before expiration the service renews a certificate. Null or 0: never.',
  })
  renewBeforeDays!: number | null;

  @Field(() => Int, { description: 'Version of the profile. Increments with every change.' })
  version!: number;

  @Field(() => DateTime, { description: 'When the profile was created.' })
  createdAt!: Date;

  @Field(() => DateTime, { description: 'When the profile was last changed.' })
  updatedAt!: Date;
}

export const ProfileConnection = countedConnectionOf(ProfileType, 'CertificateProfile', 'slug');
