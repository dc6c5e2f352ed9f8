import { type DocumentNode, getOperationAST, Kind, parse, type SelectionSetNode } from 'graphql';

const OF_THE_SCHEMA: ReadonlySet<string> = new Set(['__schema', '__type', '__typename']);

/**
 * Whether a GraphQL request asks for the schema and nothing else, whatever its fields are called in the answer.
 *
 * @param body of a request that was answered: `{ query, operationName }`
 */
export function asksOnlyForSchema(body: unknown): boolean {
  const { query, operationName } = (body ?? {}) as { query?: unknown; operationName?: unknown };
  // Most requests are told apart without being parsed again.
  if (typeof query !== 'string' || !/__schema|__type\b/.test(query)) return false;
  try {
    const document = parse(query);
    const operation = getOperationAST(document, typeof operationName === 'string' ? operationName : undefined);
    return operation != null && holdsOnlySchema(document, operation.selectionSet);
  } catch {
    return false;
  }
}

/** Each fragment is looked at once: fragments that spread each other twice would double the work with each of them. */
function holdsOnlySchema(document: DocumentNode, { selections }: SelectionSetNode, seen = new Set<string>()): boolean {
  return selections.every((selection) => {
    if (selection.kind === Kind.FIELD) return OF_THE_SCHEMA.has(selection.name.value);
    if (selection.kind === Kind.INLINE_FRAGMENT) return holdsOnlySchema(document, selection.selectionSet, seen);
    const name = selection.name.value;
    if (seen.has(name)) return true;
    seen.add(name);
    const fragment = document.definitions.find(
      (node) => node.kind === Kind.FRAGMENT_DEFINITION && node.name.value === name,
    );
    return fragment?.kind === Kind.FRAGMENT_DEFINITION && holdsOnlySchema(document, fragment.selectionSet, seen);
  });
}
