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
  description: 'Keys of a renewed certificate.',
  valuesConfig: {
    NEW: { description: 'A new key, generated and stored by the service.' },
    SAME: { description: 'The key of the current certificate.' },
  },
});
enumOfRule(renewalKey, RenewalKeyEnum);

inputType('IssuedCertificateSubjectInput', IssuedSubject);
inputType('CertificateAlternativeNameInput', AlternativeName);
