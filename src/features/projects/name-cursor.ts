import { AppError } from '../../kernel/errors.js';
import { decodeCursor } from '../../kernel/graphql/page.js';
import { isId } from '../../kernel/ids.js';

/**
 * Where a list by name, then id, goes on.
 *
 * @returns name and id of the last row seen; null for the first page
 * @throws VALIDATION_FAILED for a text that is no cursor of such a list
 */
export function afterNameAndId(after: string | null | undefined): readonly [name: string, id: string] | null {
  if (after == null) return null;
  const [name = '', id = ''] = decodeCursor(after, 2);
  // The id goes into a uuid parameter: whoever makes up a cursor gets a fault, not a failed cast.
  if (isId(id) && !name.includes('\u0000')) return [name, id];
  throw new AppError('VALIDATION_FAILED', undefined, {
    details: [{ path: 'after', code: 'INVALID_CURSOR', message: 'must be a cursor that this list gave out' }],
  });
}
