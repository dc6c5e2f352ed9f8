import { graphql } from './graphql.ts';

/** The trail, newest first. */
export const Events = graphql(`
  query Events(
    $actorId: ID, $actorKind: ActorKind, $actions: [String!], $class: AuditEventClass, $outcome: AuditOutcome
    $projectId: ID, $subjectId: ID, $requestId: String, $from: DateTime, $to: DateTime, $after: String
  ) {
    auditEvents(
      actorId: $actorId, actorKind: $actorKind, actions: $actions, class: $class, outcome: $outcome
      projectId: $projectId, subjectId: $subjectId, requestId: $requestId, from: $from, to: $to
      first: 100, after: $after
    ) {
      nodes {
        eventId occurredAt class action outcome actorKind actorId subjectId requestId tokenId address userAgent
        identity { id name } user { id username } project { id name }
        facts { name stringValue numberValue booleanValue listValue } disclosedSecrets { count ids }
      }
      pageInfo { hasNextPage endCursor }
    }
  }
`);

/** Who read the value of a secret. */
export const Reads = graphql(`
  query Reads($id: ID!, $after: String) {
    secret(id: $id, viewSecretValue: false) {
      id secretKey secretPath environmentSlug project { id name }
      reads(first: 100, after: $after) {
        nodes {
          eventId occurredAt class action outcome actorKind actorId subjectId requestId tokenId address userAgent
          identity { id name } user { id username } project { id name }
          facts { name stringValue numberValue booleanValue listValue } disclosedSecrets { count ids }
        }
        pageInfo { hasNextPage endCursor }
      }
    }
  }
`);

/** Secrets by the beginning of their key. */
export const SecretsByKey = graphql(`
  query SecretsByKey($key: String!) {
    searchSecrets(input: { key: { startsWith: $key } }, first: 100) {
      nodes { secret { id secretKey secretPath environmentSlug } project { id name } }
      pageInfo { hasNextPage }
    }
  }
`);
