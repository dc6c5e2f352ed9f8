import { type Access, authorize, PermissionDenied, type Rule } from '../../../kernel/authz/ability.js';
import { type ConditionOperators, type Conditions, compileConditions } from '../../../kernel/authz/conditions.js';
import type { Transaction } from '../../../kernel/context.js';
import { mapYielding } from '../../../kernel/event-loop.js';
import { ORGANIZATION_VOCABULARY, PROJECT_VOCABULARY, type Vocabulary } from './actions.js';
import { namesAttributes } from './attributes.js';
import { rightsBeyondChange } from './boundary.js';
import { readStoredRules } from './stored-rules.js';
import { lockRules, replaceRules } from './stored-rules.sql.js';

/** A new slug of a role or an environment. */
interface Rename {
  /** Name of the field in conditions. */
  readonly field: 'role' | 'environment';
  readonly from: string;
  readonly to: string;
}

/** Result for stored rules. */
interface RenamedIn {
  /** In the form of the database, including rules that this version cannot read. */
  readonly stored: unknown;
  readonly isChanged: boolean;
  /**
   * Rules that would still match only one of the two slugs: by a pattern, an attribute, or because they already named
   * the new slug.
   */
  readonly otherwise: readonly Rule[];
}

/**
 * Updates a slug in the rules that name it. Where a rule would still match only one of the two slugs, that counts as a change of
 * this rule. Rules of a project do not change concurrently: it is locked.
 *
 * @param access the organization or the project, as the caller sees it
 * @param except ID of a role whose rules stay
 * @returns IDs of the roles and privileges that changed
 * @throws PERMISSION_DENIED, which reveals nothing about the rule; PERMISSION_BOUNDARY
 */
export async function renameInRules(
  tx: Transaction,
  access: Access,
  rename: Rename,
  except: string | null,
): Promise<readonly string[]> {
  const { projectId = null } = access;
  const [stores, words] =
    projectId === null
      ? ([['organizationRoles'], ORGANIZATION_VOCABULARY] as const)
      : ([['projectRoles', 'privileges'], PROJECT_VOCABULARY] as const);
  const changedIn: string[] = [];
  for (const store of stores) {
    const stored = await lockRules[store](tx, {
      ownerId: projectId ?? tx.organizationId,
      except,
      field: rename.field,
    });
    const renamed = await mapYielding(stored, ({ id, permissions }) => ({
      id,
      ...withSlug(permissions, rename, words),
    }));
    await authorizeChanges(
      access,
      renamed.flatMap(({ otherwise }) => otherwise),
    );
    const changed = renamed.filter(({ isChanged }) => isChanged);
    if (changed.length === 0) continue;
    const ids = changed.map(({ id }) => id);
    await replaceRules[store](tx, { ids, permissions: changed.map((each) => JSON.stringify(each.stored)) });
    changedIn.push(...ids);
  }
  return changedIn;
}

/**
 * Changing what rules match is a change of roles, within the caller's own rights.
 *
 * @throws PERMISSION_DENIED, PERMISSION_BOUNDARY
 */
async function authorizeChanges(access: Access, rules: readonly Rule[]): Promise<void> {
  if (rules.length === 0) return;
  authorize(access, 'role:edit');
  const distinct = [...new Map(rules.map((rule) => [JSON.stringify(rule), rule])).values()];
  const beyond = await mapYielding(distinct, (rule) => rightsBeyondChange(access.ability, [rule], []));
  const actions = [...new Set(beyond.flat())];
  if (actions.length > 0)
    throw new PermissionDenied({ action: 'role:edit', projectId: access.projectId ?? null }, actions);
}

/**
 * Replaces a slug in conditions that name it, so that rules keep their meaning.
 *
 * @param stored the list of rules of one role as read from the database
 */
function withSlug(stored: unknown, rename: Rename, words: Vocabulary): RenamedIn {
  if (!Array.isArray(stored)) return { stored, isChanged: false, otherwise: [] };
  const rules = stored.map((rule: unknown) => renamedRule(rule, rename));
  return {
    stored: rules,
    isChanged: JSON.stringify(rules) !== JSON.stringify(stored),
    otherwise: stored.flatMap((rule, at) => {
      const [before, after] = [readStoredRules([rule], words), readStoredRules([rules[at]], words)];
      return before.filter((each, place) => !selectsSame(each, after[place] as Rule, rename));
    }),
  };
}

function renamedRule(rule: unknown, rename: Rename): unknown {
  const { conditions } = (rule ?? {}) as { readonly conditions?: Conditions | null };
  const condition = conditions?.[rename.field];
  return condition === undefined
    ? rule
    : { ...(rule as object), conditions: { ...conditions, [rename.field]: renamedCondition(condition, rename) } };
}

function renamedCondition(condition: Conditions[string], { from, to }: Rename): Conditions[string] {
  const renamed = (text: unknown): unknown => (text === from ? to : text);
  if (typeof condition !== 'object' || condition === null) return renamed(condition) as string;
  // A pattern that equals the slug names it too.
  const operators = Object.entries(condition).map(([name, operand]: [string, unknown]) => [
    name,
    Array.isArray(operand) ? [...new Set(operand.map(renamed))] : renamed(operand),
  ]);
  return Object.fromEntries(operators) as ConditionOperators;
}

/** Whether conditions on the field match the same under two slugs. Attributes may be either for some holder. */
function selectsSame(before: Rule, after: Rule, { field, from, to }: Rename): boolean {
  const [old, now] = [before.conditions?.[field], after.conditions?.[field]];
  if (old === undefined || now === undefined) return true;
  const fits = (condition: Conditions[string], slug: string) =>
    compileConditions({ [field]: condition })({ [field]: slug });
  return !namesAttributes(old) && fits(old, from) === fits(now, to);
}
