import * as z from 'zod';
import { type Data, ofSample, paging, routesAt } from '../../../rest/route.js';
import {
  Permissions,
  type PermissionsInput,
  permissionsIn,
  termRange,
  withReplyPermissions,
} from '../../identity/permissions/public.js';
import { privilegeSlug } from './privilege.rules.js';

/** Selection of the documents of routes for a privilege, without its permissions. */
const FIELDS = `id slug projectId projectMembershipId: membershipId isTemporary temporaryRange: range
  temporaryAccessStartTime: startsAt temporaryAccessEndTime: endsAt isActive createdAt updatedAt`;
const MODE = {
  type: ['string', 'null'],
  enum: ['relative', null],
  description: 'How a time is given; null: for good.',
};

/** A privilege with the field names of the REST interface. */
const toReply = ({ permissions, ...privilege }: Data): Data => ({
  ...privilege,
  temporaryMode: ofSample(privilege.temporaryRange, MODE) ?? (privilege.temporaryRange === null ? null : 'relative'),
  ...withReplyPermissions({ permissions }),
});

/** Of machine identities. */
const OF_IDENTITY = { words: { identityId: 'memberId' }, given: { memberKind: 'identity' } } as const;

const text = (description: string) => z.string().max(64).meta({ description });
const identityId = text('ID of the machine identity.');
const slug = privilegeSlug.nullish().meta({
  description:
    'Slug of the privilege: lowercase words joined by hyphens, 1 to 64 characters, unique for the member. Generated when absent.',
});
const newSlug = privilegeSlug.optional().meta({ description: 'New slug, unique for the member.' });

/** Clients send these fields for permanent privileges too: then they are ignored. */
const temporary = {
  temporaryMode: z.string().nullish().meta({ description: 'Can only be relative.' }),
  temporaryRange: z
    .string()
    .nullish()
    .meta({ description: 'How long, as `30m`, `2h`, `7d` or `4w`. Required for a time.' }),
  temporaryAccessStartTime: z
    .string()
    .nullish()
    .meta({ description: 'From when on (RFC 3339); from now on when absent.' }),
};

/** The term in a body. */
interface Temporary {
  readonly isTemporary?: boolean | undefined;
  readonly temporaryMode?: string | null | undefined;
  readonly temporaryRange?: string | null | undefined;
  readonly temporaryAccessStartTime?: string | null | undefined;
}

/** Adds a violation for each invalid field of a term. */
function checkTime(given: Temporary, issues: z.core.$RefinementCtx): void {
  if (given.isTemporary !== true) return;
  const refuse = (name: keyof Temporary, message: string): void =>
    issues.addIssue({ code: 'custom', path: [name], message });
  const { temporaryMode: mode, temporaryAccessStartTime: start } = given;
  if (mode != null && mode !== 'relative') refuse('temporaryMode', 'must be relative');
  const range = termRange.safeParse(given.temporaryRange);
  if (!range.success) refuse('temporaryRange', range.error.issues[0]?.message ?? 'required');
  if (start != null && !z.iso.datetime({ offset: true }).safeParse(start).success)
    refuse('temporaryAccessStartTime', 'must be a date and time (RFC 3339)');
}

/** A term in the form of the schema; null: permanent. */
const termOf = ({ isTemporary, temporaryRange, temporaryAccessStartTime }: Temporary) =>
  isTemporary === true ? { range: temporaryRange, startsAt: temporaryAccessStartTime } : null;

const Type = z
  .strictObject({
    isTemporary: z.boolean().meta({ description: 'Whether the role or privilege is temporary: true.' }),
    ...temporary,
  })
  .superRefine(checkTime)
  .optional()
  .meta({ description: 'Whether the privilege is permanent, or for how long it lasts.' });
const CreateBody = z.strictObject({
  projectId: text('ID of the project.'),
  identityId,
  slug,
  permissions: Permissions.meta({ description: 'Up to 100 rules, in order.' }),
  type: Type,
});
const UpdateBody = z.strictObject({
  slug: newSlug,
  permissions: Permissions.optional().meta({ description: 'Up to 100 rules, which replace the current ones.' }),
  type: Type,
});

const privileges = routesAt('/api/v2/identity-project-additional-privilege', {
  select: `${FIELDS} permissions: rules`,
  as: ['privilege', 'privileges'],
  show: toReply,
});
const example = [{ subject: 'secrets', action: ['readValue'], conditions: { environment: 'prod' } }];

