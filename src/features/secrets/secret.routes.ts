import { z } from 'zod';
import { type Data, nextCursor, orInstead, paging, queryBoolean, route } from '../../rest/route.js';
import { parseMetadataFilter } from './metadata-filter.rules.js';
import { notYet, secretType } from './not-yet.rules.js';
import { place } from './place.rules.js';
import {
  CreateSecret,
  CreateSecrets,
  DeleteSecret,
  DeleteSecrets,
  SecretChange,
  secretKey,
  UpdateSecret,
  UpdateSecrets,
} from './secret.rules.js';
import { parseTagSlugs } from './tag.rules.js';

const SECRETS = '/api/v4/secrets';
const HIDDEN = '<hidden>';
const PROJECT_ID = '8a1f5a0e-7a51-4f0a-9f0e-5a3f4f0c2d11';
const EXAMPLE_PLACE = { projectId: PROJECT_ID, environment: 'dev', secretPath: '/' };

const FIELDS = `id _id: id workspace: projectId environment version type secretKey secretValue secretComment createdAt updatedAt secretValueHidden
  secretReminderNote secretReminderRepeatDays skipMultilineEncoding actor { actorId actorType name membershipId groupId }
  isRotatedSecret rotationId secretPath secretMetadata { key value isEncrypted } tags { id slug name color }`;

/** A secret in the words of the interface. What is withheld is the word `<hidden>`. Source: specification, Secret. */
const toSecret = ({ secretValue, secretComment, secretMetadata, ...secret }: Data) => ({
  ...secret,
  secretValue: orInstead(secretValue, HIDDEN),
  secretComment: orInstead(secretComment, HIDDEN),
  secretMetadata: secretMetadata.map(({ value, ...entry }: Data) => ({ ...entry, value: orInstead(value, HIDDEN) })),
});

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

const PLACE_ERRORS = ['PROJECT_NOT_FOUND', 'ENVIRONMENT_NOT_FOUND', 'FOLDER_NOT_FOUND'] as const;

/** `newSecretName` is the interface's word for a new key. Absent it stays absent: null would be a fault. */
const renamed = <T extends { newSecretName?: string | undefined }>({ newSecretName, ...change }: T) => ({
  ...change,
  ...(newSecretName === undefined ? {} : { newSecretKey: newSecretName }),
});

