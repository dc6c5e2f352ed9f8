import * as z from 'zod';
import { boundedPageRules } from '../../../kernel/paging.js';
import { idOf } from '../../../kernel/text-rules.js';
import { REQUEST_KINDS, REQUEST_STATES } from './request.entity.js';

export const requestKind = z.enum(REQUEST_KINDS);
export const requestState = z.enum(REQUEST_STATES);

/** Arguments of `certificateRequests`. */
export const ListRequests = z.strictObject({
  projectId: idOf('ID of the project. It must be of type `cert-manager`.'),
  state: requestState.nullish().meta({ description: 'Only requests in this state.' }),
  kind: requestKind.nullish().meta({ description: 'Only requests of this kind.' }),
  certificateId: idOf('ID of a certificate: only the request that issued it and requests to renew it.').nullish(),
  ...boundedPageRules,
});

/** Arguments of `certificateRequest`. */
export const OneRequest = z.strictObject({ id: idOf('certificate request') });
