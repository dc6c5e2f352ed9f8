import * as z from 'zod';
import { type Data, nextCursor, route, type WrittenRoute } from '../../../rest/route.js';
import {
  IDENTITY_FIELDS,
  membershipRoutes,
  toIdentityMembership,
  toMembership,
  USER_FIELDS,
} from '../members/membership.routes.js';
import { RoleSlugs, usernames } from '../members/membership.rules.js';

/** Clients repeat the ID of the project in the body. */
const REPEATED = { projectId: 'workspaceId' };
const names = usernames.optional();

/** Clients distinguish usernames and email addresses. Here an email address is a username like any other. */
const naming = {
  usernames: names.meta({ description: 'Usernames, up to 100.' }),
  emails: names.meta({ description: 'Usernames that are e-mail addresses, up to 100.' }),
};
interface Named {
  readonly usernames?: readonly string[] | undefined;
  readonly emails?: readonly string[] | undefined;
}
const isAnyNamed = (body: Named): boolean => [body.usernames, body.emails].flat().some((name) => name !== undefined);
const ANY_NAMED = { path: ['usernames'], error: 'required unless emails is set' };
const namesIn = (body: Named): string[] => [...new Set([...(body.usernames ?? []), ...(body.emails ?? [])])];

const InviteBody = z
  .strictObject({
    ...naming,
    roleSlugs: RoleSlugs.default(['member']).meta({ description: 'Slugs of 1 to 10 roles. Default: `member`.' }),
  })
  .refine(isAnyNamed, ANY_NAMED);
const RemoveBody = z.strictObject(naming).refine(isAnyNamed, ANY_NAMED);

/** The membership of a user, with the user as clients of older paths read it. */
const withUser = (membership: Data): Data => {
  const shown = toMembership(membership);
  return { ...shown, user: { id: shown.userId, username: shown.username } };
};

const PRESENT = '/api/v1/projects/{projectId}/memberships';
const OLDER = '/api/v1/workspace/{workspaceId}/memberships';

/** A route of users at its older path: a user is named by its membership there. Document, rules and errors are the same. */
function older(method: string, path: '' | '/{membershipId}', reply: WrittenRoute['reply']): WrittenRoute {
  const at = PRESENT + path.replace('membershipId', 'userId');
  const present = membershipRoutes.find((it) => it.method === method && it.path === at);
  if (present === undefined) throw new Error(`${method} ${at} has an older form and is not there`);
  return {
    ...present,
    path: OLDER + path,
    deprecated: true,
    ...(method === 'GET' ? {} : { harmless: REPEATED }),
    summary: `${present.summary} (older path)`,
    variables: ({ params, ...rest }) =>
      present.variables({
        ...rest,
        params: {
          projectId: params.workspaceId as string,
          ...(path === '' ? {} : { userId: params.membershipId as string }),
        },
      }),
    reply,
  };
}

const OF_USER = `query ($projectId: ID!, $memberId: ID!) {
  projectMembership(projectId: $projectId, memberKind: USER, memberId: $memberId) { ${USER_FIELDS} }
}`;

/** Members of projects at the paths and in the words of before. */
export const olderMembershipRoutes = [
  route({
    extension: true,
    method: 'POST',
    path: '/api/v2/workspace/{projectId}/memberships',
    summary: 'Add users to a project by name, all or nothing',
    body: InviteBody,
    document: `mutation ($input: AddProjectUsersInput!) {
      addProjectUsers(input: $input) {
        memberships { ${USER_FIELDS} }
      }
    }`,
    variables: ({ params, body }) => ({
      input: { projectId: params.projectId, usernames: namesIn(body), roles: body.roleSlugs },
    }),
    reply: ({ addProjectUsers }) => ({ memberships: addProjectUsers.memberships.map(toMembership) }),
    errors: ['PROJECT_NOT_FOUND', 'ROLE_NOT_FOUND', 'USER_NOT_FOUND', 'ALREADY_A_MEMBER'],
    example: { usernames: ['ann@example.com'], roleSlugs: ['viewer'] },
  }),
  route({
    extension: true,
    method: 'DELETE',
    path: '/api/v2/workspace/{projectId}/memberships',
    summary: 'Remove users from a project by name, all or nothing',
    body: RemoveBody,
    document: `mutation ($input: RemoveProjectUsersInput!) {
      removeProjectUsers(input: $input) { memberships { ${USER_FIELDS} } }
    }`,
    variables: ({ params, body }) => ({ input: { projectId: params.projectId, usernames: namesIn(body) } }),
    reply: ({ removeProjectUsers }) => ({ memberships: removeProjectUsers.memberships.map(toMembership) }),
    errors: ['PROJECT_NOT_FOUND', 'MEMBERSHIP_NOT_FOUND', 'LAST_ADMIN'],
    example: { usernames: ['ann@example.com'] },
  }),
  older('GET', '', ({ projectMemberships: { nodes, pageInfo } }) => ({
    memberships: nodes.map(withUser),
    ...nextCursor(pageInfo),
  })),
  older('PATCH', '/{membershipId}', ({ updateProjectMember: { membership } }) => {
    const shown = withUser(membership);
    return { membership: shown, roles: shown.roles };
  }),
  older('DELETE', '/{membershipId}', ({ removeProjectMember }) => ({
    membership: withUser(removeProjectMember.membership),
  })),
  route({
    extension: true,
    deprecated: true,
    method: 'POST',
    path: `${OLDER}/details`,
    summary: 'Get the membership of a user by name (older path)',
    body: z.strictObject({
      username: z.string().min(1).max(255).meta({ description: 'Username of the user.' }),
    }),
    harmless: REPEATED,
    document: OF_USER,
    variables: ({ params, body }) => ({ projectId: params.workspaceId, memberId: body.username }),
    reply: ({ projectMembership }) => ({ membership: withUser(projectMembership) }),
    errors: ['PROJECT_NOT_FOUND', 'MEMBERSHIP_NOT_FOUND'],
    example: { username: 'ann@example.com' },
  }),
  route({
    extension: true,
    deprecated: true,
    method: 'GET',
    path: '/api/v1/projects/{projectId}/user/{userId}/membership',
    summary: 'Get the membership of a user (older path)',
    document: OF_USER,
    variables: ({ params }) => ({ projectId: params.projectId, memberId: params.userId }),
    reply: ({ projectMembership }) => ({ membership: withUser(projectMembership) }),
    errors: ['PROJECT_NOT_FOUND', 'MEMBERSHIP_NOT_FOUND'],
  }),
  route({
    extension: true,
    deprecated: true,
    method: 'GET',
    path: '/api/v2/workspace/identity-memberships/{membershipId}',
    summary: 'Get the membership of a machine identity by its ID alone (older path)',
    document: `query ($id: ID!) { projectMembershipById(id: $id, memberKind: IDENTITY) { ${IDENTITY_FIELDS} } }`,
    variables: ({ params }) => ({ id: params.membershipId }),
    reply: ({ projectMembershipById }) => ({ identityMembership: toIdentityMembership(projectMembershipById) }),
    errors: ['MEMBERSHIP_NOT_FOUND'],
  }),
];
