import { type DocumentNode, type ValueNode, valueFromASTUntyped, visit } from 'graphql';
import type { ErrorDetail } from '../../errors.js';
import { isNameable } from '../../suggestions.js';
import { type Placed, unstorableIn } from '../../unstorable.js';
import { variablePlaces } from './variable-places.js';

/** What is given to a document. */
interface Given {
  readonly query: string;
  readonly variables?: Readonly<Record<string, unknown>> | null | undefined;
}

/** A string of a document has NUL only if its text has one, or an escape; and graphql-js refuses halves of surrogate pairs. */
const MAY_HAVE_NUL = /\\u|\0/;

/** Where variables and literals of a request have text that Postgres cannot store. Paths begin with arguments, as those of all violations. */
export function unstorableArguments(document: DocumentNode, { query, variables }: Given): ErrorDetail[] {
  const given = Object.entries(variables ?? {});
  const isOfVariables = unstorableIn([['variables', variables]]).length > 0;
  const isOfText = MAY_HAVE_NUL.test(query);
  if (!isOfVariables && !isOfText) return [];
  const places = variablePlaces(document);
  const placed = given.flatMap(([name, value]): Placed[] => {
    const place = places.get(name);
    return place === undefined ? [] : [[place, value]];
  });
  const others = Object.fromEntries(given.filter(([name]) => !places.has(name)));
  return unstorableIn([...placed, ['variables', others], ...(isOfText ? literals(document, places) : [])]);
}

/** What a document gives to arguments, and to variables that are not sent. */
function literals(document: DocumentNode, places: ReadonlyMap<string, string>): Placed[] {
  const found: Placed[] = [];
  const note = (path: string, value: ValueNode): void => {
    found.push([path, valueFromASTUntyped(value)]);
  };
  visit(document, {
    // The name may be any, since the document is not validated yet.
    Argument: ({ name, value }) => note(isNameable(name.value) ? name.value : 'query', value),
    VariableDefinition: ({ variable, defaultValue }) => {
      if (defaultValue !== undefined) note(places.get(variable.name.value) ?? 'variables', defaultValue);
    },
  });
  return found;
}
