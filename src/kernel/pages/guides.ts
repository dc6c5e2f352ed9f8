import { readFile } from 'node:fs/promises';
import { posix } from 'node:path';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { type DocumentNode, type FieldDefinitionNode, Kind, parse, print } from 'graphql';
import { Marked, type Tokens } from 'marked';
import { type Asset, makeAsset } from './asset.js';
import { type ExampleOperation, escaped, type Guide, guidePage, operationName } from './html.js';
import {
  type ApiDocument,
  OPERATIONS,
  type Operation,
  type SearchEntry,
  type Section,
  searchEntries,
  taskAddress,
} from './search-entries.js';

/** What the guides are made from, beside the documents of the repository. */
export interface GuidesMaking {
  /** The tasks of "GraphQL by task"; none where only registered documents run. */
  readonly examples: readonly ExampleOperation[];
  /** Whether the schema is public. */
  readonly introspection: boolean;
}

const START = 'README.md';
/** Names of guides that are not named as their files, and files that are served elsewhere. */
const NAMES: Readonly<Record<string, string>> = { [START]: '', 'schema/README.md': 'calling-the-api' };
const SERVED: Readonly<Record<string, string>> = {
  'schema/openapi.json': '/openapi.json',
  'schema/schema.graphql': '/schema.graphql',
};
const TASKS = 'graphql-by-task';

/**
 * Makes a page of each Markdown document for users and operators, of the tasks and of the operations of the schema; and the
 * entries of the search. By name below `/guides/`; other files under theirs.
 */
export async function makeGuides({ examples, introspection }: GuidesMaking): Promise<Record<string, Asset>> {
  const [documents, schema, api] = await Promise.all([
    unpack('guides.json').then((text) => JSON.parse(text) as Record<string, string>),
    unpack('schema.graphql'),
    unpack('openapi.json').then((text) => JSON.parse(text) as ApiDocument),
  ]);
  const isMarkdown = (path: string) => path.endsWith('.md');
  const addresses = new Map(Object.keys(documents).map((path) => [path, addressOfGuide(nameOf(path))]));
  for (const [path, address] of Object.entries(SERVED))
    if (introspection || !path.endsWith('.graphql')) addresses.set(path, address);

  const sections: Section[] = [];
  const guides: (Guide & { readonly name: string })[] = inReadingOrder(documents).map((path) => {
    const made = render(path, documents[path] as string, addresses);
    sections.push(...made.sections);
    return { name: nameOf(path), ...made };
  });
  const operations = introspection ? operationsOf(parse(schema, { noLocation: true })) : [];
  const tasks = { name: TASKS, title: 'GraphQL by task', body: tasksBody(examples) };
  const more = [
    tasks,
    ...(introspection ? [{ name: OPERATIONS, title: 'GraphQL operations', body: operationsBody(operations) }] : []),
  ];
  const all = [...guides.slice(0, 1), ...more, ...guides.slice(1)];
  const contents = all.map(({ name, title }) => ({ address: addressOfGuide(name), title }));
  const entries: SearchEntry[] = searchEntries({ sections, operations, api, examples });
  return {
    ...Object.fromEntries(
      all.map(({ name, ...guide }) => [name, makeAsset('html', guidePage(guide, addressOfGuide(name), contents))]),
    ),
    ...Object.fromEntries(
      Object.entries(documents)
        .filter(([path]) => !isMarkdown(path))
        .map(([path, text]) => [nameOf(path), makeAsset('txt', text)]),
    ),
    // No name of a guide has a slash.
    '/search.json': makeAsset('json', JSON.stringify(entries)),
  };
}

const decompress = promisify(gunzip);
const unpack = async (name: string): Promise<string> =>
  (await decompress(await readFile(new URL(`./${name}.gz`, import.meta.url)))).toString();

const addressOfGuide = (name: string): string => (name === '' ? '/guides' : `/guides/${name}`);
const nameOf = (path: string): string => NAMES[path] ?? posix.basename(path, '.md');

