import type { Holding, Rule } from '../../../kernel/authz/ability.js';
import type { Context } from '../../../kernel/context.js';
import { builtInRules, findProjectRules, isBuiltIn, withAttributes } from '../../permissions/public.js';
import { HOLDINGS } from './holdings.sql.js';

/** As `HoldingsOf` says. */
export async function listHoldings(ctx: Context, memberIds: readonly string[]): Promise<Holding[]> {
  const rows = await HOLDINGS(ctx, { organizationId: ctx.organizationId, memberIds });
  const holdings = rows.map(({ slug, digest, rules, attributes, ...row }) => ({
    ...row,
    isBuiltIn: slug !== null && isBuiltIn(slug),
    rules: rulesOf({ slug, digest, rules, attributes }),
  }));
  // Built-in roles come first, whatever their order: see `rulesOfRoles`.
  return [...holdings.filter((each) => each.isBuiltIn), ...holdings.filter((each) => !each.isBuiltIn)];
}

interface Stored {
  readonly slug: string | null;
  readonly digest: string | null;
  readonly rules: string | null;
  readonly attributes: string | null;
}

function rulesOf({ slug, digest, rules, attributes }: Stored): readonly Rule[] {
  if (slug !== null && isBuiltIn(slug)) return builtInRules(slug);
  const list = digest === null ? undefined : findProjectRules({ digest, rules });
  if (list === undefined) return [];
  return list.namesAttributes ? withAttributes(list.checked, JSON.parse(attributes ?? '{}')) : list.checked;
}
