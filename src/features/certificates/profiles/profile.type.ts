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
  description: 'An attribute of the name of a subject.',
  valuesConfig: {
    COMMON_NAME: { description: 'CN.' },
    ORGANIZATION: { description: 'O.' },
    ORGANIZATIONAL_UNIT: { description: 'OU.' },
    LOCALITY: { description: 'L.' },
    PROVINCE: { description: 'ST: state or province.' },
    COUNTRY: { description: 'C, two letters.' },
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
  description: 'What a key may be used for. Source: RFC 5280, section 4.2.1.3.',
  valuesConfig: {
    DIGITAL_SIGNATURE: { description: 'To sign what is neither a certificate nor a revocation list.' },
    NON_REPUDIATION: { description: 'To sign what the signer shall not deny later.' },
    KEY_ENCIPHERMENT: { description: 'To encrypt keys, as RSA does in older handshakes.' },
    DATA_ENCIPHERMENT: { description: 'To encrypt data itself.' },
    KEY_AGREEMENT: { description: 'To agree on keys.' },
    KEY_CERT_SIGN: { description: 'To sign certificates: for authorities only.' },
    CRL_SIGN: { description: 'To sign revocation lists.' },
    ENCIPHER_ONLY: { description: 'With key agreement: to encrypt only.' },
    DECIPHER_ONLY: { description: 'With key agreement: to decrypt only.' },
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
  description: 'For which purpose a key may be used. Source: RFC 5280, section 4.2.1.12.',
  valuesConfig: {
    SERVER_AUTH: { description: 'As a server in TLS.' },
    CLIENT_AUTH: { description: 'As a client in TLS.' },
    CODE_SIGNING: { description: 'To sign programs.' },
    EMAIL_PROTECTION: { description: 'To sign and encrypt mails.' },
    TIME_STAMPING: { description: 'To sign that something was there at a time.' },
    OCSP_SIGNING: { description: 'To sign answers about revocation.' },
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
  description: 'Whether certificates of a profile are those of authorities.',
  valuesConfig: {
    DENIED: { description: 'None is.' },
    ALLOWED: { description: 'Those whose request says so.' },
    REQUIRED: { description: 'All are.' },
  },
});
enumOfRule(caPolicy, CaPolicyEnum);

inputType('CertificateProfileAttributeInput', AttributePolicy);
inputType('CertificateProfileNameInput', NamePolicy);
inputType('CertificateProfileKeyUsagesInput', KeyUsagePolicy);
inputType('CertificateProfileExtendedKeyUsagesInput', ExtendedKeyUsagePolicy);
inputType('CertificateProfileSubjectInput', DefaultSubject);
inputType('CertificateProfileDefaultsInput', ProfileDefaults);

const ALLOWED = 'Globs of which a value has to match one; null: any value; empty: none.';
const REQUIRED = 'Globs each of which a value has to match; null for none.';
const DENIED = 'Globs that no value may match; null for none.';

@ObjectType('CertificateProfileAttribute', { description: AttributePolicy.description, simpleResolvers: true })
class AttributePolicyType {
  @Field(() => SubjectAttributeEnum, { description: 'Which attribute.' })
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
  @Field(() => SanKindEnum, { description: 'Which kind.' })
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
  @Field(() => [KeyUsageEnum], { nullable: true, description: 'Those that are allowed; null: all; empty: none.' })
  allowed!: readonly KeyUsageName[] | null;

  @Field(() => [KeyUsageEnum], { nullable: true, description: 'Those that each certificate has; null for none.' })
  required!: readonly KeyUsageName[] | null;

  @Field(() => [KeyUsageEnum], { nullable: true, description: 'Those that no certificate has; null for none.' })
  denied!: readonly KeyUsageName[] | null;
}

@ObjectType('CertificateProfileExtendedKeyUsages', {
  description: ExtendedKeyUsagePolicy.description,
  simpleResolvers: true,
})
class ExtendedKeyUsagePolicyType {
  @Field(() => [ExtendedKeyUsageEnum], {
    nullable: true,
    description: 'Those that are allowed; null: all; empty: none.',
  })
  allowed!: readonly ExtendedKeyUsageName[] | null;

  @Field(() => [ExtendedKeyUsageEnum], {
    nullable: true,
    description: 'Those that each certificate has; null for none.',
  })
  required!: readonly ExtendedKeyUsageName[] | null;

  @Field(() => [ExtendedKeyUsageEnum], { nullable: true, description: 'Those that no certificate has; null for none.' })
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
  @Field(() => DefaultSubjectType, { nullable: true, description: 'Parts of the subject; null for none.' })
  subject!: DefaultSubjectType | null;

  @Field(() => KeyAlgorithmEnum, { nullable: true, description: 'What keys are made with; null if nobody said.' })
  keyAlgorithm!: KeyAlgorithm | null;

  @Field(() => [KeyUsageEnum], { nullable: true, description: 'Usages of the key; null if nobody said; empty: none.' })
  keyUsages!: readonly KeyUsageName[] | null;

  @Field(() => [ExtendedKeyUsageEnum], {
    nullable: true,
    description: 'Extended usages; null if nobody said; empty: none.',
  })
  extendedKeyUsages!: readonly ExtendedKeyUsageName[] | null;

  @Field(() => Int, { nullable: true, description: 'How long certificates last, in days; null if nobody said.' })
  validDays!: number | null;
}

/** What the API shows of a profile. */
@ObjectType('CertificateProfile', {
  implements: Node,
  description: 'What certificates of one kind may be, and which authority of the project issues them.',
  simpleResolvers: true,
})
export class ProfileType extends Node {
  @Field(() => ID, { description: 'ID of the project.' })
  projectId!: string;

  @Field(() => String, { description: 'What people and alerts call it; unique in the project.' })
  slug!: string;

  @Field(() => String, { nullable: true, description: 'What it is for; null if nobody said.' })
  description!: string | null;

  @Field(() => ID, { description: 'The certificate authority that issues its certificates.' })
  authorityId!: string;

  @Field(() => [AttributePolicyType], {
    nullable: true,
    description: 'Attributes that a subject may have; null: any; empty: none.',
  })
  subject!: ProfileRules['subject'];

  @Field(() => [NamePolicyType], {
    nullable: true,
    description: 'Kinds of alternative names that there may be; null: any; empty: none.',
  })
  sans!: ProfileRules['sans'];

  @Field(() => [KeyAlgorithmEnum], {
    nullable: true,
    description: 'What keys may be made with; null: any algorithm; empty: none.',
  })
  keyAlgorithms!: ProfileRules['keyAlgorithms'];

  @Field(() => KeyUsagePolicyType, { nullable: true, description: 'What keys may be used for; null: anything.' })
  keyUsages!: ProfileRules['keyUsages'];

  @Field(() => ExtendedKeyUsagePolicyType, {
    nullable: true,
    description: 'For which purposes keys may be used; null: any.',
  })
  extendedKeyUsages!: ProfileRules['extendedKeyUsages'];

  @Field(() => CaPolicyEnum, { description: 'Whether its certificates are those of authorities.' })
  ca!: ProfileRules['ca'];

  @Field(() => Int, {
    nullable: true,
    description: 'Of certificates of authorities, how many authorities may follow below, at most; null: any number.',
  })
  maxPathLength!: ProfileRules['maxPathLength'];

  @Field(() => Int, {
    nullable: true,
    description: 'How long certificates may last, in days; null: as long as their issuer.',
  })
  maxDays!: ProfileRules['maxDays'];

  @Field(() => DefaultsType, {
    nullable: true,
    description: 'What certificates have where their request does not say; null if nobody said.',
  })
  defaults!: ProfileRules['defaults'];

  @Field(() => Int, {
    nullable: true,
    description: 'How many days before its end the service renews a certificate; null or 0: never.',
  })
  renewBeforeDays!: number | null;

  @Field(() => Int, { description: 'Rises with every change.' })
  version!: number;

  @Field(() => DateTime, { description: 'When it was made.' })
  createdAt!: Date;

  @Field(() => DateTime, { description: 'When it was last changed.' })
  updatedAt!: Date;
}

export const ProfileConnection = countedConnectionOf(ProfileType, 'CertificateProfile', 'slug');