/** The Markdown documents, in the order in which the first of them names them. */
function inReadingOrder(documents: Readonly<Record<string, string>>): string[] {
  const named = [...(documents[START] as string).matchAll(/^\| \[[^\]]+\]\(([^)#]+)\)/gm)].map(
    ([, path]) => path as string,
  );
  const order = [START, ...named];
  const place = (path: string) => (order.includes(path) ? order.indexOf(path) : order.length);
  return Object.keys(documents)
    .filter((path) => path.endsWith('.md'))
    .sort((a, b) => place(a) - place(b));
}

/** A document as HTML, and its sections. A link to a file that is not served becomes plain text. */
function render(
  path: string,
  text: string,
  addresses: ReadonlyMap<string, string>,
): Guide & { readonly sections: readonly Section[] } {
  const addressOf = (href: string): string | undefined => {
    if (/^(https?:|#)/.test(href)) return href;
    const [file = '', anchor] = href.split('#');
    const address = addresses.get(posix.join(posix.dirname(path), file));
    return address && (anchor === undefined ? address : `${address}#${anchor}`);
  };
  const shown = new Map<string, number>();
  const marked = new Marked({
    renderer: {
      heading({ tokens, text: heading, depth }) {
        return `<h${depth} id="${anchorOf(heading, shown)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      link({ href, tokens }) {
        const address = addressOf(href);
        const content = this.parser.parseInline(tokens);
        return address === undefined ? content : `<a href="${escaped(address)}">${content}</a>`;
      },
      code: ({ text: code }) => codeBlock(code),
      // It can be scrolled, so the keyboard must reach it.
      table({ header, rows }) {
        const cells = (row: readonly Tokens.TableCell[], tag: string) =>
          `<tr>${row.map(({ tokens }) => `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`).join('')}</tr>`;
        return `<div class="wide" tabindex="0" role="group" aria-label="Table"><table><thead>${cells(header, 'th')}</thead>
<tbody>${rows.map((row) => cells(row, 'td')).join('\n')}</tbody></table></div>\n`;
      },
    },
  });
  const tokens = marked.lexer(text);
  const seen = new Map<string, number>();
  const sections: (Section & { text: string })[] = [];
  for (const token of tokens) {
    const section = sections.at(-1);
    if (token.type === 'heading') {
      const address = `${addresses.get(path)}#${anchorOf(token.text, seen)}`;
      const heading = withoutMarks(token.text);
      sections.push({ address, guide: sections[0]?.heading ?? heading, heading, text: '' });
    } else if (section !== undefined) section.text += `${withoutMarks(token.raw)} `;
  }
  return { title: sections[0]?.heading ?? path, body: marked.parser(tokens), sections };
}

/** Markdown as the search shows it. */
const withoutMarks = (text: string): string =>
  text
    .replaceAll(/\[((?:[^[\]]|\[[^[\]]*\])*)\]\([^)\s]*\)/g, '$1')
    .replaceAll(/```\w*|[`*|]|^#+|-{3,}/gm, '')
    .replaceAll(/\s+/g, ' ')
    .trim();

/** A block of code; it can be scrolled, too. */
const codeBlock = (code: string): string => `<pre tabindex="0"><code>${escaped(code)}</code></pre>\n`;

/** The anchor of a heading, as GitHub makes it; the second of a name gets `-1`. */
function anchorOf(heading: string, seen: Map<string, number>): string {
  const anchor = heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-');
  const times = seen.get(anchor) ?? 0;
  seen.set(anchor, times + 1);
  return times === 0 ? anchor : `${anchor}-${times}`;
}

const KINDS = { Query: 'query', Mutation: 'mutation', Subscription: 'subscription' } as const;

/** The operations that a schema declares: queries, then mutations, then subscriptions. */
function operationsOf({ definitions }: DocumentNode): Operation[] {
  return Object.entries(KINDS).flatMap(([type, kind]) =>
    definitions
      .flatMap((it) => (it.kind === Kind.OBJECT_TYPE_DEFINITION && it.name.value === type ? (it.fields ?? []) : []))
      .filter(({ name }) => !name.value.startsWith('_'))
      .map((field) => ({
        kind,
        name: field.name.value,
        description: field.description?.value ?? '',
        signature: signatureOf(field),
        isDeprecated: field.directives?.some(({ name }) => name.value === 'deprecated') ?? false,
      })),
  );
}

const signatureOf = ({ description: _, arguments: args = [], ...field }: FieldDefinitionNode): string =>
  print({ ...field, arguments: args.map(({ description: __, ...arg }) => arg) });

function operationsBody(operations: readonly Operation[]): string {
  const of = (kind: Operation['kind'], heading: string) =>
    `<h2 id="${kind}">${heading}</h2>\n${operations
      .filter((it) => it.kind === kind)
      .map(
        ({ name, description, signature, isDeprecated }) =>
          `<h3 id="${name}">${name}${isDeprecated ? ' <em>deprecated</em>' : ''}</h3>\n${inline(description)}\n${codeBlock(signature)}`,
      )
      .join('\n')}`;
  return `<h1>GraphQL operations</h1>
<p>All operations of the schema. The <a href="/graphql">explorer</a> documents their types too, and runs them;
<a href="/guides/${TASKS}">GraphQL by task</a> has examples.</p>
<p><a href="#query">Queries</a> · <a href="#mutation">Mutations</a> · <a href="#subscription">Subscriptions</a></p>
${of('query', 'Queries')}${of('mutation', 'Mutations')}${of('subscription', 'Subscriptions')}`;
}

/** A description of the schema. */
const inline = (text: string): string => new Marked({ gfm: true }).parse(text, { async: false });

function tasksBody(examples: readonly ExampleOperation[]): string {
  if (examples.length === 0)
    return '<h1>GraphQL by task</h1>\n<p>This service runs only registered GraphQL documents: there are none to try here.</p>';
  const groups = [...new Set(examples.map(({ group }) => group))];
  const one = (example: ExampleOperation) => `<h3 id="${operationName(example)}">${escaped(example.title)}</h3>
${example.note === undefined ? '' : inline(example.note)}
${codeBlock(example.query.trim())}${
  example.variables === undefined ? '' : `<p>Variables:</p>\n${codeBlock(JSON.stringify(example.variables, null, 2))}`
}
<p><a class="open" href="${taskAddress(example)}" aria-label="Open in the explorer: ${escaped(example.title)}">Open in the explorer</a></p>`;
  return `<h1>GraphQL by task</h1>
<p>Each of these documents runs as it is: open it in the <a href="/graphql">explorer</a>, enter your token and replace the IDs among the
variables by yours. <a href="#Projects">List your projects</a> shows the IDs of projects.</p>
${groups
  .map(
    (group) =>
      `<h2>${escaped(group)}</h2>\n${examples
        .filter((it) => it.group === group)
        .map(one)
        .join('\n')}`,
  )
  .join('\n')}`;
}
