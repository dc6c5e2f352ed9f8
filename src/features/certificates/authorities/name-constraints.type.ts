import { enumType } from '../../../kernel/graphql/enums.js';
import { inputType } from '../../../kernel/graphql/inputs.js';
import { objectType } from '../../../kernel/graphql/object-types.js';
import type { SanKind } from '../x509/facts.js';
import { NameConstraintsRules, nameKind, Subtree } from './name-constraints.rules.js';

export const SanKindEnum = enumType<SanKind>(
  'CertificateNameKind',
  'Kinds of subject alternative names.',
  {
    dns: 'A DNS name, for example `www.example.com`.',
    ip: 'An IPv4 or IPv6 address.',
    email: 'An email address.',
    uri: 'A URI, for example `spiffe://example.com/api`.',
  },
  nameKind,
);
inputType('CertificateNameSubtreeInput', Subtree);
inputType('CertificateNameConstraintsInput', NameConstraintsRules);

const SubtreeType = objectType('CertificateNameSubtree', 'A subtree of names of one kind.', {
  kind: [SanKindEnum, 'Kind of the names.'],
  value: [String, 'Subtree of names, as given, for example `example.com` or `10.0.0.0/8`.'],
});

export const NameConstraintsType = objectType(
  'CertificateNameConstraints',
  'Name constraints: the names that certificates below an authority may have.',
  {
    permitted: [[SubtreeType], 'Permitted subtrees. Kinds that are not listed are not restricted.'],
    excluded: [[SubtreeType], 'Excluded subtrees.'],
  },
);
export type NameConstraintsType = InstanceType<typeof NameConstraintsType>;
