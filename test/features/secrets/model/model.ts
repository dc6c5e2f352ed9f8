/** A reference or plain text of a value. Without an environment a reference means the folder of its secret. */
export type Part =
  | { readonly text: string }
  | { readonly environment: string | null; readonly path: string | null; readonly key: string };

type ReferencePart = Exclude<Part, { text: string }>;

interface Content {
  readonly key: string;
  readonly parts: readonly Part[];
}

interface Folder {
  readonly environment: string;
  readonly parentId: string | null;
  readonly name: string;
}

interface ModelSecret extends Content {
  readonly folderId: string;
}

/** What a write left behind. Null: the secret was deleted. */
interface Version {
  readonly environment: string;
  readonly path: string;
  readonly folderId: string;
  readonly content: Content | null;
  /** Which writes had been made before it. */
  readonly at: number;
}

/** Where a secret is and what it is called, as references name it. */
interface Name {
  readonly environment: string;
  readonly path: string;
  readonly key: string;
}

const same = (a: Name, b: Name): boolean => a.environment === b.environment && a.path === b.path && a.key === b.key;

/** Secrets, folders and imports of one project in memory: as simple as can be, and as slow. */
export class Model {
  readonly folders = new Map<string, Folder>();
  readonly secrets = new Map<string, ModelSecret>();
  readonly imports = new Map<string, readonly string[]>();
  readonly #versions = new Map<string, Version[]>();
  #writes = 0;

  /** A moment to restore to. */
  get moment(): number {
    return this.#writes;
  }

  /** Everything that is written until the next call happens at one moment. */
  begin(): void {
    this.#writes += 1;
  }

  pathOf(folderId: string): string {
    const { parentId, name } = this.folders.get(folderId) as Folder;
    if (parentId === null) return '/';
    const above = this.pathOf(parentId);
    return above === '/' ? `/${name}` : `${above}/${name}`;
  }

  folderAt(environment: string, path: string): string | undefined {
    return [...this.folders.keys()].find(
      (id) => this.folders.get(id)?.environment === environment && this.pathOf(id) === path,
    );
  }

  isBelow(folderId: string, ancestorId: string): boolean {
    for (let at: string | null | undefined = folderId; at != null; at = this.folders.get(at)?.parentId) {
      if (at === ancestorId) return true;
    }
    return false;
  }

  below(folderId: string): string[] {
    return [...this.folders.keys()].filter((id) => this.isBelow(id, folderId));
  }

  inFolder(folderId: string): [id: string, secret: ModelSecret][] {
    return [...this.secrets].filter(([, secret]) => secret.folderId === folderId);
  }

  find(folderId: string, key: string): string | undefined {
    return this.inFolder(folderId).find(([, secret]) => secret.key === key)?.[0];
  }

  write(id: string, secret: ModelSecret): void {
    this.secrets.set(id, secret);
    this.#keep(id, secret.folderId, { key: secret.key, parts: secret.parts });
  }

  delete(id: string): void {
    const { folderId } = this.secrets.get(id) as ModelSecret;
    this.#keep(id, folderId, null);
    this.secrets.delete(id);
  }

  deleteFolder(folderId: string): void {
    for (const id of this.below(folderId)) {
      for (const [secretId] of this.inFolder(id)) this.delete(secretId);
      this.imports.delete(id);
    }
    for (const id of this.below(folderId)) this.folders.delete(id);
  }

  /** Gives secrets of these ids other names, by `change`, and carries the names into the references of all others. */
  rename(ids: readonly string[], change: () => void, except: ReadonlySet<string> = new Set()): void {
    const before = new Map(ids.map((id) => [id, this.nameOf(id)]));
    change();
    const renamings = ids
      .map((id) => ({ from: before.get(id) as Name, to: this.nameOf(id) }))
      .filter(({ from, to }) => !same(from, to));
    this.#rewrite((part, id) => (except.has(id) ? part : this.#renamedPart(part, this.nameOf(id), renamings)));
  }

