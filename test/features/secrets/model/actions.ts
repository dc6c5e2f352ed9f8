import type { Caller, Reply } from '../../../kit/strongroom.js';
import { Model, type Part, printed } from './model.js';

export const ENVIRONMENTS = ['dev', 'prod'] as const;
const KEYS = ['A', 'B', 'C', 'D', 'E'];
const NAMES = ['x', 'y', 'z'];

/** Numbers that look random and are the same for the same seed. */
export function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** The same random writes to the service and to the model. */
export class Session {
  readonly model = new Model();
  /** What was done, for the message of a failure. */
  readonly log: string[] = [];
  readonly #moments: { readonly model: number; readonly time: string }[] = [];

  constructor(
    private readonly caller: Caller,
    private readonly projectId: string,
    private readonly random: () => number,
    private readonly now: () => Promise<string>,
  ) {}

  /** Learns of the root folders. */
  async start(): Promise<void> {
    for (const environment of ENVIRONMENTS) await this.#learnFolders(environment);
  }

  /** One write of either side. */
  async step(): Promise<void> {
    const actions = [
      ...Array.from({ length: 6 }, () => this.#create),
      ...Array.from({ length: 4 }, () => this.#change),
      ...Array.from({ length: 3 }, () => this.#makeFolder),
      ...Array.from({ length: 2 }, () => this.#import),
      ...Array.from({ length: 2 }, () => this.#move),
      this.#rename,
      this.#delete,
      this.#copy,
      this.#changeFolder,
      this.#deleteFolder,
      this.#dropImport,
      this.#restore,
    ];
    this.model.begin();
    await this.#pick(actions).call(this);
    if (this.random() < 0.15) this.#moments.push({ model: this.model.moment, time: await this.now() });
  }

  #pick<T>(from: readonly T[]): T {
    return from[Math.floor(this.random() * from.length)] as T;
  }

  #place(folderId: string) {
    const { environment } = this.model.folders.get(folderId) as { environment: string };
    return { projectId: this.projectId, environment, secretPath: this.model.pathOf(folderId) };
  }

  #anyFolder(): string {
    return this.#pick([...this.model.folders.keys()]);
  }

  #anySecret(): string | undefined {
    return this.#pick([...this.model.secrets.keys()]);
  }

  #parts(): Part[] {
    return Array.from({ length: 1 + Math.floor(this.random() * 3) }, (): Part => {
      const chance = this.random();
      if (chance < 0.5) return { text: this.#pick(['one', 'two ', '#', '$', '{}', '\n']) };
      if (chance < 0.7) return { environment: null, path: null, key: this.#pick(KEYS) };
      const folderId = this.#anyFolder();
      const { environment, secretPath: path } = this.#place(folderId);
      return { environment, path, key: this.#pick(KEYS) };
    });
  }

  async #send(what: string, reply: Promise<Reply>, wanted = 200): Promise<Reply> {
    this.log.push(`${what} -> ${wanted}`);
    const got = await reply;
    if (got.status !== wanted) throw new Error(`${what}: expected ${wanted}, got ${got.status} ${got.text}`);
    return got;
  }

  async #create(): Promise<void> {
    const folderId = this.#anyFolder();
    const place = this.#place(folderId);
    const [key, parts] = [this.#pick(KEYS), this.#parts()];
    const isTaken = this.model.find(folderId, key) !== undefined;
    const what = `create ${place.environment}${place.secretPath} ${key}=${printed(parts)}`;
    const request = this.caller.post(`/api/v4/secrets/${key}`, { ...place, secretValue: printed(parts) });
    const reply = await this.#send(what, request, isTaken ? 409 : 200);
    if (!isTaken) this.model.write(reply.body.secret.id, { folderId, key, parts });
  }

  async #change(): Promise<void> {
    const id = this.#anySecret();
    if (id === undefined) return;
    const secret = this.model.secrets.get(id) as { folderId: string; key: string; parts: Part[] };
    const parts = this.#parts();
    const place = this.#place(secret.folderId);
    await this.#send(
      `change ${place.environment}${place.secretPath} ${secret.key}=${printed(parts)}`,
      this.caller.patch(`/api/v4/secrets/${secret.key}`, { ...place, secretValue: printed(parts) }),
    );
    this.model.write(id, { ...secret, parts });
  }

