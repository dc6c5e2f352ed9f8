/** Everything that a rule can name inside a project, by subject. Source: behaviour 2. */
export const PROJECT_ACTIONS = {
  workspace: ['edit', 'delete'],
  settings: ['read', 'edit'],
  environments: ['read', 'create', 'edit', 'delete'],
  tags: ['read', 'create', 'edit', 'delete'],
  member: ['read', 'create', 'edit', 'delete', 'grant-privileges'],
  identity: ['read', 'create', 'edit', 'delete', 'grant-privileges'],
  role: ['read', 'create', 'edit', 'delete'],
  'secret-folders': ['read', 'create', 'edit', 'delete'],
  'secret-imports': ['read', 'create', 'edit', 'delete'],
  secrets: ['read', 'describeSecret', 'readValue', 'create', 'edit', 'delete'],
} as const;

const ON_TEXT = ['$eq', '$ne', '$in', '$glob'] as const;

/**
 * What the conditions of a rule can look at, by subject, and the operators for it. Subjects that are not here have nothing to
 * look at. Source: behaviour 2.
 */
export const CONDITION_FIELDS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  secrets: {
    environment: ON_TEXT,
    secretPath: ON_TEXT,
    secretName: ON_TEXT,
    secretTags: ['$in'],
    // Of events about secrets. A secret itself has none, so that a rule which names one holds for no secret.
    eventType: ['$eq', '$ne', '$in'],
  },
  'secret-folders': { environment: ON_TEXT, secretPath: ON_TEXT },
  'secret-imports': { environment: ON_TEXT, secretPath: ON_TEXT },
};

/** Everything that a rule can name in an organization, by subject. */
export const ORGANIZATION_ACTIONS = {
  organization: ['read', 'edit', 'delete'],
  'sub-organization': ['create', 'edit', 'delete'],
  workspace: ['create'],
  'project-templates': ['read'],
  member: ['read', 'create', 'edit', 'delete'],
  identity: ['read', 'create', 'edit', 'delete', 'revoke-auth', 'create-token', 'get-token', 'delete-token'],
} as const;

/** What no role gives: only the installation's own admin may do it. Named here so that a denial can be told and audited. */
type InstallationAction = 'organization:create' | 'identity:edit-installation-admin';

type ActionOf<T extends Record<string, readonly string[]>> = {
  [S in keyof T & string]: `${S}:${T[S][number]}`;
}[keyof T & string];

export type ProjectAction = ActionOf<typeof PROJECT_ACTIONS>;
export type OrganizationAction = ActionOf<typeof ORGANIZATION_ACTIONS> | InstallationAction;

declare module '../../kernel/authz/ability.js' {
  interface Actions {
    readonly project: ProjectAction;
    readonly organization: OrganizationAction;
  }
}
