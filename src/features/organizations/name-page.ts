import { AppError } from '../../kernel/errors.js';
import { decodeCursor, type PageRequest } from '../../kernel/graphql/page.js';
import { isId } from '../../kernel/ids.js';

/**
 * Bounds of a list by name, then id: the name and id to start after (null: from the top), and how many rows to read, one
 * more than wanted so that the page knows whether there are more (null: all).
 *
 * @throws VALIDATION_FAILED for a text that is no cursor of such a list
 */
export function namePageBounds({
  first,
  after,
}: PageRequest): [name: string | null, id: string | null, limit: number | null] {
  const limit = first == null ? null : first + 1;
  if (after == null) return [null, null, limit];
  const [name = '', id = ''] = decodeCursor(after, 2);
  if (!isId(id) || name.includes('\0')) {
    throw new AppError('VALIDATION_FAILED', undefined, {
      details: [{ path: 'after', code: 'INVALID_CURSOR', message: 'must be a cursor that this list gave out' }],
    });
  }
  return [name, id, limit];
}
