import type { Feature } from '../../feature.js';
import type { Notifier } from '../notifications/public.js';
import { AlertDelivery, AlertMessage } from './delivery.entity.js';
import { DUE_JOBS } from './due.service.js';
import { SendService } from './send.service.js';

/**
 * What alerts about certificates notify of, and how it is sent.
 *
 * @param deps `notifier`: makes one attempt at a target
 */
export const createAlertDeliveries = ({ notifier }: { readonly notifier: Notifier }): Feature => ({
  entities: [AlertMessage, AlertDelivery],
  resolvers: [],
  routes: [],
  jobs: [...DUE_JOBS, new SendService(notifier).job],
});
