import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLSchema,
  getOperationAST,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql';

/**
 * The fields at the top of an operation, as often as they stand there, those of fragments too and whatever directives say.
 *
 * Each fragment is looked at once: root fields that two spreads bring in are one field, and fragments that spread each other
 * twice would double the work with each of them.
 */
export function rootFields({ definitions }: DocumentNode, { selectionSet }: OperationDefinitionNode): FieldNode[] {
  const fragments = new Map(
    definitions
      .filter((node): node is FragmentDefinitionNode => node.kind === Kind.FRAGMENT_DEFINITION)
      .map((node) => [node.name.value, node]),
  );
  const fieldsIn = ({ selections }: SelectionSetNode): FieldNode[] =>
    selections.flatMap((selection) => {
      if (selection.kind === Kind.FIELD) return [selection];
      if (selection.kind === Kind.INLINE_FRAGMENT) return fieldsIn(selection.selectionSet);
      const fragment = fragments.get(selection.name.value);
      fragments.delete(selection.name.value);
      return fragment === undefined ? [] : fieldsIn(fragment.selectionSet);
    });
  return fieldsIn(selectionSet);
}

/** Mark of a root field that answers without a token: `@Extensions(PUBLIC)`. */
export const PUBLIC = { public: true } as const;

/**
 * True if the operation of a document selects, at the top, a field that needs a token. What the schema does not have needs none:
 * validation reports it.
 */
export function needsToken(
  schema: GraphQLSchema,
  document: DocumentNode,
  operationName: string | null | undefined,
): boolean {
  const operation = getOperationAST(document, operationName);
  if (operation == null) return false;
  const fields = schema.getRootType(operation.operation)?.getFields() ?? {};
  return rootFields(document, operation).some(({ name: { value } }) => {
    const field = Object.hasOwn(fields, value) ? fields[value] : undefined;
    return field !== undefined && field.extensions.public !== true;
  });
}
