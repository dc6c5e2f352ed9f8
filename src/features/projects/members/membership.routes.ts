import * as z from 'zod';
import type { ErrorCode } from '../../../kernel/errors.js';
import { EVEN_IF_INVALID, objectEntries, textsOfField } from '../../../kernel/validation.js';
import { type Data, ofSample, routesAt, type WrittenRoute } from '../../../rest/route.js';
import { endOfTerm, isBuiltIn, isTermStart, NO_TERM_START, termRange } from '../../identity/permissions/public.js';
import { roleSlug } from '../roles/role.rules.js';
import { isEachOnce, MAX_ROLES, type MemberKind, ROLE_TWICE } from './membership.rules.js';

/** The differences between the routes of users, those of machine identities and those of groups. */
interface Members {
  readonly kind: MemberKind;
  readonly one: string;
  readonly many: string;
  readonly path: string;
  /** Path parameter of the member. */
  readonly param: 'userId' | 'identityId' | 'groupIdOrName';
  /** Of one, for the ids of operations. */
  readonly noun: string;
  /** Name of a membership in responses; a list appends an `s`. */
  readonly wrapping: string;
  readonly fields: string;
  readonly harmless?: WrittenRoute['harmless'];
  /** A membership with the field names of the REST interface. */
  readonly shown: (membership: Data) => Data;
}

const ROLES = 'roles: roleAssignments { roleSlug isTemporary range startsAt endsAt } createdAt updatedAt';

/** Stands for every custom role of a project; its slug is in another field. */
const CUSTOM = 'custom';

type Entry = Data;
/** A role in responses. */
const toRole = ({ roleSlug: role, isTemporary, range, startsAt, endsAt }: Entry): Data => ({
  role,
  isTemporary,
  temporaryMode: ofSample(isTemporary, MODE) ?? (isTemporary === true ? 'relative' : null),
  temporaryRange: range,
  temporaryAccessStartTime: startsAt,
  temporaryAccessEndTime: endsAt,
});
const MODE = {
  type: ['string', 'null'],
  enum: ['relative', null],
  description: 'How the term is set; null for a permanent role.',
};

/** The same, with `custom` for a custom role and its slug in another field. */
const toRoleOfGroup = ({ roleSlug: slug, ...entry }: Entry): Data => ({
  ...toRole({ roleSlug: slug, ...entry }),
  role:
    ofSample(slug, { type: 'string', description: 'The built-in role, or custom.' }) ??
    (isBuiltIn(slug) ? slug : CUSTOM),
  customRoleSlug:
    ofSample(slug, {
      type: ['string', 'null'],
      description: 'Slug of a custom role of the project; null for a built-in role.',
    }) ?? (isBuiltIn(slug) ? null : slug),
});

/** A membership with the field names of the REST interface. */
export const toMembership = ({ roles, ...membership }: Data): Data => ({ ...membership, roles: roles.map(toRole) });

/** Selection of the documents of routes for the membership of a user. */
export const USER_FIELDS = `id projectId userId: memberId username: name ${ROLES}`;

const USERS: Members = {
  kind: 'user',
  noun: 'ProjectUser',
  one: 'user',
  many: 'users',
  path: '/api/v1/projects/{projectId}/memberships',
  param: 'userId',
  wrapping: 'membership',
  fields: USER_FIELDS,
  shown: toMembership,
};

/** What documents of routes ask of the membership of a machine identity. */
export const IDENTITY_FIELDS = `id projectId identityId: memberId name ${ROLES}`;

/** The membership of a machine identity. Clients read the identity and the project as objects or as IDs. */
export const toIdentityMembership = (membership: Data): Data => {
  const shown = toMembership(membership);
  return { ...shown, identity: { id: shown.identityId, name: shown.name }, project: { id: shown.projectId } };
};

const IDENTITIES: Members = {
  kind: 'identity',
  noun: 'ProjectIdentity',
  one: 'machine identity',
  many: 'machine identities',
  path: '/api/v2/workspace/{projectId}/identity-memberships',
  param: 'identityId',
  wrapping: 'identityMembership',
  fields: IDENTITY_FIELDS,
  shown: toIdentityMembership,
};

const GROUPS: Members = {
  kind: 'group',
  noun: 'ProjectGroup',
  one: 'group',
  many: 'groups',
  path: '/api/v2/workspace/{projectId}/groups',
  param: 'groupIdOrName',
  harmless: { GroupIdOrName: 'groupIdOrName', groupId: 'groupIdOrName' },
  wrapping: 'groupMembership',
  fields: `id projectId groupId: memberId name ${ROLES}`,
  shown: ({ roles, ...membership }) => ({ ...membership, roles: roles.map(toRoleOfGroup) }),
};

