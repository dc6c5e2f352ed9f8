import {
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isInputObjectType,
  Kind,
  type OperationDefinitionNode,
} from 'graphql';
import type { z } from 'zod';
import type { JsonSchema } from './response-schema.js';

/** The rules behind `optional`, `nullable`, defaults and transformations: those of the value that a caller sends. */
export function bareRules(rules: z.core.$ZodType): z.core.$ZodType {
  switch ((rules as z.ZodType)._zod.def.type) {
    case 'optional':
    case 'nullable':
    case 'default':
    case 'prefault':
    case 'nonoptional':
    case 'readonly':
      return bareRules((rules as z.ZodOptional).unwrap());
    case 'pipe':
      return bareRules((rules as z.ZodPipe).in);
    default:
      return rules;
  }
}

/** What is said of names: those of arguments, and of the fields of inputs. */
export type Descriptions = ReadonlyMap<string, string>;

/** What the schema says of the arguments of an operation's root fields, and of the fields of an input among them. */
export function argumentDescriptions(schema: GraphQLSchema, operation: OperationDefinitionNode): Descriptions {
  const root = (
    operation.operation === 'query' ? schema.getQueryType() : schema.getMutationType()
  ) as GraphQLObjectType;
  const args = operation.selectionSet.selections.flatMap((node) =>
    node.kind === Kind.FIELD ? (root.getFields()[node.name.value]?.args ?? []) : [],
  );
  const named = args.flatMap((arg) => {
    const type = getNamedType(arg.type);
    return isInputObjectType(type) ? Object.values(type.getFields()) : [arg];
  });
  return new Map(named.flatMap(({ name, description }) => (description ? [[name, description] as const] : [])));
}

/** The JSON schema of an object whose properties say what they are, where their rules do not. */
export function withDescriptions(schema: JsonSchema, descriptions: Descriptions): JsonSchema {
  if (schema.properties === undefined) return schema;
  const properties = Object.entries(schema.properties as Record<string, JsonSchema>).map(([name, property]) => {
    // A path says `tagId` where the schema, which is about tags there, says `id`, and `tokenId` for an `accessTokenId`.
    const plain = name.endsWith('Id') ? (descriptions.get('id') ?? describedLonger(name, descriptions)) : undefined;
    const description = property.description ?? descriptions.get(name) ?? plain;
    return [name, description === undefined ? property : { ...property, description }];
  });
  return { ...schema, properties: Object.fromEntries(properties) };
}

const describedLonger = (name: string, descriptions: Descriptions): string | undefined =>
  [...descriptions].find(([longer]) => longer.toLowerCase().endsWith(name.toLowerCase()))?.[1];
