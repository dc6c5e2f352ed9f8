import { Resolver } from 'type-graphql';
import * as z from 'zod';
import type { Context } from '../../../kernel/context.js';
import { query } from '../../../kernel/graphql/operations.js';
import { MAX_VERSION } from '../../../kernel/value-rules.js';
import { nextCursor, paging, queryBoolean, queryInteger, routesAt } from '../../../rest/route.js';
import { SecretConnection, SecretType, toSecretConnection, toSecretType } from '../core/secret.type.js';
import { secretLocation } from '../scope/location.rules.js';
import { parseMetadataFilter } from '../scope/metadata-filter.rules.js';
import {
  depthTruncated,
  FIELDS,
  IMPORTED,
  PLACE_ERRORS,
  SECRETS,
  toImported,
  toSecret,
  unreadableValues,
  unresolvedReferences,
} from '../scope/secret.reply.js';
import type { SecretListingService } from './secret-listing.service.js';
import { GetSecret, GetSecretByKey, ListSecrets, parseTagSlugs } from './secret-reading.rules.js';
import type { SecretReadingService } from './secret-reading.service.js';

@Resolver(() => SecretType)
export class SecretResolver {
  constructor(
    private readonly listing: SecretListingService,
    private readonly reading: SecretReadingService,
  ) {}

  @query(
    SecretConnection,
    ListSecrets,
    'Lists the secrets of a folder, ordered by path, then key. A personal value follows the shared secret with the same key.',
  )
  async secrets(ctx: Context, args: object): Promise<SecretConnection> {
    return toSecretConnection(await this.listing.list(ctx, args));
  }

  @query(SecretType, GetSecret, 'Returns a secret by ID.')
  async secret(ctx: Context, args: object): Promise<SecretType> {
    return toSecretType(await this.reading.getById(ctx, args));
  }

  @query(SecretType, GetSecretByKey, 'Returns a secret of a folder by key.')
  async secretByKey(ctx: Context, args: object): Promise<SecretType> {
    return toSecretType(await this.reading.getByKey(ctx, args));
  }
}

const showing = {
  viewSecretValue: queryBoolean(true),
  expandSecretReferences: queryBoolean(false).meta({ description: 'Whether to expand references in values.' }),
};

/** The parameter in camel case, as published clients send it. */
const alike = queryBoolean(false).meta({ description: 'The same as `include_imports`.' });

const ownValuesOf = (isInstead: boolean | undefined): string =>
  isInstead === undefined ? 'BESIDE' : isInstead ? 'INSTEAD' : 'NONE';

const metadataFilter = z
  .string()
  .max(20_000)
  .superRefine((raw, context) => {
    for (const { index, reason } of parseMetadataFilter(raw).malformed) {
      context.addIssue({ code: 'custom', path: [index], message: reason, params: { code: 'MALFORMED_PAIR' } });
    }
  })
  .optional()
  .meta({
    description:
      'Only secrets with all of these pairs: `key=K,value=V`, joined by `|`, at most 10. A request line and its header fields may have 64 KiB in all, percent-encoded.',
  });

const at = routesAt(SECRETS, {
  select: `${FIELDS} referenceIssues { reason }`,
  as: 'secret',
  // A header counts its references that could not be expanded.
  show: ({ referenceIssues: _header, ...secret }) => toSecret(secret),
});

export const secretRoutes = [
  at.get('', 'List secrets', {
    operation: 8,
    description:
      'Requires the permission `secrets:describeSecret` for each secret; secrets without it are not listed. Without `secrets:readValue` the value of a secret is `<hidden>`, and `secretValueHidden` is true.',
    operationId: 'listSecrets',
    sensitive: true,
    field: 'secrets',
    select: FIELDS,
    beside: `imports { ${IMPORTED} } isDepthTruncated unresolvedReferences readIssues { secretId }`,
    query: z.strictObject({
      ...secretLocation,
      ...showing,
      include_imports: queryBoolean(false).meta({ description: 'Whether to include imported secrets.' }),
      includeImports: alike,
      includePersonalOverrides: z
        .enum(['true', 'false'])
        .transform((word) => word === 'true')
        .optional()
        .meta({
          description:
            'With `true`, your personal values replace the shared ones; with `false`, only shared ones are listed. Default: both.',
        }),
      recursive: queryBoolean(false).meta({
        description:
          'Whether all folders below are listed too, 20 levels deep. Deeper ones set `X-Depth-Truncated: true`.',
      }),
      tagSlugs: z
        .string()
        .max(10_000)
        .optional()
        .meta({ description: 'Comma-separated slugs of tags: only secrets that have at least one of them.' }),
      metadataFilter,
      ...paging,
    }),
    cached: true,
    variables: ({ query: { include_imports, includeImports, includePersonalOverrides, limit, cursor, ...query } }) => {
      const { tagSlugs, metadataFilter: filter, ...plain } = query;
      return {
        ...plain,
        includeImports: include_imports || includeImports,
        ownValues: ownValuesOf(includePersonalOverrides),
        tagSlugs: tagSlugs === undefined ? null : parseTagSlugs(tagSlugs),
        metadata: filter === undefined ? null : parseMetadataFilter(filter).pairs,
        first: limit,
        after: cursor,
      };
    },
    reply: ({ secrets }) => ({
      secrets: secrets.nodes.map(toSecret),
      imports: secrets.imports.map(toImported),
      ...nextCursor(secrets.pageInfo),
    }),
    headers: [
      unreadableValues(({ secrets }) => secrets.readIssues.length),
      unresolvedReferences(({ secrets }) => secrets.unresolvedReferences),
      depthTruncated(({ secrets }) => secrets.isDepthTruncated),
    ],
    errors: PLACE_ERRORS,
  }),
  at.get('/id/{secretId}', 'Get a secret by its ID', {
    operationId: 'getSecretById',
    sensitive: true,
    field: 'secret',
    query: z.strictObject(showing),
    headers: [unresolvedReferences(({ secret }) => secret.referenceIssues.length)],
    errors: ['SECRET_NOT_FOUND', 'SEALED_VALUE_INVALID', 'KEY_DISABLED'],
  }),
  at.get('/{secretName}', 'Get a secret by its key', {
    description:
      'Requires the permission `secrets:describeSecret`; without `secrets:readValue` the value is `<hidden>`.',
    operationId: 'getSecret',
    sensitive: true,
    field: 'secretByKey',
    query: z.strictObject({
      ...secretLocation,
      ...showing,
      include_imports: queryBoolean(false).meta({
        description: 'Whether to look in imported folders if the folder has no secret with this key.',
      }),
      includeImports: alike,
      type: z
        .enum(['shared', 'personal'])
        .default('shared')
        .meta({ description: '`shared`, or `personal` for your own value.' }),
      version: queryInteger(1, MAX_VERSION)
        .optional()
        .meta({ description: 'Version number. Default: the current version.' }),
    }),
    cached: true,
    variables: ({ params, query: { include_imports, includeImports, ...query } }) => ({
      ...query,
      includeImports: include_imports || includeImports,
      secretKey: params.secretName,
    }),
    headers: [unresolvedReferences(({ secretByKey }) => secretByKey.referenceIssues.length)],
    errors: [...PLACE_ERRORS, 'SECRET_NOT_FOUND', 'SECRET_VERSION_NOT_FOUND', 'SEALED_VALUE_INVALID'],
  }),
];
