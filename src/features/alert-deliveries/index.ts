import type { Feature } from '../../feature.js';
import { AlertDelivery, AlertMessage } from './delivery.entity.js';
import { DUE_JOBS } from './due.service.js';
import { type Senders, SendService } from './send.service.js';

/**
 * What alerts about certificates notify of, and how it is sent.
 *
 * @param deps `senders`: by the kind of a channel
 */
export const createAlertDeliveries = ({ senders }: { readonly senders: Senders }): Feature => ({
  entities: [AlertMessage, AlertDelivery],
  resolvers: [],
  routes: [],
  jobs: [...DUE_JOBS, new SendService(senders).job],
});
