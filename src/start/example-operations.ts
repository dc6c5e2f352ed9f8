import type { ExampleOperation } from '../kernel/pages/html.js';

const ID = '00000000-0000-4000-8000-000000000000';

const FIRST_STEPS: readonly Omit<ExampleOperation, 'group'>[] = [
  {
    title: 'Find out who a token belongs to',
    isFirst: true,
    query: `query WhoAmI {
  viewer {
    kind
    name
    organization {
      name
      slug
    }
    token {
      expiresAt
    }
    usesLeft
  }
}
`,
  },
  {
    title: 'List your projects with their environments',
    isFirst: true,
    query: `query Projects($first: Int = 20) {
  projects(first: $first) {
    nodes {
      id
      name
      slug
      environments {
        slug
        name
      }
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}
`,
  },
  {
    title: 'Create a project',
    note: 'It gets the environments dev, staging and prod. Each run creates another project.',
    isFirst: true,
    query: `mutation CreateProject($input: CreateProjectInput!) {
  createProject(input: $input) {
    project {
      id
      name
      slug
      environments {
        slug
      }
    }
  }
}
`,
    variables: { input: { name: 'Payments', description: 'Made in the explorer.' } },
  },
  {
    title: 'Find secrets by key in all projects',
    note: 'Values are not decrypted: only keys count.',
    isFirst: true,
    query: `query SearchSecrets($input: SearchSecretsInput!) {
  searchSecrets(input: $input, first: 50) {
    nodes {
      project {
        name
      }
      secret {
        environmentSlug
        secretPath
        secretKey
        version
      }
    }
  }
}
`,
    variables: { input: { key: { glob: '*PASSWORD*' } } },
  },
];

const PROJECTS: readonly Omit<ExampleOperation, 'group'>[] = [
  {
    title: 'Create a project from a template',
    note: 'Run `projectTemplates { nodes { name } }` for the names of templates; `default` is built in.',
    query: `mutation CreateProjectFromTemplate($name: String!, $template: String!) {
  createProject(input: { name: $name, template: $template }) {
    project {
      id
      slug
      environments {
        slug
      }
    }
  }
}
`,
    variables: { name: 'Checkout', template: 'default' },
  },
  {
    title: 'Add a member to a project',
    note: '`memberKind` is `IDENTITY` for a machine identity, `USER` or `GROUP`.',
    query: `mutation AddProjectMember($input: AddProjectMemberInput!) {
  addProjectMember(input: $input) {
    membership {
      name
      roleSlugs
    }
  }
}
`,
    variables: { input: { projectId: ID, memberKind: 'IDENTITY', memberId: ID, roles: ['viewer'] } },
  },
];

const SECRETS: readonly Omit<ExampleOperation, 'group'>[] = [
  {
    title: 'List all production secrets',
    note: 'The secrets of the environment `prod` of all projects, without their values. `environments` takes several slugs.',
    query: `query ProductionSecrets($environments: [String!]!) {
  searchSecrets(input: { environments: $environments }, first: 100) {
    nodes {
      project {
        name
      }
      secret {
        environmentSlug
        secretPath
        secretKey
        updatedAt
      }
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}
`,
    variables: { environments: ['prod'] },
  },
  {
    title: 'Read the secrets of a folder with their values',
    query: `query ReadSecrets($projectId: ID!, $environment: String!, $secretPath: String!) {
  secrets(projectId: $projectId, environment: $environment, secretPath: $secretPath) {
    nodes {
      secretKey
      secretValue
    }
  }
}
`,
    variables: { projectId: ID, environment: 'dev', secretPath: '/' },
  },
  {
    title: 'Create a secret',
    query: `mutation CreateSecret($input: CreateSecretInput!) {
  createSecret(input: $input) {
    secret {
      id
      secretKey
      version
    }
  }
}
`,
    variables: { input: { projectId: ID, environment: 'dev', secretKey: 'API_KEY', secretValue: 'x' } },
  },
  {
    title: 'Change the value of a secret',
    query: `mutation UpdateSecret($input: UpdateSecretByKeyInput!) {
  updateSecretByKey(input: $input) {
    secret {
      id
      version
    }
  }
}
`,
    variables: { input: { projectId: ID, environment: 'dev', secretKey: 'API_KEY', secretValue: 'y' } },
  },
  {
    title: 'Find secrets that were not rotated for 90 days',
    note: 'Those whose value is older than `before`, whoever changed it and how.',
    query: `query StaleSecrets($before: DateTime!) {
  searchSecrets(input: { valueChangedBefore: $before }, first: 100) {
    nodes {
      project {
        name
      }
      secret {
        environmentSlug
        secretPath
        secretKey
        valueChangedAt
      }
    }
  }
}
`,
    variables: { before: '2026-01-31T00:00:00Z' },
  },
  {
    title: 'Compare environments',
    note: 'Values are compared, but not shown.',
    query: `query CompareEnvironments($input: CompareEnvironmentsInput!) {
  compareEnvironments(input: $input) {
    nodes {
      secretPath
      secretKey
      verdict
    }
  }
}
`,
    variables: { input: { projectId: ID, environments: ['dev', 'prod'], recursive: true } },
  },
  {
    title: 'Promote secrets from one environment to another',
    query: `mutation PromoteSecrets($input: CopySecretsInput!) {
  copySecrets(input: $input) {
    secretIds
    replacedSecretIds
  }
}
`,
    variables: {
      input: {
        projectId: ID,
        secretIds: [ID],
        source: { environment: 'dev', secretPath: '/' },
        destination: { environment: 'prod', secretPath: '/' },
        shouldOverwrite: true,
      },
    },
  },
  {
    title: 'Restore an environment to a point in time',
    note: 'With `dryRun`, it shows what would change, and changes nothing.',
    query: `mutation RestoreEnvironment($input: RestoreSecretsInput!) {
  restoreSecrets(input: $input) {
    created {
      secretPath
      secretKey
    }
    changed {
      secretPath
      secretKey
    }
    deleted {
      secretPath
      secretKey
    }
  }
}
`,
    variables: {
      input: { projectId: ID, environment: 'dev', recursive: true, at: '2026-01-31T12:00:00Z', dryRun: true },
    },
  },
  {
    title: 'Find values that several secrets share',
    query: `query DuplicateValues {
  duplicateValues(input: { minimum: 2 }) {
    nodes {
      count
      secrets {
        project {
          name
        }
        environmentSlug
        secretPath
        secretKey
      }
    }
  }
}
`,
  },
];

