import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  buildSchema,
  type GraphQLField,
  type GraphQLObjectType,
  getNamedType,
  getNullableType,
  isListType,
  isObjectType,
  isRequiredArgument,
} from 'graphql';

const SCHEMA = buildSchema(readFileSync(join(import.meta.dirname, '../../schema/schema.graphql'), 'utf8'));

type Field = GraphQLField<unknown, unknown>;
/** Fields one below the other. */
type Path = readonly Field[];

const typeBelow = ({ type }: Field): GraphQLObjectType | null => {
  const named = getNamedType(type);
  return isObjectType(named) ? named : null;
};
/** Whole lists, and the rows of connections. */
const isList = ({ type }: Field): boolean => isListType(getNullableType(type));

const fieldsOf = (type: GraphQLObjectType): Field[] =>
  Object.values(type.getFields()).filter((field) => typeBelow(field) !== null && !field.args.some(isRequiredArgument));

/** The shortest way to each list that can be reached from a type, of which no part is a list but the last. */
function listsFrom(type: GraphQLObjectType): Path[] {
  const seen = new Set([type]);
  const found: Path[] = [];
  const queue: { at: GraphQLObjectType; path: Path }[] = [{ at: type, path: [] }];
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    for (const field of fieldsOf(next.at)) {
      const path = [...next.path, field];
      const below = typeBelow(field) as GraphQLObjectType;
      if (isList(field)) found.push(path);
      else if (!seen.has(below) && path.length < 4) {
        seen.add(below);
        queue.push({ at: below, path });
      }
    }
  }
  return found;
}

const textOf = (paths: readonly Path[]): string => {
  const names = paths.flat().map(({ name }) => (name.endsWith('Connection') ? `${name}(first: 1000)` : name));
  return `{ ${names.join(' { ')} { __typename ${'}'.repeat(names.length)} }`;
};

/**
 * Every list below a type from which a further list is reached, and that list, and again one that is reached from it: what stands
 * behind the root field. They have a third list, mostly the first one again, where that leads back.
 */
export function listsOfLists(typeName: string): string[] {
  const documents: string[] = [];
  for (const first of listsFrom(SCHEMA.getType(typeName) as GraphQLObjectType)) {
    for (const second of listsFrom(typeBelow(first.at(-1) as Field) as GraphQLObjectType)) {
      const thirds = listsFrom(typeBelow(second.at(-1) as Field) as GraphQLObjectType);
      const back = thirds.find((third) => third.at(-1) === first.at(-1)) ?? thirds[documents.length % thirds.length];
      documents.push(textOf(back === undefined ? [first, second] : [first, second, back]));
    }
  }
  return documents;
}
