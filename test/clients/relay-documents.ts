// What the Relay session asks for, as an application has it in its sources. Only Relay's compiler reads this file.
import { graphql } from 'relay-runtime';

export const documents = [
  graphql`
    mutation relayDocumentsCreateProjectMutation($input: CreateProjectInput!) {
      createProject(input: $input) {
        project {
          id
          name
        }
      }
    }
  `,
  graphql`
    mutation relayDocumentsCreateSecretMutation($input: CreateSecretInput!, $connections: [ID!]!) {
      createSecret(input: $input) {
        secret @appendNode(connections: $connections, edgeTypeName: "SecretEdge") {
          id
          secretKey
          secretComment
        }
      }
    }
  `,
  graphql`
    mutation relayDocumentsUpdateSecretMutation($input: UpdateSecretInput!) {
      updateSecret(input: $input) {
        secret {
          id
          secretComment
        }
      }
    }
  `,
  graphql`
    fragment relayDocuments_secret on Secret @refetchable(queryName: "relayDocumentsSecretRefetchQuery") {
      id
      secretKey
      secretComment
    }
  `,
  graphql`
    query relayDocumentsSecretsQuery($projectId: ID!, $first: Int!, $after: String) {
      secrets(projectId: $projectId, environment: "dev", first: $first, after: $after)
        @connection(key: "relayDocuments_secrets", filters: ["projectId", "environment"]) {
        __id
        edges {
          node {
            id
            secretKey
            secretComment
            ...relayDocuments_secret
          }
        }
        pageInfo {
          hasNextPage
          endCursor
        }
      }
    }
  `,
];
