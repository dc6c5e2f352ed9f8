import { z } from 'zod';
import { PROJECT_ROLES } from '../../kernel/authz/roles.js';
import { nextCursor, paging, route } from '../../rest/route.js';

const FIELDS = 'id projectId memberId name roles createdAt updatedAt';
const ADD = `mutation ($input: AddProjectMemberInput!) { addProjectMember(input: $input) { membership { ${FIELDS} } } }`;
const UPDATE = `mutation ($input: UpdateProjectMemberInput!) { updateProjectMember(input: $input) { membership { ${FIELDS} } } }`;
const REMOVE = `mutation ($input: RemoveProjectMemberInput!) { removeProjectMember(input: $input) { membership { ${FIELDS} } } }`;
const one = (kind: 'USER' | 'IDENTITY'): string => `query ($projectId: ID!, $memberId: ID!) {
  projectMembership(projectId: $projectId, memberKind: ${kind}, memberId: $memberId) { ${FIELDS} }
}`;
const list = (kind: 'USER' | 'IDENTITY'): string => `query ($projectId: ID!, $first: Int, $after: String) {
  projectMemberships(projectId: $projectId, memberKind: ${kind}, first: $first, after: $after) {
    nodes { ${FIELDS} }
    pageInfo { hasNextPage endCursor }
  }
}`;

const USERS = '/api/v1/projects/{projectId}/memberships';
const IDENTITIES = '/api/v2/workspace/{projectId}/identity-memberships';

const role = z.enum(PROJECT_ROLES);
/** One role in short, or up to four as objects. Roles for a time only are not offered, so `isTemporary` can only be false. */
const given = {
  role: role.optional(),
  roles: z
    .array(z.strictObject({ role, isTemporary: z.literal(false).optional() }))
    .min(1)
    .max(PROJECT_ROLES.length)
    .refine((roles) => new Set(roles.map((entry) => entry.role)).size === roles.length, {
      error: 'must name each role once',
    })
    .optional(),
};
type Given = { role?: string | undefined; roles?: readonly { role: string }[] | undefined };
const isOneGiven = (body: Given): boolean => (body.role === undefined) !== (body.roles === undefined);
const EITHER = { path: ['role'], error: 'must be given, or else roles, not both' };
const RolesBody = z.strictObject(given).refine(isOneGiven, EITHER);
const AddUserBody = z.strictObject({ userId: z.string().max(64), ...given }).refine(isOneGiven, EITHER);
const slugsOf = (body: Given): (string | undefined)[] => body.roles?.map((entry) => entry.role) ?? [body.role];

interface Membership {
  readonly memberId: unknown;
  readonly name: unknown;
  readonly roles: readonly unknown[];
}
const asObject = (slug: unknown) => ({ role: slug });
const asUser = <M extends Membership>({ memberId, name, roles, ...rest }: M) => ({
  ...rest,
  userId: memberId,
  username: name,
  roles: roles.map(asObject),
});
const asIdentity = <M extends Membership>({ memberId, roles, ...rest }: M) => ({
  ...rest,
  identityId: memberId,
  roles: roles.map(asObject),
});

const page = ({ query }: { query: { limit?: number | undefined; cursor?: string | undefined } }) => ({
  first: query.limit,
  after: query.cursor,
});

