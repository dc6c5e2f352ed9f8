import { z } from 'zod';
import { type Data, nextCursor, paging, route } from '../../rest/route.js';
import { isEachOnce, MAX_ROLES, type MemberKind, ROLE_TWICE } from './membership.rules.js';
import { roleSlug } from './role.rules.js';

/** What the routes of users and those of machine identities differ in. */
interface Members {
  readonly kind: MemberKind;
  readonly one: string;
  readonly many: string;
  readonly path: string;
  /** Path parameter, and name in replies, of the member's id. */
  readonly idName: 'userId' | 'identityId';
  /** Name in replies of a membership; of a list with an `s`. */
  readonly wrapping: string;
  readonly fields: string;
}

const USERS: Members = {
  kind: 'user',
  one: 'user',
  many: 'users',
  path: '/api/v1/projects/{projectId}/memberships',
  idName: 'userId',
  wrapping: 'membership',
  fields: 'id projectId userId: memberId username: name roles: roleSlugs createdAt updatedAt',
};

const IDENTITIES: Members = {
  kind: 'identity',
  one: 'machine identity',
  many: 'machine identities',
  path: '/api/v2/workspace/{projectId}/identity-memberships',
  idName: 'identityId',
  wrapping: 'identityMembership',
  fields: 'id projectId identityId: memberId name roles: roleSlugs createdAt updatedAt',
};

const userId = z.string().max(64).meta({ description: 'Id of the user.' });
const ofTemporary = z
  .unknown()
  .optional()
  .meta({ description: 'Ignored if isTemporary is false, and refused otherwise.' });
/** Fields of a role for a time only, which is not offered: clients send them for permanent ones too, with `isTemporary` false. */
const temporary = {
  isTemporary: z.literal(false).optional().meta({ description: 'Can only be false.' }),
  temporaryMode: ofTemporary,
  temporaryRange: ofTemporary,
  temporaryAccessStartTime: ofTemporary,
};
const isPermanent = ({ isTemporary, temporaryMode, temporaryRange, temporaryAccessStartTime }: Temporary): boolean =>
  isTemporary === false || [temporaryMode, temporaryRange, temporaryAccessStartTime].every((value) => value == null);
type Temporary = Partial<Record<keyof typeof temporary, unknown>>;
const NOT_TEMPORARY = { path: ['isTemporary'], error: 'must be false: roles for a time only are not offered' };

/** One role in short, or up to ten as objects. */
const given = {
  ...temporary,
  role: roleSlug.optional().meta({ description: 'Slug of the one role; or give roles.' }),
  roles: z
    .array(z.strictObject({ role: roleSlug, ...temporary }).refine(isPermanent, NOT_TEMPORARY))
    .min(1)
    .max(MAX_ROLES)
    .refine((roles) => isEachOnce(roles.map((entry) => entry.role)), ROLE_TWICE)
    .optional()
    .meta({ description: 'Up to 10 roles, each once; what they allow adds up. Or give role.' }),
};
type Given = { role?: string | undefined; roles?: readonly { role: string }[] | undefined };
const isOneGiven = (body: Given): boolean => (body.role === undefined) !== (body.roles === undefined);
const EITHER = { path: ['role'], error: 'must be given, or else roles, not both' };
const RolesBody = z.strictObject(given).refine(isOneGiven, EITHER).refine(isPermanent, NOT_TEMPORARY);
const AddUserBody = z
  .strictObject({ userId, ...given })
  .refine(isOneGiven, EITHER)
  .refine(isPermanent, NOT_TEMPORARY);

const slugsOf = (body: Given): (string | undefined)[] => body.roles?.map((entry) => entry.role) ?? [body.role];
/** A membership in the words of the interface. */
export const toMembership = ({ roles, ...membership }: Data) => ({
  ...membership,
  roles: roles.map((slug: unknown) => ({ role: slug })),
});

const mutation = (verb: 'add' | 'update' | 'remove', fields: string): string => {
  const input = `${verb.charAt(0).toUpperCase()}${verb.slice(1)}ProjectMemberInput`;
  return `mutation ($input: ${input}!) { ${verb}ProjectMember(input: $input) { membership { ${fields} } } }`;
};

const keyOf = ({ kind, idName }: Members, params: Readonly<Record<string, string>>) => ({
  projectId: params.projectId,
  memberKind: kind,
  memberId: params[idName],
});

