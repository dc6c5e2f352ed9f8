import { createHash } from 'node:crypto';
import type { Rule } from '../../../kernel/authz/ability.js';
import { ORGANIZATION_ACTIONS, PROJECT_ACTIONS } from './actions.js';

/** Built-in roles of a project, by slug. */
export const PROJECT_ROLES = ['admin', 'member', 'viewer', 'no-access'] as const;
type ProjectRole = (typeof PROJECT_ROLES)[number];

/** Slugs that are reserved for built-in roles, in projects and templates: clients recognize roles by them. */
export const RESERVED_ROLE_SLUGS: readonly string[] = [
  ...PROJECT_ROLES,
  ...['custom', 'ssh-host-bootstrapper', 'cryptographic-operator'],
];

/** Built-in roles of an organization, by slug. */
export const ORGANIZATION_ROLES = ['admin', 'member', 'no-access'] as const;
type OrganizationRole = (typeof ORGANIZATION_ROLES)[number];

/** A built-in role in the form of the API. */
interface BuiltInRole {
  readonly slug: string;
  readonly name: string;
  readonly description: string;
  readonly rules: readonly Rule[];
}

const everything = (actions: Readonly<Record<string, readonly string[]>>): Rule[] =>
  Object.entries(actions).map(([subject, action]) => ({ subject, action }));
const may = (subject: string, ...action: string[]): Rule => ({ subject, action });

const EDITED_BY_MEMBERS = ['dynamic-secrets', 'secret-syncs', 'service-tokens', 'integrations', 'webhooks'] as const;
const READ_BY_MEMBERS = ['role', 'groups', 'secret-approval', 'audit-logs', 'ip-allowlist', 'secret-rotation'] as const;
const READ_BY_VIEWERS = [
  ...READ_BY_MEMBERS,
  ...(['secret-folders', 'secret-imports', 'tags', 'environments', 'settings', 'identity', 'member'] as const),
] as const;

const PROJECT_BUILT_IN: Readonly<Record<ProjectRole, BuiltInRole>> = {
  admin: {
    slug: 'admin',
    name: 'Admin',
    description: 'Full access to the project.',
    rules: everything(PROJECT_ACTIONS),
  },
  member: {
    slug: 'member',
    name: 'Developer',
    description: 'Manages secrets, folders, imports, tags and environments; cannot delete the project.',
    rules: [
      may('secrets', ...PROJECT_ACTIONS.secrets),
      may('secret-folders', ...PROJECT_ACTIONS['secret-folders']),
      may('secret-imports', ...PROJECT_ACTIONS['secret-imports']),
      may('tags', ...PROJECT_ACTIONS.tags),
      may('environments', ...PROJECT_ACTIONS.environments),
      may('settings', ...PROJECT_ACTIONS.settings),
      may('identity', 'read', 'create', 'edit', 'delete'),
      may('member', 'read', 'create'),
      ...EDITED_BY_MEMBERS.map((subject) => may(subject, ...PROJECT_ACTIONS[subject])),
      may('commits', 'read', 'perform-rollback'),
      may('app-connections', 'connect-app-connections'),
      ...READ_BY_MEMBERS.map((subject) => may(subject, 'read')),
    ],
  },
  viewer: {
    slug: 'viewer',
    name: 'Viewer',
    description: 'Reads everything, including secret values; changes nothing.',
    rules: [
      may('secrets', 'read', 'describeSecret', 'readValue'),
      ...READ_BY_VIEWERS.map((subject) => may(subject, 'read')),
    ],
  },
  'no-access': {
    slug: 'no-access',
    name: 'No Access',
    description: 'Can see the project, but nothing in it.',
    rules: [],
  },
};

const ORGANIZATION_BUILT_IN: Readonly<Record<OrganizationRole, BuiltInRole>> = {
  admin: {
    slug: 'admin',
    name: 'Admin',
    description: 'Full access to the organization.',
    rules: everything(ORGANIZATION_ACTIONS),
  },
  member: {
    slug: 'member',
    name: 'Member',
    description: 'Creates projects; reads the organization, members and identities.',
    rules: [
      may('organization', 'read'),
      may('workspace', 'create'),
      ...['settings', 'project-templates', 'role', 'member', 'identity', 'groups'].map((subject) =>
        may(subject, 'read'),
      ),
    ],
  },
  'no-access': {
    slug: 'no-access',
    name: 'No Access',
    description: 'No access to the organization; roles in its projects still apply.',
    rules: [],
  },
};

/** The built-in roles of every project, admin first. */
export const builtInProjectRoles = (): readonly BuiltInRole[] => PROJECT_ROLES.map((slug) => PROJECT_BUILT_IN[slug]);

/** The built-in roles of every organization, admin first. */
export const builtInOrganizationRoles = (): readonly BuiltInRole[] =>
  ORGANIZATION_ROLES.map((slug) => ORGANIZATION_BUILT_IN[slug]);

/** Whether a role of a project is one of the built-in ones. */
export const isBuiltIn = (slug: string): slug is ProjectRole => (PROJECT_ROLES as readonly string[]).includes(slug);

/** What a built-in role of a project allows. */
export const builtInRules = (slug: ProjectRole): readonly Rule[] => PROJECT_BUILT_IN[slug].rules;

/** Whether a role of an organization is one of the built-in ones. */
export const isBuiltInOfOrganization = (slug: string): slug is OrganizationRole =>
  (ORGANIZATION_ROLES as readonly string[]).includes(slug);

/** What a built-in role of an organization allows. */
export const organizationRules = (slug: OrganizationRole): readonly Rule[] => ORGANIZATION_BUILT_IN[slug].rules;

/**
 * ID of a built-in role in a project or an organization. Built-in roles are not rows, so it is derived: constant for an
 * owner and slug, in the form of a version 8 UUID.
 */
export function builtInRoleId(ownerId: string, slug: string): string {
  const bytes = createHash('sha256').update(`built-in-role:${ownerId}:${slug}`).digest().subarray(0, 16);
  bytes[6] = ((bytes[6] as number) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** Whether an ID has the form of built-in role IDs, which no row has. */
export const isBuiltInForm = (id: string): boolean => id[VERSION_AT] === '8';

/** Position of the version in a UUID. */
const VERSION_AT = 14;
