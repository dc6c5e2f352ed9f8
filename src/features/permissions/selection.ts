import type { Rule } from '../../kernel/authz/ability.js';
import { type Conditions, compileConditions, type Fields } from '../../kernel/authz/conditions.js';
import { giveWay } from '../../kernel/slices.js';

/** New values of the fields that conditions match on. Fields that are not named keep their values. */
export interface FieldChange {
  readonly subject: string;
  readonly before: Fields;
  readonly after: Fields;
}

/**
 * Whether any rule selects other resources after these changes. Only the conditions on the changed fields are compared: if they
 * match both before and after, or neither, the rule selects the same. Rules that forbid count like rules that allow.
 */
export async function selectsOtherwise(rules: readonly Rule[], changes: readonly FieldChange[]): Promise<boolean> {
  for (const [subject, concerned] of Map.groupBy(changes, (change) => change.subject)) {
    const fields = new Set(concerned.flatMap(({ before, after }) => [...Object.keys(before), ...Object.keys(after)]));
    for (const fits of testsOf(rules, { subject, fields }))
      for (const { before, after } of concerned) {
        if (fits(before) !== fits(after)) return true;
        await giveWay();
      }
  }
  return false;
}

/** The distinct conditions that rules have on these fields, compiled. */
function testsOf(
  rules: readonly Rule[],
  { subject, fields }: { subject: string; fields: ReadonlySet<string> },
): ((fields: Fields) => boolean)[] {
  const conditions = rules
    .filter((rule) => rule.subject === subject)
    .map((rule) => Object.entries(rule.conditions ?? {}).filter(([field]) => fields.has(field)))
    .filter((entries) => entries.length > 0)
    .map((entries) => JSON.stringify(Object.fromEntries(entries)));
  return [...new Set(conditions)].map((text) => compileConditions(JSON.parse(text) as Conditions));
}
