import { type Ability, type Action, can, decidingRule, type Rule, rulesOf } from '../../../kernel/authz/ability.js';
import type { Fields } from '../../../kernel/authz/conditions.js';
import { assignmentsOf } from './ability.js';
import type { Rights, RuleSource } from './rights.js';

/** Where the roles and privileges of a member come from. */
export interface RightsOrigins {
  /** The memberships that grant each role: those of all projects, direct ones, then those of groups. */
  readonly memberships: readonly RoleGiven[];
  /** The custom roles, and the own rules of memberships, in the order of their stored rules. */
  readonly ownRoles: readonly { readonly id: string; readonly slug: string }[];
  /** In the order of their stored rules. */
  readonly ownPrivileges: readonly {
    readonly id: string;
    readonly slug: string;
    readonly membershipId: string;
  }[];
}

interface RoleGiven {
  readonly role: string;
  readonly membershipId: string;
  /** Null for a direct membership. */
  readonly groupId: string | null;
  /** The membership is one of all projects of the organization. */
  readonly isOfAllProjects?: boolean;
}

/** Origin of a rule: a role, with every membership that grants it, or a privilege. */
export type RuleOrigin =
  | {
      readonly kind: 'role';
      /** Null for a built-in one. */
      readonly roleId: string | null;
      /** For the own rules of a membership of all projects: `isOwnRules`. */
      readonly slug: string;
      readonly through: readonly Omit<RoleGiven, 'role'>[];
    }
  | { readonly kind: 'privilege'; readonly privilegeId: string; readonly slug: string; readonly membershipId: string };

/** Why an action is allowed or denied. */
export interface Explanation {
  readonly isAllowed: boolean;
  /**
   * The rule that decides, with the caller's own attributes filled in; null when none matches, so that the permission
   * is missing.
   */
  readonly decidedBy: { readonly rule: Rule; readonly origin: RuleOrigin } | null;
}

/**
 * Why rights allow an action or not, by the same ability that authorizes requests. Without fields: any resource of the
 * subject.
 *
 * @param origins read together with the rules that the rights were compiled from
 */
export function explain(
  { ability, sources }: Rights,
  origins: RightsOrigins,
  action: Action,
  fields?: Fields,
): Explanation {
  const places = checkedActions(action).map((each) => decidingRuleOf(ability, each, fields));
  const isGiven = (place: number | null): boolean => place !== null && rulesOf(ability)[place]?.inverted !== true;
  // Of several actions a denied one decides.
  const missing = places.findIndex((place) => !isGiven(place));
  const at = places[Math.max(0, missing)] ?? null;
  if (at === null) return { isAllowed: false, decidedBy: null };
  const rule = rulesOf(ability)[at] as Rule;
  return {
    isAllowed: rule.inverted !== true,
    decidedBy: { rule, origin: originOf(sources[at] as RuleSource, origins) },
  };
}

/** A rule that applies to a member, with its own attributes filled in, and its origin. */
export interface EffectiveRule {
  readonly rule: Rule;
  readonly origin: RuleOrigin;
}

/** All rules by which rights decide, in order. @param origins as in `explain` */
export const effectiveRules = ({ ability, sources }: Rights, origins: RightsOrigins): EffectiveRule[] =>
  rulesOf(ability).map((rule, at) => ({
    rule,
    origin: originOf(sources[at] as RuleSource, origins),
  }));

/** The own rules of a membership of all projects count as a role named by its ID behind an asterisk, which no slug has. */
export const isOwnRules = (role: string): boolean => role.startsWith('*');

function originOf(source: RuleSource, { memberships, ownRoles, ownPrivileges }: RightsOrigins): RuleOrigin {
  if (source.kind === 'privilege') {
    const privilege = ownPrivileges[source.at];
    if (privilege === undefined) throw new Error('the origins are not those of the rights');
    const { id, slug, membershipId } = privilege;
    return { kind: 'privilege', privilegeId: id, slug, membershipId };
  }
  const role = source.kind === 'role' ? ownRoles[source.at] : { id: null, slug: source.slug };
  if (role === undefined) throw new Error('the origins are not those of the rights');
  const through = memberships.filter((given) => given.role === role.slug);
  return {
    kind: 'role',
    roleId: role.id,
    slug: role.slug,
    through: through.map(({ role: _, ...given }) => given),
  };
}

/** The names that rules are compiled to: no rule is evaluated by the other names. */
const OTHER_WORDS: Readonly<Record<string, readonly Action[]>> = {
  'secrets:read': ['secrets:describeSecret', 'secrets:readValue'],
  'project:create': ['workspace:create'],
};

/** The actions of a check. */
export const checkedActions = (action: Action): readonly Action[] => OTHER_WORDS[action] ?? [action];

/** An ability in the form that authorizes requests with these actions. */
const judgingBy = (own: Ability, action: Action): Ability => (/:assign-/.test(action) ? assignmentsOf(own) : own);

/** Whether rules allow the checked actions. */
export const isAllowed = (own: Ability, action: Action, fields?: Fields): boolean =>
  checkedActions(action).every((each) => can(judgingBy(own, each), each, fields));

/** Position of the rule that decides about one of `checkedActions`; null when none matches. */
export const decidingRuleOf = (own: Ability, action: Action, fields?: Fields): number | null =>
  decidingRule(judgingBy(own, action), action, fields);
