import type { Action } from '../../kernel/authz/ability.js';
import type { Fields } from '../../kernel/authz/conditions.js';
import { actionsAsked, type CheckedRules, isBuiltIn, projectRights, ruleAsked } from '../permissions/public.js';
import type { PlacedMember } from './places.js';

/** What a list of rules says of an action: the last rule that fits, or nothing. */
type Verdict = 'allowed' | 'forbidden' | null;

/** A membership that gives roles: those that the project made, and the built-in ones. What counts last comes first. */
interface Giving {
  readonly id: string;
  readonly own: readonly string[];
  readonly builtIn: readonly string[];
}

/** A member of a project. */
export interface HeldMember extends PlacedMember {
  /** Null for one that was deleted since. */
  readonly name: string | null;
}

/** @param roles in the order in which their rules count */
export const givingOf = ({ id, roles }: { readonly id: string; readonly roles: readonly string[] }): Giving => ({
  id,
  own: roles.filter((slug) => !isBuiltIn(slug)).reverse(),
  builtIn: roles.filter(isBuiltIn).reverse(),
});

/** Rules that somebody wrote. */
interface Stored {
  readonly slug: string;
  readonly rules: CheckedRules;
}

/** All that decides about the members of a project. */
export interface Policies {
  readonly members: readonly HeldMember[];
  readonly given: readonly Giving[];
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
export const namesAttributes = ({ rules }: Stored): boolean => rules.namesAttributes;

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
 * Each role is asked once, by the ability that is made of it alone, since the last rule that fits decides: built-in roles, the
 * others in the order of the member, its privileges. What names attributes is asked for each holder.
 */
function whoMayDo(policies: Policies, action: Action, fields?: Fields): Reason[] {
  const roles = new Map(policies.roles.map((role) => [role.slug, role]));
  const privileges = Map.groupBy(policies.privileges.toReversed(), ({ memberId }) => memberId);
  const verdictOf = verdictsOn(policies, action, fields);
  const decisionOf = (member: HeldMember): Decision | null => {
    for (const privilege of privileges.get(member.memberId) ?? []) {
      const { slug, membershipId } = privilege;
      const verdict = verdictOf(privilege, member.memberId);
      if (verdict !== null) return { verdict, member, roleSlug: null, privilegeSlug: slug, membershipId };
    }
    for (const kind of KINDS)
      for (const place of member.places) {
        const { id, [kind]: slugs } = policies.given[place - 1] as Giving;
        for (const slug of slugs) {
          const verdict = verdictOf(kind === 'own' ? roles.get(slug) : slug, member.memberId);
          if (verdict !== null) return { verdict, member, roleSlug: slug, privilegeSlug: null, membershipId: id };
        }
      }
    return null;
  };
  return policies.members.map(decisionOf).filter((decision) => decision?.verdict === 'allowed') as Decision[];
}

const KINDS = ['own', 'builtIn'] as const;

/** A reason, or what is in its place where something forbids. */
interface Decision extends Reason {
  readonly verdict: Verdict;
}

/** What rules, or a built-in role by its slug, say of an action of a member. A role that is gone says nothing. */
function verdictsOn(
  { roles, privileges, attributes }: Policies,
  action: Action,
  fields: Fields | undefined,
): (rules: Stored | string | undefined, memberId: string) => Verdict {
  const naming = new Set<Stored | string>([...roles, ...privileges].filter(namesAttributes));
  /** By rules, and by the attributes of the member where they name any. */
  const verdicts = new Map<Stored | string, Map<string, Verdict>>();
  return (rules, memberId) => {
    if (rules === undefined) return null;
    const named = naming.has(rules) ? (attributes.get(memberId) ?? '{}') : '';
    const known = verdicts.get(rules) ?? new Map<string, Verdict>();
    const verdict = known.get(named);
    if (verdict !== undefined) return verdict;
    const asked = askOnce(rules, named, action, fields);
    verdicts.set(rules, known.set(named, asked));
    return asked;
  };
}

function askOnce(rules: Stored | string, attributes: string, action: Action, fields: Fields | undefined): Verdict {
  const held =
    typeof rules === 'string' ? { roles: [rules], storedRules: null } : { roles: [], storedRules: [rules.rules] };
  const { ability } = projectRights({ ...held, attributes: attributes === '' ? null : attributes });
  const at = ruleAsked(ability, action, fields);
  return at === null ? null : ability.rules[at]?.inverted === true ? 'forbidden' : 'allowed';
}
