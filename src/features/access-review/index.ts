import type { Feature } from '../../feature.js';
import { AccessHistory } from './access-history.entity.js';

/** Who may do what, and who could. */
export const createAccessReview = (): Feature => ({ entities: [AccessHistory], resolvers: [], routes: [] });
