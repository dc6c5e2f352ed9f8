import type { Rule } from '../../../kernel/authz/ability.js';
import { type Conditions, compileConditions, type Fields } from '../../../kernel/authz/conditions.js';
import { yieldToEventLoop } from '../../../kernel/event-loop.js';
import { namesAttributes } from './attributes.js';

/** New values of the fields that conditions match on. Other fields keep their values. */
export interface FieldChange {
  readonly subject: string;
  readonly before: Fields;
  readonly after: Fields;
}

/**
 * Whether any rule matches different resources after these changes. Only the conditions on the changed fields are
 * compared: if they match both before and after, or neither, the rule matches the same. Rules that forbid count like
 * rules that allow. A comparison with an attribute of the holder differs for some holder, whatever the values are.
 */
export async function matchesOtherResources(rules: readonly Rule[], changes: readonly FieldChange[]): Promise<boolean> {
  for (const [subject, concerned] of Map.groupBy(changes, (change) => change.subject)) {
    const fields = new Set(concerned.flatMap(({ before, after }) => [...Object.keys(before), ...Object.keys(after)]));
    if (comparesAttributes(rules, concerned)) return true;
    for (const fits of testsOf(rules, { subject, fields }))
      for (const { before, after } of concerned) {
        if (fits(before) !== fits(after)) return true;
        await yieldToEventLoop();
      }
  }
  return false;
}

function comparesAttributes(rules: readonly Rule[], changes: readonly FieldChange[]): boolean {
  const compared = new Set(
    rules.flatMap(({ subject, conditions = {} }) =>
      Object.keys(conditions).flatMap((field) => (namesAttributes(conditions[field]) ? [`${subject} ${field}`] : [])),
    ),
  );
  return changes.some(({ subject, before, after }) =>
    Object.keys({ ...before, ...after }).some(
      (field) => compared.has(`${subject} ${field}`) && JSON.stringify(before[field]) !== JSON.stringify(after[field]),
    ),
  );
}

/** The distinct conditions of rules on these fields, compiled. Those with attributes are compared before. */
function testsOf(
  rules: readonly Rule[],
  { subject, fields }: { subject: string; fields: ReadonlySet<string> },
): ((fields: Fields) => boolean)[] {
  const conditions = rules
    .filter((rule) => rule.subject === subject)
    .map((rule) =>
      Object.entries(rule.conditions ?? {}).filter(
        ([field, condition]) => fields.has(field) && !namesAttributes(condition),
      ),
    )
    .filter((entries) => entries.length > 0)
    .map((entries) => JSON.stringify(Object.fromEntries(entries)));
  return [...new Set(conditions)].map((text) => compileConditions(JSON.parse(text) as Conditions));
}
