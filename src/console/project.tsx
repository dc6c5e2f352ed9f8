import type { ResultOf } from 'gql.tada';
import { type ReactNode, useEffect, useMemo, useState } from 'react';
import {
  Button,
  Collection,
  Dialog,
  Heading,
  type Key,
  ListLayout,
  Modal,
  ModalOverlay,
  ToggleButton,
  ToggleButtonGroup,
  Tree,
  TreeItem,
  Virtualizer,
} from 'react-aria-components';
import { type CombinedError, useQuery } from 'urql';
import * as documents from './documents/project.ts';
import { Branch, Grid, has, List, Search } from './lists.tsx';
import { counted, Exact, Facts, Failure, go, leaveFor, Section, Time, useAddress, words } from './parts.tsx';
import { isPassing, type Pages, Uncached, useLive, usePages, useProjects, useSession } from './session.tsx';

/** `/console/projects`, `/console/projects/ID` and `/console/projects/ID/secrets/ID`. */
export default function Projects({ rest: [projectId, , secretId] }: { readonly rest: readonly string[] }) {
  if (!projectId) return <All />;
  return (
    <>
      <Project key={projectId} id={projectId} />
      {secretId && <Sheet key={secretId} projectId={projectId} id={secretId} />}
    </>
  );
}

function All() {
  const asked = useProjects();
  const [searched, search] = useState('');
  const found = asked.items.filter(({ name, slug }) => has(name, searched) || has(slug, searched));
  return (
    <>
      <h1>Projects</h1>
      <Section title="Your projects" asked={asked}>
        {() => (
          <>
            <div className="tools">
              <Search label="Name" value={searched} change={search} />
              <span className="dim" role="status">
                {found.length} of {asked.items.length}
              </span>
            </div>
            {found.length === 0 ? (
              <p className="dim">
                {searched ? 'No project has such a name.' : 'You are a member of no project. '}
                {!searched && <a href="/guides/graphql-by-task#CreateProject">How to make one</a>}
              </p>
            ) : (
              <List
                label="Projects"
                items={found}
                text={({ name }) => name}
                href={({ id }) => `/console/projects/${id}`}
                detail={({ type, slug, description }) => `${words(type)} · ${description || slug}`}
              />
            )}
          </>
        )}
      </Section>
    </>
  );
}

const MOST_ENVIRONMENTS = 5;
type Environment = NonNullable<ResultOf<typeof documents.ProjectDetails>['project']>['environments'][number];

function Project({ id }: { readonly id: string }) {
  const asked = useLive(documents.ProjectDetails, { id });
  const project = asked.data?.project;
  const environments = project?.environments ?? [];
  const { pathname, searchParams } = useAddress();
  const named = searchParams.get('environments')?.split(',') ?? [];
  const chosen = environments.filter(({ slug }) => named.includes(slug));
  const shown = (chosen.length > 0 ? chosen : environments).slice(0, MOST_ENVIRONMENTS);
  const path = searchParams.get('folder') ?? '/';
  // A reload, a way back, and whoever gets the address come to the same.
  const choose = (what: 'folder' | 'environments', names: string) => {
    searchParams.set(what, names);
    go(`${pathname}?${searchParams}`, true);
  };
  const setPath = (folder: string) => choose('folder', folder);
  useEffect(() => {
    if (project) document.title = `Strongroom · ${project.name}`;
  });
  const place = { projectId: id, path, shown };
  if (!project)
    return (
      <>
        <h1>Project</h1>
        <Section title="Project" asked={asked} fields={['project']}>
          {() => null}
        </Section>
      </>
    );
  return (
    <>
      <div className="title">
        <a href="/console/projects">All projects</a>
        <h1>
          {project.name} <span className="chip">{words(project.type)}</span>
        </h1>
        {project.description && <p className="dim">{project.description}</p>}
      </div>
      {environments.length === 0 ? (
        <p className="dim">This project has no environments, or you see none.</p>
      ) : (
        <>
          <div className="chips environments">
            <span className="dim">Environments, up to {MOST_ENVIRONMENTS}</span>
            <ToggleButtonGroup
              className="chips"
              aria-label="Environments side by side"
              selectionMode="multiple"
              disallowEmptySelection
              selectedKeys={shown.map(({ slug }) => slug)}
              onSelectionChange={(keys) => choose('environments', [...keys].join())}
            >
              {environments.map(({ slug, name }) => (
                <ToggleButton
                  key={slug}
                  id={slug}
                  isDisabled={shown.length >= MOST_ENVIRONMENTS && !shown.some((each) => each.slug === slug)}
                >
                  {name}
                </ToggleButton>
              ))}
            </ToggleButtonGroup>
          </div>
          <div className="explore">
            <FolderTree {...place} setPath={setPath} />
            {shown.length > 1 ? <Compared key={path} {...place} /> : <Alone key={path} {...place} />}
          </div>
          <Contents {...place} setPath={setPath} />
        </>
      )}
    </>
  );
}