const userId = z.string().max(64).meta({ description: 'ID of the user.' });
const OF_TEMPORARY = 'Of a role for a time; ignored if isTemporary is false.';
/** Clients send the fields of a temporary role also for permanent ones, with `isTemporary` false. */
const temporary = {
  isTemporary: z.boolean().optional().meta({ description: 'Whether the role is temporary. Default: false.' }),
  temporaryMode: z
    .unknown()
    .optional()
    .meta({ description: `How the term is given: relative. ${OF_TEMPORARY}` }),
  temporaryRange: z
    .unknown()
    .optional()
    .meta({ description: `For how long: 30m, 2h, 7d or 4w, at most 10 years. ${OF_TEMPORARY}` }),
  temporaryAccessStartTime: z
    .unknown()
    .optional()
    .meta({ description: `From when on (RFC 3339); from now on when absent. ${OF_TEMPORARY}` }),
  temporaryAccessEndTime: z
    .unknown()
    .optional()
    .meta({ description: `As responses have it: the start and the range, or absent. ${OF_TEMPORARY}` }),
};
type Temporary = Partial<Record<keyof typeof temporary, unknown>>;
interface RoleEntry extends Temporary {
  readonly role?: string | undefined;
  readonly customRoleSlug?: string | null | undefined;
}

const Start = z.iso
  .datetime({ offset: true, abort: true })
  .refine((text) => isTermStart(new Date(text)), NO_TERM_START);
/** The fields of a temporary role, for temporary roles only. */
const Term = z.object({
  temporaryMode: z.literal('relative').nullish(),
  temporaryRange: termRange,
  temporaryAccessStartTime: Start.nullish(),
});

/** Responses have the end; whoever sends it back may not mean another one. */
const isEndOf = ({ temporaryRange, temporaryAccessStartTime: start }: z.output<typeof Term>, end: unknown): boolean =>
  start != null && endOfTerm(new Date(start), temporaryRange).getTime() === new Date(String(end)).getTime();

function checkTerm(
  { isTemporary, temporaryAccessEndTime: end, ...term }: Temporary,
  issues: z.core.$RefinementCtx,
): void {
  const isGiven = [term.temporaryMode, term.temporaryRange, term.temporaryAccessStartTime, end].some(
    (it) => it != null,
  );
  if (isTemporary === undefined && isGiven)
    issues.addIssue({
      code: 'custom',
      path: ['isTemporary'],
      message: 'required for a temporary role',
    });
  if (isTemporary !== true) return;
  const { error, data } = Term.safeParse(term);
  for (const issue of error?.issues ?? []) issues.addIssue({ ...issue, input: term } as never);
  if (data !== undefined && end != null && !isEndOf(data, end))
    issues.addIssue({
      code: 'custom',
      path: ['temporaryAccessEndTime'],
      message: 'must be the start and the range, or absent',
    });
}

/** The role of an entry: a role of the project may be written in the form of group responses. */
const slugOf = ({ role, customRoleSlug }: Readonly<Record<string, unknown>>): unknown =>
  role === CUSTOM ? (customRoleSlug ?? role) : role;

function checkEntry(entry: RoleEntry, issues: z.core.$RefinementCtx): void {
  checkTerm(entry, issues);
  if (entry.role !== CUSTOM || typeof entry.customRoleSlug !== 'string') return;
  for (const issue of roleSlug.safeParse(entry.customRoleSlug).error?.issues ?? [])
    issues.addIssue({ ...issue, path: ['customRoleSlug'], input: entry.customRoleSlug } as never);
}

const isEachRoleOnce = (entries: readonly unknown[]): boolean =>
  isEachOnce(
    textsOfField(
      objectEntries(entries).map((entry) => ({ slug: slugOf(entry) })),
      'slug',
    ),
  );

