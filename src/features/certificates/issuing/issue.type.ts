import { registerEnumType } from 'type-graphql';
import { enumOfRule, inputType } from '../../../kernel/graphql/inputs.js';
import '../profiles/profile.type.js';
import { AlternativeName, IssuedSubject, type RENEWAL_KEYS, renewalKey } from './issue.rules.js';

const RenewalKeyEnum = {
  NEW: 'new',
  SAME: 'same',
} as const satisfies Record<string, (typeof RENEWAL_KEYS)[number]>;
registerEnumType(RenewalKeyEnum, {
  name: 'CertificateRenewalKey',
  description: 'Which key a renewal has.',
  valuesConfig: {
    NEW: { description: 'One that is made and kept here.' },
    SAME: { description: 'That of the certificate.' },
  },
});
enumOfRule(renewalKey, RenewalKeyEnum);

inputType('IssuedCertificateSubjectInput', IssuedSubject);
inputType('CertificateAlternativeNameInput', AlternativeName);
