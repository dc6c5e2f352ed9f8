import { Field, Int, ObjectType, Resolver } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { mutation } from '../../../kernel/graphql/operations.js';
import { AlertChannelType, toChannelType } from '../alerts/public.js';
import { TestAlert } from './message.rules.js';
import type { TrialService } from './trial.service.js';

/** The result of a test at one target. */
@ObjectType('AlertTestResult', { description: 'Result of a test at one target.', simpleResolvers: true })
export class AlertTestResultType {
  @Field(() => AlertChannelType, { description: 'The tested channel.' })
  channel!: AlertChannelType;

  @Field(() => String, {
    nullable: true,
    description: 'Email address of the target. Null for other types of channels.',
  })
  recipient!: string | null;

  @Field(() => Boolean, { description: 'Whether the target accepted the test.' })
  isAccepted!: boolean;

  @Field(() => String, {
    nullable: true,
    description: 'Error code, for example `TARGET_UNREACHABLE`. Null if the target accepted the test.',
  })
  errorCode!: string | null;

  @Field(() => Int, {
    nullable: true,
    description:
      'HTTP status of the response, or reply code of the mail server. Null without a response, and if the test was accepted.',
  })
  status!: number | null;
}

@ObjectType('TestCertificateAlertPayload', { description: 'Result of `testCertificateAlert`.', simpleResolvers: true })
class TestCertificateAlertPayload {
  @Field(() => [AlertTestResultType], {
    description:
      'One result per target: each address of an email channel, otherwise each channel. Empty if no channel is enabled.',
  })
  results!: readonly AlertTestResultType[];
}

@Resolver()
export class AlertTestResolver {
  constructor(private readonly service: TrialService) {}

  @mutation(
    TestAlert,
    TestCertificateAlertPayload,
    'Sends a test to every target of a certificate alert and waits up to 20 seconds for the responses. Requires `edit` on `pki-alerts`.',
  )
  async testCertificateAlert(ctx: Context, input: object): Promise<TestCertificateAlertPayload> {
    const trials = await this.service.test(ctx, input);
    return { results: trials.map(({ channel, ...trial }) => ({ channel: toChannelType(channel), ...trial })) };
  }
}
