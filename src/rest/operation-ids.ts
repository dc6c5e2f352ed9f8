import {
  type GraphQLSchema,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
} from 'graphql';
import type { WrittenRoute } from './route.js';

/** What the name of an operation is made of. */
interface Named {
  readonly route: Pick<WrittenRoute, 'method' | 'path' | 'deprecated' | 'operationId'>;
  /** The field that answers it, with its verb: `listTags`, `createTag`. */
  readonly verbAndNoun: string;
}

/** Queries whose name begins with a verb of its own. */
const VERB = /^(?:export|preview)[A-Z]/;

/**
 * Verb and noun of the field that answers a route: `tags` is `listTags`, `tag` is `getTag`, and a mutation keeps its name.
 *
 * @param operation of the route's document
 */
export function verbAndNounOf(schema: GraphQLSchema, { operation, selectionSet }: OperationDefinitionNode): string {
  const [first] = selectionSet.selections;
  if (first?.kind !== Kind.FIELD) throw new Error('the document must begin with a field');
  const name = first.name.value;
  if (operation !== 'query' || VERB.test(name)) return name;
  const type = schema.getQueryType()?.getFields()[name]?.type;
  const answer = isNonNullType(type) ? type.ofType : type;
  const isList = isListType(answer) || (isObjectType(answer) && 'pageInfo' in answer.getFields());
  return `${isList ? 'list' : 'get'}${capital(name)}`;
}

/**
 * The id of every operation, for client generators: the name that the route gives, or else verb and noun of the field that answers
 * it. An older path gets the version of its path at the end (`listSecretsV3`). Where two paths would have one name, the current
 * one, or else the first one, keeps it; the others get their version, and where that does not tell them apart, all words of their
 * path. So a route that is added changes no other name.
 *
 * @returns ids in the order of the operations
 * @throws Error for a name that two routes give
 */
export function operationIdsOf(operations: readonly Named[]): string[] {
  const ids = new Map<Named, string>();
  const taken = new Map<string, Named>();
  const ranked = [...operations].sort((a, b) => (rankOf(a) < rankOf(b) ? -1 : 1));
  for (const one of ranked) {
    const [given, ...others] = candidatesOf(one);
    const id = [given, ...others].find((name) => !taken.has(name.toLowerCase()));
    const isGiven = one.route.operationId !== undefined;
    if (id === undefined || (isGiven && id !== given))
      throw new Error(`${one.route.method} ${one.route.path}: the operation id ${given} is taken`);
    taken.set(id.toLowerCase(), one);
    ids.set(one, id);
  }
  return operations.map((one) => ids.get(one) as string);
}

/** Routes that are in use before older ones; given names before derived ones. */
const rankOf = ({ route: { deprecated, operationId, path, method } }: Named): string =>
  [Number(deprecated === true), Number(operationId === undefined), path, method].join(' ');

function candidatesOf({ route: { path, deprecated, operationId }, verbAndNoun }: Named): [string, ...string[]] {
  const name = operationId ?? verbAndNoun;
  const version = /^\/api\/v(\d+)\//.exec(path)?.[1];
  const versioned = version === undefined ? name : `${name}V${version}`;
  const words = path
    .replace(/^\/api\/v\d+/, '')
    .replace(/\{(\w+)\}/g, 'by/$1')
    .split(/[/-]/)
    .filter((word) => word !== '');
  const whole = `${versioned}At${words.map(capital).join('')}`;
  return deprecated === true ? [versioned, whole] : [name, versioned, whole];
}

const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);
