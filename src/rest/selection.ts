import {
  type GraphQLInterfaceType,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNamedType,
  isInterfaceType,
  isObjectType,
} from 'graphql';
import { isShownAsFound } from '../kernel/graphql/schema.js';

type WithFields = GraphQLObjectType | GraphQLInterfaceType;

export const hasFields = (type: GraphQLNamedType): type is WithFields => isObjectType(type) || isInterfaceType(type);

/** The fields that objects of a type hold, in the order of its table: not those that its resolvers find. */
function heldFields(schema: GraphQLSchema, type: WithFields): string[] {
  const kinds = isInterfaceType(type) ? schema.getPossibleTypes(type) : [type];
  const isHeld = (name: string): boolean => kinds.every((kind) => isShownAsFound(kind.getFields()[name] as object));
  return Object.keys(type.getFields()).filter(isHeld);
}

/** `*`, `-left`, `... on Type`, `field`, `name: field`, `field @include(if: $it)`, and braces. */
const TOKEN = /[{}*]|-\w+|\.\.\.\s*on\s+\w+|(?:\w+\s*:\s*)?\w+(?:\s*@\w+\([^)]*\))?/g;

/**
 * A selection in full: `*` stands for the fields that objects of the type hold and that are not named beside it, and an object without a
 * selection is shown with all that it holds.
 *
 * @throws Error for a field that is left out and is not held
 */
export const selectionOf = (schema: GraphQLSchema, type: GraphQLOutputType, select = '*'): string =>
  inFull(schema, getNamedType(type), select.match(TOKEN) ?? []);

/** What objects of a type hold, by the type: roles alone show permissions at twenty paths. */
const WHOLE = new WeakMap<WithFields, string>();

function wholeOf(schema: GraphQLSchema, type: WithFields): string {
  const whole = WHOLE.get(type) ?? inFull(schema, type, ['*']);
  WHOLE.set(type, whole);
  return whole;
}

/** @param tokens it takes those of the selection, up to the brace that ends it */
function inFull(schema: GraphQLSchema, type: GraphQLNamedType, tokens: string[]): string {
  if (!hasFields(type)) throw new Error(`${type.name} has no fields`);
  const named = new Set<string>();
  const parts: string[] = [];
  const typeOf = (field: string): GraphQLNamedType | undefined => getNamedType(type.getFields()[field]?.type);
  /** What is asked of an object, in braces. */
  const below = (inner: GraphQLNamedType | undefined): string => {
    if (tokens[0] !== '{') return inner !== undefined && hasFields(inner) ? ` { ${wholeOf(schema, inner)} }` : '';
    tokens.shift();
    const selected = inFull(schema, inner ?? type, tokens);
    tokens.shift();
    return ` { ${selected} }`;
  };
  while (tokens.length > 0 && tokens[0] !== '}') {
    const token = tokens.shift() as string;
    const name = token.replace(/\s*@.*$/s, '').replace(/^.*\W/s, '');
    if (token.startsWith('...')) parts.push(token + below(schema.getType(name)));
    else {
      named.add(name);
      if (!token.startsWith('-')) parts.push(token === '*' ? token : token + below(typeOf(name)));
      else if (!heldFields(schema, type).includes(name)) throw new Error(`${type.name} does not hold ${name}`);
    }
  }
  const others = () => heldFields(schema, type).filter((name) => !named.has(name));
  return parts.map((part) => (part === '*' ? inFull(schema, type, others()) : part)).join(' ');
}
