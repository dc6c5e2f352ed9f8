import { ID, Resolver } from 'type-graphql';
import * as z from 'zod';
import type { Context } from '../../../kernel/context.js';
import { inputType } from '../../../kernel/graphql/inputs.js';
import { objectType } from '../../../kernel/graphql/object-types.js';
import { mutation } from '../../../kernel/graphql/operations.js';
import { bodyOf, routesAt } from '../../../rest/route.js';
import { SecretType, toSecretType } from '../core/secret.type.js';
import { EXAMPLE_PLACE, FIELDS, PLACE_ERRORS, toSecret } from '../scope/secret.reply.js';
import { HISTORY } from '../versions/version.resolver.js';
import { RestoreSecret } from '../versions/version.rules.js';
import { RestoreSecrets } from './restore.rules.js';
import type { RestoredSecret, RestoreService } from './restore.service.js';
import type { RestoredState, StateRestoreService } from './restore-state.service.js';

const RestoreSecretPayload = objectType('RestoreSecretPayload', 'Result of `restoreSecret`.', {
  secret: [SecretType, 'The secret, at its new version.'],
  leftOutTagIds: [[ID], 'IDs of deleted tags that the version had. The secret does not have them.'],
});
type RestoreSecretPayload = InstanceType<typeof RestoreSecretPayload>;

/** Converts a restore to its API type. */
const toRestoreSecretPayload = ({ secret, leftOutTagIds }: RestoredSecret): RestoreSecretPayload => ({
  secret: toSecretType(secret),
  leftOutTagIds,
});

const RestoreSecretsInput = inputType(
  'RestoreSecretsInput',
  RestoreSecrets,
  'Input of `restoreSecrets`. To restore an environment, restore its folder `/` recursively.',
);

const RestoredSecretNameType = objectType('RestoredSecretName', 'A secret that a restore wrote, by location and key.', {
  secretPath: [String, 'Path of the folder, for example `/` or `/payments/eu`.'],
  secretKey: [String, 'Key of the secret, for example `DB_PASSWORD`.'],
});
type RestoredSecretNameType = InstanceType<typeof RestoredSecretNameType>;

const RestoreSecretsPayload = objectType(
  'RestoreSecretsPayload',
  'Result of `restoreSecrets`: what the restore changed or, with `dryRun`, would change. Secrets are ordered by path, then key.',
  {
    created: [
      [RestoredSecretNameType],
      'Secrets that were created again: with their IDs, or as copies of secrets that are elsewhere now.',
    ],
    changed: [
      [RestoredSecretNameType],
      'Secrets whose earlier contents were restored, by the path and key that they had then.',
    ],
    deleted: [[RestoredSecretNameType], 'Deleted secrets: they did not exist at that time.'],
    createdFolders: [[String], 'Paths of the folders that were created again.'],
    leftOutTagIds: [[ID], 'IDs of deleted tags that secrets had at that time. The secrets do not have them.'],
  },
);
type RestoreSecretsPayload = InstanceType<typeof RestoreSecretsPayload>;

const toNames = (names: RestoredState['created']): RestoredSecretNameType[] =>
  names.map(({ path, key }) => ({ secretPath: path, secretKey: key }));

/** Converts a restore of many secrets to its API type. */
const toRestoreSecretsPayload = (state: RestoredState): RestoreSecretsPayload => ({
  ...state,
  created: toNames(state.created),
  changed: toNames(state.changed),
  deleted: toNames(state.deleted),
});

@Resolver(() => RestoreSecretPayload)
export class RestoreResolver {
  constructor(
    private readonly secrets: RestoreService,
    private readonly states: StateRestoreService,
  ) {}

  @mutation(
    RestoreSecret,
    RestoreSecretPayload,
    'Restores the contents of an old version of a secret, as a new version. A deleted secret is created again with its ID.',
  )
  async restoreSecret(ctx: Context, input: object): Promise<RestoreSecretPayload> {
    return toRestoreSecretPayload(await this.secrets.restore(ctx, input));
  }

  @mutation(
    RestoreSecretsInput,
    RestoreSecretsPayload,
    'Restores the secrets of a folder or an environment to a point in time, all or nothing. You must be able to see ' +
      'all secrets that exist now or existed then.',
  )
  async restoreSecrets(ctx: Context, input: object): Promise<RestoreSecretsPayload> {
    return toRestoreSecretsPayload(await this.states.restore(ctx, input));
  }
}

/** A moment as text: GraphQL makes a date of it. */
const moment = z.iso.datetime({ offset: true }).max(40);

/** What a restored secret may meet. */
const RESTORING = [
  ...(['SECRET_KEY_TAKEN', 'ROTATED_SECRET', 'SECRET_REFERENCED', 'REFERENCES_TOO_LONG'] as const),
  ...(['CONCURRENT_CHANGE', 'SEALED_VALUE_INVALID'] as const),
];

const at = routesAt(HISTORY);

export const restoreRoutes = [
  at.post('/{secretId}/restore', 'Restore a version of a secret', {
    sensitive: true,
    field: 'restoreSecret',
    select: `secret { ${FIELDS} } leftOutTagIds`,
    show: ({ secret, leftOutTagIds }) => ({ secret: toSecret(secret), leftOutTagIds }),
    body: bodyOf(RestoreSecret, 'id'),
    errors: ['SECRET_NOT_FOUND', 'SECRET_VERSION_NOT_FOUND', 'FOLDER_NOT_FOUND', ...RESTORING],
    example: { version: 3 },
  }),
  at.post('/restore', 'Restore a folder or an environment to a point in time, all or nothing', {
    field: 'restoreSecrets',
    body: RestoreSecrets.extend({ at: moment }),
    errors: [...PLACE_ERRORS, 'HISTORY_TOO_SHORT', ...RESTORING],
    example: { ...EXAMPLE_PLACE, recursive: true, at: '2026-01-31T12:00:00Z', dryRun: true },
  }),
];
