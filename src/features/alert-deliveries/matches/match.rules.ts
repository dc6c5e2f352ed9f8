import { z } from 'zod';
import { boundedPageRules, pageRules } from '../../../kernel/paging.js';
import { idOf } from '../../../kernel/text-rules.js';
import { CONTENT, offset } from '../../alerts/public.js';

const { eventType, alertBefore, filters } = CONTENT;

/** Arguments of `CertificateAlert.certificates`. */
export const MatchPage = z.strictObject({ ...boundedPageRules, offset });

/** Arguments of `certificateAlertMatches`. */
export const ListMatches = MatchPage.extend({ alertId: idOf('certificate alert') });

/** Arguments of `previewCertificateAlert`. */
export const PreviewAlert = MatchPage.extend({
  projectId: idOf('The project, of the type `cert-manager`.'),
  filters,
  alertBefore,
  eventType: eventType.default('expiration').meta({
    description: 'Which event it would notify of. Of others than expiration `alertBefore` has no effect.',
  }),
});

/** Arguments of `alertDecisions`. */
export const ListDecisions = z.strictObject({
  certificateId: idOf('The certificate, or a certificate authority.'),
  ...pageRules,
});
