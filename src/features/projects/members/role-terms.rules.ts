import { z } from 'zod';
import { slugText } from '../../../kernel/text-rules.js';
import { EVEN_IF_FAULTY, looseTexts } from '../../../kernel/validation.js';
import { endOfTerm, termRange, termStart } from '../../permissions/public.js';
import type { RoleTerm } from './membership.entity.js';

/** Slug of any role of a project. */
export const roleSlug = slugText(1, 64);

/** How many roles a member can have. */
export const MAX_ROLES = 10;

/** Whether no word comes twice. */
export const isEachOnce = (words: readonly string[]): boolean => new Set(words).size === words.length;

/** What a list of roles breaks that names one twice. */
export const ROLE_TWICE = { ...EVEN_IF_FAULTY, error: 'must name each role once' };

/** One role of a member, for good or for a time. */
export const RoleAssignment = z
  .strictObject({
    roleSlug: roleSlug.meta({ description: 'Slug of the role.' }),
    range: termRange.nullish().meta({
      description: 'For how long, as `30m`, `2h`, `7d` or `4w`, at most 10 years. Absent: for good.',
    }),
    startsAt: termStart.nullish().meta({ description: 'From when on, for a role with a range. Absent: from now on.' }),
  })
  .refine(({ range, startsAt }) => range != null || startsAt == null, {
    ...EVEN_IF_FAULTY,
    path: ['range'],
    error: 'must be given beside startsAt',
  })
  .meta({ description: 'A role, for good or for a time.' });
export type RoleAssignment = Pick<z.output<typeof RoleAssignment>, 'roleSlug'> &
  Partial<Omit<z.output<typeof RoleAssignment>, 'roleSlug'>>;

/** Roles of a member, each once. */
export const RoleAssignments = z
  .array(RoleAssignment)
  .min(1)
  .max(MAX_ROLES)
  .refine((roles) => isEachOnce(looseTexts(roles, 'roleSlug')), ROLE_TWICE);

/** Of roles that are held for a time, by slug. */
export type RoleTerms = Readonly<Record<string, RoleTerm>>;

/** Roles as a membership has them. */
export interface RolesHeld {
  readonly slugs: readonly string[];
  readonly terms: RoleTerms | null;
}

/** Roles as they are stored. @param now on the clock of the database */
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

/** A role that a member has, or had until its end. */
export interface HeldRole {
  readonly projectId: string;
  readonly roleSlug: string;
  readonly isTemporary: boolean;
  readonly range: string | null;
  readonly startsAt: Date | null;
  readonly endsAt: Date | null;
  readonly isActive: boolean;
}

/** Roles as the interface shows them. @param active slugs of those that hold right now, by the clock of the database */
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