interface Place {
  readonly projectId: string;
  readonly path: string;
  readonly shown: readonly Environment[];
}

interface Node {
  readonly path: string;
  readonly name: string;
  readonly environments: number;
  readonly secrets: number;
  readonly children: Node[];
}

/** The folders of all shown environments as one tree. */
function treeOf(trees: readonly (ResultOf<typeof documents.Folders>['first'] | undefined)[]): Node | undefined {
  const nodes = new Map<string, Node>();
  const entries = trees.flatMap((tree) => tree ?? []);
  for (const [path, same] of Map.groupBy(entries, ({ folder }) => folder.path))
    nodes.set(path, {
      ...{ path, name: path === '/' ? 'All secrets' : (path.split('/').at(-1) ?? ''), children: [] },
      ...{ environments: same.length, secrets: Math.max(...same.map(({ secretCount }) => secretCount)) },
    });
  for (const node of [...nodes.values()].sort((one, other) => one.path.localeCompare(other.path)))
    if (node.path !== '/') nodes.get(node.path.slice(0, node.path.lastIndexOf('/')) || '/')?.children.push(node);
  return nodes.get('/');
}

const TREES = ['first', 'second', 'third', 'fourth', 'fifth'] as const;
const FOLDER_HEIGHT = 32;
const FOLDERS_SHOWN = 15;

function FolderTree({ projectId, shown, path, setPath }: Place & { readonly setPath: (path: string) => void }) {
  const [first = '', second = '', third = '', fourth = '', fifth = ''] = shown.map(({ slug }) => slug);
  const many = { two: shown.length > 1, three: shown.length > 2, four: shown.length > 3, five: shown.length > 4 };
  const asked = useLive(documents.Folders, { id: projectId, first, second, third, fourth, fifth, ...many });
  const root = useMemo(() => treeOf(TREES.map((tree) => asked.data?.[tree])), [asked.data]);
  const [expanded, setExpanded] = useState<ReadonlySet<Key>>(new Set(['/']));
  const seen = (node: Node): number =>
    1 + (expanded.has(node.path) ? node.children.reduce((sum, child) => sum + seen(child), 0) : 0);
  const item = (node: Node): ReactNode => (
    <TreeItem id={node.path} textValue={node.name}>
      <Branch below={node.children.length > 0 && node.path !== '/' && `Folders below ${node.name}`}>
        <span className="name">{node.name}</span>
        {node.environments < shown.length && (
          <span className="chip" title={`In ${node.environments} of the ${shown.length} environments`}>
            {node.environments}/{shown.length}
          </span>
        )}
        <span className="dim" title="Secrets here, in the environment that has most">
          {node.secrets}
        </span>
      </Branch>
      <Collection items={node.children}>{item}</Collection>
    </TreeItem>
  );
  return (
    <Section title="Folders" asked={asked} fields={TREES}>
      {() =>
        root && (
          <Virtualizer layout={ListLayout} layoutOptions={{ rowSize: FOLDER_HEIGHT }}>
            <Tree
              className="tree"
              style={{ height: Math.min(seen(root), FOLDERS_SHOWN) * FOLDER_HEIGHT }}
              aria-label="Folders"
              selectionMode="single"
              selectionBehavior="replace"
              disallowEmptySelection
              selectedKeys={[path]}
              onSelectionChange={(keys) => keys !== 'all' && setPath(String([...keys][0] ?? '/'))}
              expandedKeys={expanded}
              onExpandedChange={(keys) => setExpanded(new Set([...keys, '/']))}
              items={[root]}
              dependencies={[shown.length]}
            >
              {item}
            </Tree>
          </Virtualizer>
        )
      }
    </Section>
  );
}

