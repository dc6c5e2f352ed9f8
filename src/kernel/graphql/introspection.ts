import { getOperationAST, parse } from 'graphql';
import { rootFields } from './root-fields.js';

/** Fields of any root that tell of the schema. */
export const OF_THE_SCHEMA: ReadonlySet<string> = new Set(['__schema', '__type', '__typename']);

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
    return operation != null && rootFields(document, operation).every(({ name }) => OF_THE_SCHEMA.has(name.value));
  } catch {
    return false;
  }
}
