import * as z from 'zod';
import { orderRulesOf } from '../../../kernel/list-order.js';
import { pageRules } from '../../../kernel/paging.js';
import { expectedVersion, idOf, integer, personText, slugText } from '../../../kernel/value-rules.js';
import { secretLocation } from '../../secrets/public.js';
import { fieldOf, type KindDeclaration } from './kind/rotation-kind.js';
import { DECLARATIONS, ROTATION_TYPES } from './kinds/kinds.js';
import { apartFrom, rotationInterval, ScheduleOptions, TimeOfDay } from './schedule/schedule.rules.js';

export const rotationType = z.enum(ROTATION_TYPES);

const id = idOf('rotation');
const type = rotationType
  .nullish()
  .meta({ description: 'Type that the rotation must be of; otherwise it is not found.' });
const name = slugText(1, 64).meta({
  description: 'Name of the rotation, 1 to 64 characters: lower-case words separated by hyphens. Unique in its folder.',
});
const description = personText(0, 256)
  .nullish()
  .meta({ description: 'Description of the rotation, up to 256 characters; null for none.' });
const isAutoRotationEnabled = z.boolean().meta({ description: 'Whether the credential is rotated automatically.' });
const rotateAtUtc = TimeOfDay.meta({
  description: 'Time of day of automatic rotations, in the time zone of `schedule` (default UTC).',
});

const NOT_ONE = { error: 'must have exactly one type', params: { code: 'NOT_ONE' } };
const isOne = (given: object): boolean => Object.values(given).filter((content) => content !== undefined).length === 1;

/** Rules by type, of which exactly one must be given: `{ datatoolServiceToken: { ... } }`. */
const choiceOf = <Rules extends z.ZodObject>(rulesOf: (declared: KindDeclaration) => Rules, about: string) =>
  z
    .strictObject(
      Object.fromEntries(
        DECLARATIONS.map((declared) => [
          fieldOf(declared.type),
          rulesOf(declared)
            .optional()
            .meta({ description: declared.content.description ?? '' }),
        ]),
      ),
    )
    .refine(isOne, NOT_ONE)
    .meta({ description: about });

/** The content of a rotation. */
export const Content = choiceOf(
  ({ content }) => content,
  'What to rotate. Set exactly one field, which decides the type.',
);

/** Changes of the content. */
export const ContentChange = choiceOf(
  ({ change }) => change,
  'Changes of what is rotated. Set exactly one field, that of the type of the rotation.',
);

export const CreateRotation = z
  .strictObject({
    ...secretLocation,
    connectionId: idOf('ID of the app connection to use. It must be of the app of the type.'),
    name,
    description,
    isAutoRotationEnabled: isAutoRotationEnabled.default(true),
    rotationInterval,
    rotateAtUtc: rotateAtUtc.default({ hours: 0, minutes: 0 }),
    schedule: ScheduleOptions.optional(),
    apartFrom: apartFrom.optional(),
    content: Content,
    adopt: z.boolean().default(false).meta({
      description:
        'Whether to adopt the existing credential in `temporaryParameters`: it is verified, and the external system is not changed until the first rotation. Only for accounts; tokens cannot be adopted.',
    }),
  })
  .superRefine(({ adopt, content }, issues) => {
    if (!adopt) return;
    for (const { type, refusesAdoption } of DECLARATIONS) {
      const field = fieldOf(type);
      const given = content[field];
      if (given === undefined) continue;
      if (refusesAdoption !== undefined)
        issues.addIssue({
          code: 'custom',
          path: ['adopt'],
          message: `must be false: ${refusesAdoption}`,
          params: { code: 'INVALID' },
        });
      else if (given.temporaryParameters == null)
        issues.addIssue({
          code: 'custom',
          path: ['content', field, 'temporaryParameters'],
          message: 'must contain the credential to adopt',
          params: { code: 'MISSING' },
        });
    }
  })
  .meta({ description: 'Fields of the new secret rotation.' });

export const UpdateRotation = z
  .strictObject({
    id,
    type,
    expectedVersion,
    connectionId: idOf('ID of the connection. It cannot change: any other value is refused.').nullish(),
    environment: z
      .string()
      .nullish()
      .meta({ description: 'Slug of the environment. It cannot change: use `moveSecretRotation`.' }),
    secretPath: z
      .string()
      .nullish()
      .meta({ description: 'Path of the folder. It cannot change: use `moveSecretRotation`.' }),
    name: name.optional(),
    description,
    isAutoRotationEnabled: isAutoRotationEnabled.optional(),
    rotationInterval: rotationInterval.optional(),
    rotateAtUtc: rotateAtUtc.optional(),
    schedule: ScheduleOptions.optional(),
    apartFrom: apartFrom.optional(),
    content: ContentChange.optional(),
  })
  .meta({
    description:
      'Fields of the secret rotation to change. Absent fields keep their value. The credential is not rotated.',
  });

