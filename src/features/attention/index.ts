import type { Feature } from '../../feature.js';
import { ATTENTION_GAUGES } from './gauges.js';

/** What needs a person, over all slices. */
export const createAttention = (): Feature => ({ entities: [], resolvers: [], routes: [], gauges: ATTENTION_GAUGES });
