import { Field, FieldResolver, Int, ObjectType, Resolver, Root } from 'type-graphql';
import type { Context } from '../../kernel/context.js';
import { argsType } from '../../kernel/graphql/inputs.js';
import { mutation, nested, query } from '../../kernel/graphql/operations.js';
import { orderedPageOf } from '../../kernel/list-order.js';
import { type ConnectionOf, type CountedConnectionOf, counted } from '../../kernel/paging.js';
import { ProjectType } from '../projects/public.js';
import {
  AttemptConnection,
  AttemptType,
  DebtConnection,
  type DebtType,
  toAttemptType,
  toDebtType,
} from './attempt.type.js';
import { GeneratedCredentialType, toCredentialType } from './credential.type.js';
import type { Rotated, RotatingService } from './rotating.service.js';
import {
  CancelAttempt,
  CreateRotation,
  DeleteRotation,
  ListAttempts,
  ListDebts,
  ListRotations,
  MoveRotation,
  OneRotation,
  RotateSecrets,
  RotationByName,
  RotationPage,
  UpdateRotation,
} from './rotation.rules.js';
import type { RotationService } from './rotation.service.js';
import { RotationConnection, SecretRotationType } from './rotation.type.js';
import { toRotationType } from './rotation-kinds.type.js';
import type { RotationReadingService } from './rotation-reading.service.js';

type Rotations = CountedConnectionOf<SecretRotationType>;

@ObjectType('GeneratedCredentials', { description: 'What a rotation has generated, in clear.', simpleResolvers: true })
class GeneratedCredentialsType {
  @Field(() => SecretRotationType, { description: 'The rotation.' })
  secretRotation!: SecretRotationType;

  @Field(() => [GeneratedCredentialType], { description: 'Up to two, by slot.' })
  credentials!: GeneratedCredentialType[];
}

@ObjectType('RotateSecretsPayload', { description: 'What came of a rotation.', simpleResolvers: true })
class RotatedType {
  @Field(() => SecretRotationType, { description: 'The rotation as it is now.' })
  secretRotation!: SecretRotationType;

  @Field(() => AttemptType, { description: 'The attempt: of one that was not waited for, how far it is.' })
  attempt!: AttemptType;
}

const toRotated = ({ rotation, attempt }: Rotated): RotatedType => ({
  secretRotation: toRotationType(rotation),
  attempt: toAttemptType(attempt),
});

/** What reads rotations. */
@Resolver(() => SecretRotationType)
export class RotationReadingResolver {
  constructor(private readonly service: RotationReadingService) {}

  @query(SecretRotationType, OneRotation, 'One rotation by its id.')
  async secretRotation(ctx: Context, args: object): Promise<SecretRotationType> {
    return toRotationType(await this.service.get(ctx, args));
  }

  @query(SecretRotationType, RotationByName, 'One rotation by its name and the folder of its secrets.')
  async secretRotationByName(ctx: Context, args: object): Promise<SecretRotationType> {
    return toRotationType(await this.service.getByName(ctx, args));
  }

  @query(RotationConnection, ListRotations, 'The rotations of a project that you may read, by name.')
  async secretRotations(ctx: Context, args: object): Promise<Rotations> {
    const page = await this.service.list(ctx, args);
    return counted(page.show(toRotationType), page.totalCount);
  }

  @query(GeneratedCredentialsType, OneRotation, 'The credentials that a rotation has generated, in clear.')
  async generatedCredentials(ctx: Context, args: object): Promise<GeneratedCredentialsType> {
    const { rotation, credentials } = await this.service.credentials(ctx, args);
    return {
      secretRotation: toRotationType({ ...rotation, message: null }),
      credentials: credentials.map((credential) => toCredentialType(rotation.type, credential)),
    };
  }

  @query(AttemptConnection, ListAttempts, 'The attempts of a rotation, newest first.')
  async secretRotationAttempts(ctx: Context, args: object): Promise<ConnectionOf<AttemptType>> {
    return (await this.service.attempts(ctx, args)).show(toAttemptType);
  }

  @query(
    DebtConnection,
    ListDebts,
    'Credentials of a project that are to be revoked and are not known to be gone, newest first.',
  )
  async credentialDebts(ctx: Context, args: object): Promise<ConnectionOf<DebtType>> {
    return (await this.service.debts(ctx, args)).show(toDebtType);
  }
}

/** What changes rotations. */
@Resolver(() => SecretRotationType)
export class RotationResolver {
  constructor(
    private readonly service: RotationService,
    private readonly rotating: RotatingService,
  ) {}

