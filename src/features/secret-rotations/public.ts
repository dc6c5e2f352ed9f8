export { credentialsLeftOf } from './debts/left-credentials.js';
export { ROTATION_STATUSES } from './store/rotation.entity.js';
export { listConnectionUses } from './store/rotation.queries.js';
export { listAccountOwners, listConnectionHolds } from './store/rotation.sql.js';
export { SEALED_ROTATIONS } from './store/sealing.js';