  async #rename(): Promise<void> {
    const id = this.#anySecret();
    if (id === undefined) return;
    const secret = this.model.secrets.get(id) as { folderId: string; key: string; parts: Part[] };
    const key = this.#pick(KEYS);
    const isTaken = key !== secret.key && this.model.find(secret.folderId, key) !== undefined;
    const place = this.#place(secret.folderId);
    await this.#send(
      `rename ${place.environment}${place.secretPath} ${secret.key} to ${key}`,
      this.caller.patch(`/api/v4/secrets/${secret.key}`, { ...place, newSecretName: key }),
      isTaken ? 409 : 200,
    );
    if (!isTaken) this.model.rename([id], () => this.model.write(id, { ...secret, key }));
  }

  async #delete(): Promise<void> {
    const id = this.#anySecret();
    if (id === undefined) return;
    const { folderId, key } = this.model.secrets.get(id) as { folderId: string; key: string };
    const place = this.#place(folderId);
    await this.#send(
      `delete ${place.environment}${place.secretPath} ${key}`,
      this.caller.delete(`/api/v4/secrets/${key}`, place),
    );
    this.model.delete(id);
  }

  #transfer(from: string, to: string, secretIds: readonly string[]) {
    const [source, destination] = [this.#place(from), this.#place(to)];
    return {
      projectId: this.projectId,
      sourceEnvironment: source.environment,
      sourceSecretPath: source.secretPath,
      destinationEnvironment: destination.environment,
      destinationSecretPath: destination.secretPath,
      secretIds,
      shouldOverwrite: true,
    };
  }

  async #move(): Promise<void> {
    const [from, to] = [this.#anyFolder(), this.#anyFolder()];
    const moving = this.model.inFolder(from).filter(() => this.random() < 0.7);
    if (moving.length === 0 || from === to) return;
    const ids = moving.map(([id]) => id);
    const transfer = this.#transfer(from, to, ids);
    await this.#send(`move ${JSON.stringify(transfer)}`, this.caller.post('/api/v4/secrets/move', transfer));
    for (const [, { key }] of moving) this.#clear(to, key);
    this.model.rename(ids, () => {
      for (const [id, secret] of moving) this.model.write(id, { ...secret, folderId: to });
    });
  }

  async #copy(): Promise<void> {
    const [from, to] = [this.#anyFolder(), this.#anyFolder()];
    const copied = this.model.inFolder(from);
    if (copied.length === 0 || from === to) return;
    const transfer = this.#transfer(
      from,
      to,
      copied.map(([id]) => id),
    );
    const reply = await this.#send(
      `copy ${JSON.stringify(transfer)}`,
      this.caller.post('/api/v4/secrets/copy', transfer),
    );
    for (const [index, [, secret]] of copied.entries()) {
      this.#clear(to, secret.key);
      this.model.write(reply.body.secretIds[index], { ...secret, folderId: to });
    }
  }

  #clear(folderId: string, key: string): void {
    const there = this.model.find(folderId, key);
    if (there !== undefined) this.model.delete(there);
  }

  async #makeFolder(): Promise<void> {
    const parentId = this.#anyFolder();
    const { environment, secretPath: path } = this.#place(parentId);
    const name = this.#pick(NAMES);
    if (path.length > 8) return;
    const body = { projectId: this.projectId, environment, path, name };
    const reply = await this.#send(`folder ${environment}${path} ${name}`, this.caller.post('/api/v2/folders', body));
    this.model.folders.set(reply.body.folder.id, { environment, parentId, name });
  }

  async #changeFolder(): Promise<void> {
    const [folderId, targetId] = [this.#anyFolder(), this.#anyFolder()];
    const { environment, secretPath } = this.#place(folderId);
    const target = this.#place(targetId);
    if (secretPath === '/' || target.environment !== environment || this.model.isBelow(targetId, folderId)) return;
    const name = this.#pick(NAMES);
    const taken = this.model.folderAt(environment, `${target.secretPath === '/' ? '' : target.secretPath}/${name}`);
    const isTaken = taken !== undefined && taken !== folderId;
    const body = { projectId: this.projectId, environment, name, newPath: target.secretPath };
    await this.#send(
      `change folder ${environment}${secretPath} to ${target.secretPath} ${name}`,
      this.caller.patch(`/api/v2/folders/${folderId}`, body),
      isTaken ? 409 : 200,
    );
    if (isTaken) return;
    this.model.relocate(folderId, () => this.model.folders.set(folderId, { environment, parentId: targetId, name }));
  }

  async #deleteFolder(): Promise<void> {
    const folderId = this.#anyFolder();
    const { environment, secretPath } = this.#place(folderId);
    if (secretPath === '/') return;
    const going = new Set(this.model.below(folderId));
    const isImported = [...this.model.imports].some(
      ([id, sources]) => !going.has(id) && sources.some((source) => going.has(source)),
    );
    const body = { projectId: this.projectId, environment, forceDelete: true };
    await this.#send(
      `delete folder ${environment}${secretPath}`,
      this.caller.delete(`/api/v2/folders/${folderId}`, body),
      isImported ? 409 : 200,
    );
    if (!isImported) this.model.deleteFolder(folderId);
  }

  async #import(): Promise<void> {
    const [folderId, sourceId] = [this.#anyFolder(), this.#anyFolder()];
    const { environment, secretPath: path } = this.#place(folderId);
    const source = this.#place(sourceId);
    const present = this.model.imports.get(folderId) ?? [];
    const isCycle = this.model.importedBy(sourceId).includes(folderId);
    const wanted = folderId === sourceId ? 422 : isCycle || present.includes(sourceId) ? 409 : 200;
    const body = {
      projectId: this.projectId,
      environment,
      path,
      import: { environment: source.environment, path: source.secretPath },
    };
    await this.#send(`import ${JSON.stringify(body)}`, this.caller.post('/api/v2/secret-imports', body), wanted);
    if (wanted === 200) this.model.imports.set(folderId, [...present, sourceId]);
  }

  async #dropImport(): Promise<void> {
    const folderId = this.#anyFolder();
    const present = this.model.imports.get(folderId) ?? [];
    if (present.length === 0) return;
    const { environment, secretPath: path } = this.#place(folderId);
    const at = { projectId: this.projectId, environment, path };
    const { body } = await this.caller.get(`/api/v2/secret-imports?${new URLSearchParams(at)}`);
    const index = Math.floor(this.random() * present.length);
    await this.#send(
      `drop import ${index} of ${environment}${path}`,
      this.caller.delete(`/api/v2/secret-imports/${body.secretImports[index].id}`, at),
    );
    this.model.imports.set(folderId, present.toSpliced(index, 1));
  }

  async #restore(): Promise<void> {
    const moment = this.#pick(this.#moments);
    if (moment === undefined) return;
    const environment = this.#pick(ENVIRONMENTS);
    const input = { projectId: this.projectId, environment, secretPath: '/', recursive: true, at: moment.time };
    const mutation = 'mutation ($input: RestoreSecretsInput!) { restoreSecrets(input: $input) { __typename } }';
    let made = 0;
    const newId = (): string => {
      made += 1;
      return `made-${this.model.moment}-${made}`;
    };
    const isPossible = this.model.restore(environment, moment.model, newId);
    await this.#send(
      `restore ${environment} to ${moment.model} ${moment.time}`,
      this.caller.graphql(mutation, { input }),
      isPossible ? 200 : 409,
    );
    await this.#learnFolders(environment);
    await this.#learnSecrets(environment);
  }

  /** Ids that the service made, in place of those that the model made up. */
  async #learnFolders(environment: string): Promise<void> {
    const query = `query ($projectId: ID!, $environment: String!) {
      folderTree(projectId: $projectId, environment: $environment) { folder { id path } } }`;
    const { folderTree } = await this.caller.data(query, { projectId: this.projectId, environment });
    for (const { folder } of folderTree as { folder: { id: string; path: string } }[]) {
      const { id, path } = folder;
      const known = this.model.folderAt(environment, path);
      if (known !== undefined && known !== id) this.model.replaceFolderId(known, id);
      if (known !== undefined) continue;
      if (path !== '/') throw new Error(`the service has a folder ${environment}${path} that the model has not`);
      this.model.folders.set(id, { environment, parentId: null, name: 'root' });
    }
  }

  async #learnSecrets(environment: string): Promise<void> {
    const at = { projectId: this.projectId, environment, recursive: 'true' };
    const { body } = await this.caller.get(`/api/v4/secrets?${new URLSearchParams(at)}`);
    for (const { id, secretPath, secretKey } of body.secrets) {
      const folderId = this.model.folderAt(environment, secretPath);
      const known = folderId === undefined ? undefined : this.model.find(folderId, secretKey);
      if (known?.startsWith('made-')) this.model.replaceSecretId(known, id);
    }
  }
}
