export { SEALED_WEBHOOKS } from './engine/target-sealing.js';
