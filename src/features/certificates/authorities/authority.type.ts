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
  description: 'Kinds of certificate authorities.',
  valuesConfig: {
    ROOT: { description: 'Signs its own certificate.' },
    INTERMEDIATE: { description: 'Has a certificate signed by another authority, of the project or external.' },
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
  description: 'Statuses of a certificate authority.',
  valuesConfig: {
    ACTIVE: { description: 'Issues certificates, unless its own certificate has expired.' },
    DISABLED: { description: 'Issues no certificates.' },
    PENDING: { description: 'Waits for its own certificate from an external authority.' },
  },
});
const SettableStatusEnum = {
  ACTIVE: 'active',
  DISABLED: 'disabled',
} as const satisfies Record<string, AuthorityStatus>;
registerEnumType(SettableStatusEnum, {
  name: 'CertificateAuthoritySwitch',
  description: 'Statuses of a certificate authority that you can set.',
  valuesConfig: {
    ACTIVE: { description: 'The authority can issue certificates.' },
    DISABLED: { description: 'The authority cannot issue certificates.' },
  },
});
enumOfRule(settableStatus, SettableStatusEnum);

/** Names of key algorithms in GraphQL. */
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
  description: 'Algorithms of keys.',
  valuesConfig: {
    RSA_2048: { description: 'RSA with 2048 bits.' },
    RSA_3072: { description: 'RSA with 3072 bits.' },
    RSA_4096: { description: 'RSA with 4096 bits.' },
    EC_P256: { description: 'ECDSA with the NIST curve P-256.' },
    EC_P384: { description: 'ECDSA with the NIST curve P-384.' },
    ED25519: { description: 'EdDSA with the curve Ed25519.' },
  },
});
enumOfRule(keyAlgorithm, KeyAlgorithmEnum);

inputType('CertificateSubjectInput', Subject);

/** A former certificate of an authority. */
@ObjectType('FormerAuthorityCertificate', {
  description: 'A former certificate of an authority, from before a renewal with the same key.',
  simpleResolvers: true,
})
export class FormerCertificateType {
  @Field(() => String, { description: 'The certificate, in PEM.' })
  certificate!: string;

  @Field(() => String, {
    description: 'Certificates of its issuers, in PEM, from the direct issuer upwards. May be empty.',
  })
  chain!: string;

  @Field(() => String, { description: 'Serial number, in upper-case hexadecimal, for example `4A7F09C2D1E85B36`.' })
  serialNumber!: string;

  @Field(() => DateTime, { description: 'Start of the validity period.' })
  notBefore!: Date;

  @Field(() => DateTime, { description: 'End of the validity period.' })
  notAfter!: Date;

  @Field(() => DateTime, { description: 'When a renewal replaced it.' })
  replacedAt!: Date;
}

/** An authority as the API shows it. */
@ObjectType('CertificateAuthority', {
  implements: Node,
  description: 'A certificate authority (CA) of a project. Its private key is never returned.',
  simpleResolvers: true,
})
export class AuthorityType extends Node {
  @Field(() => ID, { description: 'ID of the project.' })
  projectId!: string;

  @Field(() => String, { description: 'Name of the authority, unique among the authorities of the project.' })
  name!: string;

  @Field(() => AuthorityKindEnum, { description: 'Kind of the authority.' })
  kind!: AuthorityKind;

  @Field(() => AuthorityStatusEnum, { description: 'Status of the authority.' })
  status!: AuthorityStatus;

  @Field(() => ID, {
    nullable: true,
    description:
      'ID of the authority of the project that signed the certificate. Null for a root, and if the issuer is external.',
  })
  parentId!: string | null;

  @Field(() => String, {
    description: 'Subject of the certificate, in the format of RFC 4514, for example `CN=Example Root,O=Example`.',
  })
  subject!: string;

  @Field(() => String, { description: 'Common name (CN) of the subject. Empty if it has none.' })
  commonName!: string;

  @Field(() => KeyAlgorithmEnum, { description: 'Algorithm of the key.' })
  keyAlgorithm!: string;

  @Field(() => String, {
    nullable: true,
    description:
      'Certificate request (PKCS#10), in PEM, while the certificate or its renewal from an external authority is pending.',
  })
  request!: string | null;

  @Field(() => String, { nullable: true, description: 'The certificate, in PEM. Null while the authority is pending.' })
  certificate!: string | null;

  @Field(() => String, {
    description: 'Certificates of its issuers, in PEM, from the direct issuer upwards. May be empty.',
  })
  chain!: string;

  @Field(() => String, {
    nullable: true,
    description: 'Serial number of the certificate, in upper-case hexadecimal. Null while the authority is pending.',
  })
  serialNumber!: string | null;

  @Field(() => DateTime, {
    nullable: true,
    description: 'Start of the validity period. Null while the authority is pending.',
  })
  notBefore!: Date | null;

  @Field(() => DateTime, {
    nullable: true,
    description:
      'End of the validity period. Issued certificates expire no later. Null while the authority is pending.',
  })
  notAfter!: Date | null;

  @Field(() => Int, {
    nullable: true,
    description: 'Path length: maximum number of authorities in a chain below this one. Null: unlimited.',
  })
  maxPathLength!: number | null;

  @Field(() => ID, {
    nullable: true,
    description: 'ID of the authority that this one succeeds. Null if there is none.',
  })
  predecessorId!: string | null;

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

  @Field(() => Int, { description: 'Version of the authority. Increments with every change.' })
  version!: number;

  @Field(() => DateTime, { description: 'When the authority was created.' })
  createdAt!: Date;

  @Field(() => DateTime, { description: 'When the authority was last changed.' })
  updatedAt!: Date;
}

export const AuthorityConnection = countedConnectionOf(AuthorityType, 'CertificateAuthority', 'name');
