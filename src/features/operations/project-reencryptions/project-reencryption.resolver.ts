import { ID, Int, Resolver } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { enumType } from '../../../kernel/graphql/enums.js';
import { Node } from '../../../kernel/graphql/node.js';
import { objectType, orNull } from '../../../kernel/graphql/object-types.js';
import { mutation, query } from '../../../kernel/graphql/operations.js';
import { connectionOf } from '../../../kernel/graphql/page.js';
import type { CountedConnectionOf } from '../../../kernel/paging.js';
import { routesAt } from '../../../rest/route.js';
import type { ReencryptionState } from './project-reencryption.entity.js';
import { ListReencryptions, OneReencryption, StartReencryption } from './project-reencryption.rules.js';
import type { ReencryptionService } from './project-reencryption.service.js';

/** GraphQL's names of the states. */
const ReencryptionStateEnum = enumType<ReencryptionState>('ProjectReencryptionState', 'States of a re-encryption.', {
  running: 'Values are being encrypted with the new key.',
  paused: 'It was paused. New values get the new key all the same.',
  settling:
    'No value needs the former keys any more. They are destroyed once requests that began before have ended, after at least five minutes.',
  done: 'It has ended.',
  cancelled: 'It was cancelled. Values that were not encrypted anew can be read as before.',
});

/** A re-encryption as the API shows it. */
export const ReencryptionType = objectType(
  'ProjectReencryption',
  'A project gets a new key, and its values, of its history too, are encrypted with it while it is in use.',
  {
    projectId: [ID, 'ID of the project.'],
    state: [ReencryptionStateEnum, 'Whether it runs, is paused, settles or has ended.'],
    totalValues: [
      orNull(Int),
      'Number of encrypted values with a former key. Null until they are counted. Once all are encrypted with the new key, those that were changed or deleted meanwhile are not counted any more.',
    ],
    doneValues: [Int, 'Number of these values that were encrypted with the new key.'],
    unreadableValues: [
      Int,
      'Number of values that cannot be decrypted and were left as they are. If there are any, no key is destroyed.',
    ],
    destroyedKeys: [Int, 'Number of former keys that were destroyed.'],
    finishedAt: [orNull(DateTime), 'When it ended. Null until then.'],
    createdAt: [DateTime, 'When it was started.'],
    updatedAt: [DateTime, 'When its state or its progress last changed.'],
  },
  { implements: Node },
);
export type ReencryptionType = InstanceType<typeof ReencryptionType>;

const ReencryptionConnection = connectionOf(ReencryptionType, 'ProjectReencryption', 'creation time, newest first');

interface Changed {
  readonly reencryption: ReencryptionType;
}

@Resolver(() => ReencryptionType)
export class ReencryptionResolver {
  constructor(private readonly service: ReencryptionService) {}

  @query(ReencryptionConnection, ListReencryptions, 'Lists the re-encryptions of a project, newest first.')
  projectReencryptions(ctx: Context, args: object): Promise<CountedConnectionOf<ReencryptionType>> {
    return this.service.list(ctx, args);
  }

  @query(ReencryptionType, OneReencryption, 'Returns a re-encryption of a project by its ID, with its progress.')
  projectReencryption(ctx: Context, args: object): Promise<ReencryptionType> {
    return this.service.get(ctx, args);
  }

  @mutation(
    StartReencryption,
    { reencryption: [ReencryptionType, 'The started re-encryption.'] },
    'Gives a project a new key. New values get it at once; a job encrypts all others with it, those of the history too, and destroys the former keys. You need permission to edit keys of the organization and the project.',
  )
  async startProjectReencryption(ctx: Context, input: object): Promise<Changed> {
    return { reencryption: await this.service.start(ctx, input) };
  }

  @mutation(
    OneReencryption,
    { reencryption: [ReencryptionType, 'The paused re-encryption.'] },
    'Pauses a re-encryption. All values can be read and written as before.',
  )
  async pauseProjectReencryption(ctx: Context, input: object): Promise<Changed> {
    return { reencryption: await this.service.change(ctx, input, 'pause') };
  }

  @mutation(
    OneReencryption,
    { reencryption: [ReencryptionType, 'The resumed re-encryption.'] },
    'Resumes a paused re-encryption. It does what is left.',
  )
  async resumeProjectReencryption(ctx: Context, input: object): Promise<Changed> {
    return { reencryption: await this.service.change(ctx, input, 'resume') };
  }

  @mutation(
    OneReencryption,
    { reencryption: [ReencryptionType, 'The cancelled re-encryption.'] },
    'Cancels a re-encryption. No key is destroyed, and what was encrypted anew stays so.',
  )
  async cancelProjectReencryption(ctx: Context, input: object): Promise<Changed> {
    return { reencryption: await this.service.change(ctx, input, 'cancel') };
  }
}

const as = ['reencryption', 'reencryptions'] as const;
const ofProject = routesAt('/api/v1/projects/{projectId}/re-encryptions', { as, errors: ['PROJECT_NOT_FOUND'] });
const reencryptions = routesAt('/api/v1/re-encryptions/{reencryptionId}', {
  as,
  errors: ['REENCRYPTION_NOT_FOUND'],
});
const errors = ['REENCRYPTION_ENDED'] as const;

/** Re-encryptions of projects. */
export const reencryptionRoutes = [
  ofProject.post('', 'Encrypt the values of a project with a new key', {
    field: 'startProjectReencryption',
    errors: ['REENCRYPTION_RUNNING', 'KEY_DISABLED'],
  }),
  ofProject.get('', 'List the re-encryptions of a project, newest first', {
    field: 'projectReencryptions',
  }),
  reencryptions.get('', 'Get a re-encryption with its progress', { field: 'projectReencryption' }),
  reencryptions.post('/pause', 'Pause a re-encryption', {
    field: 'pauseProjectReencryption',
    errors,
  }),
  reencryptions.post('/resume', 'Resume a re-encryption', {
    field: 'resumeProjectReencryption',
    errors,
  }),
  reencryptions.post('/cancel', 'Cancel a re-encryption', {
    field: 'cancelProjectReencryption',
    errors,
  }),
];
