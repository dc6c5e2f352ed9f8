import { registerEnumType } from 'type-graphql';
import { enumOfRule } from '../../../kernel/graphql/inputs.js';
import { type RevocationReason, revocationReason } from './revocation.rules.js';

export const RevocationReasonEnum = {
  UNSPECIFIED: 'unspecified',
  KEY_COMPROMISE: 'keyCompromise',
  CA_COMPROMISE: 'cACompromise',
  AFFILIATION_CHANGED: 'affiliationChanged',
  SUPERSEDED: 'superseded',
  CESSATION_OF_OPERATION: 'cessationOfOperation',
  CERTIFICATE_HOLD: 'certificateHold',
  PRIVILEGE_WITHDRAWN: 'privilegeWithdrawn',
  AA_COMPROMISE: 'aACompromise',
} as const satisfies Record<string, RevocationReason>;
registerEnumType(RevocationReasonEnum, {
  name: 'CertificateRevocationReason',
  description: 'Why a certificate was revoked, as in RFC 5280.',
  valuesConfig: {
    UNSPECIFIED: { description: 'Nobody said why.' },
    KEY_COMPROMISE: { description: 'Somebody else has its private key.' },
    CA_COMPROMISE: { description: 'Somebody else has the private key of its authority.' },
    AFFILIATION_CHANGED: { description: 'Its subject is called otherwise now.' },
    SUPERSEDED: { description: 'Another certificate replaces it.' },
    CESSATION_OF_OPERATION: { description: 'It is needed no more.' },
    CERTIFICATE_HOLD: { description: 'It is on hold.' },
    PRIVILEGE_WITHDRAWN: { description: 'Its subject lost the rights that it stands for.' },
    AA_COMPROMISE: { description: 'Somebody else has the private key of its attribute authority.' },
  },
});
enumOfRule(revocationReason, RevocationReasonEnum);
