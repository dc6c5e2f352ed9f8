import { z } from 'zod';
import { integer } from '../../kernel/int.js';
import { orderRulesOf } from '../../kernel/list-order.js';
import { pageRules } from '../../kernel/paging.js';
import { idOf, personText, slugText } from '../../kernel/text-rules.js';
import { expectedVersion } from '../../kernel/version.js';
import { place } from '../secrets/public.js';
import { fieldOf, type KindDeclaration } from './kind/kind-declaration.js';
import { DECLARATIONS, ROTATION_TYPES } from './kinds/kinds.js';
import { apartFrom, rotationInterval, ScheduleOptions, TimeOfDay } from './schedule/schedule.rules.js';

export const rotationType = z.enum(ROTATION_TYPES);

const id = idOf('rotation');
const type = rotationType.nullish().meta({ description: 'Of which type it is; of another one it is not found.' });
const name = slugText(1, 64).meta({
  description: 'Lower-case words joined by hyphens, 1 to 64 characters, unique in its folder.',
});
const description = personText(0, 256)
  .nullish()
  .meta({ description: 'What it is for, up to 256 characters; null for nothing.' });
const isAutoRotationEnabled = z.boolean().meta({ description: 'Whether it rotates by itself.' });
const rotateAtUtc = TimeOfDay.meta({
  description: 'At which time of the day it rotates, UTC unless its schedule has another time zone.',
});

const NOT_ONE = { error: 'must have exactly one type', params: { code: 'NOT_ONE' } };
const isOne = (given: object): boolean => Object.values(given).filter((content) => content !== undefined).length === 1;

/** Rules by the fields of their types, exactly one of which is given: `{ datatoolServiceToken: { ... } }`. */
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

/** What is rotated. */
export const Content = choiceOf(({ content }) => content, 'What is rotated, by its type: exactly one.');

/** What changes of it. */
export const ContentChange = choiceOf(({ change }) => change, 'Changes of what is rotated, by its type: exactly one.');

export const CreateRotation = z
  .strictObject({
    ...place,
    connectionId: idOf('The connection that it rotates by, of the app of its type.'),
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
        'Whether the credential in `temporaryParameters` is taken over as it is: it is tried, and nothing changes outside until the first rotation.',
    }),
  })
  .superRefine(({ adopt, content }, issues) => {
    for (const { type, isTemporaryAdopted } of DECLARATIONS) {
      const field = fieldOf(type);
      const given = content[field];
      const isGiven = given?.temporaryParameters != null;
      const isWrong = adopt ? !isGiven : isGiven && isTemporaryAdopted;
      if (given === undefined || !isWrong) continue;
      const path = ['content', field, 'temporaryParameters'];
      const message = adopt ? 'must have the credential that is adopted' : 'must be absent unless it is adopted';
      issues.addIssue({ code: 'custom', path, message, params: { code: adopt ? 'MISSING' : 'INVALID' } });
    }
  })
  .meta({ description: 'A new rotation.' });

export const UpdateRotation = z
  .strictObject({
    id,
    type,
    expectedVersion,
    connectionId: idOf('The connection, which cannot change.').nullish(),
    environment: z
      .string()
      .nullish()
      .meta({ description: 'Slug of the environment, which cannot change: see `moveSecretRotation`.' }),
    secretPath: z
      .string()
      .nullish()
      .meta({ description: 'Path of the folder, which cannot change: see `moveSecretRotation`.' }),
    name: name.optional(),
    description,
    isAutoRotationEnabled: isAutoRotationEnabled.optional(),
    rotationInterval: rotationInterval.optional(),
    rotateAtUtc: rotateAtUtc.optional(),
    schedule: ScheduleOptions.optional(),
    apartFrom: apartFrom.optional(),
    content: ContentChange.optional(),
  })
  .meta({ description: 'Changes of a rotation. What is absent stays; nothing is rotated.' });

export const OneRotation = z.strictObject({ id, type }).meta({ description: 'Which rotation.' });

export const RotationByName = z.strictObject({ ...place, type, name: z.string().meta({ description: 'Its name.' }) });

/** Arguments of `Project.secretRotationConnection`. */
export const RotationPage = z.strictObject({ ...pageRules, ...orderRulesOf('by name, ascending, which is NAME') });

export const ListRotations = RotationPage.extend({
  projectId: place.projectId,
  type: rotationType.nullish().meta({ description: 'Only those of this type.' }),
});

export const DeleteRotation = z
  .strictObject({
    id,
    type,
    deleteSecrets: z.boolean().default(false).meta({
      description: 'Whether the mapped secrets are deleted too. Otherwise they stay as ordinary ones.',
    }),
    revokeGeneratedCredentials: z.boolean().default(false).meta({
      description:
        'Whether its credentials are revoked first. Until they are known to be gone the rotation stays, as `DELETING`.',
    }),
  })
  .meta({ description: 'Which rotation, and what goes with it.' });

export const RotateSecrets = z
  .strictObject({
    id,
    type,
    wait: z.boolean().default(true).meta({
      description: 'Whether the response waits for the outcome. Otherwise ask for the attempt until it has ended.',
    }),
  })
  .meta({ description: 'Which rotation.' });

export const MoveRotation = z
  .strictObject({
    id,
    type,
    destinationEnvironment: place.environment,
    destinationSecretPath: place.secretPath,
    overwriteDestination: z.boolean().default(false).meta({
      description: 'Whether secrets at the destination that have the same keys are deleted.',
    }),
  })
  .meta({ description: 'Which rotation, and where it goes with its secrets.' });

export const CancelAttempt = z.strictObject({ attemptId: idOf('attempt') }).meta({ description: 'Which attempt.' });

const MAX_STAGGER_SECONDS = 3_600;

export const RotateMany = z
  .strictObject({
    projectId: idOf('Those of this project; absent: of all of your projects that use the connection.').nullish(),
    connectionId: idOf('Those that use this connection; absent: whatever they use.').nullish(),
    dryRun: z.boolean().default(false).meta({ description: 'Whether only to say which would be rotated.' }),
    staggerSeconds: integer(0, MAX_STAGGER_SECONDS)
      .default(5)
      .meta({ description: `Seconds between two of them, 0 to ${MAX_STAGGER_SECONDS}.` }),
  })
  .refine(({ projectId, connectionId }) => projectId != null || connectionId != null, {
    error: 'must have projectId, connectionId or both',
    params: { code: 'NOT_ONE' },
  })
  .meta({ description: 'Which rotations, and how far apart.' });

const MAX_DAYS_AHEAD = 366;

export const ListUpcoming = z.strictObject({
  projectId: place.projectId,
  days: integer(1, MAX_DAYS_AHEAD)
    .default(30)
    .meta({ description: `How many days to look ahead, 1 to ${MAX_DAYS_AHEAD}.` }),
});

export const ListAttempts = z.strictObject({ id, ...pageRules });

export const ListDebts = z.strictObject({
  projectId: place.projectId,
  ...pageRules,
});
