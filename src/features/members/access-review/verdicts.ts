import type { Action } from '../../../kernel/authz/ability.js';
import type { Fields } from '../../../kernel/authz/conditions.js';
import { mapYielding } from '../../../kernel/event-loop.js';
import { type CheckedRules, decidingRuleOf, isBuiltIn, projectRights } from '../../identity/permissions/public.js';
import type { PlacedMember } from './places.js';

/** A membership that grants roles, custom and built-in ones. What is evaluated last comes first. */
interface Giving {
  readonly id: string;
  /** Whether it is the membership of a group. */
  readonly isGroup: boolean;
  readonly own: readonly string[];
  readonly builtIn: readonly string[];
}

/** A member of a project. */
export interface HeldMember extends PlacedMember {
  /** Null for a deleted one. */
  readonly name: string | null;
}

interface Roles {
  readonly roles: readonly string[];
}

/** @param roles in order of evaluation */
export const givingOf = ({ id, isGroup, roles }: Omit<Giving, 'own' | 'builtIn'> & Roles): Giving => ({
  id,
  isGroup,
  own: roles.filter((slug) => !isBuiltIn(slug)).reverse(),
  builtIn: roles.filter(isBuiltIn).reverse(),
});

/** Stored rules. */
interface Stored {
  readonly slug: string;
  readonly rules: CheckedRules;
}

/** Everything that decides about the members of a project. */
export interface Policies {
  readonly members: readonly HeldMember[];
  readonly given: readonly Giving[];
  readonly roles: readonly Stored[];
  /** In order of evaluation. */
  readonly privileges: readonly (Stored & { readonly membershipId: string; readonly memberId: string })[];
  /** The attributes of members that rules can name, JSON text by member. */
  readonly attributes: ReadonlyMap<string, string>;
}

/** What allows or denies an action of a member. */
interface Origin {
  /** The role whose rule decides; null for a privilege. */
  readonly roleSlug: string | null;
  readonly privilegeSlug: string | null;
  readonly membershipId: string;
}

/** Why a member is allowed an action. */
export interface Reason extends Origin {
  readonly member: HeldMember;
}

/** What rules decide about the checked actions, one bit each: which they decide, and which of these they allow. */
interface Verdict {
  readonly decides: number;
  readonly allows: number;
}

/** The same, with what decides about the last action; null while nothing does. */
interface Decision extends Verdict {
  readonly origin: Origin | null;
}

const UNDECIDED: Decision = { decides: 0, allows: 0, origin: null };

/** The first where it decides, otherwise the second. */
const withLess = (more: Decision, less: Decision): Decision =>
  (less.decides & ~more.decides) === 0
    ? more
    : {
        decides: more.decides | less.decides,
        allows: more.allows | (less.allows & ~more.decides),
        origin: more.origin ?? less.origin,
      };

/** Whether rules name attributes of their holder. */
export const namesAttributes = ({ rules }: Stored): boolean => rules.namesAttributes;

/**
 * Which members of a project may perform an action there, and why; for several actions, all of them, and why the last.
 */
export async function whoMay(policies: Policies, actions: readonly Action[], fields?: Fields): Promise<Reason[]> {
  const all = (1 << actions.length) - 1;
  const decisionOf = decisionsIn(policies, actions, fields);
  const reasons = await mapYielding(policies.members, (member) => {
    const { allows, origin } = decisionOf(member, all);
    return allows === all && origin !== null ? [{ member, ...origin }] : [];
  });
  return reasons.flat();
}

/**
 * IDs of the memberships of groups that by themselves allow all of some actions to every member of the group, oldest
 * first. Rules that name attributes of their holder allow nothing here.
 */
export function groupsThatMay(policies: Policies, actions: readonly Action[], fields?: Fields): string[] {
  const all = (1 << actions.length) - 1;
  const decisionOf = decisionsIn({ ...policies, privileges: [] }, actions, fields);
  return policies.given.flatMap(({ id, isGroup }, at) =>
    isGroup && decisionOf({ memberId: '', places: [at + 1] }, all).allows === all ? [id] : [],
  );
}

/**
 * Each role is evaluated once, by an ability of its own, since the last matching rule decides: built-in roles, the
 * others in the order of the member, its privileges. Rules that name attributes are evaluated per holder.
 */
