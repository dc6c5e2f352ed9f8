import { type ClassType, Extensions, Field, ObjectType } from 'type-graphql';
import type { z } from 'zod';
import { inputType } from '../../../kernel/graphql/inputs.js';
import { Node } from '../../../kernel/graphql/node.js';
import { ONE_OF } from '../../../kernel/graphql/schema.js';
import { type KindDeclaration, typePrefixOf } from './kind/rotation-kind.js';
import { DECLARATIONS, ofEveryType } from './kinds/kinds.js';
import { Content, ContentChange } from './rotation.rules.js';
import { SecretRotationType } from './rotation.type.js';
import type { ShownRotation } from './rotation-access.js';

/** Makes the input types of a type of rotations: content, changes, and what they contain. */
function makeInputs({ type, content, change }: KindDeclaration): void {
  const prefix = typePrefixOf(type);
  const { parameters, secretsMapping, temporaryParameters } = content.shape;
  inputType(`${prefix}ParametersInput`, parameters);
  inputType(`${prefix}MappingInput`, secretsMapping);
  if (temporaryParameters !== undefined) inputType(`${prefix}TemporaryInput`, temporaryParameters.unwrap().unwrap());
  inputType(`${prefix}RotationInput`, content);
  inputType(`${prefix}RotationChangeInput`, change);
}
for (const declared of DECLARATIONS) makeInputs(declared);
Extensions(ONE_OF)(inputType('SecretRotationContentInput', Content));
Extensions(ONE_OF)(inputType('SecretRotationContentChangeInput', ContentChange));

/** The GraphQL type of a mapping: one secret key per field. */
function mappingTypeOf({ type, content: { shape } }: KindDeclaration): ClassType {
  const name = `${typePrefixOf(type)}Mapping`;
  const made = { [name]: class {} }[name] as ClassType;
  ObjectType(name, { description: described(shape.secretsMapping), simpleResolvers: true })(made);
  for (const [field, rule] of Object.entries<z.ZodType>(shape.secretsMapping.shape))
    Field(() => String, { description: described(rule) })(made.prototype as object, field);
  return made;
}

/** The GraphQL type of rotations of a type: the common fields, parameters and mapping. */
function rotationTypeOf(declared: KindDeclaration): ClassType<SecretRotationType> {
  const { type, description, content, parametersType } = declared;
  const name = `${typePrefixOf(type)}Rotation`;
  const made = { [name]: class extends SecretRotationType {} }[name] as ClassType<SecretRotationType>;
  ObjectType(name, { implements: [Node, SecretRotationType], description, simpleResolvers: true })(made);
  const mappingType = mappingTypeOf(declared);
  const { parameters, secretsMapping } = content.shape;
  Field(() => parametersType, { description: described(parameters) })(made.prototype as object, 'parameters');
  Field(() => mappingType, { description: described(secretsMapping) })(made.prototype as object, 'secretsMapping');
  return made;
}

/** @throws Error for rules without a description */
function described({ description }: z.ZodType): string {
  if (description === undefined) throw new Error('a rule of a rotation has no description');
  return description;
}

const typeOf = ofEveryType(rotationTypeOf);

/** Converts a rotation to its GraphQL type. The class decides the type. */
export function toRotationType(row: ShownRotation): SecretRotationType {
  const { rotateAtHours, rotateAtMinutes, connectionId, connectionName, app, path, message, attemptId } = row;
  const common = {
    ...row,
    place: {
      environmentId: row.environmentId,
      environmentSlug: row.environment,
      environmentName: row.environmentName,
      folderId: row.folderId,
      secretPath: path,
    },
    connection: { connectionId, app, name: connectionName },
    rotateAtUtc: { hours: rotateAtHours, minutes: rotateAtMinutes },
    schedule: { ...row.schedule, cron: row.schedule.cron ?? null, window: row.schedule.window ?? null },
    lastAttemptId: attemptId,
    lastMessage: message,
  };
  return Object.assign(new (typeOf(row.type))(), common);
}
