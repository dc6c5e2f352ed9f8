import * as z from 'zod';
import { bodyOf, type Data, ofSample, routesAt } from '../../../rest/route.js';
import { roleToInput, withRole } from '../../identity/organizations/public.js';
import { isBuiltInOfOrganization } from '../../identity/permissions/public.js';
import { CreateGroup, UpdateGroup } from './group.rules.js';

const GROUPS = '/api/v1/groups';

const ROLE = {
  type: 'string',
  description: 'Role of the machine identity in your organization; `custom` for a custom role.',
};
const CUSTOM_ROLE = { type: ['string', 'null'], description: 'Slug of the role, if it is `custom`; else null.' };

/** A group in the words of the interface. */
const toGroup = ({ roleSlug, ...group }: Data): Data => ({
  ...group,
  role: ofSample(roleSlug, ROLE) ?? (isBuiltInOfOrganization(roleSlug) ? roleSlug : 'custom'),
  customRoleSlug: ofSample(roleSlug, CUSTOM_ROLE) ?? (isBuiltInOfOrganization(roleSlug) ? null : roleSlug),
});

const groups = routesAt(GROUPS, { select: 'id orgId: organizationId *', show: toGroup, as: null, input: roleToInput });

/** What the routes of users and those of machine identities differ in. */
interface Members {
  readonly many: 'users' | 'machineIdentities';
  readonly kind: 'USER' | 'IDENTITY';
  readonly one: string;
  readonly path: string;
  readonly param: 'username' | 'identityId';
  /** Of one, for the ids of operations. */
  readonly noun: string;
  /** How many are named in the path: as GraphQL takes them. */
  readonly list: 'usernames' | 'identityIds';
  readonly fields: string;
  readonly notFound: 'USER_NOT_FOUND' | 'IDENTITY_NOT_FOUND';
}

const USERS: Members = {
  many: 'users',
  kind: 'USER',
  noun: 'GroupUser',
  one: 'user',
  path: '/{groupId}/users',
  param: 'username',
  list: 'usernames',
  fields: 'id: memberId username: name joinedAt',
  notFound: 'USER_NOT_FOUND',
};

const IDENTITIES: Members = {
  many: 'machineIdentities',
  kind: 'IDENTITY',
  noun: 'GroupIdentity',
  one: 'machine identity',
  path: '/{groupId}/machine-identities',
  param: 'identityId',
  list: 'identityIds',
  fields: 'id: memberId name joinedAt',
  notFound: 'IDENTITY_NOT_FOUND',
};

const routesOf = ({ many, kind, one, noun, path, param, list, fields, notFound }: Members) => {
  const members = routesAt(GROUPS, { select: fields, errors: ['GROUP_NOT_FOUND'] });
  const named = ({ params }: { params: Readonly<Record<string, string>> }) => ({
    input: { groupId: params.groupId, [list]: [params[param]] },
  });
  return [
    members.get(path, `List the ${one === 'user' ? 'users' : 'machine identities'} in a group`, {
      operationId: `list${noun.replace(/y$/, 'ie')}s`,
      field: 'groupMembers',
      as: many,
      given: { memberKind: kind },
      show: (member) => ({ ...member, isPartOfGroup: true }),
    }),
    members.post(`${path}/{${param}}`, `Add a ${one} to a group`, {
      operationId: `add${noun}`,
      field: 'addGroupMembers',
      variables: named,
      reply: ({ addGroupMembers }) => ({ ...addGroupMembers.members[0], isPartOfGroup: true }),
      errors: [notFound, 'ALREADY_A_MEMBER', 'LAST_ADMIN'],
    }),
    members.delete(`${path}/{${param}}`, `Remove a ${one} from a group`, {
      operationId: `remove${noun}`,
      field: 'removeGroupMembers',
      variables: named,
      reply: ({ removeGroupMembers }) => ({ ...removeGroupMembers.members[0], isPartOfGroup: false }),
      errors: ['MEMBERSHIP_NOT_FOUND'],
    }),
  ];
};

/** Groups, as bare objects. */
export const groupRoutes = [
  groups.post('', 'Create a group', {
    field: 'createGroup',
    body: withRole(CreateGroup),
    errors: ['ROLE_NOT_FOUND', 'GROUP_SLUG_TAKEN'],
    example: { name: 'Web team', slug: 'web-team', role: 'member' },
  }),
  groups.get('', 'List the groups of the organization', {
    field: 'groups',
    // A bare list has no room for the cursor of the next page.
    query: z.strictObject({}),
  }),
  groups.get('/{groupId}', 'Get a group', { field: 'group', errors: ['GROUP_NOT_FOUND'] }),
  groups.patch('/{groupId}', 'Update a group', {
    field: 'updateGroup',
    body: withRole(bodyOf(UpdateGroup, 'id')),
    harmless: { ID: 'groupId' },
    errors: ['GROUP_NOT_FOUND', 'ROLE_NOT_FOUND', 'GROUP_SLUG_TAKEN', 'LAST_ADMIN'],
    example: { name: 'Web team', role: 'no-access' },
  }),
  groups.delete('/{groupId}', 'Delete a group', { field: 'deleteGroup', errors: ['GROUP_NOT_FOUND'] }),
  ...routesOf(IDENTITIES),
  ...routesOf(USERS),
];
