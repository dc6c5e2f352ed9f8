"""Sets a team up: template, project, environments, machine identity with its login, membership, connection, rotation and alert.

Run it again after a failure, or to check that all is as it should be: it changes nothing that exists.

    pip install "gql[httpx]==4.0.0"
    STRONGROOM_URL=https://strongroom.example.com STRONGROOM_TOKEN=... python onboard.py payments

The connection needs DATATOOL_URL, DATATOOL_ACCOUNT and DATATOOL_TOKEN; without them there is no connection and no rotation.
"""

import os
import sys

from gql import Client, gql
from gql.transport.httpx import HTTPXTransport

team = sys.argv[1]
client = Client(
    transport=HTTPXTransport(
        url=os.environ["STRONGROOM_URL"] + "/graphql",
        headers={"Authorization": "Bearer " + os.environ["STRONGROOM_TOKEN"]},
    )
)
trips = 0
created = []


def send(document, **variables):
    """One trip. Remembers which of its fields created something."""
    global trips
    trips += 1
    result = client.execute(gql(document), variable_values=variables)
    created.extend(field for field, payload in result.items() if payload.get("created"))
    return result


# What needs no ID of anything else: the mutations of a document run one after the other.
base = send(
    """
    mutation ($template: String!, $slug: String!, $certificates: String!, $identity: String!) {
      createProjectTemplate(input: {
        name: $template, type: SECRET_MANAGER, onConflict: RETURN_EXISTING
        environments: [{ name: "Test", slug: "test", position: 1 }, { name: "Production", slug: "prod", position: 2 }]
      }) { created }
      createProject(input: { name: $slug, slug: $slug, template: $template, onConflict: RETURN_EXISTING }) {
        created project { id }
      }
      certificates: createProject(input: {
        name: $certificates, slug: $certificates, type: CERT_MANAGER, onConflict: RETURN_EXISTING
      }) { created project { id } }
      createIdentity(input: { name: $identity, onConflict: RETURN_EXISTING }) { created identity { id } }
    }
    """,
    template=f"{team}-service",
    slug=f"{team}-service",
    certificates=f"{team}-certificates",
    identity=f"{team}-deployments",
)
project = base["createProject"]["project"]["id"]
identity = base["createIdentity"]["identity"]["id"]

login = send(
    """
    mutation ($project: ID!, $certificates: ID!, $identity: ID!, $emails: [String!]!) {
      createEnvironment(input: { projectId: $project, name: "Preview", slug: "preview", onConflict: RETURN_EXISTING }) {
        created
      }
      attachUniversalAuth(input: { identityId: $identity, accessTokenTTL: 3600, onConflict: RETURN_EXISTING }) {
        created universalAuth { clientId }
      }
      addProjectMember(input: {
        projectId: $project, memberKind: IDENTITY, memberId: $identity, roles: ["viewer"], onConflict: RETURN_EXISTING
      }) { created }
      createCertificateAlert(input: {
        projectId: $certificates, name: "Expires soon", eventType: EXPIRATION, alertBefore: "30d", filters: []
        channels: [{ config: { email: { recipients: $emails } } }], onConflict: RETURN_EXISTING
      }) { created }
    }
    """,
    project=project,
    certificates=base["certificates"]["project"]["id"],
    identity=identity,
    emails=[f"{team}@example.com"],
)
# A client secret is shown once: it is made with the login, and not again.
if login["attachUniversalAuth"]["created"]:
    secret = send(
        "mutation ($id: ID!) { createClientSecret(input: { identityId: $id }) { clientSecret } }", id=identity
    )
    print("client ID:", login["attachUniversalAuth"]["universalAuth"]["clientId"])
    print("client secret:", secret["createClientSecret"]["clientSecret"])

if "DATATOOL_URL" in os.environ:
    connection = send(
        """
        mutation ($project: ID!, $credentials: ConnectionCredentialsInput!) {
          createAppConnection(input: {
            projectId: $project, name: "analytics", credentials: $credentials, onConflict: RETURN_EXISTING
          }) { created appConnection { id } }
        }
        """,
        project=project,
        credentials={
            "datatool": {
                "instanceUrl": os.environ["DATATOOL_URL"],
                "accountId": os.environ["DATATOOL_ACCOUNT"],
                "apiToken": os.environ["DATATOOL_TOKEN"],
            }
        },
    )
    send(
        """
        mutation ($project: ID!, $connection: ID!) {
          createSecretRotation(input: {
            projectId: $project, environment: "prod", connectionId: $connection, name: "analytics", rotationInterval: 30
            content: { datatoolServiceToken: {
              parameters: { tokenName: "deployments", permissionGrants: [{ permissionSet: JOB_VIEWER }] }
              secretsMapping: { serviceToken: "ANALYTICS_TOKEN" }
            } }
            onConflict: RETURN_EXISTING
          }) { created }
        }
        """,
        project=project,
        connection=connection["createAppConnection"]["appConnection"]["id"],
    )

print(f"{len(created)} created in {trips} trips")
