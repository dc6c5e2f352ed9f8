import { mustSucceed } from '../../../kit/caller.js';
import fc from '../../../kit/properties.js';
import { rounds } from '../../../kit/scope.js';
import { type Caller, type Reply, useSharedStrongroom } from '../../../kit/strongroom.js';

interface Node {
  readonly id: string;
  readonly name: string;
  /** Null: the root. */
  readonly parent: string | null;
}

/** What folders and imports are to be, without a database. */
class Model {
  nodes = new Map<string, Node>();
  imports = new Map<string, readonly { id: string; source: string }[]>();

  pathOf(id: string, seen: ReadonlySet<string> = new Set()): string | null {
    const { name, parent } = this.nodes.get(id) as Node;
    if (parent === null) return '/';
    const above = seen.has(id) ? null : this.pathOf(parent, new Set([...seen, id]));
    return above === null ? null : `${above === '/' ? '' : above}/${name}`;
  }

  below(id: string): string[] {
    const children = [...this.nodes.values()].filter(({ parent }) => parent === id);
    return [id, ...children.flatMap((child) => this.below(child.id))];
  }

  reaches(from: string, to: string): boolean {
    return from === to || this.importsOf(from).some(({ source }) => this.reaches(source, to));
  }

  importsOf = (id: string) => this.imports.get(id) ?? [];

  /** The status of a change of many folders; 200 and it is done. */
  change(changes: readonly Node[]): number {
    const before = this.nodes;
    this.nodes = new Map([...before, ...changes.map((node) => [node.id, node] as const)]);
    const paths = [...this.nodes.keys()].map((id) => this.pathOf(id));
    const status = paths.includes(null) ? 422 : new Set(paths).size < paths.length ? 409 : 200;
    if (status !== 200) this.nodes = before;
    return status;
  }

  remove(id: string, isForced: boolean): number {
    const tree = this.below(id);
    const isEmpty = tree.length === 1 && this.importsOf(id).length === 0;
    const isImported = [...this.imports].some(
      ([folder, links]) => !tree.includes(folder) && links.some(({ source }) => tree.includes(source)),
    );
    if ((!isEmpty && !isForced) || isImported) return 409;
    for (const gone of tree) {
      this.nodes.delete(gone);
      this.imports.delete(gone);
    }
    return 200;
  }

  link(folder: string, source: string): number {
    if (folder === source) return 422;
    const isThere = this.importsOf(folder).some((link) => link.source === source);
    return isThere || this.reaches(source, folder) ? 409 : 200;
  }

  get picture(): [path: string | null, imports: (string | null)[]][] {
    return [...this.nodes.keys()]
      .map((id): [string | null, (string | null)[]] => [
        this.pathOf(id),
        this.importsOf(id).map(({ source }) => this.pathOf(source)),
      ])
      .sort(([a], [b]) => (String(a) < String(b) ? -1 : 1));
  }
}

type Step = readonly [kind: 'make' | 'change' | 'swap' | 'remove' | 'link' | 'shift' | 'unlink', ...picks: number[]];
const pick = fc.nat(1_000);
const step: fc.Arbitrary<Step> = fc.tuple(
  fc.constantFrom('make', 'make', 'make', 'change', 'change', 'swap', 'remove', 'link', 'link', 'shift', 'unlink'),
  pick,
  pick,
  pick,
) as fc.Arbitrary<Step>;

const TREE = `query ($id: ID!) {
  folderTree(projectId: $id, environment: "dev") { folder { id path imports { nodes { position source { path } } } } }
}`;

/** Carries steps out against the service and the model. */
class Walk {
  readonly model = new Model();

  constructor(
    private readonly admin: Caller,
    private readonly projectId: string,
    rootId: string,
  ) {
    this.model.nodes.set(rootId, { id: rootId, name: 'root', parent: null });
  }

