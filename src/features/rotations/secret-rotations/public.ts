export { listCredentialsLeftInProject } from './revocations/live-credentials.js';
export { ROTATION_STATUSES } from './store/rotation.entity.js';
export { listAccountOwners, listConnectionHolds, listConnectionUses } from './store/rotation.sql.js';
export { SEALED_ROTATIONS } from './store/sealing.js';
