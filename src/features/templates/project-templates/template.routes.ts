import * as z from 'zod';
import { bodyOf, type Data, eachOf, paging, routesAt } from '../../../rest/route.js';
import { type PermissionsInput, permissionsIn, withReplyPermissions } from '../../identity/permissions/public.js';
import { CreateProjectTemplate, templateKind, UpdateProjectTemplate } from './template.rules.js';

/** The fields of a template in the order of the specification. */
const fields = (permissions: string): string => `id name description type orgId: organizationId createdAt updatedAt
  roles { name slug ${permissions} } environments users { username roles } groups { groupSlug roles }
  identities { identityId roles } projectManagedIdentities`;

const toReply = ({ version: _, roles, ...template }: Data): Data => ({
  ...template,
  roles: eachOf(roles as Data[], withReplyPermissions),
});
const withoutRules = ({ roles, ...template }: Data): Data =>
  toReply({ ...template, roles: eachOf(roles as Data[], ({ rules: _, ...role }) => role) });
const withRules = ({ roles, ...template }: Data): Data =>
  toReply({ ...template, roles: eachOf(roles as Data[], ({ rules, ...role }) => ({ ...role, permissions: rules })) });

interface WithRoles {
  readonly roles?: readonly { readonly permissions: PermissionsInput }[] | undefined;
}
const withLists = <B extends WithRoles>({ roles, ...body }: B) =>
  roles === undefined
    ? body
    : {
        ...body,
        roles: roles.map(({ permissions, ...role }) => ({ ...role, ...permissionsIn(permissions) })),
      };

const templates = routesAt('/api/v1/project-templates', {
  // One action in each permission, as the interface has it, and the actions of each rule in a list, as it was given.
  select: fields('permissions rules'),
  as: ['projectTemplate', 'projectTemplates'],
  show: withoutRules,
  // The Terraform provider decodes lists of actions only.
  showTo: { terraform: withRules },
  input: withLists,
});
const NOT_FOUND = ['PROJECT_TEMPLATE_NOT_FOUND'] as const;
/** Of what lists name. */
const UNKNOWN = ['USER_NOT_FOUND', 'GROUP_NOT_FOUND', 'IDENTITY_NOT_FOUND', 'ROLE_NOT_FOUND'] as const;

export const templateRoutes = [
  templates.get('', 'List project templates', {
    operation: 9,
    field: 'projectTemplates',
    select: fields('permissions'),
    show: toReply,
    showTo: {},
    query: z.strictObject({
      type: templateKind.optional().meta({ description: 'Only items of this type.' }),
      ...paging,
    }),
  }),
  templates.post('', 'Create a project template', {
    field: 'createProjectTemplate',
    body: CreateProjectTemplate,
    errors: [...UNKNOWN, 'PROJECT_TEMPLATE_NAME_TAKEN', 'ORGANIZATION_NOT_FOUND'],
    example: {
      name: 'web-service',
      type: 'secret-manager',
      environments: [{ name: 'Production', slug: 'prod', position: 1 }],
      roles: [
        {
          name: 'Reader of production',
          slug: 'prod-reader',
          permissions: [
            { subject: 'secrets', action: ['describeSecret', 'readValue'], conditions: { environment: 'prod' } },
          ],
        },
      ],
      projectManagedIdentities: [{ name: 'deployer', roles: ['prod-reader'] }],
    },
  }),
  templates.get('/{templateId}', 'Get a project template', {
    field: 'projectTemplate',
    select: `${fields('permissions rules')} version`,
    errors: NOT_FOUND,
  }),
  templates.patch('/{templateId}', 'Update a project template', {
    operation: 10,
    field: 'updateProjectTemplate',
    body: bodyOf(UpdateProjectTemplate, 'id', 'expectedVersion'),
    harmless: { id: 'templateId' },
    ifMatch: ({ projectTemplate }) => ({ expectedVersion: projectTemplate.version }),
    errors: [
      ...NOT_FOUND,
      ...UNKNOWN,
      'PROJECT_TEMPLATE_NAME_TAKEN',
      'PROJECT_TEMPLATE_BUILT_IN',
      'ROLE_IN_USE',
      'CONCURRENT_CHANGE',
    ],
    example: { description: 'Services with a production environment', users: null },
  }),
  templates.delete('/{templateId}', 'Delete a project template', {
    field: 'deleteProjectTemplate',
    errors: [...NOT_FOUND, 'PROJECT_TEMPLATE_BUILT_IN'],
  }),
];