const ACCESS: readonly Omit<ExampleOperation, 'group'>[] = [
  {
    title: 'Find out who can read a secret, and why',
    query: `query WhoCanRead($secretId: ID!) {
  secret(id: $secretId, viewSecretValue: false) {
    secretKey
    readers(first: 100) {
      nodes {
        name
        memberKind
        origin {
          source
          slug
        }
      }
    }
  }
}
`,
    variables: { secretId: ID },
  },
  {
    title: 'Explain why somebody can or cannot read secrets',
    note: 'Without `identityId` and `userId` it is about yourself.',
    query: `query ExplainAccess($projectId: ID!, $fields: AccessFieldsInput) {
  explainAccess(projectId: $projectId, action: READ_VALUE, subject: SECRETS, fields: $fields) {
    isAllowed
    isMember
    rule {
      action
      subject
      inverted
    }
    origin {
      source
      slug
    }
  }
}
`,
    variables: { projectId: ID, fields: { environment: 'prod', secretPath: '/' } },
  },
  {
    title: 'Find out who has read a secret',
    query: `query WhoHasRead($secretId: ID!) {
  secret(id: $secretId, viewSecretValue: false) {
    secretKey
    reads(first: 50) {
      nodes {
        occurredAt
        actorKind
        actorId
        address
      }
    }
  }
}
`,
    variables: { secretId: ID },
  },
  {
    title: 'Create a machine identity',
    query: `mutation CreateIdentity($name: String!) {
  createIdentity(input: { name: $name }) {
    identity {
      id
      name
    }
  }
}
`,
    variables: { name: 'deployer' },
  },
  {
    title: 'List the access tokens that expire soon',
    query: `query ExpiringTokens($expiresBefore: DateTime!) {
  accessTokens(expiresBefore: $expiresBefore, first: 100) {
    nodes {
      id
      name
      expiresAt
      lastUsedAt
    }
  }
}
`,
    variables: { expiresBefore: '2099-01-31T00:00:00Z' },
  },
  {
    title: 'Revoke a token',
    note: 'With the tokens that it created for the same holder.',
    query: `mutation RevokeToken($id: ID!) {
  revokeAccessToken(input: { id: $id }) {
    message
  }
}
`,
    variables: { id: ID },
  },
];

const OPERATION: readonly Omit<ExampleOperation, 'group'>[] = [
  {
    title: 'Rotate a credential now',
    note: 'With `wait`, the response comes when the rotation is done.',
    query: `mutation RotateNow($id: ID!) {
  rotateSecrets(input: { id: $id, wait: true }) {
    secretRotation {
      status
      lastRotatedAt
      lastMessage
    }
  }
}
`,
    variables: { id: ID },
  },
  {
    title: 'List the certificates that expire within 30 days',
    note: '`expiresBefore` is the last day: 30 days from now.',
    query: `query ExpiringCertificates($projectId: ID!, $expiresBefore: DateTime!) {
  certificates(projectId: $projectId, status: ACTIVE, expiresBefore: $expiresBefore, first: 100) {
    nodes {
      commonName
      serialNumber
      notAfter
    }
  }
}
`,
    variables: { projectId: ID, expiresBefore: '2099-01-31T00:00:00Z' },
  },
  {
    title: 'List what needs a person',
    note: 'What failed or will fail, the most urgent first, and the operations that help.',
    query: `query Attention {
  attention(first: 50) {
    nodes {
      urgency
      kind
      message
      since
      project {
        name
      }
    }
  }
}
`,
  },
  {
    title: 'See what happened in a project',
    query: `query AuditTrail($projectId: ID!) {
  auditEvents(projectId: $projectId, first: 50) {
    nodes {
      occurredAt
      action
      outcome
      actorKind
      actorId
    }
  }
}
`,
    variables: { projectId: ID },
  },
];

const grouped = (group: string, examples: readonly Omit<ExampleOperation, 'group'>[]): ExampleOperation[] =>
  examples.map((example) => ({ ...example, group }));

/** Tasks, each with an operation that does it. Those that come first run as they are, with any token, on a service that is still empty. */
export const EXAMPLE_OPERATIONS: readonly ExampleOperation[] = [
  ...grouped('First steps', FIRST_STEPS),
  ...grouped('Projects', PROJECTS),
  ...grouped('Secrets', SECRETS),
  ...grouped('Access', ACCESS),
  ...grouped('Rotations, certificates, operation', OPERATION),
];
