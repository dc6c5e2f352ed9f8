import { graphql } from './graphql.ts';

/** People and machines of the organization. */
export const Members = graphql(`
  query Members($after: String) {
    organizationMembers(first: 1000, after: $after) {
      nodes { id memberId memberKind name roleSlug endsAt } pageInfo { hasNextPage endCursor }
    }
  }
`);

export const Groups = graphql(`
  query Groups($after: String) {
    groups(first: 1000, after: $after) {
      nodes { id name roleSlug } pageInfo { hasNextPage endCursor }
    }
  }
`);

export const Projects = graphql(`
  query Projects($after: String) {
    projects(first: 1000, after: $after) {
      nodes { id name slug type description } pageInfo { hasNextPage endCursor }
    }
  }
`);

const ROLES = 'id createdAt project { id name } roleAssignments { roleSlug startsAt endsAt isActive }';
const MEMBERSHIPS = `memberships(first: 300) {
  totalCount
  nodes {
    ${ROLES} additionalPrivileges(first: 20) { nodes { id slug createdAt startsAt endsAt isActive } }
  }
}` as const;

/** A person, a machine or a group, and where it is a member itself. */
export const Holder = graphql(`
  query Holder($id: ID!) {
    node(id: $id) {
      __typename
      id
      ... on User { username roleSlug createdAt role { id name description } ${MEMBERSHIPS} }
      ... on Identity { name roleSlug createdAt authMethods role { id name description } ${MEMBERSHIPS} }
      ... on Group {
        name roleSlug createdAt role { id name description }
        memberships(first: 300) { totalCount nodes { ${ROLES} } }
        members(first: 1000) { nodes { id memberId memberKind name joinedAt } totalCount }
      }
    }
  }
`);

const GROUPS = `groups(first: 10, after: $after) {
  nodes { id name roleSlug memberships(first: 100) { totalCount nodes { ${ROLES} } } }
  pageInfo { hasNextPage endCursor }
}` as const;

/** Groups of a person or a machine, and where those are members. Not by `node`: the cache takes fragments with the same fields for one type. */
export const HolderGroups = graphql(`
  query HolderGroups($id: ID!, $isUser: Boolean!, $after: String) {
    user(id: $id) @include(if: $isUser) { id ${GROUPS} }
    identity(id: $id) @skip(if: $isUser) { id ${GROUPS} }
  }
`);

/** Who is a member of all projects. */
export const AllProjects = graphql(`
  query AllProjects($after: String) {
    allProjectsMemberships(first: 1000, after: $after) {
      nodes { id memberId name roleSlug createdAt endsAt isActive } pageInfo { hasNextPage endCursor }
    }
  }
`);

/** What somebody may do in a project, and why. */
export const Permissions = graphql(`
  query Permissions($projectId: ID!, $userId: ID, $identityId: ID) {
    effectivePermissions(projectId: $projectId, userId: $userId, identityId: $identityId) {
      isMember
      permissions {
        rule {
          subject action inverted
          conditions {
            environment { is in glob ne } secretPath { is in glob ne } secretName { is in glob ne } secretTags { in }
            commonName { is in glob ne } groupSlug { is in glob ne } identityId { is in glob ne } role { is in glob ne }
            slug { is in glob ne } username { is in glob ne } action { is in ne } connectionId { is in ne }
            eventType { is in ne } subject { is in ne }
          }
        }
        origin {
          source slug isForAllProjects
          memberships { id memberKind name }
          allProjectsMemberships { id memberKind name }
        }
      }
    }
  }
`);

/** Logins of a machine, and attempts that were refused. */
export const Logins = graphql(`
  query Logins($id: ID!) {
    identity(id: $id) {
      id
      logins(first: 50) {
        nodes { eventId occurredAt action outcome address facts { name stringValue } }
      }
    }
  }
`);

/** Tokens that end soon, that are not used, or of one machine. */
export const Tokens = graphql(`
  query Tokens($expiresBefore: DateTime, $unusedSince: DateTime, $identityId: ID, $after: String) {
    accessTokens(
      expiresBefore: $expiresBefore, unusedSince: $unusedSince, identityId: $identityId, first: 1000, after: $after
    ) {
      nodes {
        id name authMethod createdAt expiresAt lastUsedAt
        identity { id name projectId }
        user { id username }
      }
      pageInfo { hasNextPage endCursor }
    }
  }
`);

/** Who looks, and whether it may revoke tokens of the organization. */
export const Own = graphql(`
  query Own {
    viewer { userId identityId name token { id } }
    canInOrganization(checks: [{ subject: IDENTITY, action: DELETE_TOKEN }]) { allowed }
  }
`);

export const RevokeTokens = graphql(`
  mutation RevokeTokens($input: RevokeAccessTokensInput!) {
    revokeAccessTokens(input: $input) {
      isDryRun
      tokens { id name identity { id name } user { id username } }
    }
  }
`);
