import { type ConditionOperators, type Conditions, compileConditions } from '../../../kernel/authz/conditions.js';
import { workOf } from '../../../kernel/authz/glob.js';
import { AppError } from '../../../kernel/errors.js';
import { namesAttributes } from './attributes.js';

/** Ten roles of a hundred different rules each, compared with as many, take about a million steps: some 100 ms. */
const MAX_STEPS = 2_000_000;
/** Steps to compile a pattern, for each word of its automaton. */
const STEPS_OF_WORD = 100;
/** Characters that a word of an automaton processes in one step. */
const CHARACTERS_OF_STEP = 4;

/** The remaining steps of one comparison of rules. */
export class ComparisonSteps {
  #left = MAX_STEPS;

  /** @throws VALIDATION_FAILED (TOO_MANY) */
  take(steps: number): void {
    this.#left -= steps;
    if (this.#left >= 0) return;
    const message = 'The roles have too many conditions to compare them with your permissions.';
    throw new AppError('VALIDATION_FAILED', message, {
      details: [{ path: '', code: 'TOO_MANY', message: 'must have fewer conditions, or fewer values in them' }],
    });
  }
}

/** The condition of one field, compiled when it is first compared. */
class ComparedField {
  readonly operators: ConditionOperators;
  readonly text: string;
  readonly namesAttributes: boolean;
  #test: { readonly holds: (value: string) => boolean; readonly work: number } | undefined;
  #values: { readonly named: readonly string[] | undefined } | undefined;

  constructor(condition: Conditions[string]) {
    this.operators = typeof condition === 'string' ? { $eq: condition } : condition;
    this.text = JSON.stringify(this.operators);
    this.namesAttributes = namesAttributes(this.operators);
  }

  holds(value: string, steps: ComparisonSteps): boolean {
    this.#test ??= testOf(this.operators, steps);
    steps.take(1 + (this.#test.work * value.length) / CHARACTERS_OF_STEP);
    return this.#test.holds(value);
  }

  /** The only values that match, where the condition lists them; otherwise undefined. */
  values(steps: ComparisonSteps): readonly string[] | undefined {
    if (this.#values === undefined) {
      const { $eq, $in } = this.operators;
      const named = $eq === undefined ? $in : [$eq];
      this.#values = { named: named?.filter((value) => this.holds(value, steps)) };
    }
    return this.#values.named;
  }

  /** Whether it has every operator of another one, with the same operand. */
  repeats(other: ComparedField): boolean {
    return Object.entries(other.operators).every(
      ([name, operand]) => JSON.stringify(this.operators[name as keyof ConditionOperators]) === JSON.stringify(operand),
    );
  }
}

function testOf({ $in, ...others }: ConditionOperators, steps: ComparisonSteps) {
  const entries = $in === undefined ? undefined : new Set($in);
  const work = others.$glob === undefined ? 0 : workOf(others.$glob);
  steps.take(work * STEPS_OF_WORD);
  const fits = Object.keys(others).length === 0 ? undefined : compileConditions({ value: others });
  const holds = (value: string): boolean => (entries?.has(value) ?? true) && (fits?.({ value }) ?? true);
  return { holds, work };
}

const NOTHING = new ComparedField({});

/** The conditions of a rule, in a form that can be compared with others. */
export class ComparedConditions {
  /** Equal for equal conditions only. */
  readonly key: string;
  /** Undefined for a rule without conditions. */
  readonly #fields: ReadonlyMap<string, ComparedField> | undefined;

  constructor(readonly conditions: Conditions | undefined) {
    this.key = keyOf(conditions);
    this.#fields =
      conditions &&
      new Map(Object.entries(conditions).map(([field, condition]) => [field, new ComparedField(condition)]));
  }

  /** Whether everything that matches these conditions also matches the wide ones. */
  implies(wide: ComparedConditions, steps: ComparisonSteps): boolean {
    steps.take(1);
    if (wide.key === this.key) return true;
    if (wide.#fields === undefined) return true;
    for (const [field, condition] of wide.#fields) {
      const own = this.#fields?.get(field);
      const mine = own ?? NOTHING;
      // Only for the same holder, as when its role changes, do equal names mean equal values, and a missing one the
      // same.
      if (condition.namesAttributes || mine.namesAttributes) {
        if (condition.text !== mine.text) return false;
        continue;
      }
      const values = own?.values(steps);
      if (values === undefined ? !mine.repeats(condition) : !values.every((value) => condition.holds(value, steps)))
        return false;
    }
    return true;
  }

  /**
   * Whether nothing can match both. Compares only fields with one value: with several tags, one may match here and
   * another there.
   */
  excludes(other: ComparedConditions, steps: ComparisonSteps): boolean {
    steps.take(1);
    for (const [field, condition] of this.#fields ?? []) {
      const theirs = other.#fields?.get(field);
      if (theirs === undefined || field === 'secretTags') continue;
      if (condition.namesAttributes || theirs.namesAttributes) continue;
      if (hasNoneOf(condition, theirs, steps) || hasNoneOf(theirs, condition, steps)) return true;
    }
    return false;
  }
}

export const keyOf = (conditions: Conditions | undefined): string => JSON.stringify(conditions ?? null);

const hasNoneOf = (one: ComparedField, other: ComparedField, steps: ComparisonSteps): boolean =>
  one.values(steps)?.every((value) => !other.holds(value, steps)) ?? false;
