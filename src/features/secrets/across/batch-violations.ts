import { PermissionDenied } from '../../../kernel/authz/ability.js';
import { AppError, type ErrorDetail } from '../../../kernel/errors.js';

/**
 * Runs a check for each of several items, and reports the violations of all at once: those with the code of the first.
 *
 * @throws AppError
 */
export async function checkEach<T>(items: readonly T[], check: (item: T) => Promise<void> | void): Promise<void> {
  const errors: AppError[] = [];
  for (const item of items) {
    try {
      await check(item);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      errors.push(error);
    }
  }
  const [first, ...others] = errors;
  if (first === undefined) return;
  const alike = others.filter(({ code }) => code === first.code);
  // The message of a denial is worded per interface when it is sent.
  if (alike.length === 0 || first instanceof PermissionDenied) throw first;
  throw new AppError(first.code, first.message, { details: [first, ...alike].flatMap(({ details = [] }) => details) });
}

/**
 * Checks rules for each of several items of a request, and rejects with the paths of all denied ones.
 *
 * @param pathOf the path of an item in the request
 * @throws PERMISSION_DENIED
 */
export function authorizeEach<T>(
  items: readonly T[],
  pathOf: (item: T) => string,
  authorizeOne: (item: T) => void,
): void {
  const denied = items.flatMap((item) => {
    try {
      authorizeOne(item);
      return [];
    } catch (error) {
      if (!(error instanceof PermissionDenied)) throw error;
      return [{ attempt: error.attempt, path: pathOf(item) }];
    }
  });
  const [first] = denied;
  if (first === undefined) return;
  const reasons = denied.map(({ attempt, path }) => ({ path, needs: attempt.action, about: 'is a secret that' }));
  throw new PermissionDenied(first.attempt, [], reasons);
}

/** @throws AppError with this code and these details, when there are any */
export function refuseWith(
  code: 'SECRET_NOT_FOUND' | 'SECRET_VERSION_DIFFERS' | 'SECRET_KEY_TAKEN',
  details: readonly ErrorDetail[],
): void {
  if (details.length > 0) throw new AppError(code, undefined, { details });
}
