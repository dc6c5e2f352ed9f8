import { mustSucceed } from '../../../kit/caller.js';
import { callerWithRules } from '../../../kit/rules.js';
import type { Caller, Reply, SharedStrongroom } from '../../../kit/strongroom.js';

export const SECRETS = '/api/v4/secrets';

/** `dev /app` imports `dev /lib`; `URL` of `/app` leads to `CORE` and `DEEP` of prod. */
export interface Scene {
  readonly admin: Caller;
  readonly user: Caller;
  /** Reads values of dev, except `SHY`, and nothing of prod. */
  readonly limited: Caller;
  readonly projectId: string;
  /** Ids by key, and keys by id. `OWN` is the user's own value of `DB`. */
  readonly ids: Map<string, string>;
  readonly at: Readonly<Record<'app' | 'lib' | 'prod', { projectId: string; environment: string; secretPath: string }>>;
}

/** Its keys have values that lead to each other. */
export async function makeScene(strongroom: SharedStrongroom): Promise<Scene> {
  const { admin, project } = await strongroom.seed.project();
  const projectId = project.id;
  const inDev = { projectId, environment: 'dev' };
  const at = {
    app: { ...inDev, secretPath: '/app' },
    lib: { ...inDev, secretPath: '/lib' },
    prod: { projectId, environment: 'prod', secretPath: '/' },
  };
  for (const name of ['app', 'lib']) mustSucceed(await admin.post('/api/v2/folders', { ...inDev, name }));
  const source = { environment: 'dev', path: '/lib' };
  mustSucceed(await admin.post('/api/v2/secret-imports', { ...inDev, path: '/app', import: source }));
  const ids = new Map<string, string>();
  const make = async (caller: Caller, key: string, body: object, name = key): Promise<void> => {
    const { secret } = mustSucceed(await caller.post(`${SECRETS}/${key}`, body)).body;
    ids.set(name, secret.id);
  };
  await make(admin, 'DEEP', { ...at.prod, secretValue: 'deep' });
  await make(admin, 'CORE', { ...at.prod, secretValue: '<${DEEP}>' });
  await make(admin, 'DB', { ...at.app, secretValue: 'db' });
  await make(admin, 'URL', { ...at.app, secretValue: '${DB}/${prod.CORE}' });
  await make(admin, 'SHY', { ...at.app, secretValue: 'shy ${SHY}' });
  await make(admin, 'LIB', { ...at.lib, secretValue: 'lib' });
  await make(admin, 'LIBREF', { ...at.lib, secretValue: '${LIB} ${GONE}' });
  await make(admin, 'DB', { ...at.lib, secretValue: 'beaten' }, 'LIBDB');
  const user = await strongroom.seed.user(admin, { project: projectId, projectRoles: ['member'] });
  await make(user, 'DB', { ...at.app, type: 'personal', secretValue: 'mine ${LIB} ${dev.lib.LIB}' }, 'OWN');
  const { caller: limited } = await callerWithRules(
    strongroom,
    admin,
    projectId,
    {
      subject: 'secrets',
      action: ['describeSecret', 'readValue', 'edit', 'create'],
      conditions: { environment: 'dev' },
    },
    { subject: 'secrets', action: ['readValue'], inverted: true, conditions: { secretName: 'SHY' } },
  );
  return { admin, user, limited, projectId, ids, at };
}

/**
 * What the records that `work` left say was disclosed: an action, and names of secrets, one line a record. The service itself leaves some
 * at each hour.
 */
export async function disclosedBy(
  strongroom: SharedStrongroom,
  { ids }: Pick<Scene, 'ids'>,
  work: () => Promise<Reply>,
): Promise<{ reply: Reply; records: string[] }> {
  const [last] = await strongroom.sql('select coalesce(max(sequence), 0) as sequence from audit_record');
  const reply = await work();
  const rows = await strongroom.sql<{ action: string; ids: string[] | null }>(
    `select action, case octet_length(disclosed) when 16 then array[encode(disclosed, 'hex')::uuid]
       when 32 then (select d.ids from audit_disclosure d where d.digest = disclosed) end as ids
     from audit_record where sequence > $1 and actor_kind <> 'system' order by sequence`,
    [last?.sequence],
  );
  const names = new Map([...ids].map(([name, id]) => [id, name]));
  const records = rows.map(({ action, ids: named }) =>
    [action, ...(named ?? []).map((id) => names.get(id) ?? id).sort()].join(' '),
  );
  return { reply, records: records.sort() };
}

/** A GraphQL document, sent by a caller. */
export const graphql =
  (query: string, variables: (scene: Scene) => object = ({ projectId }) => ({ id: projectId })) =>
  (caller: Caller, scene: Scene): Promise<Reply> =>
    caller.graphql(query, variables(scene) as Record<string, unknown>);

/** A GET of a path below the secrets. */
export const get =
  (path: string, place: keyof Scene['at'], query: Readonly<Record<string, string>> = {}) =>
  (caller: Caller, { at }: Scene): Promise<Reply> =>
    caller.get(`${SECRETS}${path}?${new URLSearchParams({ ...at[place], ...query })}`);

/** The id of a secret, as the variable of a document. */
export const idOf =
  (name: string) =>
  ({ ids }: Scene): object => ({ id: ids.get(name) });