function decisionsIn(
  policies: Policies,
  actions: readonly Action[],
  fields: Fields | undefined,
): (member: Pick<HeldMember, 'memberId' | 'places'>, all: number) => Decision {
  const privileges = Map.groupBy(policies.privileges.toReversed(), ({ memberId }) => memberId);
  const verdictOf = verdictsOn(policies, actions, fields);
  const last = 1 << (actions.length - 1);
  const decide = (rules: Stored | string | undefined, memberId: string, origin: Origin): Decision => {
    const verdict = verdictOf(rules, memberId);
    return { ...verdict, origin: (verdict.decides & last) === 0 ? null : origin };
  };
  const givenAt = givingsIn(policies, decide);
  return ({ memberId, places }, all) => {
    let decision = UNDECIDED;
    for (const privilege of privileges.get(memberId) ?? []) {
      const { slug, membershipId } = privilege;
      decision = withLess(decision, decide(privilege, memberId, { roleSlug: null, privilegeSlug: slug, membershipId }));
    }
    for (const kind of KINDS)
      for (const place of places) {
        if (decision.decides === all) return decision;
        decision = withLess(decision, givenAt(kind, place, memberId));
      }
    return decision;
  };
}

const KINDS = ['own', 'builtIn'] as const;

/**
 * What the roles of one kind of a membership decide: evaluated once for all its members, unless they name attributes.
 */
function givingsIn(
  { given, roles }: Policies,
  decide: (rules: Stored | string | undefined, memberId: string, origin: Origin) => Decision,
): (kind: (typeof KINDS)[number], place: number, memberId: string) => Decision {
  const bySlug = new Map(roles.map((role) => [role.slug, role]));
  const naming = new Set(roles.filter(namesAttributes).map(({ slug }) => slug));
  const known: Record<(typeof KINDS)[number], Decision[]> = { own: [], builtIn: [] };
  return (kind, place, memberId) => {
    const found = known[kind][place];
    if (found !== undefined) return found;
    const { id, [kind]: slugs } = given[place - 1] as Giving;
    const decision = slugs.reduce((more, slug) => {
      const origin = { roleSlug: slug, privilegeSlug: null, membershipId: id };
      return withLess(more, decide(kind === 'own' ? bySlug.get(slug) : slug, memberId, origin));
    }, UNDECIDED);
    if (!slugs.some((slug) => naming.has(slug))) known[kind][place] = decision;
    return decision;
  };
}

/** What rules, or a built-in role by its slug, decide about actions of a member. A deleted role decides nothing. */
function verdictsOn(
  { roles, privileges, attributes }: Policies,
  actions: readonly Action[],
  fields: Fields | undefined,
): (rules: Stored | string | undefined, memberId: string) => Verdict {
  const naming = new Set<Stored | string>([...roles, ...privileges].filter(namesAttributes));
  /** By rules, and by the attributes of the member where they name any. */
  const verdicts = new Map<Stored | string, Map<string, Verdict>>();
  return (rules, memberId) => {
    if (rules === undefined) return UNDECIDED;
    const named = naming.has(rules) ? (attributes.get(memberId) ?? '{}') : '';
    const known = verdicts.get(rules) ?? new Map<string, Verdict>();
    const verdict = known.get(named);
    if (verdict !== undefined) return verdict;
    const asked = askOnce(rules, named, actions, fields);
    verdicts.set(rules, known.set(named, asked));
    return asked;
  };
}

function askOnce(
  rules: Stored | string,
  attributes: string,
  actions: readonly Action[],
  fields: Fields | undefined,
): Verdict {
  const held =
    typeof rules === 'string' ? { roles: [rules], storedRules: null } : { roles: [], storedRules: [rules.rules] };
  const { ability } = projectRights({ ...held, attributes: attributes === '' ? null : attributes });
  const bitsOf = (is: (rule: number) => boolean): number =>
    actions.reduce((bits, action, at) => {
      const rule = decidingRuleOf(ability, action, fields);
      return rule !== null && is(rule) ? bits | (1 << at) : bits;
    }, 0);
  return { decides: bitsOf(() => true), allows: bitsOf((rule) => ability.rules[rule]?.inverted !== true) };
}
