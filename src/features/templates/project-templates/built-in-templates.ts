import { createHash } from 'node:crypto';
import { DEFAULT_ENVIRONMENTS, DEFAULT_TEMPLATE, PROJECT_KINDS, type ProjectKind } from '../../projects/public.js';
import type { TemplateView } from './template.view.js';

/**
 * ID of a built-in template. Built-in templates have no row, so the ID is a version 5 UUID of the organization and type: it never
 * changes.
 */
function builtInId(organizationId: string, type: ProjectKind): string {
  const bytes = createHash('sha1')
    .update(Buffer.from(organizationId.replaceAll('-', ''), 'hex'))
    .update(`project-template:${type}`)
    .digest()
    .subarray(0, 16);
  bytes[6] = ((bytes[6] as number) & 0x0f) | 0x50;
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** Position of the version in a UUID. */
const VERSION_AT = 14;

/** Whether an ID has the form of built-in templates, which no row has. */
export const isBuiltInForm = (id: string): boolean => id[VERSION_AT] === '5';

/** Whether an ID is that of a built-in template of an organization. */
export const isBuiltInTemplate = (organizationId: string, id: string): boolean =>
  PROJECT_KINDS.some((type) => builtInId(organizationId, type) === id.toLowerCase());

/** The built-in template `default` of a project type, as an organization sees it. */
export const builtInTemplates = (organization: { readonly id: string; readonly createdAt: Date }): TemplateView[] =>
  PROJECT_KINDS.map((type) => ({
    id: builtInId(organization.id, type),
    organizationId: organization.id,
    isBuiltIn: true,
    name: DEFAULT_TEMPLATE,
    description: `Built-in template of projects of type ${type} that are created without another template.`,
    type,
    version: 1,
    roles: [],
    environments:
      type === 'secret-manager'
        ? DEFAULT_ENVIRONMENTS.map((environment, at) => ({ ...environment, position: at + 1 }))
        : null,
    users: null,
    groups: null,
    identities: null,
    projectManagedIdentities: null,
    createdAt: organization.createdAt,
    updatedAt: organization.createdAt,
  }));
