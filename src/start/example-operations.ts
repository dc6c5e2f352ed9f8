import type { ExampleOperation } from '../kernel/pages/html.js';

/** What the explorer opens with: operations that run as they stand, with any token, on a service that is still empty. */
export const EXAMPLE_OPERATIONS: readonly ExampleOperation[] = [
  {
    query: `# Enter your token in the field above.
# Ctrl-Enter runs this.
query WhoAmI {
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
    query: `# Every project with its environments.
# Secrets and folders can be asked too.
query Projects($first: Int = 20) {
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
    query: `# With environments dev, staging, prod.
# Each run makes another project.
mutation CreateProject($input: CreateProjectInput!) {
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
    query: `# Which projects have a key like this?
# Values stay sealed: keys alone count.
query SearchSecrets($input: SearchSecretsInput!) {
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
