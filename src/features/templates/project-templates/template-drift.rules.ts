import * as z from 'zod';
import type { Rule } from '../../../kernel/authz/ability.js';
import { canonicalJson } from '../../../kernel/canonical-json.js';
import { EVEN_IF_INVALID } from '../../../kernel/validation.js';
import { idOf } from '../../../kernel/value-rules.js';
import { isBuiltIn, readStoredRules } from '../../identity/permissions/public.js';
import type { ShownContent } from './template.view.js';
import type { MemberKind } from './template-application.js';

const PARTS = ['environments', 'roles', 'members'] as const;
/** The parts of a project that a template defines. */
export type TemplatePart = (typeof PARTS)[number];
export const ALL_PARTS: readonly TemplatePart[] = PARTS;
export const templatePart = z.enum(PARTS);

const projectId = idOf('project');

/** Arguments of `projectTemplateDrift`. */
export const DriftOfProject = z.strictObject({ projectId });

/** Input of `applyProjectTemplate`. */
export const ApplyProjectTemplate = z
  .strictObject({
    projectId,
    parts: z
      .array(templatePart)
      .min(1)
      .max(PARTS.length)
      .refine((parts) => new Set(parts).size === parts.length, {
        ...EVEN_IF_INVALID,
        error: 'must not contain duplicates',
      })
      .meta({
        description:
          'Parts to update, without duplicates. If members get a role that the project does not have yet, `ROLES` is required too.',
      }),
    removes: z.boolean().default(false).meta({ description: 'Whether to remove what the template does not define.' }),
    dryRun: z.boolean().default(false).meta({ description: 'Whether to only preview the changes.' }),
  })
  .meta({ description: 'The project to update, and which parts of it.' });

export type Difference = 'missing' | 'renamed' | 'other-rules' | 'other-roles' | 'additional';

/** The state of a project. */
export interface ProjectState {
  readonly environments: readonly {
    readonly id: string;
    readonly slug: string;
    readonly name: string;
    readonly holdsContent: boolean;
    readonly isImported: boolean;
  }[];
  readonly roles: readonly {
    readonly id: string;
    readonly slug: string;
    readonly name: string;
    readonly permissions: unknown;
  }[];
  /** Oldest first. */
  readonly members: readonly MemberState[];
  /** Machine identities owned by the project, oldest first. */
  readonly ownIdentities: readonly { readonly id: string; readonly name: string }[];
}

/** A member of the project. */
interface MemberState {
  readonly id: string;
  readonly kind: MemberKind;
  readonly memberId: string;
  readonly name: string;
  readonly groupSlug: string | null;
  readonly roles: readonly string[];
  readonly terms: unknown;
  readonly joinedAt: Date;
}

/** A difference of an environment. The side that does not have it is null. */
export interface EnvironmentDifference {
  readonly difference: Difference;
  readonly slug: string;
  readonly name: string | null;
  readonly templateName: string | null;
}

/** A difference of a role. */
export interface RoleDifference extends EnvironmentDifference {
  readonly rules: readonly Rule[] | null;
  readonly templateRules: readonly Rule[] | null;
}

/** A difference of a member. */
export interface MemberDifference {
  readonly difference: Difference;
  readonly memberKind: MemberKind | 'project-identity';
  /** Null for an identity that does not exist yet. */
  readonly memberId: string | null;
  readonly name: string;
  readonly groupSlug: string | null;
  readonly roles: readonly string[] | null;
  readonly templateRoles: readonly string[] | null;
}

/** The differences between a project and its template. */
export interface Differences {
  readonly environments: readonly EnvironmentDifference[];
  readonly roles: readonly RoleDifference[];
  readonly members: readonly MemberDifference[];
}

/** The content of a template, including members whose organization membership has ended. */
interface TemplateState extends Pick<ShownContent, 'environments' | 'roles' | 'users' | 'groups' | 'identities'> {
  readonly projectManagedIdentities: ShownContent['projectManagedIdentities'];
  readonly namedIds: ReadonlySet<string>;
}

/** Compares a project with its template. The order of environments is ignored. */
export const differencesOf = (template: TemplateState, state: ProjectState): Differences => ({
  environments: environmentDifferences(template, state),
  roles: roleDifferences(template, state),
  members: memberDifferences(template, state),
});

