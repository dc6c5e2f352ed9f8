import { Field, ID, Int, ObjectType, registerEnumType } from 'type-graphql';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { Node } from '../../../kernel/graphql/node.js';
import { connectionOf } from '../../../kernel/graphql/page.js';
import type { ReencryptionState } from './project-reencryption.entity.js';

/** GraphQL's names of the states. */
const ReencryptionStateEnum = {
  RUNNING: 'running',
  PAUSED: 'paused',
  SETTLING: 'settling',
  DONE: 'done',
  CANCELLED: 'cancelled',
} as const satisfies Record<string, ReencryptionState>;
registerEnumType(ReencryptionStateEnum, {
  name: 'ProjectReencryptionState',
  description: 'States of a re-encryption.',
  valuesConfig: {
    RUNNING: { description: 'Values are being encrypted with the new key.' },
    PAUSED: { description: 'It was paused. New values get the new key all the same.' },
    SETTLING: {
      description:
        'No value needs the former keys any more. They are destroyed once requests that began before have ended, after at least five minutes.',
    },
    DONE: { description: 'It has ended.' },
    CANCELLED: {
      description: 'It was cancelled. Values that were not encrypted anew can be read as before.',
    },
  },
});

/** A re-encryption as the API shows it. */
@ObjectType('ProjectReencryption', {
  implements: Node,
  description:
    'A project gets a new key, and its values, of its history too, are encrypted with it while it is in use.',
  simpleResolvers: true,
})
export class ReencryptionType extends Node {
  @Field(() => ID, { description: 'ID of the project.' })
  projectId!: string;

  @Field(() => ReencryptionStateEnum, { description: 'Whether it runs, is paused, settles or has ended.' })
  state!: ReencryptionState;

  @Field(() => Int, {
    nullable: true,
    description:
      'Number of encrypted values with a former key. Null until they are counted. Once all are encrypted with the new key, those that were changed or deleted meanwhile are not counted any more.',
  })
  totalValues!: number | null;

  @Field(() => Int, { description: 'Number of these values that were encrypted with the new key.' })
  doneValues!: number;

  @Field(() => Int, {
    description:
      'Number of values that cannot be decrypted and were left as they are. If there are any, no key is destroyed.',
  })
  unreadableValues!: number;

  @Field(() => Int, { description: 'Number of former keys that were destroyed.' })
  destroyedKeys!: number;

  @Field(() => DateTime, { nullable: true, description: 'When it ended. Null until then.' })
  finishedAt!: Date | null;

  @Field(() => DateTime, { description: 'When it was started.' })
  createdAt!: Date;

  @Field(() => DateTime, { description: 'When its state or its progress last changed.' })
  updatedAt!: Date;
}

export const ReencryptionConnection = connectionOf(
  ReencryptionType,
  'ProjectReencryption',
  'creation time, newest first',
);
