import * as z from 'zod';
import { EVEN_IF_INVALID, looseTexts } from '../../../kernel/validation.js';
import { endOfTerm, termRange, termStart } from '../../identity/permissions/public.js';
import type { RoleTerm } from '../core/membership.entity.js';
import { roleSlug } from '../roles/role.rules.js';

/** Maximum number of roles of a member. */
export const MAX_ROLES = 10;

/** Whether no word occurs twice. */
export const isEachOnce = (words: readonly string[]): boolean => new Set(words).size === words.length;

/** The rule that a list with a duplicate role violates. */
export const ROLE_TWICE = { ...EVEN_IF_INVALID, error: 'must not repeat a role' };

/** One role of a member, permanent or temporary. */
export const RoleAssignment = z
  .strictObject({
    roleSlug: roleSlug.meta({ description: 'Slug of the role, for example `viewer`.' }),
    range: termRange.nullish().meta({
      description: 'Duration of the assignment: `30m`, `2h`, `7d` or `4w`, at most 10 years. Permanent when absent.',
    }),
    startsAt: termStart
      .nullish()
      .meta({ description: 'When the assignment starts. Requires `range`; starts now when absent.' }),
  })
  .refine(({ range, startsAt }) => range != null || startsAt == null, {
    ...EVEN_IF_INVALID,
    path: ['range'],
    error: 'required with startsAt',
  })
  .meta({ description: 'A role to assign, permanently or temporarily.' });
export type RoleAssignment = Pick<z.output<typeof RoleAssignment>, 'roleSlug'> &
  Partial<Omit<z.output<typeof RoleAssignment>, 'roleSlug'>>;

/** Roles of a member, each once. */
export const RoleAssignments = z
  .array(RoleAssignment)
  .min(1)
  .max(MAX_ROLES)
  .refine((roles) => isEachOnce(looseTexts(roles, 'roleSlug')), ROLE_TWICE);

/** Terms of temporary roles, by slug. */
export type RoleTerms = Readonly<Record<string, RoleTerm>>;

/** Roles in the form of a membership. */
export interface RolesHeld {
  readonly slugs: readonly string[];
  readonly terms: RoleTerms | null;
}

/** Roles in the form of the database. @param now the current time of the database */
export function rolesToHold(roles: readonly RoleAssignment[], now: Date): { slugs: string[]; terms: RoleTerms | null } {
  const terms = roles.flatMap(({ roleSlug: slug, range, startsAt }): [string, RoleTerm][] => {
    if (range == null) return [];
    const start = startsAt ?? now;
    const end = endOfTerm(start, range);
    return [[slug, { range, startsAt: start.toISOString(), endsAt: end.toISOString() }]];
  });
  return {
    slugs: roles.map((entry) => entry.roleSlug),
    terms: terms.length === 0 ? null : Object.fromEntries(terms),
  };
}

/** A role that is or was assigned to a member. */
export interface HeldRole {
  readonly projectId: string;
  readonly roleSlug: string;
  readonly isTemporary: boolean;
  readonly range: string | null;
  readonly startsAt: Date | null;
  readonly endsAt: Date | null;
  readonly isActive: boolean;
}

/** Roles in the form of the API. @param active slugs of those that are active now, by the clock of the database */
export const heldRoles = (projectId: string, { slugs, terms }: RolesHeld, active: readonly string[]): HeldRole[] =>
  slugs.map((slug) => {
    const term = terms !== null && Object.hasOwn(terms, slug) ? terms[slug] : undefined;
    return {
      projectId,
      roleSlug: slug,
      isTemporary: term !== undefined,
      range: term?.range ?? null,
      startsAt: term === undefined ? null : new Date(term.startsAt),
      endsAt: term === undefined ? null : new Date(term.endsAt),
      isActive: active.includes(slug),
    };
  });
