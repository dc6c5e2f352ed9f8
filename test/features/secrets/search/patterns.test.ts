import { randomUUID } from 'node:crypto';
import { likePattern, matchGlob } from '../../../../src/features/secrets/scope/glob.rules.js';
import { findMatchingKeys, type MatchingKeys } from '../../../../src/features/secrets/search/pattern.sql.js';
import type { Context } from '../../../../src/kernel/context.js';
import fc from '../../../kit/properties.js';
import { useSharedStrongroom } from '../../../kit/strongroom.js';

const KEYS = 'A AB ABC AC B BA BAC BB C CA CAB CAC D DA'.split(' ');
const PATTERNS = ['*A', '*B*', 'A*C', '?', 'B?', '*X*', 'C*?'];
const PROJECTS = 2;
const FOLDERS = 3;
/** Of them the caller may see all but the last two: one in a project that it sees in part, and the only one of the last project. */
const FOLDERS_IN_ALL = PROJECTS * FOLDERS + 2;

/** Keys of each folder. */
const contents = fc.array(fc.uniqueArray(fc.constantFrom(...KEYS)), {
  minLength: FOLDERS_IN_ALL,
  maxLength: FOLDERS_IN_ALL,
});
const HIDDEN: readonly number[] = [FOLDERS_IN_ALL - 2, FOLDERS_IN_ALL - 1];

/** Where the caller may see secrets. */
const BOUNDS = ['in few folders', 'in many folders', 'in part'] as const;
/** With these there are so many folders that none is looked through by itself. */
const UNKNOWN: readonly string[] = Array.from({ length: 1_000 }, () => randomUUID());

const regExpOf = (glob: string): RegExp => new RegExp(`^${glob.replaceAll('*', '.*').replaceAll('?', '.')}$`);

describe('the keys that match a pattern, among few entries at once', () => {
  const strongroom = useSharedStrongroom();
  let organizationId: string;
  let projectIds: readonly string[];
  let folders: readonly { readonly id: string; readonly projectId: string; readonly environmentId: string }[];

  beforeAll(async () => {
    const { admin, organization } = await strongroom.seed.organization();
    organizationId = organization.id;
    const ids: string[] = [];
    for (let made = 0; made <= PROJECTS; made += 1) ids.push((await strongroom.seed.projectOf(admin)).id);
    projectIds = ids;
    const places = [0, 0, 0, 1, 1, 1, 1, 2];
    folders = await Promise.all(
      places.map(async (project, at) => {
        const [folder] = await strongroom.sql<{ id: string; projectId: string; environmentId: string }>(
          `insert into folder (id, organization_id, project_id, environment_id, parent_id, name, path)
           select gen_random_uuid(), f.organization_id, f.project_id, f.environment_id, f.id, $2, '/' || $2
           from folder f join environment e on e.id = f.environment_id
           where f.project_id = $1 and e.slug = 'dev' and f.path = '/'
           returning id, project_id as "projectId", environment_id as "environmentId"`,
          [ids[project], `f${at}`],
        );
        return folder as NonNullable<typeof folder>;
      }),
    );
  });

  const fill = async (keys: readonly (readonly string[])[]): Promise<void> => {
    await strongroom.sql('delete from secret where organization_id = $1', [organizationId]);
    const rows = folders.flatMap((folder, at) => (keys[at] ?? []).map((key) => ({ ...folder, key })));
    await strongroom.sql(
      `insert into secret (id, organization_id, project_id, environment_id, folder_id, key, value_sealed, actor_kind, actor_id)
       select gen_random_uuid(), $1, r."projectId", r."environmentId", r.id, r.key, '', 'identity', $3
       from jsonb_to_recordset($2::jsonb) r ("projectId" uuid, "environmentId" uuid, id uuid, key text)`,
      [organizationId, JSON.stringify(rows), randomUUID()],
    );
  };

  /** All that is found, page by page, and the keys where it stopped. */
  const search = async (
    bounds: (typeof BOUNDS)[number],
    { glob, entries, limit }: { glob: string; entries: number; limit: number },
  ) => {
    const seen = folders.filter((_, at) => !HIDDEN.includes(at));
    const [open = ''] = projectIds;
    const isOpen = ({ projectId }: { projectId: string }): boolean => bounds === 'in part' && projectId === open;
    const folderIds = seen.filter((folder) => !isOpen(folder)).map(({ id }) => id);
    const question = {
      projectIds: projectIds.slice(0, PROJECTS),
      key: { ...matchGlob(glob), like: likePattern(glob) },
      bounds: {
        projectIds: bounds === 'in part' ? [open] : [],
        folderIds: bounds === 'in many folders' ? [...folderIds, ...UNKNOWN] : folderIds,
      },
      limit,
    };
    const query = (text: string, values?: unknown[]) => strongroom.sql(text, values);
    const ctx = Object.assign(query, { organizationId }) as unknown as Context;
    const found: string[] = [];
    const stops: string[] = [];
    for (let afterKey: string | null = null; ; ) {
      const { keys, reached }: MatchingKeys = await findMatchingKeys(ctx, { ...question, afterKey }, entries);
      found.push(...keys);
      if (reached === null) return { found, stops };
      expect(reached > (afterKey ?? '')).toBe(true);
      stops.push(reached);
      afterKey = reached;
    }
  };

  test.each(BOUNDS)(
    'are all found, each once and in order, and stop where they would without what is hidden (%s)',
    async (bounds) => {
      await fc.assert(
        fc.asyncProperty(
          contents,
          fc.constantFrom(...PATTERNS),
          fc.integer({ min: 1, max: 12 }),
          fc.integer({ min: 2, max: 6 }),
          async (keys, glob, entries, limit) => {
            const question = { glob, entries, limit };
            const shown = keys.map((list, at) => (HIDDEN.includes(at) ? [] : list));
            await fill(keys);
            const whole = await search(bounds, question);
            expect(whole.found).toEqual(
              [...new Set(shown.flat())].filter((key) => regExpOf(glob).test(key)).toSorted(),
            );
            await fill(shown);
            expect(await search(bounds, question)).toEqual(whole);
          },
        ),
        { numRuns: 60 },
      );
    },
  );
});
