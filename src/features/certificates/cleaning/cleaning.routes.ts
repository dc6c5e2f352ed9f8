import { bodyOf, routesAt } from '../../../rest/route.js';
import { UpdateCleaning } from './cleaning.rules.js';

const cleaning = routesAt('/api/v1/cert-manager/certificate-cleaning', { select: 'daysAfterExpiry' });
const NOT_FOUND = ['PROJECT_NOT_FOUND'] as const;

/** Whether expired certificates are deleted, beyond the specification. */
export const cleaningRoutes = [
  cleaning.get('/{projectId}', 'Get the cleanup of expired certificates', {
    field: 'certificateCleaning',
    errors: NOT_FOUND,
  }),
  cleaning.patch('/{projectId}', 'Update the cleanup of expired certificates', {
    field: 'updateCertificateCleaning',
    body: bodyOf(UpdateCleaning, 'projectId'),
    errors: NOT_FOUND,
    example: { daysAfterExpiry: 90 },
  }),
];
