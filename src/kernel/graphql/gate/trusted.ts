import { GraphQLError, type GraphQLSchema, NoSchemaIntrospectionCustomRule, specifiedRules, validate } from 'graphql';
import { analyse, excessOf } from './analyse.js';
import type { AnalysedDocument } from './analysed-documents.js';
import type { CostModel } from './cost.js';
import type { QueryLimits } from './limits.js';

/** What persisted documents are checked against. */
export interface TrustedRules {
  readonly schema: GraphQLSchema;
  readonly model: CostModel;
  readonly limits: QueryLimits;
  /** Whether they may read the schema. */
  readonly introspection: boolean;
}

/**
 * Parses, analyses and validates a document, once for all its requests.
 *
 * @returns all its faults, in the words of GraphQL, which quote the text: for whoever wrote it, not for logs and answers
 */
export function checkTrusted(
  text: string,
  { schema, model, limits, introspection }: TrustedRules,
): AnalysedDocument | { readonly violations: readonly string[] } {
  try {
    const { document, ...analysis } = analyse(text, {}, limits, model);
    const excess = excessOf(analysis.shares).map(({ code, message }) => `${code}: ${message}`);
    if (document === null) return { violations: excess };
    const rules = introspection ? specifiedRules : [...specifiedRules, NoSchemaIntrospectionCustomRule];
    const violations = [...excess, ...validate(schema, document, rules).map(report)];
    return violations.length > 0 ? { violations } : { ...analysis, document, isValid: true };
  } catch (error) {
    if (error instanceof GraphQLError) return { violations: [report(error)] };
    throw error;
  }
}

const report = ({ message, locations }: GraphQLError): string => {
  const [at] = locations ?? [];
  return at === undefined ? message : `line ${at.line}, column ${at.column}: ${message}`;
};
