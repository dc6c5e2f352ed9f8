import { ID, Int } from 'type-graphql';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { enumType } from '../../../kernel/graphql/enums.js';
import { Node } from '../../../kernel/graphql/node.js';
import { objectType, orNull } from '../../../kernel/graphql/object-types.js';
import { connectionOf } from '../../../kernel/graphql/page.js';
import type { ReencryptionState } from './project-reencryption.entity.js';

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

export const ReencryptionConnection = connectionOf(
  ReencryptionType,
  'ProjectReencryption',
  'creation time, newest first',
);
