import { Field, ObjectType, Resolver } from 'type-graphql';
import { z } from 'zod';
import type { Context } from '../../kernel/context.js';
import { DateTime } from '../../kernel/graphql/date-time.js';
import { mutation, query } from '../../kernel/graphql/operations.js';
import type { RotationType } from './kinds/kinds.js';
import type { ManyRotationsService } from './many-rotations.service.js';
import { CreateRotation, ListUpcoming, RotateMany } from './rotation.rules.js';
import type { RotationService } from './rotation.service.js';
import { RotationTypeEnum, SecretRotationType } from './rotation.type.js';
import { toRotationType } from './rotation-kinds.type.js';
import type { RotationReadingService } from './rotation-reading.service.js';

@ObjectType('RequestedSecretRotation', { description: 'A rotation of many that are rotated.', simpleResolvers: true })
class RequestedType {
  @Field(() => SecretRotationType, { description: 'The rotation.' })
  secretRotation!: SecretRotationType;

  @Field(() => DateTime, {
    nullable: true,
    description: 'When it runs; null if it cannot be rotated now, as its status says, and of a dry run.',
  })
  dueAt!: Date | null;
}

@ObjectType('RotateManySecretsPayload', { description: 'What is rotated.', simpleResolvers: true })
class RotateManyPayload {
  @Field(() => [RequestedType], { description: 'The rotations that you may rotate, by name.' })
  rotations!: RequestedType[];
}

@ObjectType('UpcomingSecretRotation', { description: 'A run of a rotation that is to come.', simpleResolvers: true })
class UpcomingType {
  @Field(() => SecretRotationType, { description: 'The rotation.' })
  secretRotation!: SecretRotationType;

  @Field(() => DateTime, { description: 'When it runs.' })
  at!: Date;
}

@ObjectType('UpcomingSecretRotations', { description: 'Runs of rotations that are to come.', simpleResolvers: true })
class UpcomingListType {
  @Field(() => [UpcomingType], { description: 'Up to 1,000 of them, soonest first.' })
  runs!: UpcomingType[];
}

@ObjectType('PreviewSecretRotationPayload', {
  description: 'What a rotation would be that fits: nothing was changed, neither here nor outside.',
  simpleResolvers: true,
})
class PreviewPayload {
  @Field(() => [String], { description: 'Keys of the secrets that it would make.' })
  secretKeys!: string[];

  @Field(() => Boolean, {
    description:
      'Whether a replaced credential works on until the rotation after. Otherwise consumers fail from the change until they have read the new one.',
  })
  credentialsOverlap!: boolean;

  @Field(() => DateTime, { nullable: true, description: 'When it would rotate next by itself, if it were made now.' })
  nextRotationAt!: Date | null;
}

@ObjectType('SecretRotationKind', { description: 'A type of rotations.', simpleResolvers: true })
class KindType {
  @Field(() => RotationTypeEnum, { description: 'The type.' })
  type!: RotationType;

  @Field(() => String, { description: 'What people call it.' })
  title!: string;

  @Field(() => String, { description: 'The app of its connections.' })
  app!: string;

  @Field(() => Boolean, {
    description:
      'Whether a replaced credential works on until the rotation after. Otherwise consumers fail from the change until they have read the new one.',
  })
  credentialsOverlap!: boolean;
}

@ObjectType('SecretRotationKinds', { description: 'The types of rotations.', simpleResolvers: true })
class KindsType {
  @Field(() => [KindType], { description: 'All of them.' })
  kinds!: KindType[];
}

/** What is asked of many rotations, or of one that is not made yet. */
@Resolver()
export class ManyRotationsResolver {
  constructor(
    private readonly service: RotationService,
    private readonly many: ManyRotationsService,
    private readonly reading: RotationReadingService,
  ) {}

  @query(KindsType, z.strictObject({}), 'The types of rotations.')
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
    'When the rotations of a project that you may read run by themselves in the next days.',
  )
  async upcomingSecretRotations(ctx: Context, args: object): Promise<UpcomingListType> {
    const runs = await this.many.upcoming(ctx, args);
    return { runs: runs.map(({ rotation, at }) => ({ secretRotation: toRotationType(rotation), at })) };
  }

  @mutation(
    CreateRotation,
    PreviewPayload,
    'Checks all that `createSecretRotation` does before it changes anything, the outside system included, and changes nothing.',
  )
  previewSecretRotation(ctx: Context, input: object): Promise<PreviewPayload> {
    return this.service.preview(ctx, input);
  }

  @mutation(
    RotateMany,
    RotateManyPayload,
    'Has the rotations of a project, or of a connection, run one after the other, also those that do not rotate by themselves.',
  )
  async rotateManySecrets(ctx: Context, input: object): Promise<RotateManyPayload> {
    const rotations = await this.many.rotate(ctx, input);
    return { rotations: rotations.map(({ rotation, dueAt }) => ({ secretRotation: toRotationType(rotation), dueAt })) };
  }
}
