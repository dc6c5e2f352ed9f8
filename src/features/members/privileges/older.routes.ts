import * as z from 'zod';
import { type Data, paging, routesAt } from '../../../rest/route.js';
import { PERMISSIONS, Permissions, type PermissionsGiven, permissionsIn } from '../../identity/permissions/public.js';
import {
  checkTime,
  FIELDS,
  identityId,
  listReplyOf,
  newSlug,
  replyOf,
  slug,
  temporary,
  termOf,
  text,
  toReply,
} from './privilege.reply.js';

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
const privilegeSlug = text('Slug of the privilege.');

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
  return permissionsIn([{ subject, action: actions, conditions }] as PermissionsGiven);
}

const NewPermanent = z.strictObject({ projectSlug, identityId, slug, privilegePermission: PrivilegePermission });
const NewTemporary = NewPermanent.extend(temporary).superRefine((body, issues) =>
  checkTime({ ...body, isTemporary: true }, issues),
);
const Named = z.strictObject({ projectSlug, identityId, privilegeSlug });
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

const privileges = routesAt('/api/v1/additional-privilege/identity', {
  select: `${FIELDS} ${PERMISSIONS}`,
});

interface Key {
  readonly projectSlug: string;
  readonly identityId: string;
  readonly privilegeSlug: string;
}
/** Selects a privilege in the form of the schema. */
const keyOf = (key: Key) => ({
  projectSlug: key.projectSlug,
  memberKind: 'identity',
  memberId: key.identityId,
  slug: key.privilegeSlug,
});
const rule = { subject: 'secrets', actions: ['readValue'], conditions: { environment: 'prod' } };
const named = { projectSlug: 'shop-a1b2', identityId: '6f1c2a60-5a3e-4c52-9f43-6f4b8f0f2f11' };

const create = (path: string, summary: string, body: typeof NewPermanent | typeof NewTemporary, example: object) =>
  privileges.post(path, summary, {
    operationId: `create${body === NewTemporary ? 'Temporary' : 'Permanent'}Privilege`,
    field: 'createAdditionalPrivilege',
    deprecated: true,
    body: body as typeof NewTemporary,
    variables: ({ body: { projectSlug: project, identityId: memberId, slug: wanted, ...rest } }) => ({
      input: {
        projectSlug: project,
        memberKind: 'identity',
        memberId,
        slug: wanted,
        ...ruleIn(rest.privilegePermission),
        term: termOf({ ...rest, isTemporary: body === NewTemporary }),
      },
    }),
    reply: replyOf('createAdditionalPrivilege', toOlderReply),
    errors: ['PROJECT_NOT_FOUND', 'MEMBERSHIP_NOT_FOUND', 'PRIVILEGE_SLUG_TAKEN'],
    example: { ...named, slug: 'release-week', privilegePermission: rule, ...example },
  });

const TIME = { temporaryMode: 'relative', temporaryRange: '7d', temporaryAccessStartTime: '2026-01-31T12:00:00Z' };
const NAMED_ERRORS = ['PROJECT_NOT_FOUND', 'PRIVILEGE_NOT_FOUND'] as const;

/** The same by slugs of projects and privileges, as older clients use them. */
export const olderRoutes = [
  create('/permanent', 'Give a machine identity a privilege for good (older path)', NewPermanent, {}),
  create('/temporary', 'Give a machine identity a privilege for a time (older path)', NewTemporary, TIME),
  privileges.get('', 'List the privileges of a machine identity in a project (older path)', {
    field: 'additionalPrivileges',
    deprecated: true,
    query: z.strictObject({ projectSlug, identityId, ...paging }),
    variables: ({ query }) => ({
      projectSlug: query.projectSlug,
      memberKind: 'identity',
      memberId: query.identityId,
      first: query.limit,
      after: query.cursor,
    }),
    reply: listReplyOf(toOlderReply),
    errors: ['PROJECT_NOT_FOUND', 'MEMBERSHIP_NOT_FOUND'],
  }),
  privileges.get('/{privilegeSlug}', 'Get a privilege of a machine identity by its slug (older path)', {
    field: 'additionalPrivilegeBySlug',
    deprecated: true,
    params: z.strictObject({ privilegeSlug }),
    query: z.strictObject({ projectSlug, identityId }),
    variables: ({ params, query }) => keyOf({ ...query, privilegeSlug: params.privilegeSlug as string }),
    reply: ({ additionalPrivilegeBySlug }) => ({ privilege: toOlderReply(additionalPrivilegeBySlug) }),
    errors: NAMED_ERRORS,
  }),
  privileges.patch('', 'Update a privilege of a machine identity (older path)', {
    field: 'updateAdditionalPrivilegeBySlug',
    deprecated: true,
    body: Changes,
    variables: ({ body: { privilegeDetails: details, ...key } }) => ({
      input: {
        ...keyOf(key),
        newSlug: details?.slug,
        ...ruleIn(details?.privilegePermission),
        ...(details?.isTemporary === undefined ? {} : { term: termOf(details) }),
      },
    }),
    reply: replyOf('updateAdditionalPrivilegeBySlug', toOlderReply),
    errors: [...NAMED_ERRORS, 'PRIVILEGE_SLUG_TAKEN'],
    example: { ...named, privilegeSlug: 'release-week', privilegeDetails: { isTemporary: false } },
  }),
  privileges.delete('', 'Take a privilege from a machine identity (older path)', {
    field: 'deleteAdditionalPrivilegeBySlug',
    deprecated: true,
    body: Named,
    variables: ({ body }) => ({ input: keyOf(body) }),
    reply: replyOf('deleteAdditionalPrivilegeBySlug', toOlderReply),
    errors: NAMED_ERRORS,
    example: { ...named, privilegeSlug: 'release-week' },
  }),
];
