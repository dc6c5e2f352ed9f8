import { type DocumentNode, type GraphQLSchema, getOperationAST } from 'graphql';
import { rootFields } from './root-fields.js';

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
