import { keyValueList } from '../../value-rules.js';

const DEFAULTS = { token: 20, organization: 200, node: 1_000 } as const;

/** How many event streams may be open at once: with one token, of one organization on a node, and on a node. */
export type StreamLimits = Readonly<Record<keyof typeof DEFAULTS, number>>;

/** Without `EVENT_STREAMS`. */
export const DEFAULT_STREAM_LIMITS: StreamLimits = DEFAULTS;

/** `EVENT_STREAMS`: `token=20,organization=200`. */
export const streamLimits = keyValueList<keyof typeof DEFAULTS>(DEFAULTS);
