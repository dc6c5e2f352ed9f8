import type { Action } from '../../../kernel/authz/ability.js';
import type { Fields } from '../../../kernel/authz/conditions.js';
import { mapYielding } from '../../../kernel/event-loop.js';
import {
  BEST_SESSION,
  type CheckedRules,
  decidingRuleOf,
  isBuiltIn,
  namesSession,
  projectRights,
  withSession,
} from '../../identity/permissions/public.js';

/** A membership that grants roles, custom and built-in ones. What is evaluated last comes first. */
interface Giving {
  readonly id: string;
  /** Whether it is the membership of a group. */
  readonly isGroup: boolean;
  /** Whether it is one of all projects of the organization. */
  readonly isOfAllProjects: boolean;
  readonly own: readonly string[];
  readonly builtIn: readonly string[];
}

/** A member of a project. */
export interface ProjectMember extends PlacedMember {
  /** Null for a deleted one. */
  readonly name: string | null;
}

interface Roles {
  readonly roles: readonly string[];
}

/** @param roles in order of evaluation */
export const toRoleGrant = ({
  id,
  isGroup,
  isOfAllProjects,
  roles,
}: Omit<Giving, 'own' | 'builtIn'> & Roles): Giving => ({
  id,
  isGroup,
  isOfAllProjects,
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
  readonly members: readonly ProjectMember[];
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
  readonly isOfAllProjects: boolean;
}

/** Why a member is allowed an action. */
export interface Reason extends Origin {
  readonly member: ProjectMember;
  /** Only in a session that came with what a rule names. */
  readonly isForSomeSessions: boolean;
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
 * Which members of a project may perform an action there, and why; for several actions, all of them, and why the last. Machine identities
 * that may in some of their sessions count, too.
 */
export async function membersAllowed(
  policies: Policies,
  actions: readonly Action[],
  fields?: Fields,
): Promise<Reason[]> {
  const all = (1 << actions.length) - 1;
  const decisionOf = decisionsIn(policies, actions, fields);
  const atBest = [...policies.roles, ...policies.privileges].some(({ rules }) => namesSession(rules.checked))
    ? decisionsIn({ ...policies, attributes: inBestSession(policies.attributes) }, actions, fields)
    : null;
  const reasons = await mapYielding(policies.members, (member) => {
    const { allows, origin } = decisionOf(member, all);
    if (allows === all && origin !== null) return [{ member, ...origin, isForSomeSessions: false }];
    const best = member.memberKind === 'identity' ? atBest?.(member, all) : undefined;
    return best?.allows === all && best.origin !== null ? [{ member, ...best.origin, isForSomeSessions: true }] : [];
  });
  return reasons.flat();
}

const inBestSession = (attributes: Policies['attributes']): Policies['attributes'] =>
  new Map([...attributes].map(([memberId, text]) => [memberId, withSession(text, BEST_SESSION) as string]));

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
): (member: Pick<ProjectMember, 'memberId' | 'places'>, all: number) => Decision {
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
      decision = withLess(
        decision,
        decide(privilege, memberId, { roleSlug: null, privilegeSlug: slug, membershipId, isOfAllProjects: false }),
      );
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
    const { id, isOfAllProjects, [kind]: slugs } = given[place - 1] as Giving;
    const decision = slugs.reduce((more, slug) => {
      const origin = { roleSlug: slug, privilegeSlug: null, membershipId: id, isOfAllProjects };
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

const ID_BYTES = 16;
const ID_WORDS = 4;
/** Positions of the hyphens in an ID, as counts of hexadecimal digits before them. */
const PARTS = [8, 12, 16, 20, 32] as const;

/** Members of a membership: concatenated IDs, as the database sends them. */
interface Belonging {
  readonly users: Buffer;
  readonly identities: Buffer;
}

/** A user or identity with a membership. */
interface PlacedMember {
  readonly memberKind: 'user' | 'identity';
  readonly memberId: string;
  /** Positions, from 1, of its memberships among all, the last first. */
  readonly places: readonly number[];
}

/** All members of memberships, each once. */
export function membersOf(memberships: readonly Belonging[]): PlacedMember[] {
  const of = (memberKind: PlacedMember['memberKind'], ids: readonly Buffer[]): PlacedMember[] =>
    [...placesByMember(ids)].map(([memberId, places]) => ({ memberKind, memberId, places }));
  const users = memberships.map((membership) => membership.users);
  const identities = memberships.map((membership) => membership.identities);
  return [...of('user', users), ...of('identity', identities)];
}

/**
 * The memberships of each member by their positions among all, from 1, the last first.
 *
 * A tenth of a hundred thousand IDs may be distinct: they are compared by their four words, and only the distinct ones
 * become strings.
 *
 * @returns by the IDs of members
 */
function placesByMember(memberships: readonly Buffer[]): ReadonlyMap<string, readonly number[]> {
  const bytes = Buffer.concat(memberships);
  const words = new Int32Array(Uint8Array.from(bytes).buffer);
  const members = new DistinctIds(words);
  const places: number[][] = [];
  let end = bytes.length / ID_BYTES;
  for (let place = memberships.length; place > 0; place -= 1) {
    const start = end - (memberships[place - 1] as Buffer).length / ID_BYTES;
    for (let at = start; at < end; at += 1) {
      const member = members.numberOf(at);
      const known = places[member];
      if (known === undefined) places[member] = [place];
      else known.push(place);
    }
    end = start;
  }
  return new Map(members.firsts.map((at, member) => [idAt(bytes, at), places[member] as number[]]));
}

/**
 * Numbers IDs from 0, equal ones with the same number: a hash table without a string for each. IDs are random already.
 */
class DistinctIds {
  /** Position of the first occurrence of each number. */
  readonly firsts: number[] = [];
  /** One more than the number of an ID; 0 for an empty slot. At most half of the slots are used. */
  readonly #slots: Int32Array;

  constructor(private readonly words: Int32Array) {
    this.#slots = new Int32Array(2 ** Math.ceil(Math.log2(words.length / 2 + 1)));
  }

  numberOf(at: number): number {
    const last = this.#slots.length - 1;
    let slot = (this.words[at * ID_WORDS] as number) & last;
    for (let known = this.#slots[slot]; known !== 0; known = this.#slots[slot]) {
      const number = (known as number) - 1;
      if (this.#areEqual(this.firsts[number] as number, at)) return number;
      slot = (slot + 1) & last;
    }
    this.#slots[slot] = this.firsts.push(at);
    return this.firsts.length - 1;
  }

  #areEqual(one: number, other: number): boolean {
    for (let word = 0; word < ID_WORDS; word += 1)
      if (this.words[one * ID_WORDS + word] !== this.words[other * ID_WORDS + word]) return false;
    return true;
  }
}

function idAt(bytes: Buffer, at: number): string {
  const digits = bytes.toString('hex', at * ID_BYTES, (at + 1) * ID_BYTES);
  return PARTS.map((end, part) => digits.slice(PARTS[part - 1] ?? 0, end)).join('-');
}
