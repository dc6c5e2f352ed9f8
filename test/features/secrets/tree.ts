import { mustSucceed } from '../../kit/caller.js';
import type { SeededProject } from '../../kit/seed.js';
import type { Caller, Reply, SharedStrongroom } from '../../kit/strongroom.js';

type Values = Readonly<Record<string, string>>;
type Parameters = Readonly<Record<string, string | number | boolean | undefined>>;

/** What tests look at of a secret in a list. */
export type Line = readonly [path: string, key: string, value: string];

/** A project with folders, secrets and imports, and lists of it as one caller gets them. */
export class Tree {
  #roles = 0;

  private constructor(
    private readonly strongroom: SharedStrongroom,
    readonly admin: Caller,
    readonly project: SeededProject,
  ) {}

  static async plant(strongroom: SharedStrongroom): Promise<Tree> {
    const { admin, project } = await strongroom.seed.project();
    return new Tree(strongroom, admin, project);
  }

  /** Makes a folder, and those above it. */
  async folder(path: string, environment = 'dev'): Promise<void> {
    const name = path.slice(path.lastIndexOf('/') + 1);
    const parent = path.slice(0, -name.length - 1) || '/';
    mustSucceed(
      await this.admin.post('/api/v2/folders', { projectId: this.project.id, environment, path: parent, name }),
    );
  }

  /** Makes secrets in a folder that is there. */
  async put(secretPath: string, values: Values, environment = 'dev'): Promise<void> {
    const secrets = Object.entries(values).map(([secretKey, secretValue]) => ({ secretKey, secretValue }));
    const place = { projectId: this.project.id, environment, secretPath };
    // Hundreds of them may take longer than a request may, while the machine does much else.
    const caller = secrets.length < 500 ? this.admin : this.admin.patient;
    mustSucceed(await caller.post('/api/v4/secrets/batch', { ...place, secrets }));
  }

  /** Lets a folder import others, after what it imports already. */
  async link(path: string, sources: readonly string[], from = 'dev'): Promise<void> {
    const place = { projectId: this.project.id, environment: 'dev', path };
    for (const source of sources) {
      const body = { ...place, import: { environment: from, path: source } };
      mustSucceed(await this.admin.post('/api/v2/secret-imports', body));
    }
  }

  /** An import that the interface refuses: one that closes a circle, or leaves the project. */
  async force(folderId: string, sourceFolderId: string): Promise<void> {
    await this.strongroom.sql(
      `insert into secret_import (id, organization_id, project_id, folder_id, source_folder_id, position)
       select gen_random_uuid(), f.organization_id, f.project_id, f.id, $2,
         (select count(*) + 1 from secret_import i where i.folder_id = f.id) from folder f where f.id = $1`,
      [folderId, sourceFolderId],
    );
    await this.touch();
  }

  /** A member of the project whose only role has these rules; a user, who can have own values, when that is said. */
  async reader(permissions: readonly object[], kind: 'caller' | 'user' = 'caller'): Promise<Caller> {
    this.#roles += 1;
    const slug = `reader-${this.#roles}`;
    const role = { slug, name: slug, permissions };
    mustSucceed(await this.admin.post(`/api/v1/projects/${this.project.id}/roles`, role));
    return this.strongroom.seed[kind](this.admin, { project: this.project.id, projectRoles: [slug] });
  }

  /** As every change of the interface does: what was read before is old. */
  async touch(): Promise<void> {
    await this.strongroom.sql('update project set revision = revision + 1 where id = $1', [this.project.id]);
  }

  async idOf(path: string, environment = 'dev'): Promise<string> {
    const [folder] = await this.strongroom.sql<{ id: string }>(
      'select f.id from folder f join environment e on e.id = f.environment_id where e.project_id = $1 and e.slug = $2 and f.path = $3',
      [this.project.id, environment, path],
    );
    if (folder === undefined) throw new Error(`there is no folder ${path}`);
    return folder.id;
  }

  list(parameters: Parameters = {}, caller = this.admin): Promise<Reply> {
    return caller.get(this.query('/api/v4/secrets', parameters));
  }

  get(key: string, parameters: Parameters = {}, caller = this.admin): Promise<Reply> {
    return caller.get(this.query(`/api/v4/secrets/${key}`, parameters));
  }

  /** Path and query of a route about dev, unless the parameters say otherwise. */
  query(path: string, parameters: Parameters): string {
    const all = Object.entries({ projectId: this.project.id, environment: 'dev', ...parameters }).filter(
      ([, value]) => value !== undefined,
    );
    return `${path}?${new URLSearchParams(all.map(([name, value]): [string, string] => [name, String(value)]))}`;
  }
}

// biome-ignore lint/suspicious/noExplicitAny: secrets of replies
export const lineOf = ({ secretPath, secretKey, secretValue }: any): Line => [secretPath, secretKey, secretValue];

/** The secrets of a list. @throws when it was refused */
export const linesOf = (reply: Reply): Line[] => mustSucceed(reply).body.secrets.map(lineOf);

/** Environment and path of each import entry, with the keys and values in it. */
export const importsOf = (reply: Reply): [place: string, values: Values][] =>
  mustSucceed(reply).body.imports.map(
    // biome-ignore lint/suspicious/noExplicitAny: entries of replies
    ({ environment, secretPath, secrets }: any) => [
      `${environment}:${secretPath}`,
      Object.fromEntries(
        secrets.map(({ secretKey, secretValue }: { secretKey: string; secretValue: string }) => [
          secretKey,
          secretValue,
        ]),
      ),
    ],
  );
