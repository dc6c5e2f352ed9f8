import { graphql } from './graphql.ts';

export const ProjectDetails = graphql(`
  query ProjectDetails($id: ID!) {
    project(id: $id) { id name type description environments { id slug name } }
  }
`);

/** The folders of up to five environments. */
export const Folders = graphql(`
  query Folders(
    $id: ID!, $first: String!, $second: String!, $third: String!, $fourth: String!, $fifth: String!
    $two: Boolean!, $three: Boolean!, $four: Boolean!, $five: Boolean!
  ) {
    first: folderTree(projectId: $id, environment: $first) { secretCount folder { id path } }
    second: folderTree(projectId: $id, environment: $second) @include(if: $two) { secretCount folder { id path } }
    third: folderTree(projectId: $id, environment: $third) @include(if: $three) { secretCount folder { id path } }
    fourth: folderTree(projectId: $id, environment: $fourth) @include(if: $four) { secretCount folder { id path } }
    fifth: folderTree(projectId: $id, environment: $fifth) @include(if: $five) { secretCount folder { id path } }
  }
`);

export const Comparison = graphql(`
  query Comparison($input: CompareEnvironmentsInput!, $after: String) {
    compareEnvironments(input: $input, first: 250, after: $after) {
      nodes { secretKey verdict sides { environmentSlug presence secretId valueGroup } }
      pageInfo { hasNextPage endCursor }
    }
  }
`);

/** Of one environment alone, which is compared with nothing. */
export const Keys = graphql(`
  query Keys($id: ID!, $environment: String!, $path: String!, $after: String) {
    secrets(
      projectId: $id, environment: $environment, secretPath: $path, viewSecretValue: false, ownValues: NONE, first: 500, after: $after
    ) {
      nodes { id secretKey } pageInfo { hasNextPage endCursor }
    }
  }
`);

export const FolderContents = graphql(`
  query FolderContents($id: ID!, $environments: [String!]!, $path: String!) {
    project(id: $id) {
      id
      environments(slugs: $environments) {
        id slug name
        folders(path: $path, first: 200) { nodes { id name path description } }
        imports(path: $path, first: 100) { nodes { id position source { environmentSlug path } } }
      }
    }
  }
`);

export const SecretDetails = graphql(`
  query SecretDetails($id: ID!) {
    secret(id: $id, viewSecretValue: false) {
      id secretKey secretPath environmentSlug secretComment version createdAt updatedAt valueChangedAt validAtLeastUntil rotationId
      actor { name actorType }
      tags { id slug color }
      secretMetadata { key isEncrypted }
    }
  }
`);

/** Whether the caller can read what is revealed. */
export const CanReveal = graphql(`
  query CanReveal($projectId: ID!, $place: AccessFieldsInput!) {
    can(checks: [{ projectId: $projectId, subject: SECRETS, action: READ_VALUE, fields: $place }]) { allowed }
  }
`);

/** The one document that asks for a value: each run of it is in the audit trail. */
export const SecretValue = graphql(`
  query SecretValue($id: ID!) {
    secret(id: $id) { id secretValue secretMetadata { key value isEncrypted } }
  }
`);

/** For secrets whose metadata is not encrypted. */
export const SecretLabels = graphql(`
  query SecretLabels($id: ID!) {
    secret(id: $id, viewSecretValue: false) { id secretMetadata { key value } }
  }
`);

export const SecretHistory = graphql(`
  query SecretHistory($id: ID!, $after: String) {
    secret(id: $id, viewSecretValue: false) {
      id
      versions(first: 50, after: $after) {
        nodes { version createdAt isDeletion changes secretKey secretPath environmentSlug actor { name actorType } }
        pageInfo { hasNextPage endCursor }
      }
    }
  }
`);

export const SecretReaders = graphql(`
  query SecretReaders($id: ID!, $after: String) {
    secret(id: $id, viewSecretValue: false) {
      id
      readers(first: 100, after: $after) {
        nodes {
          memberId memberKind name isForSomeSessions
          origin { source slug isForAllProjects memberships { memberKind name } }
        }
        pageInfo { hasNextPage endCursor }
      }
    }
  }
`);

export const SecretUses = graphql(`
  query SecretUses($input: WhereUsedInput!, $after: String) {
    whereUsed(input: $input, first: 100, after: $after) {
      nodes { kind isViaImport projectId environmentSlug secretPath secretKey secretId }
      pageInfo { hasNextPage endCursor }
    }
  }
`);

/** A part of the value: each run of it is in the audit trail, so it is run once for a version. */
export const SecretReferences = graphql(`
  query SecretReferences($id: ID!) {
    secret(id: $id, viewSecretValue: false) { id references { environmentSlug secretPath secretKey } }
  }
`);

export const SecretImports = graphql(`
  query SecretImports($id: ID!, $environment: String!, $path: String!) {
    secretImports(projectId: $id, environment: $environment, path: $path, first: 100) {
      nodes { id position source { environmentSlug path } }
    }
  }
`);

export const RotationAttempts = graphql(`
  query RotationAttempts($id: ID!, $first: Int!) {
    secretRotation(id: $id) {
      __typename id name type status lastMessage lastRotatedAt nextRotationAt pauseReason waitReason rotationInterval isAutoRotationEnabled
      connection { name app }
    }
    secretRotationAttempts(id: $id, first: $first) {
      nodes { attemptId number reason state errorCode createdAt endedAt }
      pageInfo { hasNextPage }
    }
  }
`);
