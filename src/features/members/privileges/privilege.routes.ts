import * as z from 'zod';
import { paging, routesAt } from '../../../rest/route.js';
import { LISTED_PERMISSIONS, Permissions, permissionsIn } from '../../identity/permissions/public.js';
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
  select: `${FIELDS} ${LISTED_PERMISSIONS}`,
});
const example = [{ subject: 'secrets', action: ['readValue'], conditions: { environment: 'prod' } }];

/** Additional privileges of machine identities. */
export const privilegeRoutes = [
  privileges.post('', 'Give a machine identity a privilege', {
    field: 'createAdditionalPrivilege',
    body: CreateBody,
    variables: ({ body: { projectId, identityId: memberId, slug: given, permissions, type } }) => ({
      input: {
        projectId,
        memberKind: 'identity',
        memberId,
        slug: given,
        ...permissionsIn(permissions),
        term: type && termOf(type),
      },
    }),
    reply: replyOf('createAdditionalPrivilege'),
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
    variables: ({ query }) => ({
      projectId: query.projectId,
      memberKind: 'identity',
      memberId: query.identityId,
      first: query.limit,
      after: query.cursor,
    }),
    reply: listReplyOf(),
    errors: ['PROJECT_NOT_FOUND', 'MEMBERSHIP_NOT_FOUND'],
  }),
  privileges.get('/{privilegeId}', 'Get a privilege of a machine identity', {
    field: 'additionalPrivilege',
    variables: ({ params }) => ({ id: params.privilegeId }),
    reply: ({ additionalPrivilege }) => ({ privilege: toReply(additionalPrivilege) }),
    errors: ['PRIVILEGE_NOT_FOUND'],
  }),
  privileges.patch('/{privilegeId}', 'Update a privilege of a machine identity', {
    field: 'updateAdditionalPrivilege',
    body: UpdateBody,
    harmless: { ID: 'privilegeId' },
    variables: ({ params, body: { permissions, type, ...rest } }) => ({
      input: {
        id: params.privilegeId,
        ...rest,
        ...permissionsIn(permissions),
        ...(type === undefined ? {} : { term: termOf(type) }),
      },
    }),
    reply: replyOf('updateAdditionalPrivilege'),
    errors: ['PRIVILEGE_NOT_FOUND', 'PRIVILEGE_SLUG_TAKEN'],
    example: { type: { isTemporary: false } },
  }),
  privileges.delete('/{privilegeId}', 'Take a privilege from a machine identity', {
    field: 'deleteAdditionalPrivilege',
    variables: ({ params }) => ({ input: { id: params.privilegeId } }),
    reply: replyOf('deleteAdditionalPrivilege'),
    errors: ['PRIVILEGE_NOT_FOUND'],
  }),
];
