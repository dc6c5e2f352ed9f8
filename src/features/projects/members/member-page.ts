import type { Context } from '../../../kernel/context.js';
import { batched, listKey } from '../../../kernel/database/batched.js';
import { type OrderedBounds, type OrderedRequest, orderedCursorKey, orderOf } from '../../../kernel/list-order.js';
import { type CountedConnectionOf, counted, Page } from '../../../kernel/paging.js';
import type { ProjectAccess } from '../core/project-access.js';
import type { MemberKind } from './membership.rules.js';
import { isConditional, mayDo } from './membership-rights.js';
import { countsOfMembers, type MembershipRecord, pagesOfMembers } from './memberships.js';

/** A page of the members of these kinds that the caller may read. */
export async function loadMemberPage(
  ctx: Context,
  project: ProjectAccess,
  { kinds, request, bounds }: { kinds: readonly MemberKind[]; request: OrderedRequest; bounds: OrderedBounds },
): Promise<CountedConnectionOf<MembershipRecord>> {
  // Conditions may leave some out: a page consists of the rest.
  const isWhole = !kinds.some((kind) => isConditional(project, kind));
  const load = async (page: OrderedBounds): Promise<MembershipRecord[]> => {
    const key = listKey(project.projectId, { kinds, order: orderOf(request), ...page });
    const read = (await batched(ctx, pagesOfMembers, key)) ?? [];
    return isWhole ? [...read] : read.filter((row) => mayDo(project, 'read', row.memberKind, row));
  };
  const rows = await load({ ...bounds, limit: isWhole ? bounds.limit : null });
  const shown = request.first == null ? rows : rows.slice(0, request.first + 1);
  return counted(new Page(shown, request, (member) => orderedCursorKey(request, member)), async () =>
    isWhole ? countMembers(ctx, project, kinds) : (await load(WHOLE_LIST)).length,
  );
}

const WHOLE_LIST: OrderedBounds = { value: null, id: null, since: null, limit: null };

async function countMembers(ctx: Context, { projectId }: ProjectAccess, kinds: readonly MemberKind[]): Promise<number> {
  const counts = (await batched(ctx, countsOfMembers, projectId)) ?? [];
  return counts.reduce((sum, { memberKind, count }) => (kinds.includes(memberKind) ? sum + count : sum), 0);
}
