import * as z from 'zod';
import { integer } from '../../../kernel/value-rules.js';
import { boundedPaging, paging, queryInteger, type Route, routesAt } from '../../../rest/route.js';
import { PreviewAlert } from './alert-delivery.rules.js';

// A search may end before its page is full: then there is a next page all the same.
const matches = routesAt('/api/v1/cert-manager/alerts', { select: 'id: subjectId *', as: 'certificates' });

const { projectId, filters, alertBefore, eventType } = PreviewAlert.shape;

const PreviewBody = z.strictObject({
  projectId,
  filters,
  alertBefore,
  eventType,
  limit: integer(1, 1_000).default(100).meta({ description: 'Number of certificates, 1 to 1000.' }),
  offset: integer(0, 10_000).default(0).meta({ description: 'Number of certificates to skip, 0 to 10000.' }),
  cursor: paging.cursor,
});

const PageQuery = z.strictObject({
  ...boundedPaging,
  offset: queryInteger(0, 10_000).optional().meta({ description: 'Number of certificates to skip, 0 to 10000.' }),
});

/** Certificates that alerts apply to. */
export const matchRoutes: readonly Route[] = [
  matches.post('/preview/certificates', 'Preview the certificates that an alert would match', {
    field: 'previewCertificateAlert',
    reads: true,
    beside: 'total: totalCount',
    body: PreviewBody,
    example: {
      projectId: '6f1c2a60-5a3e-4c52-9f43-6f4b8f0f2f11',
      filters: [{ field: 'common_name', operator: 'ends_with', value: '.example.com' }],
      alertBefore: '30d',
    },
    errors: ['PROJECT_NOT_FOUND'],
  }),
  matches.get('/{alertId}/certificates', 'List the certificates that an alert matches, next to expire first', {
    field: 'certificateAlertMatches',
    beside: 'total: totalCount',
    query: PageQuery,
    errors: ['CERTIFICATE_ALERT_NOT_FOUND'],
  }),
];