function environmentDifferences({ environments }: TemplateState, state: ProjectState): EnvironmentDifference[] {
  // The template leaves environments to whoever creates a project.
  if (environments === null) return [];
  const present = new Map(state.environments.map((one) => [one.slug, one]));
  const defined = new Set(environments.map(({ slug }) => slug));
  return [
    ...environments.flatMap(({ slug, name }): EnvironmentDifference[] => {
      const found = present.get(slug);
      if (found === undefined) return [{ difference: 'missing', slug, name: null, templateName: name }];
      return found.name === name ? [] : [{ difference: 'renamed', slug, name: found.name, templateName: name }];
    }),
    ...state.environments
      .filter(({ slug }) => !defined.has(slug))
      .map(({ slug, name }) => ({ difference: 'additional' as const, slug, name, templateName: null })),
  ];
}

function roleDifferences({ roles }: TemplateState, state: ProjectState): RoleDifference[] {
  const present = new Map(state.roles.map((one) => [one.slug, { ...one, rules: readStoredRules(one.permissions) }]));
  const defined = new Set(roles.map(({ slug }) => slug));
  return [
    ...roles.flatMap(({ slug, name, rules }): RoleDifference[] => {
      const found = present.get(slug);
      const sides = { slug, templateName: name, templateRules: rules };
      if (found === undefined) return [{ ...sides, difference: 'missing', name: null, rules: null }];
      const own = { name: found.name, rules: found.rules };
      if (canonicalJson(found.rules) !== canonicalJson(readStoredRules(rules)))
        return [{ ...sides, ...own, difference: 'other-rules' }];
      return found.name === name ? [] : [{ ...sides, ...own, difference: 'renamed' }];
    }),
    ...[...present.values()]
      .filter(({ slug }) => !defined.has(slug))
      .map(({ slug, name, rules }): RoleDifference => {
        return { difference: 'additional', slug, name, rules, templateName: null, templateRules: null };
      }),
  ];
}

type Expected = Omit<MemberDifference, 'difference' | 'roles' | 'templateRoles'> & {
  readonly roles: readonly string[];
};

function memberDifferences(template: TemplateState, state: ProjectState): MemberDifference[] {
  const expected = withKeptAdmin(expectedMembers(template, state), state);
  const present = new Map(state.members.map((member) => [member.memberId, member]));
  const isExpected = new Set(expected.map(({ memberId }) => memberId));
  return [
    ...expected.flatMap(({ roles, ...member }): MemberDifference[] => {
      const found = present.get(member.memberId ?? '');
      if (found === undefined) return [{ ...member, difference: 'missing', roles: null, templateRoles: roles }];
      if (found.terms === null && inOrder(found.roles) === inOrder(roles)) return [];
      return [{ ...member, difference: 'other-roles', roles: found.roles, templateRoles: roles }];
    }),
    ...state.members
      .filter(({ memberId }) => !isExpected.has(memberId) && !template.namedIds.has(memberId))
      .map(
        (member): MemberDifference => ({
          ...whoIs(member, state),
          difference: 'additional',
          roles: member.roles,
          templateRoles: null,
        }),
      ),
  ];
}

/** The order of built-in roles is ignored. */
const inOrder = (roles: readonly string[]): string =>
  [...roles.filter(isBuiltIn).sort(), ...roles.filter((slug) => !isBuiltIn(slug))].join(' ');

const whoIs = ({ kind, memberId, name, groupSlug }: MemberState, { ownIdentities }: ProjectState) => ({
  memberKind: ownIdentities.some(({ id }) => id === memberId) ? ('project-identity' as const) : kind,
  memberId,
  name,
  groupSlug,
});

function expectedMembers(template: TemplateState, { ownIdentities, members }: ProjectState): Expected[] {
  const joined = new Set(members.map(({ memberId }) => memberId));
  return [
    ...(template.users ?? []).map(({ userId, username, roles }) => {
      return { memberKind: 'user' as const, memberId: userId, name: username, groupSlug: null, roles };
    }),
    ...(template.groups ?? []).map(({ groupId, groupSlug, roles }) => {
      return { memberKind: 'group' as const, memberId: groupId, name: groupSlug, groupSlug, roles };
    }),
    ...(template.identities ?? []).map(({ identityId, identityName, roles }) => {
      return { memberKind: 'identity' as const, memberId: identityId, name: identityName, groupSlug: null, roles };
    }),
    ...(template.projectManagedIdentities ?? []).map(({ name, roles }) => {
      const namesakes = ownIdentities.filter((identity) => identity.name === name);
      const found = namesakes.find(({ id }) => joined.has(id)) ?? namesakes[0];
      return { memberKind: 'project-identity' as const, memberId: found?.id ?? null, name, groupSlug: null, roles };
    }),
  ];
}

