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
  description: 'Reasons of revocations, as in RFC 5280.',
  valuesConfig: {
    UNSPECIFIED: { description: 'No reason was given.' },
    KEY_COMPROMISE: { description: 'The private key was compromised.' },
    CA_COMPROMISE: { description: 'The private key of the certificate authority was compromised.' },
    AFFILIATION_CHANGED: { description: 'The name or affiliation of the subject has changed.' },
    SUPERSEDED: { description: 'Another certificate has replaced it.' },
    CESSATION_OF_OPERATION: { description: 'The certificate is no longer needed.' },
    CERTIFICATE_HOLD: { description: 'The certificate is on hold.' },
    PRIVILEGE_WITHDRAWN: { description: 'A privilege of the subject was withdrawn.' },
    AA_COMPROMISE: { description: 'The private key of the attribute authority was compromised.' },
  },
});
enumOfRule(revocationReason, RevocationReasonEnum);
