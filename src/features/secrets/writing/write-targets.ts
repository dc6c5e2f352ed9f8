import { LRUCache } from 'lru-cache';
import { type Context, isTransaction } from '../../../kernel/context.js';
import { AppError } from '../../../kernel/errors.js';
import type { ProjectReader } from '../../projects/public.js';
import { type FoundPlace, loadPlace } from '../core/load-place.js';
import { type Batch, loadWriteTarget, type WriteAction, type WriteTarget } from '../core/write-target.js';
import type { Place } from '../scope/place.rules.js';

/** Characters of the names of all locations that are remembered. */
const MAX_LENGTH = 2_000_000;

const nameOf = ({ projectId, environment, secretPath }: Place): string =>
  `${projectId.toLowerCase()} ${environment} ${secretPath}`;

/** Remembers which environments and folders the names of locations mean: most writes go to few of them. */
export class WriteTargets {
  readonly #known = new LRUCache<string, FoundPlace>({
    maxSize: MAX_LENGTH,
    sizeCalculation: (_place, name) => name.length,
  });

  constructor(private readonly projects: ProjectReader) {}

  /**
   * Does work at a location.
   *
   * @param work fails where its folder or environment has another name by now: then it is done again at what has the name
   * @throws PROJECT_NOT_FOUND, PERMISSION_DENIED, ENVIRONMENT_NOT_FOUND, FOLDER_NOT_FOUND, and whatever `work` throws
   */
  async at<T>(ctx: Context, batch: Batch, action: WriteAction, work: (target: WriteTarget) => Promise<T>): Promise<T> {
    if (isTransaction(ctx)) return work(await loadWriteTarget(ctx, this.projects, batch, action));
    const known = this.#known.get(nameOf(batch.place));
    const find = known === undefined ? this.#find : async () => known;
    const target = await loadWriteTarget(ctx, this.projects, batch, action, find);
    try {
      return await work(target);
    } catch (error) {
      if (!(error instanceof AppError) || error.status >= 500) throw error;
      if (known === undefined && error.code !== 'CONCURRENT_CHANGE') throw error;
      const found = await this.#find(ctx, batch.place);
      if (found.folderId === target.folderId) throw error;
      return work({ ...target, ...found });
    }
  }

  readonly #find = async (ctx: Context, place: Place): Promise<FoundPlace> => {
    this.#known.delete(nameOf(place));
    const found = await loadPlace(ctx, place);
    this.#known.set(nameOf(place), found);
    return found;
  };
}
