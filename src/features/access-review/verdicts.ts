import type { Action } from '../../kernel/authz/ability.js';
import type { Fields } from '../../kernel/authz/conditions.js';
import { actionsAsked, isBuiltIn, projectRights, ruleAsked } from '../permissions/public.js';

/** What a list of rules says of an action: the last rule that fits, or nothing. */
type Verdict = 'allowed' | 'forbidden' | null;

/** A member of a project, with its roles in the order in which their rules count, and the membership that gives each. */
export interface HeldMember {
  readonly memberKind: 'user' | 'identity';
  readonly memberId: string;
  readonly name: string | null;
  readonly roles: readonly string[];
  readonly memberships: readonly string[];
}

/** Rules that somebody wrote: JSON text as it is stored. */
interface Stored {
  readonly slug: string;
  readonly permissions: string;
}

/** All that decides about the members of a project. */
export interface Policies {
  readonly members: readonly HeldMember[];
  readonly roles: readonly Stored[];
  /** In the order in which their rules count. */
  readonly privileges: readonly (Stored & { readonly membershipId: string; readonly memberId: string })[];
  /** What rules can name of members, JSON text by member. */
  readonly attributes: ReadonlyMap<string, string>;
}

/** Why a member is allowed something. */
export interface Reason {
  readonly member: HeldMember;
  /** The role whose rule decides; null for a privilege. */
  readonly roleSlug: string | null;
  readonly privilegeSlug: string | null;
  readonly membershipId: string;
}

/** Whether rules name attributes of their holder. */
export const namesAttributes = ({ permissions }: Stored): boolean => permissions.includes('{{');

/** Who of the members of a project may do something there, and by what; for two actions, by what the second one. */
export function whoMay(policies: Policies, action: Action, fields?: Fields): Reason[] {
  return actionsAsked(action)
    .map((each) => whoMayDo(policies, each, fields))
    .reduce((some, reasons) => {
      const ids = new Set(some.map(({ member }) => member.memberId));
      return reasons.filter(({ member }) => ids.has(member.memberId));
    });
}

/**
 * Each role is asked once, by the ability that is made of
 * it alone, since the last rule that fits decides: built-in roles, the others in the order of the member, its privileges. What
 * names attributes is asked for each holder.
 */
function whoMayDo(policies: Policies, action: Action, fields?: Fields): Reason[] {
  const roles = new Map(policies.roles.map((role) => [role.slug, role]));
  const privileges = Map.groupBy(policies.privileges, ({ memberId }) => memberId);
  const verdicts = new Map<string, Verdict>();
  const verdictOf = (stored: Stored | undefined, slug: string, { memberId }: HeldMember): Verdict => {
    if (stored === undefined && !isBuiltIn(slug)) return null;
    const attributes =
      stored !== undefined && namesAttributes(stored) ? (policies.attributes.get(memberId) ?? '{}') : null;
    const key = `${stored?.permissions ?? slug}\n${attributes ?? ''}`;
    const known = verdicts.get(key);
    if (known !== undefined) return known;
    const storedRules = stored === undefined ? null : `[${stored.permissions}]`;
    const { ability } = projectRights({ roles: [slug], storedRules, attributes });
    const at = ruleAsked(ability, action, fields);
    const verdict = at === null ? null : ability.rules[at]?.inverted === true ? 'forbidden' : 'allowed';
    verdicts.set(key, verdict);
    return verdict;
  };
  return policies.members.flatMap((member): Reason[] => {
    let reason: Reason | null = null;
    const decide = (verdict: Verdict, of: Omit<Reason, 'member'>): void => {
      if (verdict !== null) reason = verdict === 'allowed' ? { member, ...of } : null;
    };
    const held = member.roles.map((slug, at) => ({ slug, membershipId: member.memberships[at] as string }));
    // The first membership that gives a role is where its rules count.
    const once = held.filter(({ slug }, at) => member.roles.lastIndexOf(slug) === at);
    for (const { slug, membershipId } of [...once.filter(isOfAll), ...once.filter((each) => !isOfAll(each))])
      decide(verdictOf(roles.get(slug), slug, member), { roleSlug: slug, privilegeSlug: null, membershipId });
    for (const privilege of privileges.get(member.memberId) ?? [])
      decide(verdictOf(privilege, privilege.slug, member), {
        roleSlug: null,
        privilegeSlug: privilege.slug,
        membershipId: privilege.membershipId,
      });
    return reason === null ? [] : [reason];
  });
}

const isOfAll = ({ slug }: { readonly slug: string }): boolean => isBuiltIn(slug);