/** Additional privileges of machine identities. */
export const privilegeRoutes = [
  privileges.post('', 'Give a machine identity a privilege', {
    field: 'createAdditionalPrivilege',
    body: CreateBody,
    ...OF_IDENTITY,
    input: ({ permissions, type, ...rest }) => ({
      ...rest,
      ...permissionsIn(permissions),
      term: type && termOf(type),
    }),
    errors: ['PROJECT_NOT_FOUND', 'MEMBERSHIP_NOT_FOUND', 'PRIVILEGE_SLUG_TAKEN'],
    example: {
      projectId: '9f1c6f5e-7c1b-4a53-9d0a-5f0a6d6c2b11',
      identityId: '6f1c2a60-5a3e-4c52-9f43-6f4b8f0f2f11',
      slug: 'release-week',
      permissions: example,
      type: {
        isTemporary: true,
        temporaryMode: 'relative',
        temporaryRange: '7d',
        temporaryAccessStartTime: '2026-01-31T12:00:00Z',
      },
    },
  }),
  privileges.get('', 'List the privileges of a machine identity in a project', {
    field: 'additionalPrivileges',
    query: z.strictObject({ projectId: text('ID of the project.'), identityId, ...paging }),
    ...OF_IDENTITY,
    errors: ['PROJECT_NOT_FOUND', 'MEMBERSHIP_NOT_FOUND'],
  }),
  privileges.get('/{privilegeId}', 'Get a privilege of a machine identity', {
    field: 'additionalPrivilege',
    errors: ['PRIVILEGE_NOT_FOUND'],
  }),
  privileges.patch('/{privilegeId}', 'Update a privilege of a machine identity', {
    field: 'updateAdditionalPrivilege',
    body: UpdateBody,
    harmless: { ID: 'privilegeId' },
    input: ({ permissions, type, ...rest }) => ({
      ...rest,
      ...permissionsIn(permissions),
      ...(type === undefined ? {} : { term: termOf(type) }),
    }),
    errors: ['PRIVILEGE_NOT_FOUND', 'PRIVILEGE_SLUG_TAKEN'],
    example: { type: { isTemporary: false } },
  }),
  privileges.delete('/{privilegeId}', 'Take a privilege from a machine identity', {
    field: 'deleteAdditionalPrivilege',
    errors: ['PRIVILEGE_NOT_FOUND'],
  }),
];

/**
 * As `toReply`; a condition for equality with an environment becomes a plain string, as clients of this form expect.
 */
const toOlderReply = (privilege: Data): Data => {
  const { permissions, ...rest } = toReply(privilege);
  const shown = permissions.map(({ conditions, ...permission }: Data) => ({
    ...permission,
    conditions: plain(conditions),
  }));
  return { ...rest, permissions: shown };
};

function plain(conditions: Data | null): Data | null {
  const { $eq, ...others } = (conditions?.environment ?? {}) as Data;
  return typeof $eq === 'string' && Object.keys(others).length === 0 ? { ...conditions, environment: $eq } : conditions;
}

const projectSlug = text('Slug of the project.');
const olderSlug = text('Slug of the privilege.');

/** One rule, with the names of this form. */
const PrivilegePermission = z
  .strictObject({
    subject: text('What it is about.'),
    actions: z.array(z.string().max(64)).meta({ description: 'Actions that the rule allows.' }),
    conditions: z
      .record(z.string(), z.unknown())
      .nullish()
      .meta({ description: 'Restricts the rule to some resources, by field.' }),
  })
  .superRefine(({ subject, actions, conditions }, issues) => {
    const parsed = Permissions.safeParse([{ subject, action: actions, conditions }]);
    for (const { path, message, ...issue } of parsed.error?.issues ?? [])
      issues.addIssue({
        code: 'custom',
        path: path.slice(1).map((name) => (name === 'action' ? 'actions' : name)),
        message,
        ...('params' in issue ? { params: issue.params } : {}),
      });
  })
  .meta({ description: 'The only rule of the privilege.' });

/** The rule in the form of the schema, if there is one. */
function ruleIn(given: z.output<typeof PrivilegePermission> | undefined) {
  if (given === undefined) return {};
  const { subject, actions, conditions } = given;
  return permissionsIn([{ subject, action: actions, conditions }] as PermissionsInput);
}

