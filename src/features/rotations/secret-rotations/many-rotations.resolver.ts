import { Field, ObjectType, Resolver } from 'type-graphql';
import * as z from 'zod';
import type { Context } from '../../../kernel/context.js';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { mutation, query } from '../../../kernel/graphql/operations.js';
import type { RotationType } from './kinds/kinds.js';
import type { ManyRotationsService } from './many-rotations.service.js';
import { CreateRotation, ListUpcoming, RotateMany } from './rotation.rules.js';
import type { RotationService } from './rotation.service.js';
import { RotationTypeEnum, SecretRotationType } from './rotation.type.js';
import { toRotationType } from './rotation-kinds.type.js';
import type { RotationReadingService } from './rotation-reading.service.js';

@ObjectType('RequestedSecretRotation', {
  description: 'A rotation selected by `rotateManySecrets`.',
  simpleResolvers: true,
})
class RequestedType {
  @Field(() => SecretRotationType, { description: 'The rotation.' })
  secretRotation!: SecretRotationType;

  @Field(() => DateTime, {
    nullable: true,
    description:
      'When the rotation is scheduled to run. Null in a dry run, and if it cannot be rotated now: see its status.',
  })
  dueAt!: Date | null;
}

@ObjectType('RotateManySecretsPayload', { description: 'Result of `rotateManySecrets`.', simpleResolvers: true })
class RotateManyPayload {
  @Field(() => [RequestedType], { description: 'The selected rotations that you can rotate, by name.' })
  rotations!: RequestedType[];
}

@ObjectType('UpcomingSecretRotation', { description: 'A scheduled run of a rotation.', simpleResolvers: true })
class UpcomingType {
  @Field(() => SecretRotationType, { description: 'The rotation.' })
  secretRotation!: SecretRotationType;

  @Field(() => DateTime, { description: 'When the rotation is scheduled to run.' })
  at!: Date;
}

@ObjectType('UpcomingSecretRotations', { description: 'Scheduled runs of rotations.', simpleResolvers: true })
class UpcomingListType {
  @Field(() => [UpcomingType], { description: 'Up to 1,000 scheduled runs, soonest first.' })
  runs!: UpcomingType[];
}

@ObjectType('PreviewSecretRotationPayload', {
  description: 'Preview of a rotation with valid input. Nothing was changed, neither here nor in the external system.',
  simpleResolvers: true,
})
class PreviewPayload {
  @Field(() => [String], { description: 'Keys of the secrets that the rotation would create.' })
  secretKeys!: string[];

  @Field(() => Boolean, {
    description:
      'Whether a replaced credential stays valid until the next rotation. If false, consumers fail from the rotation until they read the new one.',
  })
  credentialsOverlap!: boolean;

  @Field(() => DateTime, {
    nullable: true,
    description: 'When the next automatic rotation would run. Null if automatic rotation is off.',
  })
  nextRotationAt!: Date | null;
}

@ObjectType('SecretRotationKind', { description: 'A type of rotations.', simpleResolvers: true })
class KindType {
  @Field(() => RotationTypeEnum, { description: 'Name of the type in the API.' })
  type!: RotationType;

  @Field(() => String, { description: 'Display name of the type.' })
  title!: string;

  @Field(() => String, { description: 'App of its connections, for example `datatool`.' })
  app!: string;

  @Field(() => Boolean, {
    description:
      'Whether a replaced credential stays valid until the next rotation. If false, consumers fail from the rotation until they read the new one.',
  })
  credentialsOverlap!: boolean;
}

@ObjectType('SecretRotationKinds', { description: 'Supported types of rotations.', simpleResolvers: true })
class KindsType {
  @Field(() => [KindType], { description: 'All supported types of rotations.' })
  kinds!: KindType[];
}

/** Operations on many rotations, and on rotations that do not exist yet. */
@Resolver()
export class ManyRotationsResolver {
  constructor(
    private readonly service: RotationService,
    private readonly many: ManyRotationsService,
    private readonly reading: RotationReadingService,
  ) {}

  @query(KindsType, z.strictObject({}), 'Supported types of rotations.')
  async secretRotationKinds(ctx: Context): Promise<KindsType> {
    const all = await this.reading.listKinds(ctx);
    return {
      kinds: all.map(({ type, title, app, overlaps: credentialsOverlap }) => ({
        type,
        title,
        app,
        credentialsOverlap,
      })),
    };
  }

  @query(
    UpcomingListType,
    ListUpcoming,
    'Scheduled runs of the rotations of a project in the next days. Only rotations that you can read.',
  )
  async upcomingSecretRotations(ctx: Context, args: object): Promise<UpcomingListType> {
    const runs = await this.many.upcoming(ctx, args);
    return { runs: runs.map(({ rotation, at }) => ({ secretRotation: toRotationType(rotation), at })) };
  }

  @mutation(
    CreateRotation,
    PreviewPayload,
    'Validates a new rotation like `createSecretRotation`, including a check of the external system, without changing anything.',
  )
  previewSecretRotation(ctx: Context, input: object): Promise<PreviewPayload> {
    return this.service.preview(ctx, input);
  }

  @mutation(
    RotateMany,
    RotateManyPayload,
    'Schedules rotations of a project or a connection to run one after the other, including those without automatic rotation.',
  )
  async rotateManySecrets(ctx: Context, input: object): Promise<RotateManyPayload> {
    const rotations = await this.many.rotate(ctx, input);
    return { rotations: rotations.map(({ rotation, dueAt }) => ({ secretRotation: toRotationType(rotation), dueAt })) };
  }
}
