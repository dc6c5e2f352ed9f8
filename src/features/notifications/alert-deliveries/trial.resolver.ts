import { Int, Resolver } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { objectType, orNull } from '../../../kernel/graphql/object-types.js';
import { mutation } from '../../../kernel/graphql/operations.js';
import { AlertChannelType, toChannelType } from '../alerts/public.js';
import { TestAlert } from './message.rules.js';
import type { TrialService } from './trial.service.js';

/** The result of a test at one target. */
export const AlertTestResultType = objectType('AlertTestResult', 'Result of a test at one target.', {
  channel: [AlertChannelType, 'The tested channel.'],
  recipient: [orNull(String), 'Email address of the target. Null for other types of channels.'],
  isAccepted: [Boolean, 'Whether the target accepted the test.'],
  errorCode: [orNull(String), 'Error code, for example `TARGET_UNREACHABLE`. Null if the target accepted the test.'],
  status: [
    orNull(Int),
    'HTTP status of the response, or reply code of the mail server. Null without a response, and if the test was accepted.',
  ],
});
export type AlertTestResultType = InstanceType<typeof AlertTestResultType>;

const TestCertificateAlertPayload = objectType('TestCertificateAlertPayload', 'Result of `testCertificateAlert`.', {
  results: [
    [AlertTestResultType],
    'One result per target: each address of an email channel, otherwise each channel. Empty if no channel is enabled.',
  ],
});
type TestCertificateAlertPayload = InstanceType<typeof TestCertificateAlertPayload>;

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
