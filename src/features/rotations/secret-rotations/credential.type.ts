import { type ClassType, Field, InterfaceType, ObjectType } from 'type-graphql';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { type KindDeclaration, typePrefixOf } from './kind/kind-declaration.js';
import { ofEveryType, type RotationType } from './kinds/kinds.js';
import type { GeneratedCredential } from './rotation-reading.service.js';

/** A generated credential in plaintext, as the API shows it. */
@InterfaceType('GeneratedCredential', { description: 'A credential that a rotation generated, in plaintext.' })
export abstract class GeneratedCredentialType {
  @Field(() => Boolean, { description: 'Whether the mapped secrets hold this credential.' })
  isActive!: boolean;

  @Field(() => DateTime, { description: 'When the credential was written to the mapped secrets.' })
  createdAt!: Date;
}

/** The GraphQL type of the credentials of one type of rotations, with its own fields. */
function credentialTypeOf({ type, credential }: KindDeclaration): ClassType<GeneratedCredentialType> {
  const name = `${typePrefixOf(type)}Credential`;
  const made = { [name]: class extends GeneratedCredentialType {} }[name] as ClassType<GeneratedCredentialType>;
  const { description, fields } = credential;
  ObjectType(name, { implements: GeneratedCredentialType, description, simpleResolvers: true })(made);
  for (const [field, about] of Object.entries(fields))
    Field(() => String, { description: about })(made.prototype as object, field);
  return made;
}

const typeOf = ofEveryType(credentialTypeOf);

/** Converts a credential to its GraphQL type. The class decides the type. */
export function toCredentialType(type: RotationType, credential: GeneratedCredential): GeneratedCredentialType {
  const { isActive, createdAt, shown, secrets } = credential;
  const texts = Object.fromEntries(Object.entries(shown).map(([name, text]) => [name, String(text)]));
  const clear = Object.fromEntries(Object.entries(secrets).map(([name, secret]) => [name, secret.reveal()]));
  return Object.assign(new (typeOf(type))(), { isActive, createdAt, ...texts, ...clear });
}
