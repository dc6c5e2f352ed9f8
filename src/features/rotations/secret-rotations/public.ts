export { credentialsLeftOf } from './debts/left-credentials.js';
export { ROTATION_STATUSES } from './store/rotation.entity.js';
export { listAccountOwners, listConnectionHolds, listConnectionUses } from './store/rotation.queries.js';
export { SEALED_ROTATIONS } from './store/sealing.js';