  @mutation(
    CreateRotation,
    { secretRotation: [SecretRotationType, 'The new rotation.'] },
    'Makes a rotation, its first credential, and the secrets that hold it. Nothing changes in the outside system before everything here is known to fit.',
  )
  async createSecretRotation(ctx: Context, input: object): Promise<{ secretRotation: SecretRotationType }> {
    return { secretRotation: toRotationType(await this.service.create(ctx, input)) };
  }

  @mutation(
    UpdateRotation,
    { secretRotation: [SecretRotationType, 'The rotation as it is now.'] },
    'Changes a rotation. Nothing is rotated by it.',
  )
  async updateSecretRotation(ctx: Context, input: object): Promise<{ secretRotation: SecretRotationType }> {
    return { secretRotation: toRotationType(await this.service.update(ctx, input)) };
  }

  @mutation(
    MoveRotation,
    { secretRotation: [SecretRotationType, 'The rotation as it is now.'] },
    'Moves a rotation with its secrets to another folder of the project.',
  )
  async moveSecretRotation(ctx: Context, input: object): Promise<{ secretRotation: SecretRotationType }> {
    return { secretRotation: toRotationType(await this.service.move(ctx, input)) };
  }

  @mutation(
    DeleteRotation,
    { secretRotation: [SecretRotationType, 'The rotation as it was.'] },
    'Deletes a rotation. If its credentials are to be revoked, it stays until they are known to be gone; this may be repeated.',
  )
  async deleteSecretRotation(ctx: Context, input: object): Promise<{ secretRotation: SecretRotationType }> {
    return { secretRotation: toRotationType(await this.rotating.delete(ctx, input)) };
  }

  @mutation(
    RotateSecrets,
    RotatedType,
    'Replaces the credential of a rotation now, also when automatic rotation is off.',
  )
  async rotateSecrets(ctx: Context, input: object): Promise<RotatedType> {
    return toRotated(await this.rotating.rotate(ctx, input));
  }

  @mutation(
    OneRotation,
    { secretRotation: [SecretRotationType, 'The rotation as it is now.'] },
    'Resets the password of a local account with the rights of the connection, when nobody can tell which password works.',
  )
  async reconcileSecretRotation(ctx: Context, input: object): Promise<{ secretRotation: SecretRotationType }> {
    return { secretRotation: toRotationType((await this.rotating.reconcile(ctx, input)).rotation) };
  }

  @mutation(
    OneRotation,
    { secretRotation: [SecretRotationType, 'The rotation, whose credential works.'] },
    'Checks whether the published credential of a rotation works. Changes nothing.',
  )
  async checkSecretRotation(ctx: Context, input: object): Promise<{ secretRotation: SecretRotationType }> {
    return { secretRotation: toRotationType(await this.rotating.check(ctx, input)) };
  }

  @mutation(
    CancelAttempt,
    { attempt: [AttemptType, 'The cancelled attempt.'] },
    'Cancels an attempt to rotate, until the outside system is asked. One whose outcome was looked for in vain is given up: then its rotation needs a reconciliation, or may be deleted.',
  )
  async cancelSecretRotationAttempt(ctx: Context, input: object): Promise<{ attempt: AttemptType }> {
    return { attempt: toAttemptType(await this.rotating.cancel(ctx, input)) };
  }
}

@Resolver(() => RotationConnection)
export class RotationCountResolver {
  /** Compiled documents call no function that they find in a field. */
  @FieldResolver(() => Int)
  totalCount(@Root() page: Rotations): Promise<number> {
    return page.totalCount();
  }
}

const RotationPageArgs = argsType(RotationPage);

@Resolver(() => ProjectType)
export class ProjectRotationsResolver {
  constructor(private readonly service: RotationReadingService) {}

  @nested(
    [SecretRotationType],
    'Its rotations that you may read, by name; null with PERMISSION_DENIED if you may read none.',
  )
  async secretRotations({ access }: ProjectType, ctx: Context): Promise<readonly SecretRotationType[]> {
    return (await this.service.listInProject(ctx, access)).map(toRotationType);
  }

  @nested(RotationConnection, 'As `secretRotations`, in pages.', RotationPageArgs)
  async secretRotationConnection(project: ProjectType, ctx: Context, page: object): Promise<Rotations> {
    const rotations = await this.secretRotations(project, ctx);
    return counted(orderedPageOf(rotations, page, { orderable: (row) => row }), async () => rotations.length);
  }
}
