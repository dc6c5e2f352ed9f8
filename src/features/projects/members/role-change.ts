import type { Ability, Action, Rule } from '../../../kernel/authz/ability.js';
import { isBuiltIn, rightsBeyond, rulesOfRoles } from '../../permissions/public.js';
import type { RoleTerm } from './membership.entity.js';
import type { RolesHeld } from './role-terms.rules.js';

/** Which roles change hands. One whose term changes is taken and given. */
export interface RoleChange {
  readonly taken: readonly string[];
  readonly given: readonly string[];
  readonly kept: readonly string[];
}

/** When a role that is held ends; null: never. */
export function endOf(held: RolesHeld, slug: string): Date | null {
  const term = termOf(held, slug);
  return term === undefined ? null : new Date(term.endsAt);
}

/** Roles whose term leaves out a part of that of another: what they forbid, they do not forbid for as long as that allows it. */
export const outlastedRoles = (held: RolesHeld): string[] =>
  held.slugs.filter((slug) => !held.slugs.every((other) => covers(termOf(held, slug), termOf(held, other))));

const covers = (one: RoleTerm | undefined, other: RoleTerm | undefined): boolean =>
  one === undefined || (other !== undefined && one.startsAt <= other.startsAt && other.endsAt <= one.endsAt);

/** No role at all. */
export const NO_ROLES: RolesHeld = { slugs: [], terms: null };

/** What changes between the roles of a member before and after. */
export function roleChange(before: RolesHeld, after: RolesHeld): RoleChange {
  const stays = (slug: string): boolean =>
    before.slugs.includes(slug) && after.slugs.includes(slug) && isSameTerm(termOf(before, slug), termOf(after, slug));
  const orderOf = ({ slugs }: RolesHeld): string => slugs.filter((slug) => !isBuiltIn(slug) && stays(slug)).join(' ');
  // Later roles win: in another order they allow something else.
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

/** Slugs of all roles that change hands. */
export const rolesInChange = ({ taken, given }: RoleChange): string[] => [...new Set([...taken, ...given])];

const isSameTerm = (one: RoleTerm | undefined, other: RoleTerm | undefined): boolean =>
  one?.range === other?.range && one?.startsAt === other?.startsAt && one?.endsAt === other?.endsAt;

/** Whose roles change, and what is known of them. */
interface Holder {
  /** The caller: what one takes from oneself needs no right. */
  readonly isCaller: boolean;
  /** It has rights besides those of this membership: a role that forbids something takes from these. */
  readonly hasMore: boolean;
  /** Rules of the project's own roles, by slug. */
  readonly rules: ReadonlyMap<string, readonly Rule[]>;
  /** Of those that are given: `outlastedRoles`. */
  readonly outlasted?: readonly string[];
  /** Rules of privileges that end with the membership. */
  readonly privileges?: readonly Rule[];
}

/**
 * What a change of roles gives or takes that the caller does not have. A role for a time counts as if it were held now.
 * Where nothing else is held, what roles forbid takes nothing from anybody.
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

/** What rules take back of others, as rules that allow it. */
const forbiddenBy = (rules: readonly Rule[]): Rule[] =>
  rules.filter(({ inverted }) => inverted === true).map(({ inverted: _, ...rule }) => rule);
