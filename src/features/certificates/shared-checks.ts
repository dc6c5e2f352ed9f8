import { validationFailed } from '../../kernel/validation.js';
import type { ProjectAccess } from '../projects/public.js';

const PROJECT_TYPE = 'cert-manager';

/** @throws VALIDATION_FAILED (WRONG_PROJECT_TYPE) unless the project is for certificates */
export function refuseOtherType({ type }: ProjectAccess): void {
  if (type === PROJECT_TYPE) return;
  throw validationFailed([
    { path: 'projectId', code: 'WRONG_PROJECT_TYPE', message: `must be a project of type ${PROJECT_TYPE}` },
  ]);
}
