import { type Action, authorize, can, PermissionDenied, type Rule } from '../../../kernel/authz/ability.js';
import type { Fields } from '../../../kernel/authz/conditions.js';
import { canonicalJson } from '../../../kernel/canonical-json.js';
import type { Context, Transaction } from '../../../kernel/context.js';
import { AppError, type ErrorCode, type ErrorDetail } from '../../../kernel/errors.js';
import { isId } from '../../../kernel/ids.js';
import {
  isBuiltIn,
  PROJECT_ROLES,
  readStoredRules,
  rightsGained,
  rulesOfRoles,
  toRules,
} from '../../identity/permissions/public.js';
import { DEFAULT_ENVIRONMENTS, subjectOf } from '../../projects/public.js';
import {
  isUnchangedBuiltIn,
  type TemplateContent,
  type TemplateEnvironment,
  type TemplateLists,
  type TemplateMember,
  type TemplateOwnIdentity,
  type TemplateRole,
} from './template.rules.js';
import type { MemberKind } from './template-application.js';
import { findMembers } from './template-members.sql.js';

type Lists = Omit<TemplateContent, 'name' | 'description'>;

/** Default lists of a new template. */
export const defaultLists = (type: string): Lists => ({
  roles: [],
  environments:
    type === 'secret-manager'
      ? DEFAULT_ENVIRONMENTS.map((environment, at) => ({ ...environment, position: at + 1 }))
      : null,
  users: [],
  groups: [],
  identities: [],
  projectManagedIdentities: [],
});

/** The three member lists: kind of member, field that names it in requests, and error code if it is unknown. */
const JOINING = {
  users: { kind: 'user', field: 'username', unknown: 'USER_NOT_FOUND' },
  groups: { kind: 'group', field: 'groupSlug', unknown: 'GROUP_NOT_FOUND' },
  identities: { kind: 'identity', field: 'identityId', unknown: 'IDENTITY_NOT_FOUND' },
} as const satisfies Record<string, { kind: MemberKind; field: string; unknown: ErrorCode }>;
type Joining = keyof typeof JOINING;
const JOINING_LISTS = Object.keys(JOINING) as Joining[];

/** Unknown names of a list. */
type Unknown = ErrorDetail & { readonly code: ErrorCode };

/** An entry of a member list in a request. */
interface GivenMember {
  readonly name: string;
  readonly roles: readonly string[];
}

/**
 * The lists of a template after a request: a given list replaces the current one, null clears it, absent keeps it.
 *
 * @param before the current lists, as shown
 * @throws PERMISSION_DENIED for an entry that is new or has other roles, without the right to edit members, groups or identities;
 *   USER_NOT_FOUND, GROUP_NOT_FOUND, IDENTITY_NOT_FOUND, ROLE_NOT_FOUND, each with all unknown names; ROLE_IN_USE for a role that a
 *   kept list uses
 */
export async function mergeLists(tx: Transaction, before: Lists, given: TemplateLists): Promise<Lists> {
  const named = Object.fromEntries(JOINING_LISTS.map((list) => [list, namesIn(given, list)])) as Record<
    Joining,
    readonly GivenMember[] | undefined
  >;
  const ids = await idsOf(tx, named);
  const found = (list: Joining) => (entry: GivenMember) => {
    const id = ids.get(`${JOINING[list].kind}:${entry.name}`);
    const isListed = before[list].some((member) => member.id === id);
    return { id: isListed || mayKnow(tx, list, entry) ? id : undefined, ...entry };
  };
  for (const list of JOINING_LISTS)
    authorizeEntries(tx, list, named[list]?.map(found(list)).filter((entry) => !isKept(before[list], entry)) ?? []);
  const joining = (list: Joining): readonly TemplateMember[] =>
    named[list]?.map(found(list)).map(({ id = '', roles }) => ({ id, roles })) ?? before[list];
  const after: Lists = {
    roles: given.roles === undefined ? before.roles : rolesIn(given.roles),
    environments: given.environments === undefined ? before.environments : inOrder(given.environments),
    users: joining('users'),
    groups: joining('groups'),
    identities: joining('identities'),
    projectManagedIdentities:
      given.projectManagedIdentities === undefined
        ? before.projectManagedIdentities
        : (given.projectManagedIdentities ?? []),
  };
  const unknown = JOINING_LISTS.flatMap((list) =>
    (named[list] ?? [])
      .map(found(list))
      .flatMap(({ id }, at): Unknown[] => (id === undefined ? [unknownMember(list, at)] : [])),
  );
  refuse([...unknown, ...unknownRoles(after, given)], droppedRoles(after, given));
  return after;
}

/** The fields that conditions of rules compare; they name members like requests do. */
const fieldsOf = (list: Joining, { name }: GivenMember): Fields => ({ [JOINING[list].field]: name });

