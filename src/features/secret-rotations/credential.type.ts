import { Field, InterfaceType, ObjectType } from 'type-graphql';
import { DateTime } from '../../kernel/graphql/date-time.js';
import type { RotationType } from './kind/rotation-kind.js';
import type { GeneratedCredential } from './rotation-reading.service.js';

/** What the API shows of a credential that was generated, in clear. */
@InterfaceType('GeneratedCredential', { description: 'A credential that a rotation has generated, in clear.' })
export abstract class GeneratedCredentialType {
  @Field(() => Boolean, { description: 'Whether it is the one that the mapped secrets hold.' })
  isActive!: boolean;

  @Field(() => DateTime, { description: 'When it was published.' })
  createdAt!: Date;
}

@ObjectType('DatatoolServiceTokenCredential', {
  implements: GeneratedCredentialType,
  description: 'A service token.',
  simpleResolvers: true,
})
class TokenCredentialType extends GeneratedCredentialType {
  @Field(() => String, { description: 'The token.' })
  serviceToken!: string;

  @Field(() => String, { description: 'Its id in the outside system.' })
  tokenId!: string;

  @Field(() => String, { description: 'What it is called there.' })
  tokenName!: string;
}

@ObjectType('HostosLocalAccountCredential', {
  implements: GeneratedCredentialType,
  description: 'A password of a local account. Only the active one works.',
  simpleResolvers: true,
})
class AccountCredentialType extends GeneratedCredentialType {
  @Field(() => String, { description: 'Name of the account.' })
  username!: string;

  @Field(() => String, { description: 'The password.' })
  password!: string;
}

const SHOWN_AS = {
  'datatool-service-token': TokenCredentialType,
  'hostos-local-account': AccountCredentialType,
} as const satisfies Record<RotationType, new () => GeneratedCredentialType>;

/** A credential as the API shows it. Its class tells its type. */
export function toCredentialType(type: RotationType, credential: GeneratedCredential): GeneratedCredentialType {
  const { isActive, createdAt, shown, secrets } = credential;
  const texts = Object.fromEntries(Object.entries(shown).map(([name, text]) => [name, String(text)]));
  const clear = Object.fromEntries(Object.entries(secrets).map(([name, secret]) => [name, secret.reveal()]));
  return Object.assign(new SHOWN_AS[type](), { isActive, createdAt, ...texts, ...clear });
}
