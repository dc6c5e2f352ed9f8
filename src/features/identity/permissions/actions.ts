const LIFE = ['read', 'create', 'edit', 'delete'] as const;

/** Subjects and actions of rules in a project. */
export const PROJECT_ACTIONS = {
  workspace: ['edit', 'delete'],
  settings: ['read', 'edit'],
  environments: LIFE,
  tags: LIFE,
  member: [...LIFE, 'grant-privileges', 'assign-role', 'assign-additional-privileges'],
  identity: [
    ...LIFE,
    'grant-privileges',
    'assign-role',
    'assign-additional-privileges',
    'assume-privileges',
    'revoke-auth',
    'create-token',
    'get-token',
    'delete-token',
  ],
  groups: [...LIFE, 'grant-privileges', 'assign-role'],
  role: LIFE,
  'secret-folders': LIFE,
  'secret-imports': LIFE,
  secrets: ['read', 'describeSecret', 'readValue', 'create', 'edit', 'delete'],
  'secret-rollback': ['read', 'create'],
  commits: ['read', 'perform-rollback'],
  'secret-rotation': [...LIFE, 'read-generated-credentials', 'rotate-secrets'],
  'app-connections': [
    'read-app-connections',
    'create-app-connections',
    'edit-app-connections',
    'delete-app-connections',
    'connect-app-connections',
  ],
  'secret-approval': LIFE,
  'secret-syncs': [...LIFE, 'sync-secrets', 'import-secrets', 'remove-secrets'],
  'dynamic-secrets': [
    'read-root-credential',
    'create-root-credential',
    'edit-root-credential',
    'delete-root-credential',
    'lease',
  ],
  'service-tokens': LIFE,
  integrations: LIFE,
  webhooks: LIFE,
  'ip-allowlist': LIFE,
  'audit-logs': ['read'],
  'certificate-authorities': LIFE,
  certificates: [...LIFE, 'read-private-key'],
  'certificate-profiles': [...LIFE, 'issue-cert'],
  'pki-alerts': LIFE,
} as const;

const ON_WORD = ['$eq', '$ne', '$in'] as const;
const ON_TEXT = [...ON_WORD, '$glob'] as const;
const AT_A_PLACE = { environment: ON_TEXT, secretPath: ON_TEXT } as const;
/**
 * Fields of checks of `assign-role` and `assign-additional-privileges`: what is assigned, one role, subject or action
 * at a time.
 */
const GIVEN = { role: ON_TEXT, subject: ON_WORD, action: ON_WORD } as const;

/**
 * The fields and operators that conditions of a rule can use, by subject. Subjects that are not listed have no
 * conditions.
 */
export const CONDITION_FIELDS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  secrets: {
    ...AT_A_PLACE,
    secretName: ON_TEXT,
    secretTags: ['$in'],
    // For events about secrets. A secret itself has none, so that a rule with this field matches no secret.
    eventType: ON_WORD,
  },
  'secret-folders': AT_A_PLACE,
  'secret-imports': AT_A_PLACE,
  'secret-rotation': { ...AT_A_PLACE, connectionId: ON_WORD },
  'secret-syncs': AT_A_PLACE,
  'dynamic-secrets': AT_A_PLACE,
  'app-connections': { connectionId: ON_WORD },
  member: { username: ON_TEXT, ...GIVEN },
  identity: { identityId: ON_TEXT, ...GIVEN },
  groups: { groupSlug: ON_TEXT, ...GIVEN },
  certificates: { commonName: ON_TEXT },
  'certificate-profiles': { slug: ON_TEXT },
};

/** Subjects and actions of rules in an organization. */
export const ORGANIZATION_ACTIONS = {
  organization: ['read', 'edit', 'delete'],
  'sub-organization': ['create', 'edit', 'delete'],
  settings: ['read', 'edit'],
  workspace: ['create', 'list', 'assign-role', 'rescue'],
  // What clients call `workspace:create`: see `inNewerWords`.
  project: ['create'],
  'project-templates': LIFE,
  role: LIFE,
  member: [...LIFE, 'grant-privileges', 'assign-role'],
  identity: [...LIFE, 'grant-privileges', 'assign-role', 'revoke-auth', 'create-token', 'get-token', 'delete-token'],
  groups: [
    ...LIFE,
    'grant-privileges',
    'assign-role',
    'add-members',
    'remove-members',
    'add-identities',
    'remove-identities',
  ],
  'app-connections': [...LIFE, 'connect'],
  kms: LIFE,
  'audit-logs': ['read'],
  jobs: ['read', 'edit'],
} as const;

/** As `CONDITION_FIELDS`, for rules of an organization. */
const ORGANIZATION_CONDITION_FIELDS: typeof CONDITION_FIELDS = {
  'app-connections': { connectionId: ON_WORD },
  member: { username: ON_TEXT, ...GIVEN },
  identity: { identityId: ON_TEXT, ...GIVEN },
  groups: { groupSlug: ON_TEXT, ...GIVEN },
};

/** Subjects, actions and condition fields of rules. */
export interface Vocabulary {
  readonly actions: Readonly<Record<string, readonly string[]>>;
  readonly fields: typeof CONDITION_FIELDS;
  /**
   * Only these actions of the subject are checked with a resource: a condition on another action would never be
   * evaluated.
   */
  readonly conditional: Readonly<Record<string, readonly string[]>>;
}

/** The actions of a subject whose rules can have conditions. */
export const conditionalActions = ({ actions, conditional }: Vocabulary, subject: string): readonly string[] =>
  conditional[subject] ?? actions[subject] ?? [];

export const PROJECT_VOCABULARY: Vocabulary = {
  actions: PROJECT_ACTIONS,
  fields: CONDITION_FIELDS,
  conditional: {},
};
export const ORGANIZATION_VOCABULARY: Vocabulary = {
  actions: ORGANIZATION_ACTIONS,
  fields: ORGANIZATION_CONDITION_FIELDS,
  // A caller who may read or edit one member of the organization may do so with all of them.
  conditional: { member: ['assign-role'], identity: ['assign-role'] },
};

/**
 * Rights that no role grants: only the admin of the installation has them. Declared so that a denial can be reported
 * and audited.
 */
type InstallationAction =
  | 'audit-trail:verify'
  | 'organization:create'
  | 'identity:edit-installation-admin'
  | 'jobs:pause-kind';

type ActionOf<T extends Record<string, readonly string[]>> = {
  [S in keyof T & string]: `${S}:${T[S][number]}`;
}[keyof T & string];

type ProjectAction = ActionOf<typeof PROJECT_ACTIONS>;
type OrganizationAction = ActionOf<typeof ORGANIZATION_ACTIONS> | InstallationAction;

declare module '../../../kernel/authz/ability.js' {
  interface Actions {
    readonly project: ProjectAction;
    readonly organization: OrganizationAction;
  }
}
