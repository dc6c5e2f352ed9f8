import { createHash } from 'node:crypto';
import { DEFAULT_ENVIRONMENTS, DEFAULT_TEMPLATE, PROJECT_KINDS, type ProjectKind } from '../projects/public.js';
import type { TemplateView } from './template.view.js';

/**
 * Id of a built-in template. It is no row, so its id is derived, as a version 5 UUID: always the same for an organization and a type.
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

/** Where a UUID has its version. */
const VERSION_AT = 14;

/** Whether an id has the form of those of built-in templates: that of no row. */
export const isBuiltInForm = (id: string): boolean => id[VERSION_AT] === '5';

/** Whether an id is that of a built-in template of an organization. */
export const isBuiltInTemplate = (organizationId: string, id: string): boolean =>
  PROJECT_KINDS.some((type) => builtInId(organizationId, type) === id.toLowerCase());

/** The template `default` of each type of projects, as an organization has it. Source: decisions 6. */
export const builtInTemplates = (organization: { readonly id: string; readonly createdAt: Date }): TemplateView[] =>
  PROJECT_KINDS.map((type) => ({
    id: builtInId(organization.id, type),
    organizationId: organization.id,
    isBuiltIn: true,
    name: DEFAULT_TEMPLATE,
    description: `Built in: what projects of the type ${type} have that are made from no other template.`,
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
