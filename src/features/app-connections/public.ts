export { DatatoolClient } from './datatool/datatool-client.js';
export { TargetFailure } from './kind/target-failure.js';
