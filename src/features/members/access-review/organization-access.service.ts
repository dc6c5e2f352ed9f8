import type { Context } from '../../../kernel/context.js';
import { mapYielding } from '../../../kernel/event-loop.js';
import { isId } from '../../../kernel/ids.js';
import { parse, parseYielding } from '../../../kernel/validation.js';
import { FIND_RIGHTS } from '../../identity/access/public.js';
import {
  type Explanation,
  explain,
  isAllowed,
  organizationRights,
  type RightsOrigins,
  type StoredRights,
  withSession,
} from '../../identity/permissions/public.js';
import { authorizeAbout, namesOf, unsavedRoles } from './about-others.js';
import {
  checkedOrganizationActions,
  ExplainOrganizationAccess,
  OrganizationAccessChecks,
  reviewedAccount,
} from './access-review.rules.js';

type MemberRights = Awaited<ReturnType<typeof FIND_RIGHTS>>[number] & Pick<StoredRights, 'storedRules'>;

/**
 * Explains who may do what in the caller's organization, by the abilities that authorize requests.
 *
 * Both methods throw VALIDATION_FAILED, PERMISSION_DENIED for others that the caller may not read, and
 * AUDIT_UNAVAILABLE.
 */
export class OrganizationAccessService {
  /**
   * Why somebody may or may not perform an action; null for a non-member.
   *
   * @param raw `{ subject, action, fields?, userId?, identityId? }`; without user and identity: the caller
   */
  async explain(ctx: Context, raw: unknown): Promise<Explanation | null> {
    const { userId, identityId, ...what } = parse(ExplainOrganizationAccess, raw);
    const { action, fields } = checkedOrganizationActions(what);
    const whom = reviewedAccount({ userId, identityId });
    const memberId = whom === null ? ctx.actor.id : authorizeAbout(ctx, whom, await namesOf(ctx, [whom]));
    const rights = (await rightsOf(ctx, [memberId])).get(memberId);
    await ctx.auditTrail.recordRead(ctx, { action: 'access:explain', facts: { memberId } });
    return rights === undefined ? null : explain(organizationRights(rights), originsOf(rights), action, fields);
  }

  /**
   * Results of many checks, in order.
   *
   * @param raw `{ checks }`, 1 to 100 of `{ subject, action, fields?, userId?, identityId?, permissions? }`
   */
  async can(ctx: Context, raw: unknown): Promise<boolean[]> {
    const { checks } = await parseYielding(OrganizationAccessChecks, raw);
    const questions = checks.map(({ userId, identityId, permissions, ...what }, at) => ({
      whom: reviewedAccount({ userId, identityId }, `checks[${at}].`),
      permissions,
      ...checkedOrganizationActions(what, `checks[${at}].`),
    }));
    const names = await namesOf(
      ctx,
      questions.map(({ whom }) => whom),
    );
    const memberIds = questions.map(({ whom }) => (whom === null ? null : authorizeAbout(ctx, whom, names)));
    const rights = await rightsOf(
      ctx,
      memberIds.filter((id) => id !== null),
    );
    const abilityOf = (id: string) => organizationRights(rights.get(id) ?? NOTHING).ability;
    const unsaved = await unsavedRoles(
      ctx,
      memberIds.map((id, at) => ({
        permissions: questions[at]?.permissions,
        memberId: id ?? ctx.actor.id,
        isMember: id === null || rights.has(id),
      })),
    );
    const answers = await mapYielding(questions, ({ action, fields }, at) => {
      const role = unsaved[at] ?? null;
      const memberId = memberIds[at] ?? null;
      if (role !== null) return isAllowed(organizationRights(role).ability, action, fields);
      return isAllowed(memberId === null ? ctx.ability : abilityOf(memberId), action, fields);
    });
    await ctx.auditTrail.recordRead(ctx, { action: 'access:check', facts: { count: checks.length } });
    return answers;
  }
}

const NOTHING = { roles: [], storedRules: null };

/** The rights of members in the caller's organization, by ID. */
async function rightsOf(ctx: Context, ids: readonly string[]): Promise<ReadonlyMap<string, MemberRights>> {
  const memberIds = [...new Set(ids)].filter(isId);
  if (memberIds.length === 0) return new Map();
  const rows = await FIND_RIGHTS(ctx, { organizationId: ctx.organizationId, actorId: ctx.actor.id, memberIds });
  return new Map(
    rows.map(({ attributes, ...row }) => {
      const session = row.memberId === ctx.actor.id ? (ctx.actor.sessionAttributes ?? null) : null;
      const storedRules = row.storedRules as StoredRights['storedRules'];
      return [row.memberId, { ...row, storedRules, attributes: withSession(attributes, session) }];
    }),
  );
}

const originsOf = ({ memberships, ownRoles }: MemberRights): RightsOrigins => ({
  memberships: memberships as RightsOrigins['memberships'],
  ownRoles: ownRoles as RightsOrigins['ownRoles'],
  ownPrivileges: [],
});