/**
 * The longest-standing permanent admin, usually the creator of the project, is never a difference, whatever the template says.
 * So a new project does not differ from its template, and the last admin is kept.
 */
function withKeptAdmin(expected: readonly Expected[], state: ProjectState): readonly Expected[] {
  const given = new Set(expected.filter(({ roles }) => roles.includes('admin')).map(({ memberId }) => memberId));
  const [kept] = state.members
    .filter(({ kind, roles, terms }) => kind !== 'group' && roles.includes('admin') && !hasTerm(terms, 'admin'))
    .sort(
      // The creator of a project joins in the same transaction as the members of its template.
      (one, other) =>
        one.joinedAt.getTime() - other.joinedAt.getTime() ||
        Number(given.has(one.memberId)) - Number(given.has(other.memberId)) ||
        (one.memberId < other.memberId ? -1 : 1),
    );
  if (kept === undefined) return expected;
  const isKept = ({ memberId }: { readonly memberId: string | null }): boolean => memberId === kept.memberId;
  const named = expected.find(isKept) ?? whoIs(kept, state);
  const roles = [...new Set(['admin', ...(expected.find(isKept)?.roles ?? [])])];
  return [{ ...named, roles }, ...expected.filter((one) => !isKept(one))];
}

const hasTerm = (terms: unknown, slug: string): boolean => Object.hasOwn((terms ?? {}) as object, slug);

/** An item that the template does not define but that is kept, and why. */
export interface KeptItem {
  readonly part: TemplatePart;
  readonly slug: string;
  readonly reason: 'holds-content' | 'imported' | 'in-use';
}

/** The changes to make. */
export interface Plan extends Differences {
  readonly kept: readonly KeptItem[];
}

/** Plans which differences to resolve: those of the selected parts. Additional items only if they are to be removed and can be. */
export function planOf(
  all: Differences,
  state: ProjectState,
  { parts, removes }: { readonly parts: readonly TemplatePart[]; readonly removes: boolean },
): Plan {
  const chosen = <D extends { readonly difference: Difference }>(of: TemplatePart, list: readonly D[]): readonly D[] =>
    parts.includes(of) ? list.filter(({ difference }) => removes || difference !== 'additional') : [];
  const members = chosen('members', all.members);
  const inUse = rolesAfter(state, members);
  const stays = new Map(state.environments.map((one) => [one.slug, reasonToKeep(one)]));
  const keptOf = (
    of: TemplatePart,
    list: readonly EnvironmentDifference[],
    why: (slug: string) => KeptItem['reason'] | null,
  ) =>
    list.flatMap(({ difference, slug }): KeptItem[] => {
      const reason = difference === 'additional' ? why(slug) : null;
      return reason === null ? [] : [{ part: of, slug, reason }];
    });
  const environments = chosen('environments', all.environments);
  const roles = chosen('roles', all.roles);
  const kept = [
    ...keptOf('environments', environments, (slug) => stays.get(slug) ?? null),
    ...keptOf('roles', roles, (slug) => (inUse.has(slug) ? 'in-use' : null)),
  ];
  const isKept = (of: TemplatePart, slug: string): boolean => kept.some((one) => one.part === of && one.slug === slug);
  return {
    environments: environments.filter(({ slug }) => !isKept('environments', slug)),
    roles: roles.filter(({ slug }) => !isKept('roles', slug)),
    members,
    kept,
  };
}

const reasonToKeep = ({
  holdsContent,
  isImported,
}: ProjectState['environments'][number]): KeptItem['reason'] | null => {
  if (holdsContent) return 'holds-content';
  return isImported ? 'imported' : null;
};

/** Slugs of roles that members have at the time of the changes. */
function rolesAfter({ members }: ProjectState, changes: readonly MemberDifference[]): ReadonlySet<string> {
  const changed = new Map(changes.map(({ memberId, templateRoles }) => [memberId, templateRoles ?? []]));
  return new Set([
    ...members.flatMap(({ memberId, roles }) => changed.get(memberId) ?? roles),
    ...changes.flatMap(({ templateRoles }) => templateRoles ?? []),
  ]);
}

/** The differences that remain after a plan. */
export const remainingDifferences = (all: Differences, plan: Differences): Differences => ({
  environments: all.environments.filter((one) => !plan.environments.includes(one)),
  roles: all.roles.filter((one) => !plan.roles.includes(one)),
  members: all.members.filter((one) => !plan.members.includes(one)),
});
