import { Args, Ctx, Field, ID, Int, ObjectType, Query, Resolver } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { Input, inputType } from '../../../kernel/graphql/inputs.js';
import { objectType } from '../../../kernel/graphql/object-types.js';
import { BoundedPageArgs, searchConnectionOf } from '../../../kernel/graphql/page.js';
import { integer } from '../../../kernel/value-rules.js';
import { bodyOf, boundedPaging, type Route, routesAt } from '../../../rest/route.js';
import { SecretKindEnum } from '../core/secret.type.js';
import { HISTORY } from '../versions/version.resolver.js';
import { ValueSearch } from './search.rules.js';
import type { ValuePage, ValueSearchService } from './value-search.service.js';
import { type ValueRow, valueKeyOf } from './value-search.sql.js';

const SecretsWithValueInput = inputType('SecretsWithValueInput', ValueSearch);

export const SecretWithValueType = objectType(
  'SecretWithValue',
  'A secret, or a version of one, that has the value which was searched for. The value itself is not returned.',
  {
    secretId: [ID, 'ID of the secret; for a personal value, of the shared secret that it replaces.'],
    projectId: [ID, 'ID of the project of the secret.'],
    type: [SecretKindEnum, 'Whether the shared value was found, or your personal value.'],
    version: [Int, 'Number of the version with the value.'],
    isCurrent: [
      Boolean,
      'Whether the secret has the value now. False for former versions, and for those of deleted secrets.',
    ],
    environmentId: [ID, 'ID of the environment of the secret; for a former version, of that time.'],
    environmentSlug: [String, 'Slug of this environment, for example `prod`.'],
    secretPath: [String, 'Path of the folder of the secret; for a former version, at that time.'],
    secretKey: [String, 'Key of the secret; for a former version, at that time.'],
  },
);
type SecretWithValueType = InstanceType<typeof SecretWithValueType>;

@ObjectType('SecretWithValueConnection', {
  description:
    'A page of secrets with a value. Order: your personal values, then by project (ID), secret (ID) and version.',
  simpleResolvers: true,
})
class SecretWithValueConnection extends searchConnectionOf(
  SecretWithValueType,
  'SecretWithValue',
  'personal values first, then project, secret (both by ID) and version',
  'found secret',
) {
  @Field(() => Boolean, {
    description:
      'Whether all values were searched. False if the key of a project is disabled, or if values from before an update of the service are not searchable yet; a daily job makes them so.',
  })
  isComplete!: boolean;
}

/** Converts rows to their API type. */
const toConnection = (page: ValuePage): SecretWithValueConnection => {
  const keys = new Map<SecretWithValueType, ValueRow>();
  const shown = page.map(
    (row) => {
      const hit = {
        secretId: row.id,
        projectId: row.projectId,
        type: row.kind,
        version: row.version,
        isCurrent: row.isCurrent,
        environmentId: row.environmentId,
        environmentSlug: row.environment,
        secretPath: row.path,
        secretKey: row.key,
      };
      keys.set(hit, row);
      return hit;
    },
    (hit) => valueKeyOf(keys.get(hit) as ValueRow),
  );
  return Object.assign(shown, { isComplete: page.isComplete });
};

@Resolver()
export class ValueSearchResolver {
  constructor(private readonly search: ValueSearchService) {}

  @Query(() => SecretWithValueConnection, {
    description:
      'Finds the secrets that have a value, such as a leaked one, in all projects where you can read values. The stored ' +
      'value is compared, with references as written. Each hit is recorded in the audit trail as a read of the value. Pass the value as a variable.',
  })
  async secretsWithValue(
    @Ctx() ctx: Context,
    @Input(SecretsWithValueInput) input: object,
    @Args(() => BoundedPageArgs) page: BoundedPageArgs,
  ): Promise<SecretWithValueConnection> {
    return toConnection(await this.search.find(ctx, { ...input, ...page }));
  }
}

/** A search by a body: a value does not belong into an address. */
export const valueSearchRoutes: readonly Route[] = [
  routesAt(HISTORY).post('/with-value', 'Find the secrets that have a value', {
    field: 'secretsWithValue',
    reads: true,
    as: 'secrets',
    beside: 'isComplete',
    select: '* environment: environmentSlug -environmentSlug',
    body: bodyOf(ValueSearch).extend({
      limit: integer(1, 1_000).default(100).meta({ description: 'Maximum number of items to return, 1 to 1000.' }),
      cursor: boundedPaging.cursor,
    }),
    variables: ({ body: { limit, cursor, ...input } }) => ({ input, first: limit, after: cursor }),
    errors: ['PROJECT_NOT_FOUND'],
    example: { value: 'correct horse' },
  }),
];