type Compare = NonNullable<ResultOf<typeof documents.Comparison>['compareEnvironments']>['nodes'][number];
type Trait = 'DIFFERENT' | 'MISSING' | 'UNKNOWN' | 'EQUAL';
interface Line extends Pick<Compare, 'secretKey' | 'sides'> {
  readonly id: string;
  /** What is to be said of it: values that differ, and that it is missing, may both be. */
  readonly traits: readonly Trait[];
}

function lineOf({ secretKey, sides, verdict }: Compare): Line {
  const isDifferent = new Set(sides.flatMap(({ valueGroup }) => valueGroup ?? [])).size > 1;
  const isMissing = sides.some(({ presence }) => presence === 'MISSING');
  const traits = [
    isDifferent && 'DIFFERENT',
    isMissing && 'MISSING',
    (verdict === 'UNKNOWN' || verdict === 'EQUAL') && verdict,
  ] as const;
  return { id: secretKey, secretKey, sides, traits: traits.filter((trait) => trait !== false) };
}

/** Said by a sign and a word, so that nobody depends on colours. */
const TRAITS = new Map<Trait, readonly [sign: string, word: string]>([
  ['DIFFERENT', ['≠', 'Different']],
  ['MISSING', ['∅', 'Missing']],
  ['UNKNOWN', ['?', 'Unknown']],
  ['EQUAL', ['=', 'Equal']],
]);

function Compared(place: Place) {
  const { projectId, shown, path } = place;
  const [isWhole, setWhole] = useState(false);
  const environments = shown.map(({ slug }) => slug);
  const input = { projectId, environments, secretPath: path, onlyDifferences: false };
  const asked = usePages(documents.Comparison, { input }, (data) => data.compareEnvironments, isWhole, true);
  return <Lines {...place} lines={asked.items.map(lineOf)} asked={asked} setWhole={setWhole} />;
}

function Alone(place: Place) {
  const { projectId, shown, path } = place;
  const environment = shown[0]?.slug ?? '';
  const [isWhole, setWhole] = useState(false);
  const asked = usePages(documents.Keys, { id: projectId, environment, path }, ({ secrets }) => secrets, isWhole, true);
  const lines = asked.items.map(({ id, secretKey }): Line => {
    const side = { environmentSlug: environment, presence: 'PRESENT', secretId: id, valueGroup: 1 } as const;
    return { id: secretKey, secretKey, traits: [], sides: [side] };
  });
  return <Lines {...place} lines={lines} asked={asked} setWhole={setWhole} />;
}

function Lines({
  projectId,
  shown,
  lines,
  asked,
  setWhole,
}: Place & {
  readonly lines: readonly Line[];
  readonly asked: Pages<unknown>;
  readonly setWhole: (isWhole: boolean) => void;
}) {
  const [searched, search] = useState('');
  const [only, setOnly] = useState<Trait | 'ALL'>('ALL');
  const isNarrowed = searched !== '' || only !== 'ALL';
  // What is searched may be on any page.
  useEffect(() => {
    setWhole(isNarrowed);
  }, [isNarrowed, setWhole]);
  const found = lines.filter(
    ({ secretKey, traits }) => (only === 'ALL' || traits.includes(only)) && has(secretKey, searched),
  );
  const counts = [...TRAITS].map(([trait, [sign, word]]) => {
    const count = lines.filter(({ traits }) => traits.includes(trait)).length;
    return { trait, sign, word, count };
  });
  const isCompared = shown.length > 1;
  const columns = [
    {
      name: 'Key',
      width: 144,
      cell: ({ secretKey }: Line) => (
        <code className="key" title={secretKey}>
          {secretKey}
        </code>
      ),
    },
    ...(isCompared ? [{ name: 'Status', width: 106, cell: statusOf }] : []),
    ...shown.map(({ slug, name }, at) => {
      const cell = (line: Line) => <SideOf line={line} at={at} projectId={projectId} />;
      return { id: `of ${slug}`, name, width: 116, cell };
    }),
  ];
  return (
    <Section title={isCompared ? 'Side by side' : 'Secrets'} asked={asked}>
      {() => (
        <>
          <div className="tools">
            {isCompared ? (
              <ToggleButtonGroup
                className="chips"
                aria-label="Show"
                disallowEmptySelection
                selectedKeys={[only]}
                onSelectionChange={(keys) => setOnly([...keys][0] as Trait | 'ALL')}
              >
                <ToggleButton id="ALL">
                  All {lines.length}
                  {asked.next !== null && '+'}
                </ToggleButton>
                {counts.map(
                  ({ trait, sign, word, count }) =>
                    (count > 0 || only === trait) && (
                      <ToggleButton key={trait} id={trait}>
                        <span aria-hidden="true">{sign}</span> {word} {count}
                      </ToggleButton>
                    ),
                )}
              </ToggleButtonGroup>
            ) : (
              <span>
                {counted(lines.length, 'key')}
                {asked.next !== null && ', and more'}
              </span>
            )}
            <Search label="Key" value={searched} change={search} />
          </div>
          {asked.error && !isPassing(asked.error) && <Failure error={asked.error} />}
          {found.length === 0 && !asked.fetching ? (
            <p className="dim">{isNarrowed ? 'No such key in this folder.' : 'No secrets in this folder.'}</p>
          ) : (
            <Grid
              label="Secrets by environment"
              columns={columns}
              items={found}
              text={({ secretKey }) => secretKey}
              mark={({ traits }) => traits[0]}
              more={asked.next === null ? undefined : asked.more}
            />
          )}
        </>
      )}
    </Section>
  );
}