const userRoutes = [
  route({
    extension: true,
    method: 'GET',
    path: USERS,
    summary: 'List the users of a project',
    query: z.strictObject(paging),
    document: list('USER'),
    variables: ({ params, query }) => ({ projectId: params.projectId, ...page({ query }) }),
    reply: ({ projectMemberships: { nodes, pageInfo } }) => ({
      memberships: nodes.map(asUser),
      ...nextCursor(pageInfo),
    }),
    errors: ['PROJECT_NOT_FOUND'],
  }),
  route({
    extension: true,
    method: 'POST',
    path: USERS,
    summary: 'Add a user to a project',
    body: AddUserBody,
    document: ADD,
    variables: ({ params, body }) => ({
      input: { projectId: params.projectId, memberKind: 'user', memberId: body.userId, roles: slugsOf(body) },
    }),
    reply: ({ addProjectMember }) => ({ membership: asUser(addProjectMember.membership) }),
    example: { userId: '9f1c6f5e-7c1b-4a53-9d0a-5f0a6d6c2b11', role: 'member' },
    errors: ['PROJECT_NOT_FOUND', 'USER_NOT_FOUND', 'ALREADY_A_MEMBER'],
  }),
  route({
    extension: true,
    method: 'GET',
    path: `${USERS}/{userId}`,
    summary: 'Get the membership of a user',
    document: one('USER'),
    variables: ({ params }) => ({ projectId: params.projectId, memberId: params.userId }),
    reply: ({ projectMembership }) => ({ membership: asUser(projectMembership) }),
    errors: ['PROJECT_NOT_FOUND', 'MEMBERSHIP_NOT_FOUND'],
  }),
  route({
    extension: true,
    method: 'PATCH',
    path: `${USERS}/{userId}`,
    summary: 'Replace the roles of a user',
    body: RolesBody,
    document: UPDATE,
    variables: ({ params, body }) => ({
      input: { projectId: params.projectId, memberKind: 'user', memberId: params.userId, roles: slugsOf(body) },
    }),
    reply: ({ updateProjectMember }) => ({ membership: asUser(updateProjectMember.membership) }),
    example: { roles: [{ role: 'viewer' }] },
    errors: ['PROJECT_NOT_FOUND', 'MEMBERSHIP_NOT_FOUND', 'LAST_ADMIN'],
  }),
  route({
    extension: true,
    method: 'DELETE',
    path: `${USERS}/{userId}`,
    summary: 'Remove a user from a project',
    document: REMOVE,
    variables: ({ params }) => ({
      input: { projectId: params.projectId, memberKind: 'user', memberId: params.userId },
    }),
    reply: ({ removeProjectMember }) => ({ membership: asUser(removeProjectMember.membership) }),
    errors: ['PROJECT_NOT_FOUND', 'MEMBERSHIP_NOT_FOUND', 'LAST_ADMIN'],
  }),
];

const identityRoutes = [
  route({
    extension: true,
    method: 'GET',
    path: IDENTITIES,
    summary: 'List the machine identities of a project',
    query: z.strictObject(paging),
    document: list('IDENTITY'),
    variables: ({ params, query }) => ({ projectId: params.projectId, ...page({ query }) }),
    reply: ({ projectMemberships: { nodes, pageInfo } }) => ({
      identityMemberships: nodes.map(asIdentity),
      ...nextCursor(pageInfo),
    }),
    errors: ['PROJECT_NOT_FOUND'],
  }),
  route({
    extension: true,
    method: 'POST',
    path: `${IDENTITIES}/{identityId}`,
    summary: 'Add a machine identity to a project',
    body: RolesBody,
    document: ADD,
    variables: ({ params, body }) => ({
      input: { projectId: params.projectId, memberKind: 'identity', memberId: params.identityId, roles: slugsOf(body) },
    }),
    reply: ({ addProjectMember }) => ({ identityMembership: asIdentity(addProjectMember.membership) }),
    example: { role: 'member' },
    errors: ['PROJECT_NOT_FOUND', 'IDENTITY_NOT_FOUND', 'ALREADY_A_MEMBER'],
  }),
  route({
    extension: true,
    method: 'GET',
    path: `${IDENTITIES}/{identityId}`,
    summary: 'Get the membership of a machine identity',
    document: one('IDENTITY'),
    variables: ({ params }) => ({ projectId: params.projectId, memberId: params.identityId }),
    reply: ({ projectMembership }) => ({ identityMembership: asIdentity(projectMembership) }),
    errors: ['PROJECT_NOT_FOUND', 'MEMBERSHIP_NOT_FOUND'],
  }),
  route({
    extension: true,
    method: 'PATCH',
    path: `${IDENTITIES}/{identityId}`,
    summary: 'Replace the roles of a machine identity',
    body: RolesBody,
    document: UPDATE,
    variables: ({ params, body }) => ({
      input: { projectId: params.projectId, memberKind: 'identity', memberId: params.identityId, roles: slugsOf(body) },
    }),
    reply: ({ updateProjectMember }) => ({ identityMembership: asIdentity(updateProjectMember.membership) }),
    example: { roles: [{ role: 'viewer' }] },
    errors: ['PROJECT_NOT_FOUND', 'MEMBERSHIP_NOT_FOUND', 'LAST_ADMIN'],
  }),
  route({
    extension: true,
    method: 'DELETE',
    path: `${IDENTITIES}/{identityId}`,
    summary: 'Remove a machine identity from a project',
    document: REMOVE,
    variables: ({ params }) => ({
      input: { projectId: params.projectId, memberKind: 'identity', memberId: params.identityId },
    }),
    reply: ({ removeProjectMember }) => ({ identityMembership: asIdentity(removeProjectMember.membership) }),
    errors: ['PROJECT_NOT_FOUND', 'MEMBERSHIP_NOT_FOUND', 'LAST_ADMIN'],
  }),
];

/** Members of a project. Source: behaviour 10 (Identity in project). */
export const membershipRoutes = [...userRoutes, ...identityRoutes];
