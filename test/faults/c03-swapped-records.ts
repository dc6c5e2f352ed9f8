import { isDeepStrictEqual } from 'node:util';
import type { Caller } from '../kit/caller.ts';
import { mustSucceed } from '../kit/caller.ts';
import type { SeededProject } from '../kit/seed.ts';
import { withClient } from '../kit/tables.ts';
import { type Check, expectThat, repeat } from './check.ts';
import { type Installation, withInstallation } from './installation.ts';

const PARTS = ['value', 'comment', 'metadata'] as const;
type Part = (typeof PARTS)[number];

/** Secrets of one project, as its admin knows them. */
interface Vault {
  readonly admin: Caller;
  readonly project: SeededProject;
  /** Ids by key. */
  readonly ids: ReadonlyMap<string, string>;
}

/** A part of a secret that must not open any more, as `key/part`. */
type Expected = readonly (readonly [Vault, readonly string[]])[];

const KEYS = ['A', 'B', 'C', 'D', 'E'];
const at = ({ project }: Pick<Vault, 'project'>) => ({ projectId: project.id, environment: 'dev', secretPath: '/' });
const textOf = ({ project }: Pick<Vault, 'project'>, key: string, part: Part): string =>
  `${part} of ${key} in ${project.id}`;
const idOf = ({ ids }: Vault, key: string): string => ids.get(key) as string;

async function fill(admin: Caller, project: SeededProject): Promise<Vault> {
  const secrets = KEYS.map((secretKey) => ({
    secretKey,
    secretValue: textOf({ project }, secretKey, 'value'),
    secretComment: textOf({ project }, secretKey, 'comment'),
    secretMetadata: [{ key: 'k', value: textOf({ project }, secretKey, 'metadata'), isEncrypted: true }],
  }));
  const reply = mustSucceed(await admin.post('/api/v4/secrets/batch', { ...at({ project }), secrets }));
  const created = reply.body.secrets as { id: string; secretKey: string }[];
  return { admin, project, ids: new Map(created.map(({ id, secretKey }) => [secretKey, id])) };
}

/** Two projects of one organization, and one of another. */
interface Scene {
  readonly home: Vault;
  readonly sibling: Vault;
  readonly foreign: Vault;
  sql(text: string, params: readonly unknown[]): Promise<Record<string, unknown>[]>;
}

async function makeScene(installation: Installation): Promise<Scene> {
  const seed = await installation.seed();
  const { admin, project } = await seed.project();
  const other = await seed.project();
  const url = await installation.databaseUrl();
  return {
    home: await fill(admin, project),
    sibling: await fill(admin, await seed.projectOf(admin)),
    foreign: await fill(other.admin, other.project),
    sql: (text, params) => withClient(url, async (client) => (await client.query(text, [...params])).rows),
  };
}

/** Swaps one part of two rows. */
async function swap({ sql }: Scene, part: Part, one: string, other: string): Promise<void> {
  const column = `${part}_sealed`;
  const rows = await sql(
    `update secret s set ${column} = o.${column} from secret o
      where (s.id = $1 and o.id = $2) or (s.id = $2 and o.id = $1) returning s.id`,
    [one, other],
  );
  expectThat(rows.length === 2, `${rows.length} rows were swapped`);
}

const between =
  (other: 'sibling' | 'foreign') =>
  async (scene: Scene, part: Part): Promise<Expected> => {
    await swap(scene, part, idOf(scene.home, 'A'), idOf(scene[other], 'A'));
    return [
      [scene.home, [`A/${part}`]],
      [scene[other], [`A/${part}`]],
    ];
  };

