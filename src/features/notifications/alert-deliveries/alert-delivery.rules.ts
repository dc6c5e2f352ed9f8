import * as z from 'zod';
import { boundedPageRules, pageRules } from '../../../kernel/paging.js';
import { idOf } from '../../../kernel/value-rules.js';
import { CONTENT, offset } from '../alerts/public.js';
import { MessagePage, RETRIED } from '../deliveries/public.js';

const alertId = idOf('certificate alert');
const id = idOf('message');

/** Arguments of `alertMessages`. */
export const ListMessages = MessagePage.extend({ alertId });

/** Arguments of `alertMessage`. */
export const OneMessage = z.strictObject({ id });

/** Input of `retryAlertMessage`. */
export const RetryMessage = z
  .strictObject({ id, alertId: idOf('alert that the message must belong to').nullish() })
  .meta({ description: 'The message of a certificate alert, by ID.' });

/** Input of `retryAlertMessages`. */
export const RetryMessages = z
  .strictObject({
    projectId: idOf('project'),
    alertId: idOf('ID of a certificate alert of the project: only its messages.').nullish(),
    ...RETRIED,
  })
  .meta({ description: 'Which failed and cancelled messages of certificate alerts to retry.' });

/** Input of `testCertificateAlert`. */
export const TestAlert = z
  .strictObject({
    id: alertId,
    channelId: idOf('ID of the channel to test, which may be disabled. Absent: all enabled channels.').nullish(),
    mustBeAccepted: z.boolean().default(false).meta({
      description:
        'Whether to fail if a target does not accept the test. If false, failures are reported in `results`.',
    }),
  })
  .meta({ description: 'The certificate alert to test, by ID.' });

const { eventType, alertBefore, filters } = CONTENT;

/** Arguments of `CertificateAlert.certificates`. */
export const MatchPage = z.strictObject(boundedPageRules);

/** Arguments of `certificateAlertMatches`. */
export const ListMatches = MatchPage.extend({ offset, alertId: idOf('certificate alert') });

/** Arguments of `previewCertificateAlert`. */
export const PreviewAlert = MatchPage.extend({
  offset,
  projectId: idOf('ID of the project. It must be of type `cert-manager`.'),
  filters,
  alertBefore,
  eventType: eventType.default('expiration').meta({
    description: 'Event that the alert would notify of. `alertBefore` is ignored unless it is the expiration.',
  }),
});

/** Arguments of `alertDecisions`. */
export const ListDecisions = z.strictObject({
  certificateId: idOf('certificate or certificate authority'),
  ...pageRules,
});