const newSecretName = secretKey.optional().meta({ description: 'A new key.' });
const ChangeOfBatch = SecretChange.omit({ newSecretKey: true }).extend({ newSecretName });

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
    errors: [...PLACE_ERRORS, 'SECRET_NOT_FOUND', 'SEALED_VALUE_INVALID'],
  }),
  route({
    extension: true,
    method: 'POST',
    path: `${SECRETS}/batch`,
    summary: 'Create secrets, all or none',
    sensitive: true,
    body: CreateSecrets,
    document: `mutation ($input: CreateSecretsInput!) { createSecrets(input: $input) { secrets { ${FIELDS} } } }`,
    variables: ({ body }) => ({ input: body }),
    reply: ({ createSecrets }) => ({ secrets: createSecrets.secrets.map(toSecret) }),
    errors: [...PLACE_ERRORS, 'TAG_NOT_FOUND', 'SECRET_KEY_TAKEN'],
    example: { ...EXAMPLE_PLACE, secrets: [{ secretKey: 'DB_PASSWORD', secretValue: 'correct horse' }] },
  }),
  route({
    extension: true,
    method: 'PATCH',
    path: `${SECRETS}/batch`,
    summary: 'Update secrets, all or none',
    sensitive: true,
    body: UpdateSecrets.extend({
      secrets: z.array(ChangeOfBatch).min(1).max(1_000),
      mode: notYet(['fail'], ['upsert', 'ignore']).meta({
        description: 'What a secret that is not there does to the batch.',
      }),
    }),
    document: `mutation ($input: UpdateSecretsInput!) { updateSecrets(input: $input) { secrets { ${FIELDS} } } }`,
    variables: ({ body: { mode: _fail, secrets, ...body } }) => ({ input: { ...body, secrets: secrets.map(renamed) } }),
    reply: ({ updateSecrets }) => ({ secrets: updateSecrets.secrets.map(toSecret) }),
    errors: [
      ...PLACE_ERRORS,
      'TAG_NOT_FOUND',
      'SECRET_NOT_FOUND',
      'SECRET_KEY_TAKEN',
      'CONCURRENT_CHANGE',
      'SEALED_VALUE_INVALID',
    ],
    example: { ...EXAMPLE_PLACE, secrets: [{ secretKey: 'DB_PASSWORD', secretValue: 'battery staple' }] },
  }),
  route({
    extension: true,
    method: 'DELETE',
    path: `${SECRETS}/batch`,
    summary: 'Delete secrets, all or none',
    sensitive: true,
    body: DeleteSecrets,
    document: `mutation ($input: DeleteSecretsInput!) { deleteSecrets(input: $input) { secrets { ${FIELDS} } } }`,
    variables: ({ body }) => ({ input: body }),
    reply: ({ deleteSecrets }) => ({ secrets: deleteSecrets.secrets.map(toSecret) }),
    errors: [...PLACE_ERRORS, 'SECRET_NOT_FOUND'],
    example: { ...EXAMPLE_PLACE, secrets: [{ secretKey: 'DB_PASSWORD' }] },
  }),
  route({
    extension: true,
    method: 'POST',
    path: `${SECRETS}/{secretName}`,
    summary: 'Create a secret',
    sensitive: true,
    body: CreateSecret.omit({ secretKey: true }).extend({ type: secretType }),
    document: `mutation ($input: CreateSecretInput!) { createSecret(input: $input) { secret { ${FIELDS} } } }`,
    variables: ({ params, body: { type: _shared, ...body } }) => ({ input: { secretKey: params.secretName, ...body } }),
    reply: ({ createSecret }) => ({ secret: toSecret(createSecret.secret) }),
    errors: [...PLACE_ERRORS, 'TAG_NOT_FOUND', 'SECRET_KEY_TAKEN'],
    example: { ...EXAMPLE_PLACE, secretValue: 'correct horse', secretComment: 'of the shop' },
  }),
  route({
    extension: true,
    method: 'PATCH',
    path: `${SECRETS}/{secretName}`,
    summary: 'Update a secret',
    sensitive: true,
    body: UpdateSecret.omit({ secretKey: true, newSecretKey: true }).extend({ newSecretName, type: secretType }),
    document: `mutation ($input: UpdateSecretInput!) { updateSecret(input: $input) { secret { ${FIELDS} } } }`,
    variables: ({ params, body: { type: _shared, ...body } }) => ({
      input: { secretKey: params.secretName, ...renamed(body) },
    }),
    reply: ({ updateSecret }) => ({ secret: toSecret(updateSecret.secret) }),
    errors: [
      ...PLACE_ERRORS,
      'TAG_NOT_FOUND',
      'SECRET_NOT_FOUND',
      'SECRET_KEY_TAKEN',
      'CONCURRENT_CHANGE',
      'SEALED_VALUE_INVALID',
    ],
    example: { ...EXAMPLE_PLACE, secretValue: 'battery staple' },
  }),
  route({
    extension: true,
    method: 'DELETE',
    path: `${SECRETS}/{secretName}`,
    summary: 'Delete a secret',
    sensitive: true,
    body: DeleteSecret.omit({ secretKey: true }).extend({ type: secretType }),
    document: `mutation ($input: DeleteSecretInput!) { deleteSecret(input: $input) { secret { ${FIELDS} } } }`,
    variables: ({ params, body: { type: _shared, ...body } }) => ({ input: { secretKey: params.secretName, ...body } }),
    reply: ({ deleteSecret }) => ({ secret: toSecret(deleteSecret.secret) }),
    errors: [...PLACE_ERRORS, 'SECRET_NOT_FOUND'],
    example: EXAMPLE_PLACE,
  }),
];