const statusOf = ({ traits }: Line) =>
  traits.map((trait) => (
    <div key={trait}>
      <span className="sign" aria-hidden="true">
        {TRAITS.get(trait)?.[0]}
      </span>{' '}
      {TRAITS.get(trait)?.[1]}
    </div>
  ));

/** What one environment has of a key: its value is a link to the secret. */
function SideOf({ line, at, projectId }: { readonly line: Line; readonly at: number; readonly projectId: string }) {
  const side = line.sides[at];
  if (side === undefined || side.secretId === null)
    return <span className="absent">{side?.presence === 'MISSING' ? '— missing' : '? not visible to you'}</span>;
  const { valueGroup } = side;
  return (
    <a className="value" href={`/console/projects/${projectId}/secrets/${side.secretId}${location.search}`}>
      <span aria-hidden="true">••••••</span>
      <span className="for-readers">
        {line.secretKey} in {side.environmentSlug}
      </span>
      {valueGroup === null && <span className="dim">hidden</span>}
      {valueGroup !== null && line.traits.includes('DIFFERENT') && (
        <span className="group" data-group={valueGroup} title="Equal values have the same letter">
          {String.fromCharCode(64 + valueGroup)}
        </span>
      )}
    </a>
  );
}

/** Folders and imports of the chosen folder, by environment. */
function Contents({ projectId, path, shown, setPath }: Place & { readonly setPath: (path: string) => void }) {
  const environments = shown.map(({ slug }) => slug);
  const asked = useLive(documents.FolderContents, { id: projectId, environments, path });
  return (
    <Section title={`Folders and imports of ${path}`} asked={asked} fields={['project']}>
      {() => (
        <div className="halves">
          {asked.data?.project?.environments.map(({ id, name, folders, imports }) => (
            <div key={id}>
              <h3>{name}</h3>
              {folders?.nodes.length === 0 && imports?.nodes.length === 0 && <p className="dim">None.</p>}
              <ul>
                {folders?.nodes.map((folder) => (
                  <li key={folder.id}>
                    <Button className="plain" onPress={() => setPath(folder.path)}>
                      {folder.name}/
                    </Button>{' '}
                    <span className="dim">{folder.description}</span>
                  </li>
                ))}
              </ul>
              <ol>
                {imports?.nodes.map((each) => (
                  <li key={each.id}>
                    <span className="chip">import {each.position}</span> <PathOf {...each.source} />
                  </li>
                ))}
              </ol>
            </div>
          ))}
        </div>
      )}
    </Section>
  );
}

const PathOf = ({ environmentSlug, path }: { readonly environmentSlug: string; readonly path: string }) => (
  <code>
    {environmentSlug} {path}
  </code>
);

