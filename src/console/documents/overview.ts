import { graphql } from './graphql.ts';

/** Who looks, and what needs a person. */
export const Overview = graphql(`
  query Overview {
    viewer { name kind organization { id name } }
    attention(first: 200) {
      nodes {
        kind urgency since message errorCode subjectId subjectName subjectType
        project { id name }
        operations { mutation inputField inputValue summary }
      }
      pageInfo { hasNextPage }
    }
  }
`);

/** Certificates that end soon, and the rotations of the next days. */
export const Schedule = graphql(`
  query Schedule($certificatesBefore: DateTime!) {
    projects {
      nodes {
        id name
        certificates(expiresBefore: $certificatesBefore, status: ACTIVE, first: 500) {
          nodes { id commonName notAfter profileId }
          totalCount
        }
        secretRotations(first: 200) {
          nodes {
            id name status nextRotationAt isAutoRotationEnabled
            schedule { timeZone window { days from { hours minutes } to { hours minutes } } }
          }
        }
      }
    }
  }
`);

/** Tokens that end soon or are not used, messages that did not arrive, and connections. */
export const Credentials = graphql(`
  query Credentials($endsBefore: DateTime!, $unusedSince: DateTime!) {
    ending: accessTokens(expiresBefore: $endsBefore, first: 50) {
      nodes { id name expiresAt lastUsedAt identity { id name } user { id username } }
      totalCount
    }
    unused: accessTokens(unusedSince: $unusedSince, first: 50) {
      nodes { id name createdAt lastUsedAt identity { id name } user { id username } }
      totalCount
    }
    projects {
      nodes {
        id name
        failed: notificationMessages(state: FAILED, first: 1) { totalCount }
        waiting: notificationMessages(state: PENDING, first: 1) { totalCount }
      }
    }
    appConnections(first: 200) {
      nodes { id name checkCode failingSince }
      totalCount
    }
  }
`);

/** Ages of values, a page at a time. */
export const Ages = graphql(`
  query Ages($after: String) {
    searchSecrets(input: { orderBy: { field: VALUE_CHANGED_AT } }, first: 1000, after: $after) {
      nodes { secret { id valueChangedAt } } pageInfo { hasNextPage endCursor }
    }
  }
`);

/** What was changed lately. */
export const Activity = graphql(`
  query Activity($from: DateTime!) {
    auditEvents(class: CHANGE, from: $from, first: 1000) {
      nodes { eventId occurredAt }
      pageInfo { hasNextPage }
    }
  }
`);