  async take([kind, first, second, third = 0]: Step): Promise<void> {
    const ids = [...this.model.nodes.keys()];
    const [one, other] = [first, second].map((at = 0) => ids[at % ids.length] as string) as [string, string];
    const name = 'abc'[third % 3] as string;
    if (kind === 'make') return this.#make(one, name);
    if (kind === 'link') return this.#link(one, other);
    if (kind === 'shift' || kind === 'unlink') return this.#relink(kind, one, third);
    if (this.#isRoot(one)) return;
    if (kind === 'remove') return this.#remove(one, third % 2 === 0);
    const change = kind === 'change' ? [{ id: one, name, parent: other }] : this.#swapped(one, other);
    if (change.length > 0) await this.#change(change);
  }

  async picture(): Promise<unknown> {
    const { folderTree } = await this.admin.data(TREE, { id: this.projectId });
    return folderTree.map(
      ({ folder }: { folder: { path: string; imports: { nodes: Record<'source', { path: string }>[] } } }) => [
        folder.path,
        folder.imports.nodes.map(({ source }) => source.path),
      ],
    );
  }

  #isRoot = (id: string): boolean => this.model.nodes.get(id)?.parent === null;

  #swapped(one: string, other: string): Node[] {
    if (one === other || this.#isRoot(other)) return [];
    const [a, b] = [this.model.nodes.get(one) as Node, this.model.nodes.get(other) as Node];
    return [
      { ...b, id: one },
      { ...a, id: other },
    ];
  }

  async #make(parent: string, name: string): Promise<void> {
    const path = this.model.pathOf(parent);
    const { folder } = mustSucceed(await this.#send('POST', '/api/v2/folders', { path, name })).body;
    if (!this.model.nodes.has(folder.id)) this.model.change([{ id: folder.id, name, parent }]);
  }

  async #change(changes: readonly Node[]): Promise<void> {
    const folders = changes.map(({ id, name, parent }) => ({
      id,
      name,
      newPath: this.model.pathOf(String(parent)),
      environment: 'dev',
    }));
    const { status } = await this.admin.patch('/api/v2/folders/batch', { projectId: this.projectId, folders });
    expect(status).toBe(this.model.change(changes));
  }

  async #remove(id: string, forceDelete: boolean): Promise<void> {
    const { status } = await this.#send('DELETE', `/api/v2/folders/${id}`, { forceDelete });
    expect(status).toBe(this.model.remove(id, forceDelete));
  }

  async #link(folder: string, source: string): Promise<void> {
    const [path, sourcePath] = [this.model.pathOf(folder), this.model.pathOf(source)];
    const body = { path, import: { environment: 'dev', path: sourcePath } };
    const reply = await this.#send('POST', '/api/v2/secret-imports', body);
    expect(reply.status).toBe(this.model.link(folder, source));
    if (reply.status !== 200) return;
    this.model.imports.set(folder, [...this.model.importsOf(folder), { id: reply.body.secretImport.id, source }]);
  }

  async #relink(kind: 'shift' | 'unlink', folder: string, at: number): Promise<void> {
    const links = [...this.model.importsOf(folder)];
    const [link] = links.splice(at % Math.max(links.length, 1), 1);
    if (link === undefined) return;
    const position = (at % 7) + 1;
    if (kind === 'shift') links.splice(position - 1, 0, link);
    const place = { path: this.model.pathOf(folder) };
    const body = kind === 'shift' ? { ...place, import: { position } } : place;
    const method = kind === 'shift' ? 'PATCH' : 'DELETE';
    mustSucceed(await this.#send(method, `/api/v2/secret-imports/${link.id}`, body));
    this.model.imports.set(folder, links);
  }

  #send(method: string, path: string, body: object): Promise<Reply> {
    return this.admin.request({ method, path, body: { projectId: this.projectId, environment: 'dev', ...body } });
  }
}

describe('folders and imports', () => {
  const strongroom = useSharedStrongroom();

  test('are after any steps what a simple model says', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 40, maxLength: 60, size: 'max' }), async (steps) => {
        const { admin, project } = await strongroom.seed.project();
        const { folderTree } = await admin.data(TREE, { id: project.id });
        const walk = new Walk(admin, project.id, folderTree[0].folder.id);
        for (const each of steps) {
          await walk.take(each);
          expect(await walk.picture()).toEqual(walk.model.picture);
        }
      }),
      { numRuns: rounds(3) },
    );
  });
});