const actionOn = (list: Joining, verb: 'read' | 'edit') => `${subjectOf(JOINING[list].kind)}:${verb}` as const;

/** Whether the caller may know that a member exists: because the template names it, or by its own rules. */
const mayKnow = ({ ability }: Context, list: Joining, entry: GivenMember): boolean =>
  (['read', 'edit'] as const).some((verb) => can(ability, actionOn(list, verb), fieldsOf(list, entry)));

/** Runs before anything reveals who exists. @throws PERMISSION_DENIED */
function authorizeEntries(
  tx: Transaction,
  list: Joining,
  changed: readonly (GivenMember & { readonly id: string | undefined })[],
): void {
  const action = actionOn(list, 'edit');
  if (changed.length > 0) authorize(tx, action);
  for (const entry of changed) if (entry.id !== undefined) authorize(tx, action, fieldsOf(list, entry));
}

/** The entries of a list in a request; none for null, undefined if absent. */
function namesIn(given: TemplateLists, list: Joining): readonly GivenMember[] | undefined {
  if (given[list] === undefined) return undefined;
  const entries: readonly { readonly roles: readonly string[] }[] = given[list] ?? [];
  return entries.map((entry) => {
    const { [JOINING[list].field]: name } = entry as Readonly<Record<string, unknown>>;
    return { name: String(name).toLowerCase(), roles: entry.roles };
  });
}

/** IDs of the named members, by kind and name, in one statement. */
async function idsOf(
  tx: Transaction,
  named: Readonly<Record<Joining, readonly GivenMember[] | undefined>>,
): Promise<ReadonlyMap<string, string>> {
  const names = (list: Joining): string[] => (named[list] ?? []).map(({ name }) => name);
  if (JOINING_LISTS.every((list) => names(list).length === 0)) return new Map();
  const rows = await findMembers(tx, {
    organizationId: tx.organizationId,
    rootOrganizationId: tx.rootOrganizationId,
    usernames: names('users'),
    groupSlugs: names('groups'),
    identityIds: names('identities').filter(isId),
  });
  return new Map(rows.map(({ kind, name, id }) => [`${kind}:${name}`, id]));
}

const isKept = (
  before: readonly TemplateMember[],
  { id, roles }: { id?: string | undefined; roles: readonly string[] },
) => before.some((entry) => entry.id === id && entry.roles.join() === roles.join());

/** The roles of a request but the built-in ones. */
export const rolesIn = (given: NonNullable<TemplateLists['roles']>): TemplateRole[] =>
  given
    .filter((role) => !isUnchangedBuiltIn(role))
    .map(({ name, slug, permissions }) => ({ name, slug, rules: toRules(permissions) }));

/** Environments by their position. */
export const inOrder = (given: readonly TemplateEnvironment[] | null): TemplateEnvironment[] | null =>
  given?.toSorted((a, b) => a.position - b.position) ?? null;

const unknownMember = (list: Joining, at: number): Unknown => ({
  path: `${list}[${at}].${JOINING[list].field}`,
  code: JOINING[list].unknown,
  message: 'does not exist in the organization, or you cannot see it',
});

const WITH_ROLES = [...JOINING_LISTS, 'projectManagedIdentities'] as const;

const slugsOf = ({ roles }: Lists): ReadonlySet<string> =>
  new Set([...PROJECT_ROLES, ...roles.map(({ slug }) => slug)]);

/** Roles used by given lists that the template will not have. */
const unknownRoles = (after: Lists, given: TemplateLists): Unknown[] =>
  WITH_ROLES.filter((list) => given[list] !== undefined).flatMap((list) =>
    after[list].flatMap(({ roles }, at) =>
      roles.flatMap((slug, index): Unknown[] =>
        slugsOf(after).has(slug)
          ? []
          : [
              {
                path: `${list}[${at}].roles[${index}]`,
                code: 'ROLE_NOT_FOUND',
                message: 'must be a built-in role or a role of the template',
              },
            ],
      ),
    ),
  );

/** Kept lists that use a role that the template will not have. */
const droppedRoles = (after: Lists, given: TemplateLists): ErrorDetail[] =>
  WITH_ROLES.filter((list) => given[list] === undefined).flatMap((list): ErrorDetail[] => {
    const holders = after[list].filter(({ roles }) => roles.some((slug) => !slugsOf(after).has(slug))).length;
    if (holders === 0) return [];
    return [
      {
        path: 'roles',
        code: 'ROLE_IN_USE',
        message: `must keep the roles used in ${list} (${holders} would lose a role); send ${list} as well to change both`,
      },
    ];
  });

