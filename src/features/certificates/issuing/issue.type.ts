import { enumType } from '../../../kernel/graphql/enums.js';
import { inputType } from '../../../kernel/graphql/inputs.js';
import '../profiles/profile.type.js';
import { AlternativeName, IssuedSubject, type RENEWAL_KEYS, renewalKey } from './issue.rules.js';

enumType<(typeof RENEWAL_KEYS)[number]>(
  'CertificateRenewalKey',
  'Keys of a renewed certificate.',
  {
    new: 'A new key, generated and stored by the service.',
    same: 'The key of the current certificate.',
  },
  renewalKey,
);

inputType('IssuedCertificateSubjectInput', IssuedSubject);
inputType('CertificateAlternativeNameInput', AlternativeName);