export const OneRotation = z.strictObject({ id, type }).meta({ description: 'The secret rotation, by ID.' });

export const RotationByName = z.strictObject({
  ...secretLocation,
  type,
  name: z.string().meta({ description: 'Name of the rotation.' }),
});

/** Arguments of `Project.secretRotations`. */
export const RotationPage = z.strictObject({ ...pageRules, ...orderRulesOf('by name') });

export const ListRotations = RotationPage.extend({
  projectId: secretLocation.projectId,
  type: rotationType.nullish().meta({ description: 'Only rotations of this type.' }),
});

export const DeleteRotation = z
  .strictObject({
    id,
    type,
    deleteSecrets: z.boolean().default(false).meta({
      description: 'Whether to delete the mapped secrets too. If false, they stay as ordinary secrets.',
    }),
    revokeGeneratedCredentials: z.boolean().default(false).meta({
      description:
        'Whether to revoke the credentials of the rotation first. Until they are revoked, the rotation stays with the status `DELETING`. If false, a deletion that waits for revocations ends without them.',
    }),
  })
  .meta({ description: 'The secret rotation to delete, by ID.' });

export const RotateSecrets = z
  .strictObject({
    id,
    type,
    wait: z.boolean().default(true).meta({
      description: 'Whether to wait for the result. If false, poll the attempt until it has ended.',
    }),
  })
  .meta({ description: 'The secret rotation to rotate, by ID.' });

export const MoveRotation = z
  .strictObject({
    id,
    type,
    destinationEnvironment: secretLocation.environment,
    destinationSecretPath: secretLocation.secretPath,
    overwriteDestination: z.boolean().default(false).meta({
      description: 'Whether to delete secrets at the destination that have the same keys.',
    }),
  })
  .meta({ description: 'The secret rotation to move, and its destination.' });

export const CancelAttempt = z
  .strictObject({ attemptId: idOf('attempt') })
  .meta({ description: 'The attempt to cancel, by ID.' });

const MAX_STAGGER_SECONDS = 3_600;

export const RotateMany = z
  .strictObject({
    projectId: idOf('ID of a project: only its rotations. Absent: all projects that you can see.').nullish(),
    connectionId: idOf('ID of a connection: only rotations that use it. Absent: any connection.').nullish(),
    dryRun: z.boolean().default(false).meta({ description: 'Whether to only report which rotations would run.' }),
    staggerSeconds: integer(0, MAX_STAGGER_SECONDS)
      .default(5)
      .meta({ description: `Seconds between the starts of two rotations, 0 to ${MAX_STAGGER_SECONDS}.` }),
  })
  .refine(({ projectId, connectionId }) => projectId != null || connectionId != null, {
    error: 'projectId or connectionId is required',
    params: { code: 'NOT_ONE' },
  })
  .meta({ description: 'The rotations to run, and the time between them.' });

const MAX_DAYS_AHEAD = 366;

export const ListUpcoming = z.strictObject({
  projectId: secretLocation.projectId,
  days: integer(1, MAX_DAYS_AHEAD)
    .default(30)
    .meta({ description: `Number of days to look ahead, 1 to ${MAX_DAYS_AHEAD}.` }),
});

export const ListAttempts = z.strictObject({ id, type, ...pageRules });

export const ListPendingRevocations = z.strictObject({
  projectId: idOf(
    'ID of a project: only its credentials. Absent or null: those of all projects that you can read.',
  ).nullish(),
  connectionId: idOf(
    'ID of an app connection: only credentials that were created with it. Absent or null: any.',
  ).nullish(),
  ...pageRules,
});

const MOST_GIVEN_UP = 100;

export const GiveUpRevocations = z
  .strictObject({
    ids: z
      .array(idOf('unrevoked credential'))
      .min(1)
      .max(MOST_GIVEN_UP)
      .meta({ description: `IDs of unrevoked credentials, from \`credentialDebts\`, 1 to ${MOST_GIVEN_UP}.` }),
  })
  .meta({ description: 'The credentials that are not to be revoked any more.' });