/** @throws the code of the first unknown name, with all of them in the details; ROLE_IN_USE if nothing is unknown */
function refuse(unknown: readonly Unknown[], inUse: readonly ErrorDetail[]): void {
  const [first] = unknown;
  if (first !== undefined)
    throw new AppError(
      first.code,
      'Lists of the template contain items that do not exist or that you cannot see. See `details`.',
      {
        details: [...unknown, ...inUse],
      },
    );
  if (inUse.length > 0)
    throw new AppError(
      'ROLE_IN_USE',
      'Unchanged lists of the template use a role that would be deleted. See `details`.',
      {
        details: inUse,
      },
    );
}

/** The roles of a template and their holders. */
type Grants = Pick<TemplateContent, 'roles' | 'users' | 'groups' | 'identities' | 'projectManagedIdentities'>;

/** Slugs of the roles of an entry; empty if it is not in the template. */
interface Change {
  readonly before: readonly string[];
  readonly after: readonly string[];
  /** Whether it may inherit rights of other entries: members may be in a group of the template, identities owned by the project cannot. */
  readonly hasMore: boolean;
}

/**
 * Whoever edits a template grants rights in future projects, where nobody has any yet. The right `workspace:rescue`, which allows its
 * holder to become admin of any project, covers all of them; without it, no entry may get more than the template granted before. Roles
 * that no entry has grant nothing.
 *
 * @param before what a template of this name granted; for a new one or under a new name, `defaultLists`
 * @throws PERMISSION_BOUNDARY naming the rights that are added
 */
export function authorizeGrants(
  ctx: Context,
  action: 'project-templates:create' | 'project-templates:edit',
  before: Grants,
  after: Grants,
): void {
  if (can(ctx.ability, 'workspace:rescue')) return;
  const gained = gainedBetween(before, after);
  if (gained.length > 0) throw new PermissionDenied({ action, projectId: null }, gained);
}

function gainedBetween(before: Grants, after: Grants): Action[] {
  const isSame = sameRoles(before.roles, after.roles);
  const changed = changesOf(before, after).filter(
    ({ before: had, after: has }) => had.join() !== has.join() || !has.every(isSame),
  );
  // Many entries have the same roles.
  const distinct = new Map(changed.map((change) => [JSON.stringify(change), change]));
  const [rulesBefore, rulesAfter] = [rulesBy(before.roles), rulesBy(after.roles)];
  return rightsGained(
    [...distinct.values()].map((change) => ({
      before: rulesBefore(change.before),
      after: rulesAfter(change.after),
      hasMore: change.hasMore,
    })),
  );
}

/** Whether a role, which may be built in, has the same rules as before. */
function sameRoles(before: readonly TemplateRole[], after: readonly TemplateRole[]): (slug: string) => boolean {
  const [had, has] = [before, after].map(
    (roles) => new Map(roles.map(({ slug, rules }) => [slug, canonicalJson(rules)])),
  ) as [Map<string, string>, Map<string, string>];
  return (slug) => had.get(slug) === has.get(slug);
}

/** The combined rules of a list of roles, as for a project member. */
function rulesBy(roles: readonly TemplateRole[]): (slugs: readonly string[]) => readonly Rule[] {
  const own = new Map(roles.map(({ slug, rules }) => [slug, readStoredRules(rules)]));
  return (slugs) =>
    rulesOfRoles(
      slugs,
      slugs.filter((slug) => !isBuiltIn(slug)).map((slug) => own.get(slug) ?? []),
    );
}

const changesOf = (before: Grants, after: Grants): Change[] => [
  ...JOINING_LISTS.flatMap((list) => changesOfJoining(before[list], after[list])),
  ...changesOfOwn(before.projectManagedIdentities, after.projectManagedIdentities),
];

function changesOfJoining(before: readonly TemplateMember[], after: readonly TemplateMember[]): Change[] {
  const [had = new Map(), has = new Map()] = [before, after].map(
    (list) => new Map(list.map(({ id, roles }) => [id, roles])),
  );
  const ids = [...new Set([...had.keys(), ...has.keys()])];
  return ids.map((id) => ({ before: had.get(id) ?? [], after: has.get(id) ?? [], hasMore: true }));
}

/** Every project gets new identities, so a renamed one with the same roles is the same. A skipped member gets nothing. */
function changesOfOwn(before: readonly TemplateOwnIdentity[], after: readonly TemplateOwnIdentity[]): Change[] {
  const names = new Set(after.map(({ name }) => name));
  const rolesByName = new Map(before.map(({ name, roles }) => [name, roles]));
  const renamed = Map.groupBy(
    before.filter(({ name }) => !names.has(name)),
    ({ roles }) => roles.join(),
  );
  return after.map(({ name, roles }) => ({
    before: rolesByName.get(name) ?? renamed.get(roles.join())?.pop()?.roles ?? [],
    after: roles,
    hasMore: false,
  }));
}
