import { createHmac } from 'node:crypto';
import type { Context } from '../../../../kernel/context.js';
import { queryOf } from '../../../../kernel/database/database.js';
import {
  type Change,
  type ChangeFilter,
  eventIdsOf,
  filterTest,
  isAfterPosition,
  type Position,
  positionAfterRecord,
  readChanges,
  toChangeEvent,
  visibleChange,
} from '../../change-feed/public.js';
import type { Batch, Format, TargetConfig, TargetKind } from '../engine/target.js';
import { ChangeWebhook } from './webhook.entity.js';
import { findWebhookTargets, type WebhookTarget } from './webhook.queries.js';

/** The form of requests to change webhooks. */
export const CLOUD_EVENTS: Format = {
  contentType: 'application/cloudevents-batch+json; charset=utf-8',
  maxResponseBytes: null,
  rejected: () => 0,
};

/** How change webhooks get their events. */
export const WEBHOOKS: TargetKind<WebhookTarget> = {
  job: {
    name: 'change-webhooks:deliver',
    description: 'Sends changes of a project to a change webhook.',
  },
  table: 'change_webhook',
  entity: ChangeWebhook,
  formatOf: () => CLOUD_EVENTS,
  find: findWebhookTargets,
  next: nextEvents,
  recordRewind: (tx, { id, projectId }) =>
    tx.auditTrail.recordChange(tx, { action: 'change-webhook:rewind', projectId, facts: { changeWebhookId: id } }),
};

/** Events in a request. */
const MOST_EVENTS = 100;
/** Records of the trail that are read at once; each may be about many secrets. */
const MOST_RECORDS = 100;

interface BatchRequest {
  readonly target: WebhookTarget;
  readonly config: TargetConfig;
  readonly settled: bigint;
}

/** The next events of a webhook, as a batch of CloudEvents. */
async function nextEvents(ctx: Context, { target, config, settled }: BatchRequest): Promise<Batch> {
  const { organizationId, projectId } = target;
  const from: Position = { sequence: BigInt(target.position), index: target.positionIndex };
  const isInside = from.index < positionAfterRecord(0n).index;
  const stretch = await readChanges(queryOf(ctx), {
    after: isInside ? from.sequence - 1n : from.sequence,
    ...{ upTo: settled, organizationId, projectId, most: MOST_RECORDS },
  });
  const selected = selectedChanges(
    target,
    stretch.changes.filter((change) => isAfterPosition(change, from)),
  );
  const sent = selected.slice(0, MOST_EVENTS);
  const last = sent.length < selected.length ? sent.at(-1)?.change : undefined;
  const isEnd = last === undefined && stretch.upTo >= settled;
  const upTo = last ?? positionAfterRecord(stretch.upTo > from.sequence ? stretch.upTo : from.sequence);
  const upToTime = isEnd ? null : (last?.occurredAt ?? stretch.upToTime ?? target.now);
  const events = cloudEvents(ctx, { target, config }, { sent, from });
  return { body: events.length === 0 ? null : JSON.stringify(events), upTo, upToTime };
}

interface Selected {
  readonly change: Change;
  readonly seen: NonNullable<ReturnType<typeof visibleChange>>;
}

const filterOf = ({ projectId, environment, secretPath, kinds }: WebhookTarget): ChangeFilter => ({
  ...{ projectId, environment, secretPath },
  kinds: kinds.length === 0 ? null : [...kinds],
});

function selectedChanges(target: WebhookTarget, changes: readonly Change[]): Selected[] {
  const test = filterTest(filterOf(target));
  return changes.flatMap((change) => {
    // A webhook gets everything in its project that its filters select.
    const seen = visibleChange(null, change, test(change));
    return seen === null ? [] : [{ change, seen }];
  });
}

function cloudEvents(
  ctx: Context,
  { target, config }: Pick<BatchRequest, 'target' | 'config'>,
  { sent, from }: { readonly sent: readonly Selected[]; readonly from: Position },
): object[] {
  const cursorOf = eventIdsOf(ctx, filterOf(target), target.now);
  const eventOf = cloudEventOf(target, config);
  const resets = target.isResetPending
    ? [toChangeEvent({ type: 'opened', id: cursorOf(from), resetReason: 'position-expired' })].map((data) =>
        eventOf({ name: `reset ${target.position}`, subject: 'feed:reset', time: target.now, data }),
      )
    : [];
  const events = sent.map(({ change, seen }) =>
    eventOf({
      name: `${change.sequence} ${change.index}`,
      subject: change.action,
      time: change.occurredAt,
      data: toChangeEvent({ type: 'change', id: cursorOf(change), change, seen }),
    }),
  );
  return [...resets, ...events];
}

/** The same ID for an event in every attempt, which tells nothing of how many others there are. */
const idOf = ({ eventKey }: TargetConfig, name: string): string =>
  createHmac('sha256', eventKey).update(name).digest('hex').slice(0, 32);

const cloudEventOf =
  ({ id, projectId }: Pick<WebhookTarget, 'id' | 'projectId'>, config: TargetConfig, type = 'change') =>
  ({ name, subject, time, data }: { name: string; subject: string; time: Date; data: object }): object => ({
    specversion: '1.0',
    id: idOf(config, name),
    type: `com.strongroom.${type}`,
    source: `/projects/${projectId}/change-webhooks/${id}`,
    subject,
    time: time.toISOString(),
    datacontenttype: 'application/json',
    data,
  });

/** The body of a test. */
export const testBody = (target: Pick<WebhookTarget, 'id' | 'projectId' | 'now'>, config: TargetConfig): string => {
  const eventOf = cloudEventOf(target, config, 'test');
  const { now: time } = target;
  return JSON.stringify([eventOf({ name: `test ${time.getTime()}`, subject: 'test', time, data: {} })]);
};
