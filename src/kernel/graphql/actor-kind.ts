import type { Actor } from '../context.js';
import { enumType } from './enums.js';

export const ActorKindEnum = enumType<Actor['kind']>('ActorKind', 'Kinds of actors.', {
  identity: 'A machine identity.',
  user: 'A user.',
  system: 'The service itself: a background job, or the first start.',
});
