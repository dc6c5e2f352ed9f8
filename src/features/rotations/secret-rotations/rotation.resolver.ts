import { Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { type BatchLoad, batchedOrNull } from '../../../kernel/database/batched.js';
import { emOf } from '../../../kernel/database/database.js';
import { creation } from '../../../kernel/graphql/creation.js';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { argsType } from '../../../kernel/graphql/inputs.js';
import { objectType } from '../../../kernel/graphql/object-types.js';
import { mutation, nested, query } from '../../../kernel/graphql/operations.js';
import { orderedPageOf } from '../../../kernel/list-order.js';
import { type CountedConnectionOf, counted } from '../../../kernel/paging.js';
import { ProjectType } from '../../projects/public.js';
import { SecretType } from '../../secrets/public.js';
import { fieldOf } from './kind/rotation-kind.js';
import type { Kinds } from './kinds/kinds.js';
import type { PendingRevocationService } from './pending-revocation.service.js';
import type { Rotated, RotatingService } from './rotating.service.js';
import {
  CancelAttempt,
  CreateRotation,
  DeleteRotation,
  GiveUpRevocations,
  ListAttempts,
  ListPendingRevocations,
  ListRotations,
  MoveRotation,
  OneRotation,
  RotateSecrets,
  RotationByName,
  RotationPage,
  UpdateRotation,
} from './rotation.rules.js';
import type { RotationService } from './rotation.service.js';
import {
  AttemptConnection,
  AttemptType,
  GeneratedCredentialType,
  PendingRevocationConnection,
  PendingRevocationType,
  RotationConnection,
  SecretRotationType,
  toAttemptType,
  toCredentialType,
  toPendingRevocationType,
  toRotationType,
} from './rotation.type.js';
import type { RotationDeletionService } from './rotation-deletion.service.js';
import type { RotationReadingService } from './rotation-reading.service.js';
import { SecretRotation } from './store/rotation.entity.js';
import { validUntil } from './store/timing.js';

type Rotations = CountedConnectionOf<SecretRotationType>;

const GeneratedCredentialsType = objectType(
  'GeneratedCredentials',
  'The credentials that a rotation generated, in plaintext.',
  {
    secretRotation: [SecretRotationType, 'The rotation.'],
    credentials: [[GeneratedCredentialType], 'Up to two credentials, by slot.'],
  },
);
type GeneratedCredentialsType = InstanceType<typeof GeneratedCredentialsType>;

const RotatedType = objectType('RotateSecretsPayload', 'Result of `rotateSecrets`.', {
  secretRotation: [SecretRotationType, 'The rotation in its current state.'],
  attempt: [AttemptType, 'The attempt. If you did not wait for it, in its current state.'],
});
type RotatedType = InstanceType<typeof RotatedType>;

const toRotated = ({ rotation, attempt }: Rotated): RotatedType => ({
  secretRotation: toRotationType(rotation),
  attempt: toAttemptType(attempt),
});

/** Reads rotations. */
@Resolver(() => SecretRotationType)
export class RotationReadingResolver {
  constructor(private readonly service: RotationReadingService) {}

  @query(SecretRotationType, OneRotation, 'A secret rotation, by ID.')
  async secretRotation(ctx: Context, args: object): Promise<SecretRotationType> {
    return toRotationType(await this.service.get(ctx, args));
  }

  @query(SecretRotationType, RotationByName, 'A secret rotation, by name and the folder of its secrets.')
  async secretRotationByName(ctx: Context, args: object): Promise<SecretRotationType> {
    return toRotationType(await this.service.getByName(ctx, args));
  }

  @query(RotationConnection, ListRotations, 'Secret rotations of a project that you can read, by name.')
  async secretRotations(ctx: Context, args: object): Promise<Rotations> {
    const page = await this.service.list(ctx, args);
    return counted(page.show(toRotationType), page.totalCount);
  }

  @query(GeneratedCredentialsType, OneRotation, 'The credentials that a rotation generated, in plaintext.')
  async generatedCredentials(ctx: Context, args: object): Promise<GeneratedCredentialsType> {
    const { rotation, credentials } = await this.service.credentials(ctx, args);
    return {
      secretRotation: toRotationType({ ...rotation, message: null }),
      credentials: credentials.map((credential) => toCredentialType(rotation.type, credential)),
    };
  }

  @query(AttemptConnection, ListAttempts, 'Attempts of a rotation, newest first.')
  async secretRotationAttempts(ctx: Context, args: object): Promise<CountedConnectionOf<AttemptType>> {
    return (await this.service.attempts(ctx, args)).show(toAttemptType);
  }
}

/** Reads and gives up credentials that are still to be revoked. */
@Resolver(() => PendingRevocationType)
export class PendingRevocationResolver {
  constructor(private readonly service: PendingRevocationService) {}

  @query(
    PendingRevocationConnection,
    ListPendingRevocations,
    'Credentials in external systems that are still to be revoked, newest first: of a project, of a connection, or of all projects that you can read.',
  )
  async credentialDebts(ctx: Context, args: object): Promise<CountedConnectionOf<PendingRevocationType>> {
    return (await this.service.list(ctx, args)).show(toPendingRevocationType);
  }

  @mutation(
    GiveUpRevocations,
    {
      credentialDebts: [
        [PendingRevocationType],
        'What is no longer revoked, and may stay valid in the external systems.',
      ],
    },
    'Stops revoking credentials, for example because their external system no longer exists. A rotation that is being deleted and has nothing else to revoke is deleted.',
  )
  async giveUpCredentialDebts(ctx: Context, input: object): Promise<{ credentialDebts: PendingRevocationType[] }> {
    return { credentialDebts: (await this.service.giveUp(ctx, input)).map(toPendingRevocationType) };
  }
}

/** Content of a rotation without the credential that it adopts, which it replaces. */
const withoutTemporary = (content: object): object =>
  Object.fromEntries(Object.entries(content).map(([field, { temporaryParameters: _, ...given }]) => [field, given]));

/** Changes rotations. */
@Resolver(() => SecretRotationType)
export class RotationResolver {
  constructor(
    private readonly service: RotationService,
    private readonly reading: RotationReadingService,
    private readonly rotating: RotatingService,
    private readonly deletion: RotationDeletionService,
  ) {}

  @creation(
    CreateRotation,
    { secretRotation: [SecretRotationType, 'The created secret rotation.'] },
    'Creates a rotation, its first credential, and the secrets that hold it. The external system is changed only after all checks have passed.',
    {
      find: async (rotations: RotationResolver, ctx, { projectId, environment, secretPath, name }) =>
        toRotationType(await rotations.reading.getByName(ctx, { projectId, environment, secretPath, name })),
      taken: 'SECRET_ROTATION_NAME_TAKEN',
      compare: {
        environment: ({ place }) => place.environmentSlug,
        secretPath: ({ place }) => place.secretPath,
        connectionId: ({ connection }) => connection.connectionId,
        apartFrom: ({ schedule }) => schedule.apart,
        content: {
          of: (rotation) => ({ [fieldOf(rotation.type)]: rotation }),
          as: withoutTemporary,
        },
        adopt: null,
      },
    },
  )
  async createSecretRotation(ctx: Context, input: object): Promise<{ secretRotation: SecretRotationType }> {
    return { secretRotation: toRotationType(await this.service.create(ctx, input)) };
  }

  @mutation(
    UpdateRotation,
    { secretRotation: [SecretRotationType, 'The updated secret rotation.'] },
    'Updates a rotation. It does not rotate the credential.',
  )
  async updateSecretRotation(ctx: Context, input: object): Promise<{ secretRotation: SecretRotationType }> {
    return { secretRotation: toRotationType(await this.service.update(ctx, input)) };
  }

  @mutation(
    MoveRotation,
    { secretRotation: [SecretRotationType, 'The moved secret rotation.'] },
    'Moves a rotation and its secrets to another folder of the project.',
  )
  async moveSecretRotation(ctx: Context, input: object): Promise<{ secretRotation: SecretRotationType }> {
    return { secretRotation: toRotationType(await this.service.move(ctx, input)) };
  }

  @mutation(
    DeleteRotation,
    {
      secretRotation: [SecretRotationType, 'The deleted secret rotation.'],
      credentialDebts: [
        [PendingRevocationType],
        'Credentials whose revocation this call ended. They may stay valid in the external system.',
      ],
      credentialsLeft: [
        [String],
        'Published credentials that stay valid in the external system because you did not revoke them: its address, and their names and IDs there.',
      ],
    },
    'Deletes a rotation. With `revokeGeneratedCredentials`, the rotation is deleted only after its credentials are revoked; you can repeat the call until then, or end the deletion without revoking by a call without it.',
  )
  async deleteSecretRotation(
    ctx: Context,
    input: object,
  ): Promise<{
    secretRotation: SecretRotationType;
    credentialDebts: PendingRevocationType[];
    credentialsLeft: readonly string[];
  }> {
    const { rotation, givenUp, left } = await this.deletion.delete(ctx, input);
    return {
      secretRotation: toRotationType(rotation),
      credentialDebts: givenUp.map(toPendingRevocationType),
      credentialsLeft: left,
    };
  }

  @mutation(RotateSecrets, RotatedType, 'Replaces the credential of a rotation now, even if automatic rotation is off.')
  async rotateSecrets(ctx: Context, input: object): Promise<RotatedType> {
    return toRotated(await this.rotating.rotate(ctx, input));
  }

  @mutation(
    OneRotation,
    { secretRotation: [SecretRotationType, 'The reconciled secret rotation.'] },
    'Resets the password of a local account with the account of the connection, if it is unknown which password is valid.',
  )
  async reconcileSecretRotation(ctx: Context, input: object): Promise<{ secretRotation: SecretRotationType }> {
    return { secretRotation: toRotationType((await this.rotating.reconcile(ctx, input)).rotation) };
  }

  @mutation(
    OneRotation,
    { secretRotation: [SecretRotationType, 'The secret rotation, whose credential works.'] },
    'Checks whether the published credential of a rotation works. Changes nothing.',
  )
  async checkSecretRotation(ctx: Context, input: object): Promise<{ secretRotation: SecretRotationType }> {
    return { secretRotation: toRotationType(await this.rotating.check(ctx, input)) };
  }

  @mutation(
    CancelAttempt,
    {
      attempt: [AttemptType, 'The cancelled attempt.'],
      credentialDebts: [
        [PendingRevocationType],
        'Credentials that the attempt may have created. They are revoked when the external system responds.',
      ],
    },
    'Cancels an attempt that has not called the external system yet. If the result of a call cannot be looked up, the lookup is abandoned: the rotation then needs a reconciliation, or has its previous credential.',
  )
  async cancelSecretRotationAttempt(
    ctx: Context,
    input: object,
  ): Promise<{ attempt: AttemptType; credentialDebts: PendingRevocationType[] }> {
    const { attempt, orphans } = await this.rotating.cancel(ctx, input);
    return { attempt: toAttemptType(attempt), credentialDebts: orphans.map(toPendingRevocationType) };
  }
}

const RotationPageArgs = argsType(RotationPage);

@Resolver(() => ProjectType)
export class ProjectRotationsResolver {
  constructor(private readonly service: RotationReadingService) {}

  @nested(
    RotationConnection,
    'Secret rotations of the project that you can read, by name. Null, with PERMISSION_DENIED, if you cannot read any.',
    RotationPageArgs,
  )
  async secretRotations({ access }: ProjectType, ctx: Context, page: object): Promise<Rotations> {
    const rotations = (await this.service.listInProject(ctx, access)).map(toRotationType);
    return counted(orderedPageOf(rotations, page, { orderable: (row) => row }), async () => rotations.length);
  }
}

/** How long values of secrets stay valid. Visible to everyone who can see the secret. */
@Resolver(() => SecretType)
export class SecretValidityResolver {
  constructor(private readonly kinds: Kinds) {}

  @FieldResolver(() => DateTime, {
    nullable: true,
    description:
      'Until when the value stays valid, unless somebody rotates it manually: the next rotation, or the one after that where credentials overlap. Null for secrets without automatic rotation.',
  })
  validAtLeastUntil(
    @Root() { rotationId }: { readonly rotationId: string | null },
    @Ctx() ctx: Context,
  ): Promise<Date | null> {
    return batchedOrNull(ctx, this.#validity, rotationId);
  }

  /** All secrets of a response share one statement. */
  readonly #validity: BatchLoad<Date> = async (ctx, ids) => {
    const rotations = await emOf(ctx).find(SecretRotation, { id: { $in: ids } });
    return new Map(
      rotations.flatMap((rotation): [string, Date][] => {
        const until = validUntil(rotation, this.kinds.of(rotation.type));
        return until === null ? [] : [[rotation.id, until]];
      }),
    );
  };
}
