import type { Ability, Action, Rule } from '../../../kernel/authz/ability.js';
import { isBuiltIn, rightsBeyond, rulesOfRoles } from '../../identity/permissions/public.js';
import type { RoleTerm } from '../core/membership.entity.js';
import type { RolesHeld } from './role-terms.rules.js';

/** Which roles are granted and revoked. A role whose term changes counts as both. */
export interface RoleChange {
  readonly taken: readonly string[];
  readonly given: readonly string[];
  readonly kept: readonly string[];
}

/** When an assigned role ends; null: never. */
export function endOf(held: RolesHeld, slug: string): Date | null {
  const term = termOf(held, slug);
  return term === undefined ? null : new Date(term.endsAt);
}

/**
 * Roles whose term leaves out a part of the term of another: for that part they do not forbid what the other allows.
 */
export const outlastedRoles = (held: RolesHeld): string[] =>
  held.slugs.filter((slug) => !held.slugs.every((other) => covers(termOf(held, slug), termOf(held, other))));

const covers = (one: RoleTerm | undefined, other: RoleTerm | undefined): boolean =>
  one === undefined || (other !== undefined && one.startsAt <= other.startsAt && other.endsAt <= one.endsAt);

/** No roles. */
export const NO_ROLES: RolesHeld = { slugs: [], terms: null };

/** The difference between the roles of a member before and after. */
export function roleChange(before: RolesHeld, after: RolesHeld): RoleChange {
  const stays = (slug: string): boolean =>
    before.slugs.includes(slug) && after.slugs.includes(slug) && isSameTerm(termOf(before, slug), termOf(after, slug));
  const orderOf = ({ slugs }: RolesHeld): string => slugs.filter((slug) => !isBuiltIn(slug) && stays(slug)).join(' ');
  // Later roles win: in another order they grant something else.
  const isInOrder = orderOf(before) === orderOf(after);
  const isKept = (slug: string): boolean => stays(slug) && (isInOrder || isBuiltIn(slug));
  return {
    taken: before.slugs.filter((slug) => !isKept(slug)),
    given: after.slugs.filter((slug) => !isKept(slug)),
    kept: after.slugs.filter(isKept),
  };
}

const termOf = ({ terms }: RolesHeld, slug: string): RoleTerm | undefined =>
  terms !== null && Object.hasOwn(terms, slug) ? terms[slug] : undefined;

/** Slugs of all roles that are granted or revoked. */
export const rolesInChange = ({ taken, given }: RoleChange): string[] => [...new Set([...taken, ...given])];

const isSameTerm = (one: RoleTerm | undefined, other: RoleTerm | undefined): boolean =>
  one?.range === other?.range && one?.startsAt === other?.startsAt && one?.endsAt === other?.endsAt;

/** The member whose roles change, and what is known about it. */
interface Holder {
  /** The caller itself: revoking one's own roles requires no right. */
  readonly isCaller: boolean;
  /** It has rights besides those of this membership: a role that forbids something removes from these. */
  readonly hasMore: boolean;
  /** Rules of the custom roles of the project, by slug. */
  readonly rules: ReadonlyMap<string, readonly Rule[]>;
  /** Of the granted ones: `outlastedRoles`. */
  readonly outlasted?: readonly string[];
  /** Rules of privileges that end with the membership. */
  readonly privileges?: readonly Rule[];
}

/**
 * The rights that a change of roles grants or revokes and that the caller does not have. A temporary role counts as if
 * it were active now. Where the member has nothing else, what roles forbid removes nothing.
 */
export function rightsBeyondRoleChange(own: Ability, { taken, given, kept }: RoleChange, holder: Holder): Action[] {
  const rulesOf = (slugs: readonly string[], outlasted: readonly string[] = []): Rule[] =>
    rulesOfRoles(
      slugs,
      slugs
        .filter((slug) => !isBuiltIn(slug))
        .map((slug) => {
          const rules = holder.rules.get(slug) ?? [];
          return outlasted.includes(slug) ? rules.filter(({ inverted }) => inverted !== true) : rules;
        }),
    );
  const lost = [...rulesOf(taken), ...(holder.privileges ?? [])];
  const won = rulesOf(given);
  const isAlone = kept.length === 0 && !holder.hasMore;
  return [
    ...new Set([
      ...(holder.isCaller ? [] : rightsBeyond(own, lost)),
      ...rightsBeyond(own, rulesOf(given, holder.outlasted)),
      ...(isAlone ? [] : rightsBeyond(own, [...forbiddenBy(lost), ...(holder.isCaller ? [] : forbiddenBy(won))])),
    ]),
  ];
}

/** The rights that rules forbid, as rules that allow them. */
const forbiddenBy = (rules: readonly Rule[]): Rule[] =>
  rules.filter(({ inverted }) => inverted === true).map(({ inverted: _, ...rule }) => rule);
