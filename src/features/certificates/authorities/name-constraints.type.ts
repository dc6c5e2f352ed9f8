import { Field, ObjectType, registerEnumType } from 'type-graphql';
import { enumOfRule, inputType } from '../../../kernel/graphql/inputs.js';
import type { SanKind } from '../x509/facts.js';
import { NameConstraintsRules, nameKind, Subtree } from './name-constraints.rules.js';

export const SanKindEnum = { DNS: 'dns', IP: 'ip', EMAIL: 'email', URI: 'uri' } as const satisfies Record<
  string,
  SanKind
>;
registerEnumType(SanKindEnum, {
  name: 'CertificateNameKind',
  description: 'What an alternative name is.',
  valuesConfig: {
    DNS: { description: 'A name in DNS.' },
    IP: { description: 'An IP address.' },
    EMAIL: { description: 'An e-mail address.' },
    URI: { description: 'A URI.' },
  },
});
enumOfRule(nameKind, SanKindEnum);
inputType('CertificateNameSubtreeInput', Subtree);
inputType('CertificateNameConstraintsInput', NameConstraintsRules);

@ObjectType('CertificateNameSubtree', { description: 'A part of the names of a kind.', simpleResolvers: true })
class SubtreeType {
  @Field(() => SanKindEnum, { description: 'What kind of names.' })
  kind!: SanKind;

  @Field(() => String, { description: 'Which of them, as it was given to the authority.' })
  value!: string;
}

@ObjectType('CertificateNameConstraints', {
  description: 'Of which names certificates below an authority may be.',
  simpleResolvers: true,
})
export class NameConstraintsType {
  @Field(() => [SubtreeType], { description: 'Of kinds that are named here, only these; other kinds are free.' })
  permitted!: readonly SubtreeType[];

  @Field(() => [SubtreeType], { description: 'None of these.' })
  excluded!: readonly SubtreeType[];
}