  /** Gives a folder another name or place, by `change`, and carries that into every reference to it and to those below. */
  relocate(folderId: string, change: () => void): void {
    const ids = this.below(folderId);
    const { environment } = this.folders.get(folderId) as Folder;
    const before = ids.map((id) => this.pathOf(id));
    change();
    const after = new Map(ids.map((id, index) => [before[index], this.pathOf(id)]));
    this.#rewrite((part) => {
      const path = part.environment === environment ? after.get(part.path as string) : undefined;
      return path === undefined || path === part.path ? part : { ...part, path };
    });
  }

  #rewrite(change: (part: ReferencePart, id: string) => Part): void {
    for (const [id, secret] of [...this.secrets]) {
      const parts = secret.parts.map((part) => ('text' in part ? part : change(part, id)));
      if (parts.some((part, index) => part !== secret.parts[index])) this.write(id, { ...secret, parts });
    }
  }

  #renamedPart(part: ReferencePart, at: Name, renamings: readonly { from: Name; to: Name }[]): Part {
    const to = renamings.find(({ from }) => same(from, this.#target(part, at)))?.to;
    if (to === undefined) return part;
    const staysLocal = part.environment === null && to.environment === at.environment && to.path === at.path;
    return staysLocal ? { environment: null, path: null, key: to.key } : to;
  }

  nameOf(id: string): Name {
    const { folderId, key } = this.secrets.get(id) as ModelSecret;
    return { environment: (this.folders.get(folderId) as Folder).environment, path: this.pathOf(folderId), key };
  }

  /**
   * Makes an environment what it was. `newId` makes ids of copies and folders.
   *
   * @returns false, and changes nothing, when two secrets of then would be in each other's way: their folders are one now
   */
  restore(environment: string, moment: number, newId: () => string): boolean {
    const wanted = [...this.#versions].flatMap(([id, versions]) => {
      const then = versions.filter(({ at }) => at <= moment).at(-1);
      return then?.content != null && then.environment === environment ? [{ id, then, content: then.content }] : [];
    });
    const names = wanted.map(({ then, content }) => `${this.#homeOf(then)} ${content.key}`);
    if (new Set(names).size < names.length) return false;
    const keptIds = new Set(wanted.map(({ id }) => id));
    const isHere = (id: string): boolean => this.secrets.has(id) && this.nameOf(id).environment === environment;
    for (const id of [...this.secrets.keys()]) if (isHere(id) && !keptIds.has(id)) this.delete(id);
    const present = wanted.map(({ id }) => id).filter(isHere);
    const written = new Set(present);
    this.rename(present, () => this.#writeBack(environment, { wanted, isHere, newId, written }), written);
    return true;
  }

  #writeBack(
    environment: string,
    {
      wanted,
      isHere,
      newId,
      written,
    }: {
      wanted: readonly { id: string; then: Version; content: Content }[];
      isHere: (id: string) => boolean;
      newId: () => string;
      written: Set<string>;
    },
  ): void {
    for (const { id, then, content } of wanted) {
      const folderId = this.#makeFolder(environment, this.#homeOf(then), newId);
      const now = this.secrets.get(id);
      if (now === undefined || !isHere(id)) {
        const copy = now === undefined ? id : newId();
        written.add(copy);
        this.write(copy, { ...content, folderId });
      } else if (now.folderId !== folderId || now.key !== content.key || printed(now.parts) !== printed(content.parts))
        this.write(id, { ...content, folderId });
    }
  }

  /** The path of the folder of a version: what it is now, or of one that is gone the last that any version tells. */
  #homeOf({ folderId }: Version): string {
    if (this.folders.has(folderId)) return this.pathOf(folderId);
    const versions = [...this.#versions.values()].flat().filter((version) => version.folderId === folderId);
    return versions.reduce((last, version) => (version.at >= last.at ? version : last)).path;
  }

  #makeFolder(environment: string, path: string, newId: () => string): string {
    const there = this.folderAt(environment, path);
    if (there !== undefined) return there;
    const cut = path.lastIndexOf('/');
    const parentId = this.#makeFolder(environment, path.slice(0, cut) || '/', newId);
    const id = newId();
    this.folders.set(id, { environment, parentId, name: path.slice(cut + 1) });
    return id;
  }

  #keep(id: string, folderId: string, content: Content | null): void {
    const { environment } = this.folders.get(folderId) as Folder;
    const version = { environment, path: this.pathOf(folderId), folderId, content, at: this.#writes };
    this.#versions.set(id, [...(this.#versions.get(id) ?? []), version]);
  }

  /** The service made another id than this model did. */
  replaceFolderId(from: string, to: string): void {
    const folder = this.folders.get(from) as Folder;
    this.folders.delete(from);
    this.folders.set(to, folder);
    for (const [id, { parentId, ...rest }] of [...this.folders]) {
      if (parentId === from) this.folders.set(id, { ...rest, parentId: to });
    }
    for (const [id, secret] of [...this.secrets]) {
      if (secret.folderId === from) this.secrets.set(id, { ...secret, folderId: to });
    }
    for (const [id, versions] of this.#versions) {
      this.#versions.set(
        id,
        versions.map((version) => (version.folderId === from ? { ...version, folderId: to } : version)),
      );
    }
  }

  /** The service made another id than this model did: a new one, or that of a secret here, whose history goes on. */
  replaceSecretId(from: string, to: string): void {
    this.secrets.set(to, this.secrets.get(from) as ModelSecret);
    this.secrets.delete(from);
    this.#versions.set(to, [...(this.#versions.get(to) ?? []), ...(this.#versions.get(from) ?? [])]);
    this.#versions.delete(from);
  }

  /** Folders that a folder imports from, directly or not. */
  importedBy(folderId: string): string[] {
    const reached = new Set<string>();
    const visit = (id: string): void => {
      for (const source of this.imports.get(id) ?? []) {
        if (reached.has(source)) continue;
        reached.add(source);
        visit(source);
      }
    };
    visit(folderId);
    reached.delete(folderId);
    return [...reached];
  }

  /** Keys and expanded values of a folder, by key. */
  list(folderId: string): [key: string, value: string][] {
    return this.inFolder(folderId)
      .map(([id, { key }]): [string, string] => [key, this.#expanded(id)])
      .sort(([a], [b]) => (a < b ? -1 : 1));
  }

  #expanded(id: string): string {
    const { parts } = this.secrets.get(id) as ModelSecret;
    return parts
      .map((part) => {
        if ('text' in part) return part.text;
        const target = this.#lookUp(part, this.nameOf(id));
        return target === undefined || this.#reaches(target, id) ? printed([part]) : this.#expanded(target);
      })
      .join('');
  }

  /** One refers to the other, directly or not; each reaches itself. */
  #reaches(from: string, to: string, seen = new Set<string>()): boolean {
    if (from === to) return true;
    if (seen.has(from)) return false;
    seen.add(from);
    return (this.secrets.get(from) as ModelSecret).parts.some((part) => {
      const target = 'text' in part ? undefined : this.#lookUp(part, this.nameOf(from));
      return target !== undefined && this.#reaches(target, to, seen);
    });
  }

  #target(part: ReferencePart, at: Name): Name {
    return { environment: part.environment ?? at.environment, path: part.path ?? at.path, key: part.key };
  }

  #lookUp(part: ReferencePart, at: Name): string | undefined {
    const { environment, path, key } = this.#target(part, at);
    const folderId = this.folderAt(environment, path);
    return folderId === undefined ? undefined : this.find(folderId, key);
  }
}

/** The text of a value. Before a reference, `$$` stands for one `$`. */
export const printed = (parts: readonly Part[]): string =>
  parts.reduce((text, part) => {
    if ('text' in part) return text + part.text;
    const names = [part.environment, ...(part.path ?? '').split('/'), part.key];
    const written = `\${${names.filter((name) => name !== null && name !== '').join('.')}}`;
    return text.replace(/\$+$/, (dollars) => dollars + dollars) + written;
  }, '');
