import { randomUUID } from 'node:crypto';
import { type Scanned, scanRows } from '../../../../src/features/secrets/scope/scan.js';
import type { Walk } from '../../../../src/features/secrets/search/pattern.sql.js';
import { likePattern, matchGlob } from '../../../../src/features/secrets/search/search.rules.js';
import { patternReader } from '../../../../src/features/secrets/search/search.service.js';
import {
  type FoundRow,
  type PatternCriteria,
  searchKeyOf,
} from '../../../../src/features/secrets/search/search.sql.js';
import type { Context } from '../../../../src/kernel/context.js';
import type { CursorKey } from '../../../../src/kernel/paging.js';
import fc from '../../../kit/properties.js';
import { rounds } from '../../../kit/scope.js';
import type { SeededProject } from '../../../kit/seed.js';
import { freshDatabase, Strongroom } from '../../../kit/strongroom.js';

const KEYS = 'A AB ABC AC B BA BAC BB C CA CAB CAC D DA a aB b_ b_C'.split(' ');
const PATTERNS = ['*A', '*B*', 'A*C', '?', 'B?', '*X*', 'C*?', 'b?*'];

/** A database that compares `a` before `B`, and `b_` before `BA`. */
const DICTIONARY = `template template0 encoding 'UTF8' locale 'C' locale_provider icu icu_locale 'en-US'`;

/** The project of each folder. The caller is a member of the first two. */
const PROJECTS = [0, 0, 0, 1, 1, 1, 2, 2] as const;
const isKnown = (folder: number): boolean => (PROJECTS[folder] as number) < 2;

/** Keys of each folder. */
const contents = fc.array(fc.uniqueArray(fc.constantFrom(...KEYS)), {
  minLength: PROJECTS.length,
  maxLength: PROJECTS.length,
});

const walks: fc.Arbitrary<Walk> = fc.record({
  projects: fc.constantFrom('few', 'many'),
  entries: fc.integer({ min: 1, max: 12 }),
  stepSize: fc.integer({ min: 1, max: 4 }),
  growth: fc.integer({ min: 1, max: 3 }),
});

const regExpOf = (glob: string): RegExp => new RegExp(`^${glob.replaceAll('*', '.*').replaceAll('?', '.')}$`);

describe('the keys that match a pattern, among few entries at once', () => {
  let strongroom: Strongroom;
  let organizationId: string;
  let projectIds: readonly string[];
  let slugs: readonly string[];
  let folders: readonly { readonly id: string; readonly projectId: string; readonly environmentId: string }[];

  beforeAll(async () => {
    strongroom = await Strongroom.start({ DATABASE_URL: await freshDatabase(DICTIONARY) });
    const { admin, organization } = await strongroom.seed.organization();
    organizationId = organization.id;
    const projects: SeededProject[] = [];
    for (const _ of new Set(PROJECTS)) projects.push(await strongroom.seed.projectOf(admin));
    projectIds = projects.map(({ id }) => id);
    slugs = projects.map(({ slug }) => slug);
    folders = await Promise.all(
      PROJECTS.map(async (project, at) => {
        const [folder] = await strongroom.sql<{ id: string; projectId: string; environmentId: string }>(
          `insert into folder (id, organization_id, project_id, environment_id, parent_id, name, path)
           select gen_random_uuid(), f.organization_id, f.project_id, f.environment_id, f.id, $2, '/' || $2
           from folder f join environment e on e.id = f.environment_id
           where f.project_id = $1 and e.slug = 'dev' and f.path = '/'
           returning id, project_id as "projectId", environment_id as "environmentId"`,
          [projectIds[project], `f${at}`],
        );
        return folder as NonNullable<typeof folder>;
      }),
    );
  });

  afterAll(() => strongroom?.stop());

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

  /** `KEY path` of all that is found, and where pages ended before they were full. */
  const search = async ({ glob, first, walk }: { glob: string; first: number; walk: Walk }) => {
    const query = (text: string, values?: unknown[]) => strongroom.sql(text, values);
    const ctx = Object.assign(query, { organizationId }) as unknown as Context;
    const criteria: PatternCriteria = {
      key: { ...matchGlob(glob), like: likePattern(glob) },
      ...{ path: null, environments: [], tagSlugs: [], metadata: [], secretIds: null },
      ...{ valueChangedBefore: null, updatedBefore: null },
      bounds: null,
    };
    const projects = projectIds.slice(0, 2).map((projectId, at) => ({ projectId, slug: slugs[at] as string }));
    const found: string[] = [];
    const stops: CursorKey[] = [];
    for (let after: CursorKey | null = null; ; ) {
      const source = {
        ...patternReader(ctx, projects, criteria, walk),
        see: (row: FoundRow) => row,
        keyOf: searchKeyOf,
      };
      const { rows, stoppedAt }: Scanned<FoundRow> = await scanRows({ first, after, isOpen: true }, source);
      const shown = rows.slice(0, first);
      found.push(...shown.map(({ key, path }) => `${key} ${path}`));
      if (rows.length > first) {
        after = searchKeyOf(shown.at(-1) as FoundRow);
        continue;
      }
      if (stoppedAt === null) return { found, stops };
      expect(after === null || (stoppedAt[0] as string) > (after[0] as string)).toBe(true);
      stops.push(stoppedAt);
      after = stoppedAt;
    }
  };

  test('are compared in a database whose own order is another one', async () => {
    const [row] = await strongroom.sql(`select 'a' < 'B' as "isOther"`);
    expect(row).toEqual({ isOther: true });
  });

  test('are all found, each once and in order, and stop where they would without those of others', async () => {
    await fc.assert(
      fc.asyncProperty(
        contents,
        fc.constantFrom(...PATTERNS),
        fc.integer({ min: 1, max: 6 }),
        walks,
        async (keys, glob, first, walk) => {
          const known = keys.map((list, at) => (isKnown(at) ? list : []));
          const matching = known.flatMap((list, at) =>
            list
              .filter((key) => regExpOf(glob).test(key))
              .map((key) => [key, slugs[PROJECTS[at] as number], `/f${at}`] as const),
          );
          const inOrder = matching.toSorted((one, other) => (one.join('\0') < other.join('\0') ? -1 : 1));
          await fill(keys);
          const whole = await search({ glob, first, walk });
          expect(whole.found).toEqual(inOrder.map(([key, , path]) => `${key} ${path}`));
          await fill(known);
          expect(await search({ glob, first, walk })).toEqual(whole);
        },
      ),
      { numRuns: rounds(150) },
    );
  });

  test('compares a key that is in many places a few times, and goes on with the next one', async () => {
    await fill(PROJECTS.map(() => ['A', 'B', 'CAB']));
    // Of each of the first two keys the caller knows six.
    const walk: Walk = { projects: 'many', entries: 6, stepSize: 2, growth: 1 };
    const { found, stops } = await search({ glob: '*A?', first: 100, walk });
    expect(found.map((place) => place.split(' ')[0])).toEqual(Array.from({ length: 6 }, () => 'CAB'));
    expect(stops).toEqual([]);
  });
});