/** A secret beside the table: what is asked for is forgotten when it is closed. */
function Sheet({ projectId, id }: { readonly projectId: string; readonly id: string }) {
  // A way back takes a moment.
  const [isOpen, setOpen] = useState(true);
  const close = () => {
    setOpen(false);
    leaveFor(`/console/projects/${projectId}${location.search}`);
  };
  return (
    <ModalOverlay className="overlay side" isOpen={isOpen} isDismissable onOpenChange={close}>
      <Modal className="modal sheet">
        <Dialog>
          <Uncached>
            <Secret projectId={projectId} id={id} />
          </Uncached>
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}

type Details = NonNullable<ResultOf<typeof documents.SecretDetails>['secret']>;
type Revealed = NonNullable<ResultOf<typeof documents.SecretValue>['secret']>;

function Secret({ projectId, id }: { readonly projectId: string; readonly id: string }) {
  const asked = useLive(documents.SecretDetails, { id });
  const secret = asked.data?.secret;
  return (
    <>
      <header className="sheet-head">
        <Heading slot="title">{secret ? <code>{secret.secretKey}</code> : 'Secret'}</Heading>
        <Button slot="close">Close</Button>
      </header>
      <Section title="Value" asked={{ ...asked, data: secret }}>
        {() => secret && <About projectId={projectId} secret={secret} />}
      </Section>
      {secret && (
        <>
          <Uses key={secret.version} projectId={projectId} secret={secret} />
          {secret.rotationId && <Rotation id={secret.rotationId} />}
          <Readers id={id} />
          <History id={id} />
        </>
      )}
    </>
  );
}

const SHOWN_MS = 30_000;
const CHECKED_MS = 5_000;

/** Asks for the value when it is to be seen, and forgets it soon: after 30 s, when the page is hidden or left, and with the right to see it. */
function useReveal(id: string, isAllowed: boolean | undefined) {
  const { uncached, changed } = useSession();
  const [revealed, setRevealed] = useState<Revealed | null>(null);
  const [isAsking, ask] = useState(false);
  const [error, setError] = useState<CombinedError>();
  useEffect(() => {
    if (revealed === null) return;
    const mask = () => setRevealed(null);
    const hide = () => document.hidden && mask();
    const timer = setTimeout(mask, SHOWN_MS);
    // Nobody is told of a right that ends.
    const check = setInterval(changed, CHECKED_MS);
    document.addEventListener('visibilitychange', hide);
    addEventListener('pagehide', mask);
    return () => {
      clearTimeout(timer);
      clearInterval(check);
      document.removeEventListener('visibilitychange', hide);
      removeEventListener('pagehide', mask);
    };
  }, [revealed, changed]);
  useEffect(() => {
    if (isAllowed === false) setRevealed(null);
  }, [isAllowed]);
  const reveal = async () => {
    ask(true);
    const { data, error: failure } = (await uncached?.query(documents.SecretValue, { id }).toPromise()) ?? {};
    ask(false);
    setError(failure);
    if (data?.secret && !document.hidden) setRevealed(data.secret);
  };
  return { revealed, mask: () => setRevealed(null), reveal, isAsking, error };
}

function About({ projectId, secret }: { readonly projectId: string; readonly secret: Details }) {
  const { id, secretKey, secretPath, environmentSlug, tags, actor, secretMetadata: labels } = secret;
  const secretTags = tags.map(({ slug }) => slug);
  const place = { environment: environmentSlug, secretPath, secretName: secretKey, secretTags };
  const isAllowed = useLive(documents.CanReveal, { projectId, place }).data?.can?.allowed[0];
  const { revealed, mask, reveal, isAsking, error } = useReveal(id, isAllowed);
  const isEncrypted = labels.some((label) => label.isEncrypted);
  const plain = useLive(documents.SecretLabels, { id }, isEncrypted || labels.length === 0).data?.secret
    ?.secretMetadata;
  const labelOf = (key: string) => (revealed?.secretMetadata ?? plain)?.find((label) => label.key === key)?.value;
  return (
    <>
      <div className="secret-value" data-revealed={revealed !== null || undefined}>
        {revealed === null ? (
          <code>
            <span aria-hidden="true">••••••••••••</span>
            <span className="for-readers">masked</span>
          </code>
        ) : (
          <pre>{revealed.secretValue ?? 'The value cannot be decrypted.'}</pre>
        )}
        {isAllowed === true && (
          <Button className="primary" isPending={isAsking} onPress={() => (revealed === null ? reveal() : mask())}>
            {revealed === null ? 'Reveal' : 'Mask'}
          </Button>
        )}
      </div>
      <p className="dim" role="status">
        {isAllowed === false
          ? 'You cannot read this value: that needs the permission to read values (readValue on secrets) here.'
          : revealed === null
            ? 'Each reveal goes into the audit trail.'
            : 'Masked again in 30 seconds, and when you leave this page.'}
      </p>
      {error && <Failure error={error} />}
      <Facts
        facts={{
          Where: <PathOf environmentSlug={environmentSlug} path={secretPath} />,
          'Value changed': secret.valueChangedAt && <Time at={secret.valueChangedAt} />,
          'Last written': (
            <>
              <Time at={secret.updatedAt} /> by {actor.name ?? words(actor.actorType)}, version {secret.version}
            </>
          ),
          'Valid at least until': secret.validAtLeastUntil && <Time at={secret.validAtLeastUntil} />,
          'Who read it': <a href={`/console/audit/secret/${id}`}>Audit trail</a>,
          Comment: secret.secretComment || null,
          Tags:
            tags.length > 0
              ? tags.map(({ id: tag, slug, color }) => (
                  <span key={tag} className="chip">
                    <span className="dot" style={{ backgroundColor: color }} /> {slug}
                  </span>
                ))
              : null,
        }}
      />
      {labels.length > 0 && (
        <>
          <h3>Metadata</h3>
          <Facts facts={Object.fromEntries(labels.map(({ key }) => [key, labelOf(key) ?? '••••••']))} />
        </>
      )}
    </>
  );
}

/** What the secret uses on one side, what uses it on the other. */
function Uses({
  projectId,
  secret: { id, secretKey, secretPath, environmentSlug },
}: {
  readonly projectId: string;
  readonly secret: Details;
}) {
  const input = { secret: { projectId, environment: environmentSlug, secretPath, secretKey } };
  const asked = usePages(documents.SecretUses, { input }, ({ whereUsed }) => whereUsed, false, true);
  const [named] = useQuery({ query: documents.SecretReferences, variables: { id }, requestPolicy: 'network-only' });
  const references = named.error ? undefined : named.data?.secret?.references;
  const imports = useLive(documents.SecretImports, { id: projectId, environment: environmentSlug, path: secretPath });
  return (
    <Section title="What it uses, and what uses it" asked={asked}>
      {() => (
        <div className="graph">
          <div>
            <h3>Uses</h3>
            <ul>
              {references?.map((used) => (
                <li key={`${used.environmentSlug} ${used.secretPath} ${used.secretKey}`}>
                  {used.secretKey} <PathOf environmentSlug={used.environmentSlug} path={used.secretPath} />{' '}
                  <span className="dim">reference in its value</span>
                </li>
              ))}
              {imports.data?.secretImports?.nodes.map(({ id, position, source }) => (
                <li key={id}>
                  <PathOf {...source} /> <span className="dim">import {position} of its folder</span>
                </li>
              ))}
              {references === null && <li className="dim">What its value references, only its readers see.</li>}
              {references?.length === 0 && imports.data?.secretImports?.nodes.length === 0 && (
                <li className="dim">Nothing.</li>
              )}
            </ul>
            {[named.error, imports.error].map((error) => error && <Failure key={error.message} error={error} />)}
          </div>
          <strong className="hub">
            <span aria-hidden="true">→</span>
            <code>{secretKey}</code>
            <span aria-hidden="true">→</span>
          </strong>
          <div>
            <h3>Used by</h3>
            <ul>
              {asked.items.length === 0 && <li className="dim">Nothing that you can see.</li>}
              {asked.items.map((use) => (
                <li key={`${use.environmentSlug} ${use.secretPath} ${use.secretKey}`}>
                  {use.secretId && (
                    <a href={`/console/projects/${use.projectId}/secrets/${use.secretId}${location.search}`}>
                      {use.secretKey}
                    </a>
                  )}{' '}
                  <PathOf environmentSlug={use.environmentSlug} path={use.secretPath} />{' '}
                  <span className="dim">
                    {use.kind === 'IMPORT'
                      ? use.isViaImport
                        ? 'imports it by another import'
                        : 'imports its folder'
                      : 'references it'}
                  </span>
                </li>
              ))}
            </ul>
            {asked.next !== null && <Button onPress={asked.more}>Show more</Button>}
          </div>
        </div>
      )}
    </Section>
  );
}

type Reader = NonNullable<
  NonNullable<NonNullable<ResultOf<typeof documents.SecretReaders>['secret']>['readers']>['nodes']
>[number];

/** `role admin, through group Payments`. */
function grantOf({ source, slug, memberships, isForAllProjects }: Reader['origin']): string {
  const groups = (memberships ?? []).filter(({ memberKind }) => memberKind === 'GROUP').map(({ name }) => name);
  const what = source === 'ALL_PROJECTS_PERMISSIONS' ? 'Permissions' : `${words(source)} ${slug}`;
  const through = isForAllProjects ? ['a membership of all projects'] : groups.map((name) => `group ${name}`);
  return through.length === 0 ? `${what}, own membership` : `${what}, through ${through.join(' and ')}`;
}

const SOME_SESSIONS = 'In sessions that came with what a rule names, such as claims of a token';

function Readers({ id }: { readonly id: string }) {
  const asked = usePages(documents.SecretReaders, { id }, ({ secret }) => secret?.readers, false, true);
  return (
    <Section title="Who can read the value" asked={asked}>
      {() => (
        <List
          label="Readers"
          items={asked.items.map((reader) => ({ ...reader, id: reader.memberId }))}
          text={({ name }) => name ?? 'deleted'}
          href={({ id: reader }) => `/console/access/${reader}`}
          more={asked.next === null ? undefined : asked.more}
          title={({ name, memberKind }) => (
            <>
              {name ?? 'deleted'} <span className="dim">{memberKind === 'USER' ? 'Person' : 'Machine'}</span>
            </>
          )}
          detail={({ origin, isForSomeSessions }) => (
            <>
              {isForSomeSessions && <strong title={SOME_SESSIONS}>In some sessions only · </strong>}
              {grantOf(origin)}
            </>
          )}
        />
      )}
    </Section>
  );
}

type Version = NonNullable<ResultOf<typeof documents.SecretHistory>['secret']>['versions']['nodes'][number];

function changeOf({ version, isDeletion, changes }: Version): string {
  if (isDeletion) return 'Deleted';
  if (changes === null) return version === 1 ? 'Created' : 'What changed is not known';
  if (changes.length === 0) return 'Nothing that you can see changed';
  return `Changed: ${changes.map((change) => words(change).toLowerCase()).join(', ')}`;
}

function History({ id }: { readonly id: string }) {
  const asked = usePages(documents.SecretHistory, { id }, ({ secret }) => secret?.versions, false, true);
  return (
    <Section title="Versions" asked={asked}>
      {() => (
        <List
          label="Versions"
          items={asked.items.map((version) => ({ ...version, id: String(version.version) }))}
          text={({ id: version }) => `Version ${version}`}
          more={asked.next === null ? undefined : asked.more}
          title={(version) => (
            <>
              Version {version.version}{' '}
              <span className="dim">
                <Time at={version.createdAt} /> by {version.actor.name ?? words(version.actor.actorType)}
              </span>
            </>
          )}
          detail={changeOf}
        />
      )}
    </Section>
  );
}

const ATTEMPTS = 20;

function Rotation({ id }: { readonly id: string }) {
  const asked = useLive(documents.RotationAttempts, { id, first: ATTEMPTS });
  const { secretRotation: rotation, secretRotationAttempts: attempts } = asked.data ?? {};
  return (
    <Section title="Rotation" asked={asked} fields={['secretRotation', 'secretRotationAttempts']}>
      {() =>
        rotation && (
          <>
            <p>
              <strong>{rotation.name}</strong> <span className="chip">{words(rotation.status)}</span> of{' '}
              <bdi>{rotation.connection.name}</bdi> ({rotation.connection.app}),{' '}
              {rotation.isAutoRotationEnabled ? `every ${rotation.rotationInterval} days` : 'by hand'}
            </p>
            <p className="dim">
              <Time before="Last rotated " at={rotation.lastRotatedAt} after=". " />
              {rotation.nextRotationAt ? 'Next rotation: ' : 'No rotation is planned'}
              {rotation.nextRotationAt && <Exact at={rotation.nextRotationAt} />}
              {'. '}
              {rotation.pauseReason && `It is paused: ${words(rotation.pauseReason).toLowerCase()}. `}
              {rotation.lastMessage}
            </p>
            <h3>Attempts</h3>
            <ol className="attempts">
              {attempts?.nodes.map(({ attemptId, number, state, reason, errorCode, createdAt }) => (
                <li key={attemptId}>
                  <span className="dim">{number}</span> <span className="chip">{words(state)}</span> {words(reason)}{' '}
                  <Time at={createdAt} /> {errorCode && <code>{errorCode}</code>}
                </li>
              ))}
            </ol>
            {attempts?.pageInfo.hasNextPage && <p className="dim">The last {ATTEMPTS} of them.</p>}
          </>
        )
      }
    </Section>
  );
}
