import * as z from 'zod';
import { bodyOf, paging, type Route, routesAt } from '../../../rest/route.js';
import { GiveUpDebts } from './rotation.rules.js';
import { ATTEMPT, DEBT, PATH } from './rotation-selection.js';

const at = routesAt(`${PATH}/credential-debts`, { select: DEBT });

/** Credentials that are still to be revoked. */
export const debtRoutes: Route[] = [
  at.get('', 'List credentials that are still to be revoked', {
    field: 'credentialDebts',
    query: z.strictObject({
      projectId: z.string().optional().meta({ description: 'ID of a project: only its credentials.' }),
      connectionId: z
        .string()
        .optional()
        .meta({ description: 'ID of an app connection: only credentials that were created with it.' }),
      ...paging,
    }),
    errors: ['PROJECT_NOT_FOUND'],
  }),
  at.post('/give-up', 'Stop revoking credentials', {
    field: 'giveUpCredentialDebts',
    body: bodyOf(GiveUpDebts),
    example: { ids: ['0f9f4d3e-2a55-4c0e-9d8e-5f0a6a0b1c22'] },
    errors: ['CREDENTIAL_DEBT_NOT_FOUND'],
  }),
];

/** Attempts to rotate. */
export const attemptRoutes: Route[] = [
  routesAt(`${PATH}/attempts`, { select: `attempt { ${ATTEMPT} } credentialDebts { ${DEBT} }` }).post(
    '/{attemptId}/cancel',
    'Cancel an attempt to rotate',
    {
      field: 'cancelSecretRotationAttempt',
      errors: ['SECRET_ROTATION_ATTEMPT_NOT_FOUND', 'ROTATION_ATTEMPT_BEGUN'],
    },
  ),
];