/** The fields next to the slug of a role. */
const entry = {
  ...temporary,
  customRoleSlug: z
    .string()
    .nullish()
    .meta({ description: 'Slug of a custom role of the project, if `role` is `custom`; otherwise ignored.' }),
};
/** One role in short form, or up to ten as objects. */
const given = {
  ...entry,
  role: roleSlug.optional().meta({ description: 'Slug of a single role. Send either `role` or `roles`.' }),
  roles: z
    .array(z.strictObject({ role: roleSlug, ...entry }).superRefine(checkEntry, EVEN_IF_INVALID))
    .min(1)
    .max(MAX_ROLES)
    .refine(isEachRoleOnce, ROLE_TWICE)
    .optional()
    .meta({ description: 'Up to 10 different roles; their permissions add up. Send either `role` or `roles`.' }),
};
interface RolesInput extends RoleEntry {
  readonly roles?: readonly RoleEntry[] | undefined;
}
const isOneGiven = (body: RolesInput): boolean => (body.role === undefined) !== (body.roles === undefined);
const EITHER = { ...EVEN_IF_INVALID, path: ['role'], error: 'required unless roles is set; set only one of them' };
const RolesBody = z.strictObject(given).refine(isOneGiven, EITHER).superRefine(checkEntry, EVEN_IF_INVALID);
const AddUserBody = z
  .strictObject({ userId, ...given })
  .refine(isOneGiven, EITHER)
  .superRefine(checkEntry, EVEN_IF_INVALID);

const toAssignment = ({ isTemporary, temporaryRange, temporaryAccessStartTime, ...role }: RoleEntry) => ({
  roleSlug: slugOf({ ...role }),
  ...(isTemporary ? { range: temporaryRange, startsAt: temporaryAccessStartTime } : {}),
});
const assignments = (body: RolesInput) => ({ roleAssignments: (body.roles ?? [body]).map(toAssignment) });

/** Routes of the members of one kind. */
const routesOf = ({ kind, one, many, noun, path, param, wrapping, fields, shown, harmless = {} }: Members) => {
  const members = routesAt(path, {
    select: fields,
    show: shown,
    as: [wrapping, `${wrapping}s`],
    words: { [param]: 'memberId' },
    given: { memberKind: kind },
    errors: ['PROJECT_NOT_FOUND'],
  });
  const inPath = `/{${param}}`;
  return {
    members,
    routes: [
      members.get('', `List the ${many} of a project`, {
        operationId: `list${noun.replace(/y$/, 'ie')}s`,
        field: 'projectMemberships',
      }),
      members.get(inPath, `Get the membership of a ${one}`, {
        operationId: `get${noun}`,
        field: 'projectMembership',
        errors: ['MEMBERSHIP_NOT_FOUND'],
      }),
      members.patch(inPath, `Replace the roles of a ${one}`, {
        operationId: `update${noun}`,
        field: 'updateProjectMember',
        body: RolesBody,
        harmless,
        input: assignments,
        example: { roles: [{ role: 'viewer' }] },
        errors: ['MEMBERSHIP_NOT_FOUND', 'ROLE_NOT_FOUND', 'LAST_ADMIN'],
      }),
      members.delete(inPath, `Remove a ${one} from a project`, {
        operationId: `remove${noun}`,
        field: 'removeProjectMember',
        harmless,
        errors: ['MEMBERSHIP_NOT_FOUND', 'LAST_ADMIN'],
      }),
    ],
  };
};

/** Routes of the members of one kind, and one that adds the member that its path names. */
const routesWithAdding = (of: Members, notFound: ErrorCode) => {
  const { members, routes } = routesOf(of);
  return [
    ...routes,
    members.post(`/{${of.param}}`, `Add a ${of.one} to a project`, {
      operationId: `add${of.noun}`,
      field: 'addProjectMember',
      body: RolesBody,
      harmless: of.harmless ?? {},
      input: assignments,
      example: { role: 'member' },
      errors: ['ROLE_NOT_FOUND', notFound, 'ALREADY_A_MEMBER'],
    }),
  ];
};

const users = routesOf(USERS);

/** Members of a project. */
export const membershipRoutes = [
  ...users.routes,
  users.members.post('', 'Add a user to a project', {
    operationId: 'addProjectUser',
    field: 'addProjectMember',
    body: AddUserBody,
    input: ({ userId: memberId, ...body }) => ({ memberId, ...assignments(body) }),
    example: { userId: '9f1c6f5e-7c1b-4a53-9d0a-5f0a6d6c2b11', role: 'member' },
    errors: ['ROLE_NOT_FOUND', 'USER_NOT_FOUND', 'ALREADY_A_MEMBER'],
  }),
  ...routesWithAdding(IDENTITIES, 'IDENTITY_NOT_FOUND'),
  ...routesWithAdding(GROUPS, 'GROUP_NOT_FOUND'),
];