/** The kinds of swap. Each answers what must not open afterwards; all else must. */
const SWAPS: Readonly<Record<string, (scene: Scene, part: Part) => Promise<Expected>>> = {
  rows: async (scene, part) => {
    await swap(scene, part, idOf(scene.home, 'A'), idOf(scene.home, 'B'));
    return [[scene.home, [`A/${part}`, `B/${part}`]]];
  },
  columns: async (scene, part) => {
    const other = PARTS[(PARTS.indexOf(part) + 1) % PARTS.length] as Part;
    await scene.sql(
      `update secret set ${part}_sealed = ${other}_sealed, ${other}_sealed = ${part}_sealed where id = $1`,
      [idOf(scene.home, 'A')],
    );
    return [[scene.home, [`A/${part}`, `A/${other}`].sort()]];
  },
  projects: between('sibling'),
  organizations: between('foreign'),
  versions: async (scene, part) => {
    const { home, sql } = scene;
    const column = `${part}_sealed`;
    const [older] = await sql(`select ${column} as sealed from secret where id = $1`, [idOf(home, 'A')]);
    for (const key of ['A', 'B']) {
      const secretValue = textOf(home, key, 'value');
      mustSucceed(await home.admin.patch(`/api/v4/secrets/${key}`, { ...at(home), secretValue }));
    }
    await sql(`update secret set ${column} = $2 where id = $1`, [idOf(home, 'A'), older?.sealed]);
    await sql('update secret set version = 1 where id = $1', [idOf(home, 'B')]);
    return [[home, [`A/${part}`, ...PARTS.map((each) => `B/${each}`).sort()]]];
  },
};

/** What the list says of a vault: the texts that it shows, and the parts that it names as unreadable, as `key/part`. */
async function seen({ admin, project, ids }: Vault): Promise<{ shown: Record<string, unknown>; named: string[] }> {
  const data = await admin.data(
    `query ($p: ID!) { secrets(projectId: $p, environment: "dev") {
      nodes { secretKey secretValue secretComment secretMetadata { value } } readIssues { secretId reason } } }`,
    { p: project.id },
  );
  const shown: Record<string, unknown> = {};
  for (const { secretKey, secretValue, secretComment, secretMetadata } of data.secrets.nodes) {
    shown[`${secretKey}/value`] = secretValue;
    shown[`${secretKey}/comment`] = secretComment;
    shown[`${secretKey}/metadata`] = secretMetadata[0].value;
  }
  const keyOf = (secretId: string): string => [...ids].find(([, id]) => id === secretId)?.[0] ?? 'unknown';
  const named = (data.secrets.readIssues as { secretId: string; reason: string }[]).map(
    ({ secretId, reason }) => `${keyOf(secretId)}/${reason.replace('_DOES_NOT_OPEN', '').toLowerCase()}`,
  );
  return { shown, named: named.sort() };
}

/** Judges one vault and answers how many of its parts were shown rightly. */
async function judge(vault: Vault, unreadable: readonly string[], kind: string): Promise<number> {
  const { shown, named } = await seen(vault);
  expectThat(isDeepStrictEqual(named, unreadable), `${kind}: named are ${named}, wanted ${unreadable}`);
  const places = KEYS.flatMap((key) => PARTS.map((part) => ({ key, part, place: `${key}/${part}` })));
  for (const { key, part, place } of places) {
    const wanted = unreadable.includes(place) ? null : textOf(vault, key, part);
    expectThat(shown[place] === wanted, `${kind}: ${place} is not shown as it must be`);
  }
  const rest = await vault.admin.get(`/api/v4/secrets?projectId=${vault.project.id}&environment=dev`);
  const header = rest.headers['x-unreadable-values'] ?? '0';
  expectThat(rest.status === 200, `${kind}: the list is answered ${rest.status}`);
  expectThat(header === String(unreadable.length), `${kind}: X-Unreadable-Values is ${header}`);
  for (const key of new Set(unreadable.map((place) => place.slice(0, 1)))) {
    const { status, body } = await vault.admin.get(`/api/v4/secrets/id/${idOf(vault, key)}`);
    expectThat(status === 503 && body.code === 'SEALED_VALUE_INVALID', `${kind}: alone it is answered ${status}`);
  }
  return places.length - unreadable.length;
}

export const check: Check = {
  id: 'C03',
  title: 'swapped ciphertexts',
  fullTimes: 20,
  needsQuiet: true,
  run: (times) =>
    withInstallation(async (installation) => {
      let withheld = 0;
      let right = 0;
      await repeat(times, async () => {
        for (const [kind, make] of Object.entries(SWAPS)) {
          for (const part of PARTS) {
            const scene = await makeScene(installation);
            const expected = new Map(await make(scene, part));
            for (const vault of [scene.home, scene.sibling, scene.foreign]) {
              const unreadable = expected.get(vault) ?? [];
              right += await judge(vault, unreadable, `${kind}, ${part}`);
              withheld += unreadable.length;
            }
          }
        }
      });
      return `${Object.keys(SWAPS).length} kinds of swap, ${withheld} withheld and named, 0 wrong values, ${right} others right`;
    }),
};
