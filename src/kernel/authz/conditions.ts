import { compileGlob } from './glob.js';

/** Fields of the thing in question that conditions look at: `environment`, `secretPath`, `secretName`, `secretTags`. */
export type Fields = Readonly<Record<string, string | readonly string[]>>;

/** Operators of one condition. All of them must match. */
export interface ConditionOperators {
  readonly $eq?: string;
  readonly $ne?: string;
  readonly $in?: readonly string[];
  readonly $glob?: string;
}

/** Conditions of a rule, by field; a plain text means `$eq`. All fields must match. */
export type Conditions = Readonly<Record<string, string | ConditionOperators>>;

type Test = (value: string) => boolean;

/**
 * Compiles conditions to a predicate. A field that the thing does not have matches nothing, so that a rule never applies
 * by accident; a list (tags) matches when one of its entries does, and `$ne` when none is equal.
 */
export function compileConditions(conditions: Conditions): (fields: Fields) => boolean {
  const tests = Object.entries(conditions).map(([field, condition]) => {
    const operators = typeof condition === 'string' ? { $eq: condition } : condition;
    return [field, Object.entries(operators).map(([name, operand]) => compileOperator(name, operand))] as const;
  });
  return (fields) =>
    tests.every(([field, operators]) => {
      const value = fields[field];
      return value !== undefined && operators.every((holds) => holds(typeof value === 'string' ? [value] : value));
    });
}

function compileOperator(name: string, operand: unknown): (values: readonly string[]) => boolean {
  const some = (test: Test) => (values: readonly string[]) => values.some(test);
  switch (name) {
    case '$eq':
      return some((value) => value === operand);
    case '$ne':
      return (values) => !values.includes(operand as string);
    case '$in':
      return some((value) => (operand as readonly string[]).includes(value));
    case '$glob': {
      const test = compileGlob(operand as string);
      if (typeof test === 'string') throw new Error('invalid pattern');
      return some(test);
    }
    default:
      // A stored operator that this version does not know must not widen a rule.
      throw new Error('unknown condition operator');
  }
}
