import { z } from 'zod';
import { nextCursor, paging, queryBoolean, route } from '../../rest/route.js';
import { parseMetadataFilter } from './metadata-filter.rules.js';
import { notYet, secretType } from './not-yet.rules.js';
import { place } from './place.rules.js';
import { FIELDS, PLACE_ERRORS, SECRETS, toSecret } from './secret-reply.js';
import { parseTagSlugs } from './tag.rules.js';

const expansion = notYet(['false'], ['true']).meta({ description: 'Whether references in values are expanded.' });

/** Later choices of reading: only the defaults are built. */
const reading = {
  viewSecretValue: queryBoolean(true),
  expandSecretReferences: expansion,
  include_imports: notYet(['false'], ['true']).meta({ description: 'Whether imported secrets are included.' }),
};

const metadataFilter = z
  .string()
  .max(20_000)
  .superRefine((raw, context) => {
    for (const { index, reason } of parseMetadataFilter(raw).malformed) {
      context.addIssue({ code: 'custom', path: [index], message: reason, params: { code: 'MALFORMED_PAIR' } });
    }
  })
  .optional()
  .meta({ description: 'Only secrets with all of these pairs: `key=K,value=V`, joined by `|`, at most 10.' });

export const secretRoutes = [
  route({
    operation: 8,
    method: 'GET',
    path: SECRETS,
    summary: 'List secrets',
    sensitive: true,
    query: z.strictObject({
      ...place,
      ...reading,
      recursive: notYet(['false'], ['true']).meta({ description: 'Whether all folders below are listed too.' }),
      tagSlugs: z
        .string()
        .max(10_000)
        .optional()
        .meta({ description: 'Slugs of tags, joined by commas: only secrets with any of them.' }),
      metadataFilter,
      ...paging,
    }),
    document: `query ($projectId: ID!, $environment: String!, $secretPath: String!, $viewSecretValue: Boolean!,
        $tagSlugs: [String!], $metadata: [SecretMetadataFilterInput!], $first: Int, $after: String) {
      secrets(projectId: $projectId, environment: $environment, secretPath: $secretPath, viewSecretValue: $viewSecretValue,
          tagSlugs: $tagSlugs, metadata: $metadata, first: $first, after: $after) {
        nodes { ${FIELDS} } readIssues { secretId } pageInfo { hasNextPage endCursor }
      }
    }`,
    variables: ({ query: { projectId, environment, secretPath, viewSecretValue, ...query } }) => ({
      projectId,
      environment,
      secretPath,
      viewSecretValue,
      tagSlugs: query.tagSlugs === undefined ? null : parseTagSlugs(query.tagSlugs),
      metadata: query.metadataFilter === undefined ? null : parseMetadataFilter(query.metadataFilter).pairs,
      first: query.limit,
      after: query.cursor,
    }),
    reply: ({ secrets }) => ({ secrets: secrets.nodes.map(toSecret), imports: [], ...nextCursor(secrets.pageInfo) }),
    headers: ({ secrets }): Record<string, string> =>
      secrets.readIssues.length === 0 ? {} : { 'x-unreadable-values': String(secrets.readIssues.length) },
    cache: ({ query }) => query.projectId,
    errors: PLACE_ERRORS,
  }),
  route({
    extension: true,
    method: 'GET',
    path: `${SECRETS}/id/{secretId}`,
    summary: 'Get a secret by its id',
    sensitive: true,
    query: z.strictObject({ viewSecretValue: queryBoolean(true), expandSecretReferences: expansion }),
    document: `query ($id: ID!, $viewSecretValue: Boolean!) { secret(id: $id, viewSecretValue: $viewSecretValue) { ${FIELDS} } }`,
    variables: ({ params, query }) => ({ id: params.secretId, viewSecretValue: query.viewSecretValue }),
    reply: ({ secret }) => ({ secret: toSecret(secret) }),
    errors: ['SECRET_NOT_FOUND', 'SEALED_VALUE_INVALID'],
  }),
  route({
    extension: true,
    method: 'GET',
    path: `${SECRETS}/{secretName}`,
    summary: 'Get a secret by its key',
    sensitive: true,
    query: z.strictObject({
      ...place,
      ...reading,
      type: secretType,
      version: z
        .string()
        .max(10)
        .optional()
        .refine((version) => version === undefined, {
          params: { code: 'NOT_SUPPORTED_YET' },
          error: 'must be absent: older versions are not supported yet',
        })
        .meta({ description: 'The version; the newest when absent.' }),
    }),
    document: `query ($projectId: ID!, $environment: String!, $secretPath: String!, $secretKey: String!, $viewSecretValue: Boolean!) {
      secretByKey(projectId: $projectId, environment: $environment, secretPath: $secretPath, secretKey: $secretKey,
        viewSecretValue: $viewSecretValue) { ${FIELDS} }
    }`,
    variables: ({ params, query: { projectId, environment, secretPath, viewSecretValue } }) => ({
      projectId,
      environment,
      secretPath,
      viewSecretValue,
      secretKey: params.secretName,
    }),
    reply: ({ secretByKey }) => ({ secret: toSecret(secretByKey) }),
    cache: ({ query }) => query.projectId,
    errors: [...PLACE_ERRORS, 'SECRET_NOT_FOUND', 'SEALED_VALUE_INVALID'],
  }),
];
