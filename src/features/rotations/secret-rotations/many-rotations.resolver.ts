import { Resolver } from 'type-graphql';
import * as z from 'zod';
import type { Context } from '../../../kernel/context.js';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { objectType, orNull } from '../../../kernel/graphql/object-types.js';
import { mutation, query } from '../../../kernel/graphql/operations.js';
import type { ManyRotationsService } from './many-rotations.service.js';
import { CreateRotation, ListUpcoming, RotateMany } from './rotation.rules.js';
import type { RotationService } from './rotation.service.js';
import { RotationTypeEnum, SecretRotationType, toRotationType } from './rotation.type.js';
import type { RotationReadingService } from './rotation-reading.service.js';

const RequestedType = objectType('RequestedSecretRotation', 'A rotation selected by `rotateManySecrets`.', {
  secretRotation: [SecretRotationType, 'The rotation.'],
  dueAt: [
    orNull(DateTime),
    'When the rotation is scheduled to run. Null in a dry run, and if it cannot be rotated now: see its status.',
  ],
});

const RotateManyPayload = objectType('RotateManySecretsPayload', 'Result of `rotateManySecrets`.', {
  rotations: [[RequestedType], 'The selected rotations that you can rotate, by name.'],
});
type RotateManyPayload = InstanceType<typeof RotateManyPayload>;

const UpcomingType = objectType('UpcomingSecretRotation', 'A scheduled run of a rotation.', {
  secretRotation: [SecretRotationType, 'The rotation.'],
  at: [DateTime, 'When the rotation is scheduled to run.'],
});

const UpcomingListType = objectType('UpcomingSecretRotations', 'Scheduled runs of rotations.', {
  runs: [[UpcomingType], 'Up to 1,000 scheduled runs, soonest first.'],
});
type UpcomingListType = InstanceType<typeof UpcomingListType>;

const PreviewPayload = objectType(
  'PreviewSecretRotationPayload',
  'Preview of a rotation with valid input. Nothing was changed, neither here nor in the external system.',
  {
    secretKeys: [[String], 'Keys of the secrets that the rotation would create.'],
    hasOverlappingCredentials: [
      Boolean,
      'Whether a replaced credential stays valid until the next rotation. If false, consumers fail from the rotation until they read the new one.',
    ],
    nextRotationAt: [
      orNull(DateTime),
      'When the next automatic rotation would run. Null if automatic rotation is off.',
    ],
  },
);
type PreviewPayload = InstanceType<typeof PreviewPayload>;

const KindType = objectType('SecretRotationKind', 'A type of rotations.', {
  type: [RotationTypeEnum, 'Name of the type in the API.'],
  title: [String, 'Display name of the type.'],
  app: [String, 'App of its connections, for example `datatool`.'],
  hasOverlappingCredentials: [
    Boolean,
    'Whether a replaced credential stays valid until the next rotation. If false, consumers fail from the rotation until they read the new one.',
  ],
});

const KindsType = objectType('SecretRotationKinds', 'Supported types of rotations.', {
  kinds: [[KindType], 'All supported types of rotations.'],
});
type KindsType = InstanceType<typeof KindsType>;

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
      kinds: all.map(({ type, title, app, overlaps: hasOverlappingCredentials }) => ({
        type,
        title,
        app,
        hasOverlappingCredentials,
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