const NewPermanent = z.strictObject({ projectSlug, identityId, slug, privilegePermission: PrivilegePermission });
const NewTemporary = NewPermanent.extend(temporary).superRefine((body, issues) =>
  checkTime({ ...body, isTemporary: true }, issues),
);
const Named = z.strictObject({ projectSlug, identityId, privilegeSlug: olderSlug });
const Changes = Named.extend({
  privilegeDetails: z
    .strictObject({
      slug: newSlug,
      privilegePermission: PrivilegePermission.optional(),
      isTemporary: z.boolean().optional().meta({ description: 'False makes it permanent. Absent: unchanged.' }),
      ...temporary,
    })
    .superRefine(checkTime)
    .meta({ description: 'Fields to change. Absent fields keep their value.' }),
});

const olderPrivileges = routesAt('/api/v1/additional-privilege/identity', {
  select: `${FIELDS} permissions`,
  as: ['privilege', 'privileges'],
  show: toOlderReply,
  deprecated: true,
});

/** What names a privilege, in the words of the schema. */
const NAMED = { words: { ...OF_IDENTITY.words, privilegeSlug: 'slug' }, given: OF_IDENTITY.given } as const;
const rule = { subject: 'secrets', actions: ['readValue'], conditions: { environment: 'prod' } };
const named = { projectSlug: 'shop-a1b2', identityId: '6f1c2a60-5a3e-4c52-9f43-6f4b8f0f2f11' };

const create = (path: string, summary: string, body: typeof NewPermanent | typeof NewTemporary, example: object) =>
  olderPrivileges.post(path, summary, {
    operationId: `create${body === NewTemporary ? 'Temporary' : 'Permanent'}Privilege`,
    field: 'createAdditionalPrivilege',
    body: body as typeof NewTemporary,
    ...OF_IDENTITY,
    input: ({ projectSlug: project, identityId: memberId, slug: wanted, privilegePermission, ...rest }) => ({
      ...{ projectSlug: project, memberId, slug: wanted },
      ...ruleIn(privilegePermission),
      term: termOf({ ...rest, isTemporary: body === NewTemporary }),
    }),
    errors: ['PROJECT_NOT_FOUND', 'MEMBERSHIP_NOT_FOUND', 'PRIVILEGE_SLUG_TAKEN'],
    example: { ...named, slug: 'release-week', privilegePermission: rule, ...example },
  });

const TIME = { temporaryMode: 'relative', temporaryRange: '7d', temporaryAccessStartTime: '2026-01-31T12:00:00Z' };
const NAMED_ERRORS = ['PROJECT_NOT_FOUND', 'PRIVILEGE_NOT_FOUND'] as const;

/** The same by slugs of projects and privileges, as older clients use them. */
export const olderPrivilegeRoutes = [
  create('/permanent', 'Give a machine identity a privilege for good (older path)', NewPermanent, {}),
  create('/temporary', 'Give a machine identity a privilege for a time (older path)', NewTemporary, TIME),
  olderPrivileges.get('', 'List the privileges of a machine identity in a project (older path)', {
    field: 'additionalPrivileges',
    query: z.strictObject({ projectSlug, identityId, ...paging }),
    ...OF_IDENTITY,
    errors: ['PROJECT_NOT_FOUND', 'MEMBERSHIP_NOT_FOUND'],
  }),
  olderPrivileges.get('/{privilegeSlug}', 'Get a privilege of a machine identity by its slug (older path)', {
    field: 'additionalPrivilegeBySlug',
    params: z.strictObject({ privilegeSlug: olderSlug }),
    query: z.strictObject({ projectSlug, identityId }),
    ...NAMED,
    errors: NAMED_ERRORS,
  }),
  olderPrivileges.patch('', 'Update a privilege of a machine identity (older path)', {
    field: 'updateAdditionalPrivilegeBySlug',
    body: Changes,
    ...NAMED,
    input: ({ privilegeDetails: details, ...key }) => ({
      ...key,
      newSlug: details?.slug,
      ...ruleIn(details?.privilegePermission),
      ...(details?.isTemporary === undefined ? {} : { term: termOf(details) }),
    }),
    errors: [...NAMED_ERRORS, 'PRIVILEGE_SLUG_TAKEN'],
    example: { ...named, privilegeSlug: 'release-week', privilegeDetails: { isTemporary: false } },
  }),
  olderPrivileges.delete('', 'Take a privilege from a machine identity (older path)', {
    field: 'deleteAdditionalPrivilegeBySlug',
    body: Named,
    ...NAMED,
    errors: NAMED_ERRORS,
    example: { ...named, privilegeSlug: 'release-week' },
  }),
];
