import type { Holding, Rule } from '../../../kernel/authz/ability.js';
import type { Context } from '../../../kernel/context.js';
import { builtInRules, findProjectRules, isBuiltIn, withAttributes } from '../../identity/permissions/public.js';
import { listHeld } from './holdings.sql.js';

/** As `HoldingsOf` says. */
export async function listHoldings(ctx: Context, memberIds: readonly string[]): Promise<Holding[]> {
  const rows = await listHeld(ctx, { organizationId: ctx.organizationId, memberIds });
  const texts = new Map(
    rows.flatMap(({ digest, rules }) => (digest === null || rules === null ? [] : [[digest, rules]])),
  );
  const holdings = rows.map(({ slug, digest, rules: _, attributes, ...row }) => ({
    ...row,
    isBuiltIn: slug !== null && isBuiltIn(slug),
    rules: slug !== null && isBuiltIn(slug) ? builtInRules(slug) : storedRules(digest, texts, attributes),
  }));
  // Built-in roles come first, whatever their order: see `rulesOfRoles`.
  return [...holdings.filter((each) => each.isBuiltIn), ...holdings.filter((each) => !each.isBuiltIn)];
}

function storedRules(
  digest: string | null,
  texts: ReadonlyMap<string, string>,
  attributes: string | null,
): readonly Rule[] {
  const list = digest === null ? undefined : findProjectRules({ digest, rules: texts.get(digest) ?? null });
  if (list === undefined) return [];
  return list.namesAttributes ? withAttributes(list.checked, JSON.parse(attributes ?? '{}')) : list.checked;
}
