import { Int } from 'type-graphql';
import { DateTime } from '../../../../kernel/graphql/date-time.js';
import { enumType } from '../../../../kernel/graphql/enums.js';
import { objectType, orNull } from '../../../../kernel/graphql/object-types.js';
import { MOST_COUNTED } from './target.sql.js';

/** States of targets. */
const DELIVERY_STATES = {
  active: 'The last delivery succeeded, or there was none.',
  failing: 'The last delivery failed. It is repeated after a pause, and later events wait for it.',
  disabled: 'Nothing is sent.',
} as const;

type DeliveryState = keyof typeof DELIVERY_STATES;

const DeliveryStateEnum = enumType<DeliveryState>(
  'DeliveryState',
  'States of deliveries to a webhook or sink.',
  DELIVERY_STATES,
);

/** How far a target has received. */
export const DeliveryStatusType = objectType(
  'DeliveryStatus',
  'How far a change webhook or an audit sink has received its events.',
  {
    state: [DeliveryStateEnum, 'State of the deliveries.'],
    lagRecords: [
      orNull(Int),
      `Number of audit records that it has not received yet, up to ${MOST_COUNTED.toLocaleString('en-US')}. Filters are not applied. Null while it is disabled.`,
    ],
    lagSeconds: [
      orNull(Int),
      'Age of the oldest of these records in seconds. 0 if there are none, null while it is disabled.',
    ],
    failures: [Int, 'Number of failed deliveries since the last successful one.'],
    lastSuccessAt: [orNull(DateTime), 'When a delivery last succeeded. Null if none did.'],
    lastFailureAt: [orNull(DateTime), 'When a delivery last failed. Null if none did.'],
    lastFailure: [
      orNull(String),
      'Error code of the last failed delivery, for example `TARGET_UNREACHABLE`. Null if none failed.',
    ],
    lastStatus: [orNull(Int), 'HTTP status of the last failed delivery. Null without a response.'],
    nextAttemptAt: [orNull(DateTime), 'When the next attempt is due. Null if no attempt waits.'],
    rewoundAt: [
      orNull(DateTime),
      'When events were last found to have expired before they were sent: delivery continued with the oldest that were left. Null if this never happened.',
    ],
  },
);
export type DeliveryStatusType = InstanceType<typeof DeliveryStatusType>;

/** The result of a test. */
export const DeliveryTestType = objectType('DeliveryTest', 'Result of a test delivery.', {
  isAccepted: [Boolean, 'Whether the target accepted the test.'],
  errorCode: [orNull(String), 'Error code, for example `TARGET_UNREACHABLE`. Null if the target accepted the test.'],
  status: [orNull(Int), 'HTTP status of the response. Null without a response, and if the test was accepted.'],
});
export type DeliveryTestType = InstanceType<typeof DeliveryTestType>;

interface ShownTarget extends Omit<DeliveryStatusType, 'state' | 'lagRecords' | 'lagSeconds'> {
  readonly isEnabled: boolean;
  readonly lagRecords: number;
  readonly lagSeconds: number;
}

/** The status of a row. */
export function statusOf(target: ShownTarget): DeliveryStatusType {
  const { isEnabled, failures, lagSeconds } = target;
  if (!isEnabled) return { ...target, lagRecords: null, lagSeconds: null, state: 'disabled' };
  return { ...target, lagSeconds: Math.floor(Math.max(0, lagSeconds)), state: failures > 0 ? 'failing' : 'active' };
}
