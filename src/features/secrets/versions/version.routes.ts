import * as z from 'zod';
import { MAX_VERSION } from '../../../kernel/number-rules.js';
import { type Data, nextCursor, orInstead, paging, queryBoolean, queryInteger, route } from '../../../rest/route.js';
import { place } from '../scope/place.rules.js';
import { unreadableValues } from '../scope/secret.reply.js';

/** Where the history of secrets is in REST. */
export const HISTORY = '/api/v1/secrets';
const HIDDEN = '<hidden>';

const ACTOR = 'actor { actorId actorType name membershipId groupId }';
const TAGS = 'tags { id slug name: slug color }';
const VERSION = `secretId workspace: projectId version isDeletion environment: environmentSlug folderId secretPath secretKey secretValue secretValueHidden
  secretComment secretReminderNote secretReminderRepeatDays secretReminderRecipients skipMultilineEncoding
  secretMetadata { key value isEncrypted } ${TAGS} ${ACTOR} createdAt`;

/** A version in the words of the interface. What is withheld is the word `<hidden>`; a deletion has no value at all. */
const toVersion = ({ secretValue, secretComment, secretMetadata, ...version }: Data) => ({
  ...version,
  secretValue: version.secretValueHidden === true ? HIDDEN : secretValue,
  secretComment: orInstead(secretComment, HIDDEN),
  secretMetadata: secretMetadata.map(({ value, ...entry }: Data) => ({ ...entry, value: orInstead(value, HIDDEN) })),
});

const viewSecretValue = queryBoolean(true);

export const versionRoutes = [
  route({
    extension: true,
    method: 'GET',
    path: `${HISTORY}/deleted`,
    summary: 'List the deleted secrets of a folder',
    query: z.strictObject({ ...place, recursive: queryBoolean(false), ...paging }),
    document: `query ($projectId: ID!, $environment: String!, $secretPath: String!, $recursive: Boolean!, $first: Int, $after: String) {
      deletedSecrets(projectId: $projectId, environment: $environment, secretPath: $secretPath, recursive: $recursive,
          first: $first, after: $after) {
        nodes { secretId environment: environmentSlug secretPath secretKey ${TAGS} restorableVersion deletedAt ${ACTOR} }
        pageInfo { hasNextPage endCursor }
      }
    }`,
    variables: ({ query: { projectId, environment, secretPath, recursive, limit, cursor } }) => ({
      projectId,
      environment,
      secretPath,
      recursive,
      first: limit,
      after: cursor,
    }),
    reply: ({ deletedSecrets }) => ({
      deletedSecrets: deletedSecrets.nodes,
      ...nextCursor(deletedSecrets.pageInfo),
    }),
    errors: ['PROJECT_NOT_FOUND', 'ENVIRONMENT_NOT_FOUND'],
  }),
  route({
    extension: true,
    method: 'GET',
    path: `${HISTORY}/{secretId}/versions`,
    summary: 'List the versions of a secret, newest first',
    sensitive: true,
    query: z.strictObject({ viewSecretValue, ...paging }),
    document: `query ($secretId: ID!, $viewSecretValue: Boolean!, $first: Int, $after: String) {
      secretVersions(secretId: $secretId, viewSecretValue: $viewSecretValue, first: $first, after: $after) {
        nodes { ${VERSION} } readIssues { version } pageInfo { hasNextPage endCursor }
      }
    }`,
    variables: ({ params, query }) => ({
      secretId: params.secretId,
      viewSecretValue: query.viewSecretValue,
      first: query.limit,
      after: query.cursor,
    }),
    reply: ({ secretVersions }) => ({
      secretVersions: secretVersions.nodes.map(toVersion),
      ...nextCursor(secretVersions.pageInfo),
    }),
    headers: [unreadableValues(({ secretVersions }) => secretVersions.readIssues.length)],
    errors: ['SECRET_NOT_FOUND'],
  }),
  route({
    extension: true,
    method: 'GET',
    path: `${HISTORY}/{secretId}/versions/{version}`,
    summary: 'Get a version of a secret',
    sensitive: true,
    params: z.object({ secretId: z.string(), version: queryInteger(1, MAX_VERSION) }),
    query: z.strictObject({ viewSecretValue }),
    document: `query ($secretId: ID!, $version: Int!, $viewSecretValue: Boolean!) {
      secretVersion(secretId: $secretId, version: $version, viewSecretValue: $viewSecretValue) { ${VERSION} }
    }`,
    variables: ({ params, query }) => ({
      secretId: params.secretId,
      version: Number(params.version),
      viewSecretValue: query.viewSecretValue,
    }),
    reply: ({ secretVersion }) => ({ secretVersion: toVersion(secretVersion) }),
    errors: ['SECRET_NOT_FOUND', 'SECRET_VERSION_NOT_FOUND', 'SEALED_VALUE_INVALID', 'KEY_DISABLED'],
  }),
];
