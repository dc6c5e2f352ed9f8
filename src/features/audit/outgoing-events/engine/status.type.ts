import { Field, Int, ObjectType } from 'type-graphql';
import { DateTime } from '../../../../kernel/graphql/date-time.js';
import { enumType } from '../../../../kernel/graphql/enums.js';
import { MOST_COUNTED } from './target.queries.js';

/** States of targets. */
const DELIVERY_STATES = {
  active: 'The last delivery succeeded, or there was none.',
  failing: 'The last delivery failed. It is repeated after a pause, and later events wait for it.',
  disabled: 'Nothing is sent.',
} as const;

export type DeliveryState = keyof typeof DELIVERY_STATES;

const DeliveryStateEnum = enumType<DeliveryState>(
  'DeliveryState',
  'States of deliveries to a webhook or sink.',
  DELIVERY_STATES,
);

/** How far a target has received. */
@ObjectType('DeliveryStatus', {
  description: 'How far a change webhook or an audit sink has received its events.',
  simpleResolvers: true,
})
export class DeliveryStatusType {
  @Field(() => DeliveryStateEnum, { description: 'State of the deliveries.' })
  state!: DeliveryState;

  @Field(() => Int, {
    nullable: true,
    description: `Number of audit records that it has not received yet, up to ${MOST_COUNTED.toLocaleString('en-US')}. Filters are not applied. Null while it is disabled.`,
  })
  lagRecords!: number | null;

  @Field(() => Int, {
    nullable: true,
    description: 'Age of the oldest of these records in seconds. 0 if there are none, null while it is disabled.',
  })
  lagSeconds!: number | null;

  @Field(() => Int, { description: 'Number of failed deliveries since the last successful one.' })
  failures!: number;

  @Field(() => DateTime, { nullable: true, description: 'When a delivery last succeeded. Null if none did.' })
  lastSuccessAt!: Date | null;

  @Field(() => DateTime, { nullable: true, description: 'When a delivery last failed. Null if none did.' })
  lastFailureAt!: Date | null;

  @Field(() => String, {
    nullable: true,
    description: 'Error code of the last failed delivery, for example `TARGET_UNREACHABLE`. Null if none failed.',
  })
  lastFailure!: string | null;

  @Field(() => Int, {
    nullable: true,
    description: 'HTTP status of the last failed delivery. Null without a response.',
  })
  lastStatus!: number | null;

  @Field(() => DateTime, { nullable: true, description: 'When the next attempt is due. Null if no attempt waits.' })
  nextAttemptAt!: Date | null;

  @Field(() => DateTime, {
    nullable: true,
    description:
      'When events were last found to have expired before they were sent: delivery continued with the oldest that were left. Null if this never happened.',
  })
  rewoundAt!: Date | null;
}

/** The result of a test. */
@ObjectType('DeliveryTest', { description: 'Result of a test delivery.', simpleResolvers: true })
export class DeliveryTestType {
  @Field(() => Boolean, { description: 'Whether the target accepted the test.' })
  isAccepted!: boolean;

  @Field(() => String, {
    nullable: true,
    description: 'Error code, for example `TARGET_UNREACHABLE`. Null if the target accepted the test.',
  })
  errorCode!: string | null;

  @Field(() => Int, {
    nullable: true,
    description: 'HTTP status of the response. Null without a response, and if the test was accepted.',
  })
  status!: number | null;
}

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
