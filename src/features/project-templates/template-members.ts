import type { Action } from '../../kernel/authz/ability.js';
import { authorize } from '../../kernel/authz/ability.js';
import type { Transaction } from '../../kernel/context.js';
import { AppError, type ErrorCode, type ErrorDetail } from '../../kernel/errors.js';
import { isId } from '../../kernel/ids.js';
import { PROJECT_ROLES, toRules } from '../permissions/public.js';
import { DEFAULT_ENVIRONMENTS } from '../projects/public.js';
import {
  type GivenLists,
  isUnchangedBuiltIn,
  type TemplateContent,
  type TemplateEnvironment,
  type TemplateMember,
  type TemplateRole,
} from './template.rules.js';
import { FIND_MEMBERS } from './template-members.sql.js';

type Lists = Omit<TemplateContent, 'name' | 'description'>;

/** The lists of a new template for which none are given. Source: behaviour 6.3. */
export const newLists = (type: string): Lists => ({
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

/** The three lists of those who join, the field that names an entry, and the right to put somebody into it. */
const JOINING = {
  users: { kind: 'user', field: 'username', action: 'member:edit', unknown: 'USER_NOT_FOUND' },
  groups: { kind: 'group', field: 'groupSlug', action: 'groups:edit', unknown: 'GROUP_NOT_FOUND' },
  identities: { kind: 'identity', field: 'identityId', action: 'identity:edit', unknown: 'IDENTITY_NOT_FOUND' },
} as const satisfies Record<string, { kind: string; field: string; action: Action; unknown: ErrorCode }>;
type Joining = keyof typeof JOINING;
const JOINING_LISTS = Object.keys(JOINING) as Joining[];

/** What a list names and nobody has. */
type Unknown = ErrorDetail & { readonly code: ErrorCode };

/** An entry of such a list in a request. */
interface GivenMember {
  readonly name: string;
  readonly roles: readonly string[];
}

/**
 * What the lists of a template are after a request: a list that is given replaces the one before, null clears, absent keeps.
 *
 * @param before the lists as they are shown
 * @throws PERMISSION_DENIED for an entry that is new, or has other roles, without the right to edit members, groups or identities;
 *   USER_NOT_FOUND, GROUP_NOT_FOUND, IDENTITY_NOT_FOUND, ROLE_NOT_FOUND, each naming all that is unknown; ROLE_IN_USE for a role that a kept list names
 * Source: behaviour 6.3, decisions 6.
 */
export async function listsAfter(tx: Transaction, before: Lists, given: GivenLists): Promise<Lists> {
  const named = Object.fromEntries(JOINING_LISTS.map((list) => [list, namesIn(given, list)])) as Record<
    Joining,
    readonly GivenMember[] | undefined
  >;
  const ids = await idsOf(tx, named);
  const found = (list: Joining) => (entry: GivenMember) => ({
    id: ids.get(`${JOINING[list].kind}:${entry.name}`),
    ...entry,
  });
  for (const list of JOINING_LISTS)
    if (named[list]?.map(found(list)).some((entry) => !isKept(before[list], entry)) === true)
      authorize(tx, JOINING[list].action);
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

/** The entries of a list as a request names them; none for null, undefined for an absent list. */
function namesIn(given: GivenLists, list: Joining): readonly GivenMember[] | undefined {
  if (given[list] === undefined) return undefined;
  const entries: readonly { readonly roles: readonly string[] }[] = given[list] ?? [];
  return entries.map((entry) => {
    const { [JOINING[list].field]: name } = entry as Readonly<Record<string, unknown>>;
    return { name: String(name).toLowerCase(), roles: entry.roles };
  });
}

/** Ids of those who are named, by kind and name, in one statement. */
async function idsOf(
  tx: Transaction,
  named: Readonly<Record<Joining, readonly GivenMember[] | undefined>>,
): Promise<ReadonlyMap<string, string>> {
  const names = (list: Joining): string[] => (named[list] ?? []).map(({ name }) => name);
  if (JOINING_LISTS.every((list) => names(list).length === 0)) return new Map();
  const rows = await FIND_MEMBERS(tx, {
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

const rolesIn = (given: NonNullable<GivenLists['roles']>): TemplateRole[] =>
  given
    .filter((role) => !isUnchangedBuiltIn(role))
    .map(({ name, slug, permissions }) => ({ name, slug, rules: toRules(permissions) }));

const inOrder = (given: readonly TemplateEnvironment[] | null): TemplateEnvironment[] | null =>
  given?.toSorted((a, b) => a.position - b.position) ?? null;

const unknownMember = (list: Joining, at: number): Unknown => ({
  path: `${list}[${at}].${JOINING[list].field}`,
  code: JOINING[list].unknown,
  message: 'must be known in the organization',
});

const WITH_ROLES = [...JOINING_LISTS, 'projectManagedIdentities'] as const;

const slugsOf = ({ roles }: Lists): ReadonlySet<string> =>
  new Set([...PROJECT_ROLES, ...roles.map(({ slug }) => slug)]);

/** Roles that given lists name and the template will not have. */
const unknownRoles = (after: Lists, given: GivenLists): Unknown[] =>
  WITH_ROLES.filter((list) => given[list] !== undefined).flatMap((list) =>
    after[list].flatMap(({ roles }, at) =>
      roles.flatMap((slug, index): Unknown[] =>
        slugsOf(after).has(slug)
          ? []
          : [
              {
                path: `${list}[${at}].roles[${index}]`,
                code: 'ROLE_NOT_FOUND',
                message: 'must be a built-in role or one of the template',
              },
            ],
      ),
    ),
  );

/** Lists that stay and name a role that the template will not have. They are judged as they will be, not as they were. */
const droppedRoles = (after: Lists, given: GivenLists): ErrorDetail[] =>
  WITH_ROLES.filter((list) => given[list] === undefined).flatMap((list): ErrorDetail[] => {
    const holders = after[list].filter(({ roles }) => roles.some((slug) => !slugsOf(after).has(slug))).length;
    if (holders === 0) return [];
    return [
      { path: 'roles', code: 'ROLE_IN_USE', message: `must have the roles that entries of ${list} name: ${holders}` },
    ];
  });

/** @throws the code of the first that is unknown, naming all of them; ROLE_IN_USE where nothing is unknown */
function refuse(unknown: readonly Unknown[], inUse: readonly ErrorDetail[]): void {
  const [first] = unknown;
  if (first !== undefined)
    throw new AppError(
      first.code,
      'Lists of the template name what does not exist, or you may not know of it; see details.',
      {
        details: [...unknown, ...inUse],
      },
    );
  if (inUse.length > 0)
    throw new AppError('ROLE_IN_USE', 'Lists of the template name this role; give other ones with it.', {
      details: inUse,
    });
}
