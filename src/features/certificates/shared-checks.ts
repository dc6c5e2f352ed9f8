import { AppError, type ErrorDetail } from '../../kernel/errors.js';
import { validationFailed } from '../../kernel/validation.js';
import type { ProjectAccess } from '../projects/public.js';

const PROJECT_TYPE = 'cert-manager';

/** @throws VALIDATION_FAILED (WRONG_PROJECT_TYPE) unless the project has certificates */
export function refuseOtherType({ type }: ProjectAccess): void {
  if (type === PROJECT_TYPE) return;
  throw validationFailed([
    { path: 'projectId', code: 'WRONG_PROJECT_TYPE', message: `must be a project of the type ${PROJECT_TYPE}` },
  ]);
}

/** @throws CONCURRENT_CHANGE that names the present version */
export function refuseOtherVersion(version: number, expected: number | null | undefined): void {
  if (expected == null || expected === version) return;
  throw new AppError('CONCURRENT_CHANGE', `This is at version ${version}; read it again and retry.`, {
    details: [{ path: 'expectedVersion', code: 'CONCURRENT_CHANGE', message: `must be ${version}` }],
  });
}

/** @throws VALIDATION_FAILED with these faults, where there are any */
export function refuse(faults: readonly ErrorDetail[]): void {
  if (faults.length > 0) throw validationFailed(faults);
}