const routesOf = (members: Members) => {
  const { one, many, path, idName, wrapping, fields } = members;
  const at = `${path}/{${idName}}`;
  const memberKind = members.kind.toUpperCase();
  return [
    route({
      extension: true,
      method: 'GET',
      path,
      summary: `List the ${many} of a project`,
      query: z.strictObject(paging),
      document: `query ($projectId: ID!, $first: Int, $after: String) {
        projectMemberships(projectId: $projectId, memberKind: ${memberKind}, first: $first, after: $after) {
          nodes { ${fields} } pageInfo { hasNextPage endCursor }
        }
      }`,
      variables: ({ params, query }) => ({ projectId: params.projectId, first: query.limit, after: query.cursor }),
      reply: ({ projectMemberships: { nodes, pageInfo } }) => ({
        [`${wrapping}s`]: nodes.map(toMembership),
        ...nextCursor(pageInfo),
      }),
      errors: ['PROJECT_NOT_FOUND'],
    }),
    route({
      extension: true,
      method: 'GET',
      path: at,
      summary: `Get the membership of a ${one}`,
      document: `query ($projectId: ID!, $memberId: ID!) {
        projectMembership(projectId: $projectId, memberKind: ${memberKind}, memberId: $memberId) { ${fields} }
      }`,
      variables: ({ params }) => ({ projectId: params.projectId, memberId: params[idName] }),
      reply: ({ projectMembership }) => ({ [wrapping]: toMembership(projectMembership) }),
      errors: ['PROJECT_NOT_FOUND', 'MEMBERSHIP_NOT_FOUND'],
    }),
    route({
      extension: true,
      method: 'PATCH',
      path: at,
      summary: `Replace the roles of a ${one}`,
      body: RolesBody,
      document: mutation('update', fields),
      variables: ({ params, body }) => ({ input: { ...keyOf(members, params), roles: slugsOf(body) } }),
      reply: ({ updateProjectMember }) => ({ [wrapping]: toMembership(updateProjectMember.membership) }),
      example: { roles: [{ role: 'viewer' }] },
      errors: ['PROJECT_NOT_FOUND', 'MEMBERSHIP_NOT_FOUND', 'ROLE_NOT_FOUND', 'LAST_ADMIN'],
    }),
    route({
      extension: true,
      method: 'DELETE',
      path: at,
      summary: `Remove a ${one} from a project`,
      document: mutation('remove', fields),
      variables: ({ params }) => ({ input: keyOf(members, params) }),
      reply: ({ removeProjectMember }) => ({ [wrapping]: toMembership(removeProjectMember.membership) }),
      errors: ['PROJECT_NOT_FOUND', 'MEMBERSHIP_NOT_FOUND', 'LAST_ADMIN'],
    }),
  ];
};

/** Members of a project. Source: behaviour 10 (Identity in project). */
export const membershipRoutes = [
  ...routesOf(USERS),
  ...routesOf(IDENTITIES),
  route({
    extension: true,
    method: 'POST',
    path: USERS.path,
    summary: 'Add a user to a project',
    body: AddUserBody,
    document: mutation('add', USERS.fields),
    variables: ({ params, body }) => ({
      input: { projectId: params.projectId, memberKind: 'user', memberId: body.userId, roles: slugsOf(body) },
    }),
    reply: ({ addProjectMember }) => ({ membership: toMembership(addProjectMember.membership) }),
    example: { userId: '9f1c6f5e-7c1b-4a53-9d0a-5f0a6d6c2b11', role: 'member' },
    errors: ['PROJECT_NOT_FOUND', 'ROLE_NOT_FOUND', 'USER_NOT_FOUND', 'ALREADY_A_MEMBER'],
  }),
  route({
    extension: true,
    method: 'POST',
    path: `${IDENTITIES.path}/{identityId}`,
    summary: 'Add a machine identity to a project',
    body: RolesBody,
    document: mutation('add', IDENTITIES.fields),
    variables: ({ params, body }) => ({
      input: { projectId: params.projectId, memberKind: 'identity', memberId: params.identityId, roles: slugsOf(body) },
    }),
    reply: ({ addProjectMember }) => ({ identityMembership: toMembership(addProjectMember.membership) }),
    example: { role: 'member' },
    errors: ['PROJECT_NOT_FOUND', 'ROLE_NOT_FOUND', 'IDENTITY_NOT_FOUND', 'ALREADY_A_MEMBER'],
  }),
];
