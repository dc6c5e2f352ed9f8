import * as z from 'zod';
import { boundedPageRules, pageRules } from '../../../../kernel/paging.js';
import { idOf } from '../../../../kernel/text-rules.js';
import { CONTENT, offset } from '../../alerts/public.js';

const { eventType, alertBefore, filters } = CONTENT;

/** Arguments of `CertificateAlert.certificates`. */
export const MatchPage = z.strictObject({ ...boundedPageRules, offset });

/** Arguments of `certificateAlertMatches`. */
export const ListMatches = MatchPage.extend({ alertId: idOf('certificate alert') });

/** Arguments of `previewCertificateAlert`. */
export const PreviewAlert = MatchPage.extend({
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
