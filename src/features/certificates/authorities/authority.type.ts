import { Field, ID, Int, ObjectType, registerEnumType } from 'type-graphql';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { enumOfRule, inputType } from '../../../kernel/graphql/inputs.js';
import { Node } from '../../../kernel/graphql/node.js';
import { countedConnectionOf } from '../../../kernel/graphql/page.js';
import type { RevocationReason } from '../revocation/revocation.rules.js';
import { RevocationReasonEnum } from '../revocation/revocation.type.js';
import type { KeyAlgorithm } from '../x509/keys.js';
import {
  type AuthorityKind,
  type AuthorityStatus,
  authorityKind,
  keyAlgorithm,
  Subject,
  settableStatus,
} from './authority.rules.js';

const AuthorityKindEnum = {
  ROOT: 'root',
  INTERMEDIATE: 'intermediate',
} as const satisfies Record<string, AuthorityKind>;
registerEnumType(AuthorityKindEnum, {
  name: 'CertificateAuthorityKind',
  description: 'Who signs the certificate of an authority.',
  valuesConfig: {
    ROOT: { description: 'The authority itself.' },
    INTERMEDIATE: { description: 'Another authority, of the project or outside.' },
  },
});
enumOfRule(authorityKind, AuthorityKindEnum);

const AuthorityStatusEnum = {
  ACTIVE: 'active',
  DISABLED: 'disabled',
  PENDING: 'pending',
} as const satisfies Record<string, AuthorityStatus>;
registerEnumType(AuthorityStatusEnum, {
  name: 'CertificateAuthorityStatus',
  description: 'Whether an authority issues certificates.',
  valuesConfig: {
    ACTIVE: { description: 'It issues certificates, until its own expires.' },
    DISABLED: { description: 'It issues none until it is enabled again.' },
    PENDING: { description: 'It waits for its own certificate.' },
  },
});
const SettableStatusEnum = {
  ACTIVE: 'active',
  DISABLED: 'disabled',
} as const satisfies Record<string, AuthorityStatus>;
registerEnumType(SettableStatusEnum, {
  name: 'CertificateAuthoritySwitch',
  description: 'Whether an authority may issue certificates.',
  valuesConfig: { ACTIVE: { description: 'It may.' }, DISABLED: { description: 'It may not.' } },
});
enumOfRule(settableStatus, SettableStatusEnum);

/** GraphQL's names of key algorithms. */
export const KeyAlgorithmEnum = {
  RSA_2048: 'rsa-2048',
  RSA_3072: 'rsa-3072',
  RSA_4096: 'rsa-4096',
  EC_P256: 'ec-p256',
  EC_P384: 'ec-p384',
  ED25519: 'ed25519',
} as const satisfies Record<string, KeyAlgorithm>;
registerEnumType(KeyAlgorithmEnum, {
  name: 'CertificateKeyAlgorithm',
  description: 'What keys of certificates are made with.',
  valuesConfig: {
    RSA_2048: { description: 'RSA with 2048 bits.' },
    RSA_3072: { description: 'RSA with 3072 bits.' },
    RSA_4096: { description: 'RSA with 4096 bits.' },
    EC_P256: { description: 'The curve P-256 of NIST.' },
    EC_P384: { description: 'The curve P-384 of NIST.' },
    ED25519: { description: 'The curve Ed25519.' },
  },
});
enumOfRule(keyAlgorithm, KeyAlgorithmEnum);

inputType('CertificateSubjectInput', Subject);

/** What an authority had before it was renewed. */
@ObjectType('FormerAuthorityCertificate', {
  description: 'A certificate that an authority had before it was renewed, of the same key.',
  simpleResolvers: true,
})
export class FormerCertificateType {
  @Field(() => String, { description: 'PEM: the certificate.' })
  certificate!: string;

  @Field(() => String, { description: 'PEM: the certificates of its issuers, from the next one up; may be empty.' })
  chain!: string;

  @Field(() => String, { description: 'Its serial number, hexadecimal in upper case.' })
  serialNumber!: string;

  @Field(() => DateTime, { description: 'When it begins.' })
  notBefore!: Date;

  @Field(() => DateTime, { description: 'When it expires.' })
  notAfter!: Date;

  @Field(() => DateTime, { description: 'When another one replaced it.' })
  replacedAt!: Date;
}

/** What the API shows of an authority. */
@ObjectType('CertificateAuthority', {
  implements: Node,
  description: 'An authority of one project, which issues certificates. Its private key is never shown.',
  simpleResolvers: true,
})
export class AuthorityType extends Node {
  @Field(() => ID, { description: 'ID of the project.' })
  projectId!: string;

  @Field(() => String, { description: 'What people call it; unique among the authorities of the project.' })
  name!: string;

  @Field(() => AuthorityKindEnum, { description: 'Who signs its certificate.' })
  kind!: AuthorityKind;

  @Field(() => AuthorityStatusEnum, { description: 'Whether it issues certificates.' })
  status!: AuthorityStatus;

  @Field(() => ID, {
    nullable: true,
    description: 'The authority of the project that signed its certificate; null for a root, and for one outside.',
  })
  parentId!: string | null;

  @Field(() => String, { description: 'Subject of its certificate, as RFC 4514 writes it.' })
  subject!: string;

  @Field(() => String, { description: 'Common name of its subject; empty if it has none.' })
  commonName!: string;

  @Field(() => KeyAlgorithmEnum, { description: 'What its key is made with.' })
  keyAlgorithm!: string;

  @Field(() => String, {
    nullable: true,
    description:
      'PEM: the request for its certificate, or for its renewal, while an authority outside has not answered it.',
  })
  request!: string | null;

  @Field(() => String, { nullable: true, description: 'PEM: its certificate; null while it is pending.' })
  certificate!: string | null;

  @Field(() => String, { description: 'PEM: the certificates of its issuers, from the next one up; may be empty.' })
  chain!: string;

  @Field(() => String, {
    nullable: true,
    description: 'Serial number of its certificate, hexadecimal in upper case; null while it is pending.',
  })
  serialNumber!: string | null;

  @Field(() => DateTime, { nullable: true, description: 'When its certificate begins; null while it is pending.' })
  notBefore!: Date | null;

  @Field(() => DateTime, {
    nullable: true,
    description: 'When its certificate expires. What it issues expires no later. Null while it is pending.',
  })
  notAfter!: Date | null;

  @Field(() => Int, {
    nullable: true,
    description: 'How many authorities there may be in a chain below it; null: any number.',
  })
  maxPathLength!: number | null;

  @Field(() => ID, { nullable: true, description: 'The authority that it follows; null for none.' })
  predecessorId!: string | null;

  @Field(() => DateTime, { nullable: true, description: 'When its certificate was revoked; null if it is not.' })
  revokedAt!: Date | null;

  @Field(() => RevocationReasonEnum, { nullable: true, description: 'Why it was revoked; null if it is not.' })
  revocationReason!: RevocationReason | null;

  @Field(() => Int, { description: 'Rises with every change.' })
  version!: number;

  @Field(() => DateTime, { description: 'When it was made.' })
  createdAt!: Date;

  @Field(() => DateTime, { description: 'When it was last changed.' })
  updatedAt!: Date;
}

export const AuthorityConnection = countedConnectionOf(AuthorityType, 'CertificateAuthority', 'name');
