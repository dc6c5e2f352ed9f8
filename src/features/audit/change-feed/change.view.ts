import type { ChangeEventType, ChangeLocationType } from './change.type.js';
import type { Location } from './change-reading.js';
import type { Streamed } from './change-stream.js';

const OF_NOTHING = {
  ...{ action: null, projectId: null, environment: null, secretPath: null, secretKey: null, previous: null },
  ...{ subjectId: null, actorKind: null, actorId: null, occurredAt: null },
};

type Opened = Extract<Streamed, { type: 'opened' }>;
type Seen = Extract<Streamed, { type: 'change' }>;

/** What the API shows of what a stream gives. */
export function viewOf(streamed: Opened | Omit<Seen, 'access'>): ChangeEventType {
  const { id } = streamed;
  if (streamed.type === 'opened') {
    const { resetReason } = streamed;
    return {
      cursor: id,
      kind: 'feed',
      operation: resetReason === null ? 'opened' : 'reset',
      ...OF_NOTHING,
      resetReason,
    };
  }
  const { change, seen } = streamed;
  const { kind, action, projectId, subjectId, actorKind, actorId, occurredAt } = change;
  return {
    ...{ cursor: id, kind, operation: seen.operation, action, projectId },
    environment: seen.location?.environment ?? null,
    secretPath: seen.location?.path ?? null,
    secretKey: seen.location?.key ?? null,
    previous: seen.previous === null ? null : placeOf(seen.previous),
    ...{ subjectId, actorKind, actorId, occurredAt },
    resetReason: null,
  };
}

const placeOf = ({ environment, path, key }: Location): ChangeLocationType => ({
  environment,
  secretPath: path ?? '',
  secretKey: key ?? '',
});
