import { z } from 'zod';
import { idOf } from '../../kernel/text-rules.js';
import { MessagePage } from '../deliveries/public.js';

const alertId = idOf('certificate alert');
const id = idOf('message');

/** Arguments of `alertMessages`. */
export const ListMessages = MessagePage.extend({ alertId });

/** Arguments of `alertMessage`. */
export const OneMessage = z.strictObject({ id });

/** Input of `retryAlertMessage`. */
export const RetryMessage = z
  .strictObject({ id, alertId: idOf('alert that it must be one of').nullish() })
  .meta({ description: 'Which message of a certificate alert.' });

/** Input of `testCertificateAlert`. */
export const TestAlert = z
  .strictObject({
    id: alertId,
    channelId: idOf('One channel of it, which may be disabled; absent: all that are enabled.').nullish(),
    mustBeAccepted: z.boolean().default(false).meta({
      description: 'Whether to fail where a target does not accept it, instead of reporting that in the results.',
    }),
  })
  .meta({ description: 'Which certificate alert to send a test of.' });
