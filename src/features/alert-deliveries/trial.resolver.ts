import { Field, Int, ObjectType, Resolver } from 'type-graphql';
import type { Context } from '../../kernel/context.js';
import { mutation } from '../../kernel/graphql/operations.js';
import { AlertChannelType, toChannelType } from '../alerts/public.js';
import { TestAlert } from './message.rules.js';
import type { TrialService } from './trial.service.js';

/** What came of a test at one target. */
@ObjectType('AlertTestResult', { description: 'What came of a test at one target.', simpleResolvers: true })
export class AlertTestResultType {
  @Field(() => AlertChannelType, { description: 'The channel.' })
  channel!: AlertChannelType;

  @Field(() => String, { nullable: true, description: 'The address, of a channel that sends mails; else null.' })
  recipient!: string | null;

  @Field(() => Boolean, { description: 'Whether the target has taken it.' })
  isAccepted!: boolean;

  @Field(() => String, {
    nullable: true,
    description: 'Why it was not accepted, as `TARGET_UNREACHABLE`; null when it was.',
  })
  errorCode!: string | null;

  @Field(() => Int, {
    nullable: true,
    description:
      'Status of the response, or reply code of the mail server; null without one, and when it was accepted.',
  })
  status!: number | null;
}

@ObjectType('TestCertificateAlertPayload', { description: 'What came of a test.', simpleResolvers: true })
class TestCertificateAlertPayload {
  @Field(() => [AlertTestResultType], {
    description:
      'One for each target: each address of a channel that sends mails, else each channel. Empty without an enabled channel.',
  })
  results!: readonly AlertTestResultType[];
}

@Resolver()
export class AlertTestResolver {
  constructor(private readonly service: TrialService) {}

  @mutation(
    TestAlert,
    TestCertificateAlertPayload,
    'Sends a test to the targets of a certificate alert, once, and waits up to 20 seconds for what they answer. Needs EDIT.',
  )
  async testCertificateAlert(ctx: Context, input: object): Promise<TestCertificateAlertPayload> {
    const trials = await this.service.test(ctx, input);
    return { results: trials.map(({ channel, ...trial }) => ({ channel: toChannelType(channel), ...trial })) };
  }
}
